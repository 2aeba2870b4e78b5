/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives. Each rank lays what it gives into its place of the room, and takes from the places of others what
 * it needs. A collective in which one rank gives more than nccl_room_limit() is not carried and waits for nobody;
 * neither does one in a stream that is captured: it is a node.
 */
#include "simgpu/libs/nccl.h"

#include <stdlib.h>
#include <string.h>

enum { NEEDS_ALL, NEEDS_ROOT, ROOT_NEEDS_ALL }; /* whom a rank waits for */

/* What a rank gives and gets, in counts: `n` is the number of ranks. */
static const struct shape {
	bool has_root, is_reduced;
	bool root_alone_gives, gives_n, root_alone_gets, gets_n;
	int needs;
} shapes[NCCL_COLLECTIVES] = {
	[NCCL_ALL_REDUCE] = { .is_reduced = true, .needs = NEEDS_ALL },
	[NCCL_REDUCE] = { .has_root = true, .is_reduced = true, .root_alone_gets = true, .needs = ROOT_NEEDS_ALL },
	[NCCL_BROADCAST] = { .has_root = true, .root_alone_gives = true, .needs = NEEDS_ROOT },
	[NCCL_ALL_GATHER] = { .gets_n = true, .needs = NEEDS_ALL },
	[NCCL_REDUCE_SCATTER] = { .is_reduced = true, .gives_n = true, .needs = NEEDS_ALL },
	[NCCL_ALL_TO_ALL] = { .gives_n = true, .gets_n = true, .needs = NEEDS_ALL },
	[NCCL_GATHER] = { .has_root = true, .root_alone_gets = true, .gets_n = true, .needs = ROOT_NEEDS_ALL },
	[NCCL_SCATTER] = { .has_root = true, .root_alone_gives = true, .gives_n = true, .needs = NEEDS_ROOT },
	[NCCL_EXCHANGE] = { .gets_n = true, .needs = NEEDS_ALL },
};

static size_t ranks_of(const struct nccl_op *op)
{
	return (size_t)op->comm->ranks_nr;
}

static size_t one(const struct nccl_op *op)
{
	return op->count * nccl_type_size(op->type);
}

/* Of the rank that gives most. */
static size_t given(const struct nccl_op *op)
{
	return one(op) * (shapes[op->kind].gives_n ? ranks_of(op) : 1);
}

static bool gives(const struct nccl_op *op)
{
	return !shapes[op->kind].root_alone_gives || op->root == op->comm->rank;
}

static bool gets(const struct nccl_op *op)
{
	return !shapes[op->kind].root_alone_gets || op->root == op->comm->rank;
}

/* A rank that does not run gives nothing; another gives in its place. */
static bool needs(const struct nccl_op *op, int rank)
{
	const struct shape *shape = &shapes[op->kind];

	if (nccl_room_presence(op->comm->room, rank) == NCCL_STANDIN)
		return false;
	if (shape->needs == NEEDS_ROOT)
		return rank == op->root;
	return shape->needs == NEEDS_ALL || op->root == op->comm->rank;
}

/* What a rank gave. */
static unsigned char *given_by(const struct nccl_op *op, int rank)
{
	return nccl_room_place(op->comm->room, nccl_room_who_gives(op->comm->room, rank), op->sequence);
}

/* ---- copies: addresses are unified, so programs may hand over memory of either side ---- */
/* `is_out`: to the other ranks. No program reads it there, so the driver does not count it as read. */
static int move(const struct nccl_op *op, void *to, const void *from, size_t bytes, bool is_out)
{
	struct nccl_inside inside;
	int failed;

	if (op->kind == NCCL_EXCHANGE) {
		memcpy(to, from, bytes);
		return NCCL_SUCCESS;
	}
	if (!bytes)
		return NCCL_SUCCESS;
	inside = nccl_enter(op->comm);
	failed = is_out ? SIM_DRIVER("tareSimPeek", to, from, bytes) : SIM_DRIVER("cuMemcpy", to, from, bytes);
	nccl_leave(inside);
	return failed ? nccl_fail(NCCL_CUDA_ERROR,
	                          "%s on rank %d: the driver does not copy %zu bytes of its buffers "
	                          "(error %d); are they memory of device %d?",
	                          op->call, op->comm->rank, bytes, failed, op->comm->device)
	              : NCCL_SUCCESS;
}

static int copy(const struct nccl_op *op, void *to, const void *from, size_t bytes)
{
	return move(op, to, from, bytes, false);
}

static bool is_captured(const struct nccl_op *op)
{
	int status = 0;

	return op->kind != NCCL_EXCHANGE && !SIM_DRIVER("cuStreamIsCapturing", op->stream, &status) && status == 1;
}

/* ---- reductions ---- */
static int scale_of(const struct nccl_op *op, const struct nccl_scale **scale, struct nccl_scale *loaded)
{
	*scale = NULL;
	if (op->op < NCCL_OPS)
		return NCCL_SUCCESS;
	*loaded = op->comm->scales[op->op - NCCL_OPS];
	*scale = loaded;
	if (!loaded->is_on_device)
		return NCCL_SUCCESS;
	return copy(op, &loaded->value, (const void *)op->comm->scales[op->op - NCCL_OPS].value,
	            nccl_type_size(loaded->type));
}

