/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators out of another: its ranks tell each other what each wants, work out the same answer, and meet in a
 * new room. Ranks that are left out by ncclCommShrink() do not call it, so there the room is known beforehand.
 */
#include "simgpu/libs/nccl_make.h"

#include <stdlib.h>
#include <string.h>

enum { NO_COLOR = -1, WORD_SIZE = 64 };

/* What a rank tells the others: NCCL_EXCHANGE carries it. */
union word {
	struct {
		int color, key;
		bool is_root; /* of ncclCommGrow: it has the id */
		struct nccl_key room;
	};
	unsigned char bytes[WORD_SIZE];
};

struct birth {
	struct nccl_comm **place;
	struct nccl_comm *child; /* once it is known who is in it */
	struct nccl_config config;
	bool has_config, is_grown;
	int ranks_nr; /* of one that grows */
	union word own;
	struct nccl_op exchange, joining;
	union word words[]; /* of all ranks */
};

/* ---- who is in it ---- */
static bool is_before(const struct birth *birth, int a, int b)
{
	int left = birth->words[a].key, right = birth->words[b].key;

	return left != right ? left < right : a < b;
}

/*
 * Those of one color, in the order of their keys; the room is that of the first rank of the parent among them. What
 * ranks that do not run would say is not known: they are in none.
 */
static void count(const struct birth *birth, const struct nccl_comm *parent, int *ranks_nr, int *rank,
                  struct nccl_key *room)
{
	int i, first = parent->rank;

	*ranks_nr = *rank = 0;
	for (i = 0; i < parent->ranks_nr; i++) {
		if (birth->words[i].color != birth->own.color || nccl_room_presence(parent->room, i) == NCCL_STANDIN)
			continue;
		if (i < first)
			first = i;
		++*ranks_nr;
		if (is_before(birth, i, parent->rank))
			++*rank;
	}
	*room = birth->words[first].room;
}

static int grown_room(const struct birth *birth, const struct nccl_comm *parent, struct nccl_key *room)
{
	int i, roots = 0;

	for (i = 0; i < parent->ranks_nr; i++)
		if (birth->words[i].is_root && nccl_room_presence(parent->room, i) != NCCL_STANDIN) {
			*room = birth->words[i].room;
			roots++;
		}
	return roots == 1 ? NCCL_SUCCESS
	                  : nccl_fail(NCCL_INVALID_USAGE,
	                              "ncclCommGrow: %d ranks of %d gave an id; the one that asked for it "
	                              "gives it, others NULL",
	                              roots, parent->ranks_nr);
}

/* Every setting that the caller does not choose is the parent's. */
static void inherit(struct nccl_comm *child, const struct nccl_comm *parent, bool has_config)
{
	child->device = parent->device;
	child->is_partial = parent->is_partial;
	child->context = parent->context;
	if (has_config)
		return;
	child->is_blocking = parent->is_blocking;
	child->min_ctas = parent->min_ctas;
	child->max_ctas = parent->max_ctas;
}

static int make_child(struct nccl_op *op, struct birth *birth)
{
	struct nccl_comm *parent = op->comm;
	int ranks_nr = birth->ranks_nr, rank = parent->rank, result = NCCL_SUCCESS;
	struct nccl_key room;

	if (birth->is_grown)
		result = grown_room(birth, parent, &room);
	else
		count(birth, parent, &ranks_nr, &rank, &room);
	if (result != NCCL_SUCCESS)
		return result;
	birth->child = nccl_comm_new(ranks_nr, rank, birth->has_config ? &birth->config : NULL, op->call, &result);
	if (!birth->child)
		return result;
	inherit(birth->child, parent, birth->has_config);
	birth->child->key = room;
	birth->joining = (struct nccl_op){ .comm = birth->child, .call = op->call, .kind = NCCL_JOIN };
	*birth->place = birth->child;
	return NCCL_SUCCESS;
}

