/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the simulated NCCL know of each other.
 *
 * The ranks of a communicator meet in a room: a file that all of them map (nccl_room.c). What they send each
 * other, if it is small, goes through that file for real (nccl_collective.c, nccl_pair.c); what is large costs
 * nothing and changes nothing. An operation is a step that is tried again until it is done (nccl_group.c), so
 * one thread can drive many ranks, and two that send to each other never wait for each other.
 */
#ifndef TARE_SIM_NCCL_H
#define TARE_SIM_NCCL_H

#include <stdarg.h>

#include "simgpu/libs/lib.h"

/* ---- the binary interface, as nccl.h documents it ---- */
#define NCCL_VERSION 22907

enum nccl_result {
	NCCL_SUCCESS = 0,
	NCCL_CUDA_ERROR = 1,
	NCCL_SYSTEM_ERROR = 2,
	NCCL_INTERNAL_ERROR = 3,
	NCCL_INVALID_ARGUMENT = 4,
	NCCL_INVALID_USAGE = 5,
	NCCL_REMOTE_ERROR = 6,
	NCCL_IN_PROGRESS = 7,
};

enum nccl_type {
	NCCL_INT8,
	NCCL_UINT8,
	NCCL_INT32,
	NCCL_UINT32,
	NCCL_INT64,
	NCCL_UINT64,
	NCCL_FLOAT16,
	NCCL_FLOAT32,
	NCCL_FLOAT64,
	NCCL_BFLOAT16,
	NCCL_FLOAT8E4M3,
	NCCL_FLOAT8E5M2,
	NCCL_TYPES,
};

/* NCCL_OPS and above: operators that a communicator made (ncclRedOpCreatePreMulSum). */
enum nccl_reduction { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG, NCCL_OPS };

struct nccl_id {
	unsigned char bytes[128];
};

/* Newer versions append members: `size` says which there are. */
struct nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking, cga_size, min_ctas, max_ctas;
	const char *net;
	int split_share, traffic_class;
	const char *name;
};
#define NCCL_CONFIG_MAGIC 0xcafebeef
#define NCCL_UNDEFINED    (-2147483647 - 1)

/* ---- a room ---- */
struct nccl_seat;
struct nccl_room;

struct nccl_key {
	uint64_t words[2];
};
struct nccl_key nccl_key_of(const void *bytes, size_t size);
void nccl_key_new(struct nccl_id *id);

/* What a collective is, for its ranks to compare. */
struct nccl_what {
	uint32_t kind, type, op, root;
	uint64_t count, bytes;
	uint64_t large; /* collectives before it that were too large to be carried */
};

/* NCCL_STANDIN: a rank that does not run, and never will: another answers for it. */
enum nccl_presence { NCCL_ABSENT, NCCL_PRESENT, NCCL_LEFT, NCCL_ABORTED, NCCL_STANDIN };

/* A new room, or the one that another rank opened with this key. NULL: nccl_fail() said why. */
struct nccl_room *nccl_room_open(struct nccl_key key, int ranks_nr, int rank, unsigned card, int *result);
/* Another rank on the same card; -1: none. */
int nccl_room_on_card(const struct nccl_room *room, int rank);
/* All are there; the file has no name any more then. */
bool nccl_room_is_full(const struct nccl_room *room);
/* How many came; and nobody else will: those who are not there have stand-ins from now on. */
int nccl_room_joined(const struct nccl_room *room);
void nccl_room_close_doors(struct nccl_room *room);
bool nccl_room_is_partial(const struct nccl_room *room);
/* The rank that gives what `rank` would: itself, or for one that does not run, the same one for all. */
int nccl_room_who_gives(const struct nccl_room *room, int rank);
/* A rank goes. */
void nccl_room_leave(struct nccl_room *room, int rank, enum nccl_presence how);
enum nccl_presence nccl_room_presence(const struct nccl_room *room, int rank);
/* Whether the process of a rank is gone without a word. */
bool nccl_room_is_dead(struct nccl_room *room, int rank);
long nccl_room_pid(const struct nccl_room *room, int rank);
size_t nccl_room_limit(void); /* bytes that one rank has carried by one call */