/* A rank's values are scaled by its own factor before others see them. */
static int scale_own(const struct nccl_op *op, unsigned char *place)
{
	struct nccl_scale loaded;
	const struct nccl_scale *scale;
	size_t count = given(op) / nccl_type_size(op->type);
	void *acc;
	int result = scale_of(op, &scale, &loaded);

	if (result != NCCL_SUCCESS || !scale)
		return result;
	acc = malloc(count * 8);
	if (!acc)
		return nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", op->call);
	nccl_reduce_take(acc, place, count, op->type, NCCL_SUM, true, scale);
	nccl_reduce_give(place, acc, count, op->type, NCCL_SUM, 1);
	free(acc);
	return NCCL_SUCCESS;
}

static int reduce(const struct nccl_op *op)
{
	size_t own = shapes[op->kind].gives_n ? (size_t)op->comm->rank * one(op) : 0;
	int how = op->op < NCCL_OPS ? op->op : NCCL_SUM, rank, result;
	void *acc = malloc(op->count * 8);

	if (!acc)
		return nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", op->call);
	for (rank = 0; rank < op->comm->ranks_nr; rank++)
		nccl_reduce_take(acc, given_by(op, rank) + own, op->count, op->type, how, rank == 0, NULL);
	nccl_reduce_give(acc, acc, op->count, op->type, how, op->comm->ranks_nr);
	result = copy(op, op->receive, acc, one(op));
	free(acc);
	return result;
}

/* ---- what is only moved ---- */
static int gather(const struct nccl_op *op)
{
	size_t from = shapes[op->kind].gives_n ? (size_t)op->comm->rank * one(op) : 0;
	int rank, result = NCCL_SUCCESS;

	for (rank = 0; rank < op->comm->ranks_nr && result == NCCL_SUCCESS; rank++)
		result = copy(op, (unsigned char *)op->receive + (size_t)rank * one(op), given_by(op, rank) + from, one(op));
	return result;
}

static int take(const struct nccl_op *op)
{
	const struct shape *shape = &shapes[op->kind];

	/* From a root that does not run comes nothing that is known. */
	if (!gets(op) || (shape->root_alone_gives && nccl_room_presence(op->comm->room, op->root) == NCCL_STANDIN))
		return NCCL_SUCCESS;
	if (shape->is_reduced)
		return reduce(op);
	if (shape->gets_n)
		return gather(op);
	return copy(op, op->receive,
	            nccl_room_place(op->comm->room, op->root, op->sequence) +
	                (shape->gives_n ? (size_t)op->comm->rank * one(op) : 0),
	            one(op));
}

/* ---- do the ranks agree? ---- */
static struct nccl_what what_of(const struct nccl_op *op)
{
	struct nccl_what what = { .kind = op->kind,
		                      .type = (uint32_t)op->type,
		                      .op = (uint32_t)op->op,
		                      .root = (uint32_t)op->root,
		                      .count = op->count,
		                      .bytes = one(op),
		                      .large = op->comm->large };

	if (!shapes[op->kind].is_reduced)
		what.type = what.op = 0; /* bytes are bytes */
	else if (op->op > NCCL_OPS)
		what.op = NCCL_OPS; /* each rank numbers its own */
	return what;
}

static int compare(const struct nccl_op *op, int rank, const struct nccl_what *his)
{
	struct nccl_what own = what_of(op);
	const char *about = NULL;
	unsigned long long mine = 0, other = 0;

	if (own.kind != his->kind)
		return nccl_fail(NCCL_INVALID_USAGE,
		                 "rank %d calls %s where rank %d calls %s: all ranks must make the same "
		                 "collectives in the same order",
		                 op->comm->rank, op->call, rank, nccl_kind_name(his->kind));
	if (own.bytes != his->bytes)
		about = "bytes", mine = own.bytes, other = his->bytes;
	else if (own.type != his->type)
		about = "as its type", mine = own.type, other = his->type;
	else if (own.op != his->op)
		about = "as its operator", mine = own.op, other = his->op;
	else if (own.root != his->root)
		about = "as its root", mine = own.root, other = his->root;
	else if (own.large != his->large)
		about = "larger collectives before it", mine = own.large, other = his->large;
	if (!about)
		return NCCL_SUCCESS;
	return nccl_fail(NCCL_INVALID_USAGE,
	                 "%s: rank %d has %llu %s, rank %d has %llu: all ranks must make the same "
	                 "collectives in the same order; a size that a kernel computed is not known "
	                 "on a simulated card",
	                 op->call, op->comm->rank, mine, about, rank, other);
}

/* ---- steps ---- */
/* A rank has not come to a collective: is the rank still there? It may come, and go, while we look. */
static int gone(const struct nccl_op *op, int rank, uint64_t sequence)
{
	enum nccl_presence presence = nccl_room_presence(op->comm->room, rank);

	if (presence == NCCL_PRESENT || nccl_room_posted(op->comm->room, rank, sequence))
		return NCCL_IN_PROGRESS;
	return nccl_fail(NCCL_REMOTE_ERROR, "%s on rank %d of %d: rank %d has %s its communicator without it", op->call,
	                 op->comm->rank, op->comm->ranks_nr, rank, presence == NCCL_ABORTED ? "aborted" : "destroyed");
}