/* ---- steps ---- */
int nccl_birth_step(struct nccl_op *op)
{
	struct birth *birth = op->more;
	int result;

	if (op->phase == 0) {
		result = nccl_collective_step(&birth->exchange);
		if (result != NCCL_SUCCESS)
			return result;
		op->phase = 1;
		if (!birth->is_grown && birth->own.color == NO_COLOR)
			return NCCL_SUCCESS;
		result = make_child(op, birth);
		if (result != NCCL_SUCCESS)
			return result;
	}
	result = nccl_join_step(&birth->joining);
	if (result != NCCL_SUCCESS && result != NCCL_IN_PROGRESS)
		birth->child->error = result;
	return result;
}

const struct nccl_op *nccl_birth_part(const struct nccl_op *op)
{
	const struct birth *birth = op->more;

	return op->phase ? &birth->joining : &birth->exchange;
}

static int bear(struct nccl_comm *parent, struct birth *birth, struct nccl_comm **place,
                const struct nccl_config *config, const char *call)
{
	struct nccl_op op = { .comm = parent, .call = call, .kind = NCCL_BIRTH, .more = birth };

	birth->place = place;
	if (config) {
		size_t size = config->size < sizeof(birth->config) ? config->size : sizeof(birth->config);

		birth->has_config = true;
		memcpy(&birth->config, config, size);
	}
	birth->exchange = (struct nccl_op){ .comm = parent,
		                                .call = call,
		                                .kind = NCCL_EXCHANGE,
		                                .send = &birth->own,
		                                .receive = birth->words,
		                                .count = WORD_SIZE,
		                                .type = NCCL_UINT8 };
	return nccl_start(&op);
}

static struct birth *new_birth(const struct nccl_comm *parent, const char *call)
{
	struct birth *birth = calloc(1, sizeof(*birth) + sizeof(union word) * (size_t)parent->ranks_nr);

	if (!birth)
		nccl_refuse(nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", call));
	return birth;
}

/* ---- what programs call ---- */
SIM_EXPORT int ncclCommSplit(struct nccl_comm *parent, int color, int key, struct nccl_comm **place,
                             struct nccl_config *config);
int ncclCommSplit(struct nccl_comm *parent, int color, int key, struct nccl_comm **place, struct nccl_config *config)
{
	int result = nccl_comm_check(parent, __func__);
	struct birth *birth;
	struct nccl_id id;

	NCCL_MAKES(place);
	if (result != NCCL_SUCCESS)
		return result;
	if (!place || color < NO_COLOR)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT,
		                             "%s: there is no place for the communicator, or the color "
		                             "%d is negative and not NCCL_SPLIT_NOCOLOR",
		                             __func__, color));
	*place = NULL;
	birth = new_birth(parent, __func__);
	if (!birth)
		return NCCL_SYSTEM_ERROR;
	nccl_key_new(&id);
	birth->own.color = color;
	birth->own.key = key;
	birth->own.room = nccl_key_of(&id, sizeof(id));
	return bear(parent, birth, place, config, __func__);
}
NCCL_ALSO(ncclCommSplit);

/* The same for all that stay, and for no other set of ranks. */
static struct nccl_key key_of_rest(const struct nccl_comm *parent, const bool *is_out)
{
	struct nccl_key parts[2] = { parent->key, nccl_key_of(is_out, sizeof(*is_out) * (size_t)parent->ranks_nr) };

	return nccl_key_of(parts, sizeof(parts));
}

static int shrink(struct nccl_comm *parent, const bool *is_out, struct nccl_comm **place, struct nccl_config *config,
                  const char *call)
{
	struct nccl_op op = { .call = call, .kind = NCCL_JOIN };
	int i, result, ranks_nr = 0, rank = 0;

	for (i = 0; i < parent->ranks_nr; i++) {
		ranks_nr += !is_out[i];
		rank += !is_out[i] && i < parent->rank;
	}
	op.comm = nccl_comm_new(ranks_nr, rank, config, call, &result);
	if (!op.comm)
		return nccl_refuse(result);
	inherit(op.comm, parent, config);
	op.comm->key = key_of_rest(parent, is_out);
	*place = op.comm;
	return nccl_start(&op);
}

