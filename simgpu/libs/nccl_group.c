/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups, and how operations are driven: all of a group are tried in turn until all are done, so that none waits
 * for one behind it. Where nothing goes on for long, or a rank is gone, the wait ends with a sentence.
 */
#include "simgpu/libs/nccl.h"

#include <stdlib.h>
#include <time.h>

#define WAIT_SECONDS    600 /* TARE_SIM_NCCL_WAIT: how long ranks wait for each other */
#define LOOK_US         100000
#define WAIT_ROOM_US    20000
#define WAIT_FIRST_US   20
#define WAIT_LONGEST_US 1000

struct group {
	int depth, result;
	struct nccl_op *first, **end;
};
static _Thread_local struct group group;

const char *nccl_kind_name(enum nccl_kind kind)
{
	static const char *const names[] = {
		[NCCL_ALL_REDUCE] = "ncclAllReduce",
		[NCCL_REDUCE] = "ncclReduce",
		[NCCL_BROADCAST] = "ncclBroadcast",
		[NCCL_ALL_GATHER] = "ncclAllGather",
		[NCCL_REDUCE_SCATTER] = "ncclReduceScatter",
		[NCCL_ALL_TO_ALL] = "ncclAlltoAll",
		[NCCL_GATHER] = "ncclGather",
		[NCCL_SCATTER] = "ncclScatter",
		[NCCL_EXCHANGE] = "ncclCommSplit",
		[NCCL_SEND] = "ncclSend",
		[NCCL_RECEIVE] = "ncclRecv",
		[NCCL_JOIN] = "ncclCommInitRank",
		[NCCL_BIRTH] = "ncclCommSplit",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

/* ---- waiting ---- */
static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t patience_us(void)
{
	const char *text = getenv("TARE_SIM_NCCL_WAIT");
	long seconds = text ? strtol(text, NULL, 10) : 0;

	return (uint64_t)(seconds > 0 ? seconds : WAIT_SECONDS) * 1000000;
}

int nccl_step(struct nccl_op *op)
{
	if (__atomic_load_n(&op->comm->aborted, __ATOMIC_ACQUIRE))
		return nccl_fail(NCCL_INTERNAL_ERROR, "%s: rank %d's communicator was aborted", op->call, op->comm->rank);
	if (op->comm->error)
		return op->comm->error;
	switch (op->kind) {
	case NCCL_JOIN:
		return nccl_join_step(op);
	case NCCL_BIRTH:
		return nccl_birth_step(op);
	case NCCL_SEND:
	case NCCL_RECEIVE:
		return nccl_pair_step(op);
	default:
		return nccl_collective_step(op);
	}
}

/* Operations of one kind between two ranks, and collectives of a communicator, keep their order. */
static unsigned *order_of(struct nccl_op *op)
{
	static _Thread_local unsigned none;

	none = 0;
	if (op->kind == NCCL_SEND)
		return &op->comm->peers[op->root].pass_send;
	if (op->kind == NCCL_RECEIVE)
		return &op->comm->peers[op->root].pass_receive;
	return op->kind < NCCL_COLLECTIVES || op->kind == NCCL_BIRTH ? &op->comm->pass : &none;
}

/* One try of each. SUCCESS: all are done. */
static int try_all(struct nccl_op *first, bool *has_moved, struct nccl_op **waiting)
{
	static unsigned passes;
	unsigned pass = __atomic_add_fetch(&passes, 1, __ATOMIC_RELAXED);
	struct nccl_op *op;
	int result;

	*has_moved = false;
	*waiting = NULL;
	for (op = first; op; op = op->next) {
		unsigned *order = order_of(op);
		int phase = op->phase;

		if (op->is_done || *order == pass)
			continue;
		result = nccl_step(op);
		*has_moved |= result == NCCL_SUCCESS || op->phase != phase;
		if (result == NCCL_IN_PROGRESS) {
			*order = pass;
			*waiting = *waiting ? *waiting : op;
			continue;
		}
		op->is_done = true;
		if (result != NCCL_SUCCESS) {
			if (!op->comm->error)
				op->comm->error = result;
			return result;
		}
	}
	return *waiting ? NCCL_IN_PROGRESS : NCCL_SUCCESS;
}

static const struct nccl_op *part_of(const struct nccl_op *op)
{
	return op->kind == NCCL_BIRTH ? nccl_birth_part(op) : op;
}

/* Somebody whom an operation waits for is gone: nothing will come. */
static int look_for_dead(struct nccl_op *first)
{
	struct nccl_op *op;

	for (op = first; op; op = op->next) {
		const struct nccl_op *at = part_of(op);
		struct nccl_room *room = at->comm->room;
		int peer = op->is_done || !room ? -1 : nccl_awaited(at);

		if (peer >= 0 && nccl_room_is_dead(room, peer)) {
			op->comm->error = NCCL_REMOTE_ERROR;
			return nccl_fail(NCCL_REMOTE_ERROR,
			                 "%s on rank %d of %d: rank %d (pid %ld) has ended; look at "
			                 "how that process ended",
			                 op->call, at->comm->rank, at->comm->ranks_nr, peer, nccl_room_pid(room, peer));
		}
	}
	return NCCL_SUCCESS;
}

static int out_of_patience(const struct nccl_op *op, uint64_t waited)
{
	int peer = op->comm->room ? nccl_awaited(part_of(op)) : -1;

	op->comm->error = NCCL_REMOTE_ERROR;
	if (peer < 0)
		return nccl_fail(NCCL_REMOTE_ERROR,
		                 "%s on rank %d of %d has waited for %llu s; TARE_SIM_NCCL_WAIT=SECONDS "
		                 "waits longer",
		                 op->call, op->comm->rank, op->comm->ranks_nr, (unsigned long long)(waited / 1000000));
	return nccl_fail(NCCL_REMOTE_ERROR,
	                 "%s on rank %d of %d has waited %llu s for rank %d, which has not come to it: "
	                 "see what it does; TARE_SIM_NCCL_WAIT=SECONDS waits longer",
	                 op->call, op->comm->rank, op->comm->ranks_nr, (unsigned long long)(waited / 1000000), peer);
}

/* The room of all that wait; NULL: there are several, or one may not be open yet. */
static struct nccl_room *room_of(const struct nccl_op *first)
{
	struct nccl_room *room = NULL;

	for (; first; first = first->next) {
		if (first->is_done)
			continue;
		if (first->kind == NCCL_BIRTH || !first->comm->room || (room && room != first->comm->room))
			return NULL;
		room = first->comm->room;
	}
	return room;
}

static void pause_for(struct nccl_room *room, uint32_t seen, unsigned *pause)
{
	struct timespec length = { 0, (long)*pause * 1000 };

	if (room) {
		nccl_room_wait(room, seen, WAIT_ROOM_US);
		return;
	}
	nanosleep(&length, NULL);
	if (*pause < WAIT_LONGEST_US)
		*pause *= 2;
}

/* Until all are done, or one fails. */
static int drive(struct nccl_op *first)
{
	uint64_t since = now_us(), looked = since, patience = patience_us();
	unsigned pause = WAIT_FIRST_US;

	for (;;) {
		struct nccl_room *room = room_of(first);
		uint32_t seen = room ? nccl_room_rings(room) : 0;
		struct nccl_op *waiting;
		bool has_moved;
		int result = try_all(first, &has_moved, &waiting);
		uint64_t now;

		if (result != NCCL_IN_PROGRESS)
			return result;
		now = now_us();
		if (has_moved) {
			since = now;
			pause = WAIT_FIRST_US;
			continue;
		}
		if (now - looked > LOOK_US) {
			looked = now;
			result = look_for_dead(first);
			if (result != NCCL_SUCCESS)
				return result;
		}
		if (now - since > patience)
			return out_of_patience(waiting, now - since);
		pause_for(room, seen, &pause);
	}
}

/* ---- communicators that are used ---- */
static void count_inside(struct nccl_op *first, int by)
{
	for (; first; first = first->next)
		__atomic_add_fetch(&first->comm->inside, by, __ATOMIC_ACQ_REL);
}

static void free_all(struct nccl_op *first)
{
	while (first) {
		struct nccl_op *next = first->next;

		free(first->more);
		free(first);
		first = next;
	}
}

/* A communicator that is not blocking is made while the program asks how far it is: ncclCommGetAsyncError() tries on. */
static int run(struct nccl_op *first)
{
	int result;

	if (first && !first->next && first->kind == NCCL_JOIN && !first->comm->is_blocking) {
		struct nccl_comm *comm = first->comm;

		result = nccl_step(first);
		if (result == NCCL_IN_PROGRESS) {
			comm->making = first;
			return result;
		}
		if (result != NCCL_SUCCESS)
			comm->error = result;
		free_all(first);
		return result;
	}
	count_inside(first, 1);
	result = drive(first);
	count_inside(first, -1);
	free_all(first);
	return result;
}

int nccl_start(const struct nccl_op *op)
{
	struct nccl_op *copy = malloc(sizeof(*copy));

	if (!copy) {
		free(op->more);
		return nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", op->call);
	}
	*copy = *op;
	copy->next = NULL;
	if (!group.depth)
		return run(copy);
	*group.end = copy;
	group.end = &copy->next;
	return NCCL_SUCCESS;
}

int nccl_refuse(int result)
{
	if (group.depth && !group.result)
		group.result = result;
	return result;
}

bool nccl_is_grouped(void)
{
	return group.depth > 0;
}

/* ---- what programs call ---- */
SIM_EXPORT int ncclGroupStart(void);
int ncclGroupStart(void)
{
	NCCL_CALLED("group", NULL);
	if (!group.depth++)
		group.end = &group.first;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclGroupStart);

static int end_group(const char *call, bool is_run)
{
	struct nccl_op *first = group.first;
	int result = group.result;

	if (!group.depth)
		return nccl_fail(NCCL_INVALID_USAGE, "%s without a ncclGroupStart before it", call);
	if (--group.depth)
		return NCCL_SUCCESS;
	group.first = NULL;
	group.result = NCCL_SUCCESS;
	if (result == NCCL_SUCCESS && is_run)
		return first ? run(first) : NCCL_SUCCESS;
	free_all(first);
	return result;
}

SIM_EXPORT int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
	NCCL_CALLED("group", NULL);
	return end_group(__func__, true);
}
NCCL_ALSO(ncclGroupEnd);

struct simulated {
	size_t size;
	unsigned magic, version;
	float time;
};

/* How long it would take is not known: the value that says so stays. */
SIM_EXPORT int ncclGroupSimulateEnd(struct simulated *about);
int ncclGroupSimulateEnd(struct simulated *about)
{
	NCCL_CALLED("group", NULL);
	if (about && about->magic != 0x74685283)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT,
		                             "%s: the structure was not initialised with "
		                             "NCCL_SIM_INFO_INITIALIZER",
		                             __func__));
	return end_group(__func__, false);
}
NCCL_ALSO(ncclGroupSimulateEnd);