static bool is_running(const struct nccl_comm *comm, int rank)
{
	return nccl_room_presence(comm->room, rank) != NCCL_STANDIN;
}

/* The first rank that a collective waits for. One that has given may end before it took: phase 1 waits for that. */
static int awaited_by_collective(const struct nccl_op *op)
{
	const struct nccl_comm *comm = op->comm;
	uint64_t sequence = op->phase == 2 ? op->sequence : comm->sequence - 2;
	int rank;

	for (rank = 0; rank < comm->ranks_nr; rank++)
		if (rank != comm->rank && (op->phase == 1 ? is_running(comm, rank) : needs(op, rank)) &&
		    !nccl_room_posted(comm->room, rank, sequence))
			return rank;
	for (rank = 0; rank < comm->ranks_nr && op->phase == 1; rank++)
		if (nccl_room_is_dead(comm->room, rank))
			return rank;
	return -1;
}

int nccl_awaited(const struct nccl_op *op)
{
	int rank;

	if (op->kind == NCCL_SEND || op->kind == NCCL_RECEIVE)
		return op->root;
	if (op->kind < NCCL_COLLECTIVES)
		return op->phase ? awaited_by_collective(op) : -1;
	for (rank = 0; op->kind == NCCL_JOIN && rank < op->comm->ranks_nr; rank++)
		if (nccl_room_presence(op->comm->room, rank) == NCCL_ABSENT)
			return rank;
	return -1;
}

/* Nothing to carry: SUCCESS; else IN_PROGRESS. */
static int begin(struct nccl_op *op)
{
	size_t bytes = one(op);
	int result = op->kind == NCCL_EXCHANGE ? NCCL_SUCCESS : nccl_memory_connected(op->comm);

	if (result != NCCL_SUCCESS)
		return result;
	if (!bytes)
		return NCCL_SUCCESS;
	if (is_captured(op)) {
		sim_lib_node(op->stream);
		return NCCL_SUCCESS;
	}
	if (op->kind != NCCL_EXCHANGE && given(op) > nccl_room_limit()) {
		op->comm->large++;
		if (op->comm->ranks_nr == 1 && op->send != op->receive && op->op < NCCL_OPS)
			return copy(op, op->receive, op->send, bytes);
		return NCCL_SUCCESS;
	}
	op->phase = 1;
	return NCCL_IN_PROGRESS;
}

static int give(struct nccl_op *op)
{
	struct nccl_comm *comm = op->comm;
	struct nccl_what what = what_of(op);
	unsigned char *place;
	int result = NCCL_SUCCESS;

	if (!nccl_room_is_place_free(comm->room, comm->sequence)) {
		int rank = awaited_by_collective(op);

		return rank < 0 ? NCCL_IN_PROGRESS : gone(op, rank, comm->sequence - 2);
	}
	op->sequence = comm->sequence;
	place = nccl_room_place(comm->room, comm->rank, op->sequence);
	if (gives(op)) {
		op->is_computed = op->kind != NCCL_EXCHANGE && !SIM_DRIVER("tareSimIsKnown", op->send, given(op));
		result = move(op, place, op->send, given(op), true);
	}
	if (result == NCCL_SUCCESS && op->op >= NCCL_OPS && shapes[op->kind].is_reduced)
		result = scale_own(op, place);
	if (result != NCCL_SUCCESS)
		return result;
	nccl_room_post(comm->room, comm->rank, op->sequence, &what,
	               shapes[op->kind].needs == NEEDS_ROOT && op->root == comm->rank);
	comm->sequence++;
	op->phase = 2;
	return NCCL_IN_PROGRESS;
}

static int get(struct nccl_op *op)
{
	int rank, result = NCCL_SUCCESS;

	for (rank = 0; rank < op->comm->ranks_nr; rank++) {
		const struct nccl_what *his;

		if (rank == op->comm->rank || !needs(op, rank))
			continue;
		his = nccl_room_posted(op->comm->room, rank, op->sequence);
		if (!his)
			return gone(op, rank, op->sequence);
		result = compare(op, rank, his);
		if (result != NCCL_SUCCESS)
			return result;
	}
	result = take(op);
	if (op->is_computed && gets(op))
		SIM_DRIVER("tareSimForget", op->receive, one(op) * (shapes[op->kind].gets_n ? ranks_of(op) : 1));
	nccl_room_done(op->comm->room, op->sequence);
	return result;
}

int nccl_collective_step(struct nccl_op *op)
{
	int result = op->phase == 0 ? begin(op) : NCCL_IN_PROGRESS;

	if (op->phase == 1 && result == NCCL_IN_PROGRESS)
		result = give(op);
	if (op->phase == 2 && result == NCCL_IN_PROGRESS)
		result = get(op);
	return result;
}