SIM_EXPORT int ncclCommShrink(struct nccl_comm *parent, int *out, int out_nr, struct nccl_comm **place,
                              struct nccl_config *config, int flags);
int ncclCommShrink(struct nccl_comm *parent, int *out, int out_nr, struct nccl_comm **place, struct nccl_config *config,
                   int flags)
{
	bool *is_out;
	int i, result = NCCL_SUCCESS;

	NCCL_MAKES(place);
	if (!parent || parent->magic != NCCL_COMM_MAGIC || !place || !out || out_nr < 1 || out_nr >= parent->ranks_nr ||
	    flags < 0 || flags > 1)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT,
		                             "%s: the communicator is none, there is no place for the new "
		                             "one, or the list of ranks that leave is empty or has all",
		                             __func__));
	is_out = calloc((size_t)parent->ranks_nr, sizeof(*is_out));
	if (!is_out)
		return nccl_refuse(nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", __func__));
	for (i = 0; i < out_nr && result == NCCL_SUCCESS; i++)
		if (out[i] < 0 || out[i] >= parent->ranks_nr || is_out[out[i]])
			result = nccl_fail(NCCL_INVALID_ARGUMENT, "%s: rank %d is none of %d, or twice in the list", __func__,
			                   out[i], parent->ranks_nr);
		else
			is_out[out[i]] = true;
	if (result == NCCL_SUCCESS && is_out[parent->rank])
		result = nccl_fail(NCCL_INVALID_USAGE, "%s: rank %d is to leave; ranks that leave do not call it", __func__,
		                   parent->rank);
	result = result == NCCL_SUCCESS ? shrink(parent, is_out, place, config, __func__) : nccl_refuse(result);
	free(is_out);
	return result;
}
NCCL_ALSO(ncclCommShrink);

SIM_EXPORT int ncclCommGetUniqueId(struct nccl_comm *comm, struct nccl_id *id);
int ncclCommGetUniqueId(struct nccl_comm *comm, struct nccl_id *id)
{
	int result = nccl_comm_check(comm, __func__);

	SIM_CALLED("makes");
	if (result != NCCL_SUCCESS)
		return result;
	if (!id)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place for the id", __func__);
	nccl_key_new(id);
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclCommGetUniqueId);

SIM_EXPORT int ncclCommInitRankConfig(struct nccl_comm **comm, int ranks_nr, struct nccl_id id, int rank,
                                      struct nccl_config *config);
SIM_EXPORT int ncclCommGrow(struct nccl_comm *parent, int ranks_nr, const struct nccl_id *id, int rank,
                            struct nccl_comm **place, struct nccl_config *config);
int ncclCommGrow(struct nccl_comm *parent, int ranks_nr, const struct nccl_id *id, int rank, struct nccl_comm **place,
                 struct nccl_config *config)
{
	struct birth *birth;
	int result;

	NCCL_MAKES(place);
	if (!parent && id)
		return ncclCommInitRankConfig(place, ranks_nr, *id, rank, config);
	result = nccl_comm_check(parent, __func__);
	if (result != NCCL_SUCCESS)
		return result;
	if (!place || ranks_nr <= parent->ranks_nr)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT,
		                             "%s: there is no place for the communicator, or %d ranks are "
		                             "not more than %d",
		                             __func__, ranks_nr, parent->ranks_nr));
	*place = NULL;
	birth = new_birth(parent, __func__);
	if (!birth)
		return NCCL_SYSTEM_ERROR;
	birth->is_grown = true;
	birth->ranks_nr = ranks_nr;
	birth->own.is_root = id;
	if (id)
		birth->own.room = nccl_key_of(id, sizeof(*id));
	return bear(parent, birth, place, config, __func__);
}
NCCL_ALSO(ncclCommGrow);