/* Something changed that others may wait for; and to wait for it, `seen` being the count before one looked. */
void nccl_room_ring(struct nccl_room *room);
uint32_t nccl_room_rings(const struct nccl_room *room);
void nccl_room_wait(struct nccl_room *room, uint32_t seen, unsigned microseconds);

/* Collectives go through two places for each rank in turn: SEQUENCE counts those that were carried. */
bool nccl_room_is_place_free(const struct nccl_room *room, uint64_t sequence);
unsigned char *nccl_room_place(struct nccl_room *room, int rank, uint64_t sequence);
void nccl_room_post(struct nccl_room *room, int rank, uint64_t sequence, const struct nccl_what *what, bool is_awaited);
/* NULL: this rank has not come to it yet. */
const struct nccl_what *nccl_room_posted(const struct nccl_room *room, int rank, uint64_t sequence);
void nccl_room_done(struct nccl_room *room, uint64_t sequence);

/* From one rank to another: messages in order. */
struct nccl_message {
	uint64_t bytes;
	uint64_t large; /* sent before it, and too large to be carried */
};
/* Where its bytes go; they may come in two parts. False: no room for it now. */
struct nccl_parts {
	unsigned char *bytes[2];
	size_t sizes[2];
};
bool nccl_room_write(struct nccl_room *room, int from, int to, uint64_t bytes, struct nccl_parts *parts);
void nccl_room_written(struct nccl_room *room, int from, int to, struct nccl_message message);
bool nccl_room_read(struct nccl_room *room, int from, int to, struct nccl_message *message, struct nccl_parts *parts);
void nccl_room_consumed(struct nccl_room *room, int from, int to, uint64_t bytes);

/* ---- a communicator ---- */
struct nccl_peer {
	uint64_t sent, received; /* too large to be carried */
	unsigned pass_send, pass_receive;
	bool is_sent_to, is_received_from;
};

struct nccl_piece {
	struct nccl_piece *next;
	uint64_t address, size, handle;
	bool is_suspendable;
};

struct nccl_scale {
	bool is_made;
	int type;
	bool is_on_device;
	uint64_t value; /* or where it is */
};
#define NCCL_SCALES 64

struct nccl_comm {
	uint64_t magic;
	int rank, ranks_nr, device;
	long context;
	bool is_blocking, is_connected, is_finalized, is_suspended;
	int min_ctas, max_ctas;
	struct nccl_room *room;
	struct nccl_key key;
	struct nccl_peer *peers;
	uint64_t sequence, large;
	unsigned pass; /* the last in which a collective of it had to wait */
	int error;     /* what it failed with; nothing can be done with it any more */
	int aborted;   /* from another thread */
	int inside;    /* threads in a call */
	struct nccl_piece *pieces;
	struct nccl_scale scales[NCCL_SCALES];
	struct nccl_join { /* while it is made, where not all ranks run */
		uint64_t since;
		int joined;
	} join;
	bool is_partial;
	struct nccl_op *making; /* of one that is not blocking: what there is still to do */
};
#define NCCL_COMM_MAGIC 0x6c63636e65726174ull

/* INVALID_ARGUMENT for what is none; its error, if it has failed. */
int nccl_comm_check(const struct nccl_comm *comm, const char *call);
/* Work of NCCL's own: in the communicator's context, disturbing no capture. */
struct nccl_inside {
	int mode;
	bool is_pushed;
};
struct nccl_inside nccl_enter(const struct nccl_comm *comm);
void nccl_leave(struct nccl_inside inside);

/* ---- operations ---- */
enum nccl_kind {
	NCCL_ALL_REDUCE,
	NCCL_REDUCE,
	NCCL_BROADCAST,
	NCCL_ALL_GATHER,
	NCCL_REDUCE_SCATTER,
	NCCL_ALL_TO_ALL,
	NCCL_GATHER,
	NCCL_SCATTER,
	NCCL_EXCHANGE, /* of NCCL's own: 64 bytes of host memory from each to all */
	NCCL_COLLECTIVES,
	NCCL_SEND = NCCL_COLLECTIVES,
	NCCL_RECEIVE,
	NCCL_JOIN,
	NCCL_BIRTH, /* of a communicator out of another */
};

struct nccl_op {
	struct nccl_op *next;
	struct nccl_comm *comm;
	const char *call;
	enum nccl_kind kind;
	const void *send;
	void *receive;
	size_t count;
	int type, op, root; /* root: the peer, too */
	long stream;
	int phase;
	uint64_t sequence;
	bool is_done;
	bool is_computed; /* it gives what a kernel would have computed, so what it gets is that, too */
	void *more;       /* of NCCL_BIRTH; freed with the operation */
};

/* SUCCESS: done. IN_PROGRESS: to be tried again. */
int nccl_collective_step(struct nccl_op *op);
int nccl_pair_step(struct nccl_op *op);
int nccl_join_step(struct nccl_op *op);
int nccl_birth_step(struct nccl_op *op);
/* What it consists of at the moment. */
const struct nccl_op *nccl_birth_part(const struct nccl_op *op);
/* Starts it: at once, or when the group ends that is open. Takes the operation. */
int nccl_start(const struct nccl_op *op);
int nccl_step(struct nccl_op *op);
/* An argument was wrong: what the call returns, and the group that is open, too. */
int nccl_refuse(int result);
bool nccl_is_grouped(void);
/* The rank that an operation waits for; -1: none that can be named. */
int nccl_awaited(const struct nccl_op *op);
const char *nccl_kind_name(enum nccl_kind kind);

/* ---- values ---- */
size_t nccl_type_size(int type);
/* ACC has 8 bytes for each element. The first of the ranks is `is_first`. */
void nccl_reduce_take(void *acc, const void *in, size_t count, int type, int op, bool is_first,
                      const struct nccl_scale *scale);
void nccl_reduce_give(void *out, void *acc, size_t count, int type, int op, int ranks_nr);

/* ---- memory: nccl_memory.def ---- */
int nccl_memory_made(struct nccl_comm *comm);
int nccl_memory_connected(struct nccl_comm *comm);                    /* the first collective */
int nccl_memory_peer(struct nccl_comm *comm, int peer, bool is_send); /* the first message to it, or from it */
void nccl_memory_end(struct nccl_comm *comm);
int nccl_memory_suspend(struct nccl_comm *comm);
int nccl_memory_resume(struct nccl_comm *comm);
uint64_t nccl_memory_bytes(const struct nccl_comm *comm, bool is_suspendable);
/* Device memory of `bytes`, and its piece. NULL: there is no room. */
struct nccl_piece *nccl_memory_take(int device, uint64_t bytes);
void nccl_memory_give(struct nccl_piece *piece);

/* ---- NVTX: nccl_nvtx.c ---- */
/* A call, as NCCL marks its own: with the communicator it is for, at the begin or, if the call makes or ends one, at the end. */
struct nccl_range {
	bool is_open;
	struct nccl_comm **place; /* where one is made; NULL: none is */
	uint64_t ended;           /* number of one that ends */
};
struct nccl_range nccl_range_begin(const char *call, const struct nccl_comm *comm);
uint64_t nccl_range_number(const struct nccl_comm *comm);                  /* 0: it is none */
void nccl_range_makes(struct nccl_range *range, struct nccl_comm **place); /* which is empty as long as none is made */
void nccl_range_end(struct nccl_range *range);
#define NCCL_RANGE(...) struct nccl_range range_ __attribute__((cleanup(nccl_range_end), unused)) = __VA_ARGS__
/* In the place of SIM_CALLED(): a call for a communicator, NULL: for none; one that makes one; one that ends one. */
#define NCCL_CALLED(kind, comm)                                                                                        \
	SIM_CALLED(kind);                                                                                                  \
	NCCL_RANGE(nccl_range_begin(__func__, comm))
#define NCCL_MAKES(at)                                                                                                 \
	SIM_CALLED("makes");                                                                                               \
	NCCL_RANGE(nccl_range_begin(__func__, NULL));                                                                      \
	nccl_range_makes(&range_, at)
#define NCCL_ENDS(comm)                                                                                                \
	SIM_CALLED("ends");                                                                                                \
	NCCL_RANGE(nccl_range_begin(__func__, NULL));                                                                      \
	range_.ended = nccl_range_number(comm)

/* ---- errors ---- */
/* Keeps the sentence for ncclGetLastError(), and returns `result`. */
int nccl_fail(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A function is there by two names, ncclX and pncclX. */
#define NCCL_ALSO(name) SIM_EXPORT __typeof__(name) p##name __attribute__((alias(#name)))

#endif
