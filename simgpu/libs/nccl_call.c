/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives and messages as programs call them: arguments are looked at, and an operation is started. */
#include "simgpu/libs/nccl.h"

static int check_reduction(const struct nccl_op *op)
{
	const struct nccl_scale *scale;
	int own = op->op - NCCL_OPS;

	if (op->op < 0 || own >= NCCL_SCALES || (own >= 0 && !op->comm->scales[own].is_made))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no operator %d", op->call, op->op);
	if (own < 0)
		return NCCL_SUCCESS;
	scale = &op->comm->scales[own];
	return scale->type == op->type
	           ? NCCL_SUCCESS
	           : nccl_fail(NCCL_INVALID_ARGUMENT, "%s: operator %d was made for type %d, and not %d", op->call, op->op,
	                       scale->type, op->type);
}

static int check(const struct nccl_op *op, bool needs_send, bool needs_receive)
{
	if (op->type < 0 || op->type >= NCCL_TYPES)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no type %d", op->call, op->type);
	if (op->root < 0 || op->root >= op->comm->ranks_nr)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: rank %d is none of a communicator of %d", op->call, op->root,
		                 op->comm->ranks_nr);
	if (op->count > SIZE_MAX / 16 / (size_t)op->comm->ranks_nr)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the count %zu is more than any memory has", op->call, op->count);
	if (op->count && ((needs_send && !op->send) || (needs_receive && !op->receive)))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: a buffer is NULL", op->call);
	return check_reduction(op);
}

static int start(struct nccl_op op, bool needs_send, bool needs_receive)
{
	int result = nccl_comm_check(op.comm, op.call);

	if (result != NCCL_SUCCESS)
		return result;
	if (op.comm->making)
		return nccl_refuse(nccl_fail(NCCL_INVALID_USAGE,
		                             "%s: the communicator is not made yet; ask "
		                             "ncclCommGetAsyncError until it is",
		                             op.call));
	result = check(&op, needs_send, needs_receive);
	return result == NCCL_SUCCESS ? nccl_start(&op) : nccl_refuse(result);
}

static bool is_rank(const struct nccl_comm *comm, int rank)
{
	return comm && comm->magic == NCCL_COMM_MAGIC && comm->rank == rank;
}

#define OP(kind_, ...)                                                                                                 \
	(struct nccl_op)                                                                                                   \
	{                                                                                                                  \
		.call = __func__, .kind = kind_, .count = count, .type = type, .comm = comm, .stream = stream, __VA_ARGS__     \
	}

/* ---- all give, all get ---- */
SIM_EXPORT int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, struct nccl_comm *comm,
                             long stream);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_ALL_REDUCE, .send = send, .receive = receive, .op = op), true, true);
}
NCCL_ALSO(ncclAllReduce);

SIM_EXPORT int ncclAllGather(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm,
                             long stream);
int ncclAllGather(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_ALL_GATHER, .send = send, .receive = receive), true, true);
}
NCCL_ALSO(ncclAllGather);

SIM_EXPORT int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op,
                                 struct nccl_comm *comm, long stream);
int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op, struct nccl_comm *comm,
                      long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_REDUCE_SCATTER, .send = send, .receive = receive, .op = op), true, true);
}
NCCL_ALSO(ncclReduceScatter);

SIM_EXPORT int ncclAlltoAll(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm,
                            long stream);
int ncclAlltoAll(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_ALL_TO_ALL, .send = send, .receive = receive), true, true);
}
NCCL_ALSO(ncclAlltoAll);

/* ---- one of them gives, or gets ---- */
SIM_EXPORT int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root,
                          struct nccl_comm *comm, long stream);
int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root, struct nccl_comm *comm,
               long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_REDUCE, .send = send, .receive = receive, .op = op, .root = root), true, is_rank(comm, root));
}
NCCL_ALSO(ncclReduce);

SIM_EXPORT int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                             long stream);
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                  long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_BROADCAST, .send = send, .receive = receive, .root = root), is_rank(comm, root), true);
}
NCCL_ALSO(ncclBroadcast);

SIM_EXPORT int ncclBcast(void *buffer, size_t count, int type, int root, struct nccl_comm *comm, long stream);
int ncclBcast(void *buffer, size_t count, int type, int root, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_BROADCAST, .send = buffer, .receive = buffer, .root = root), true, true);
}
NCCL_ALSO(ncclBcast);

SIM_EXPORT int ncclGather(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                          long stream);
int ncclGather(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_GATHER, .send = send, .receive = receive, .root = root), true, is_rank(comm, root));
}
NCCL_ALSO(ncclGather);

SIM_EXPORT int ncclScatter(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                           long stream);
int ncclScatter(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("collective", comm);
	return start(OP(NCCL_SCATTER, .send = send, .receive = receive, .root = root), is_rank(comm, root), true);
}
NCCL_ALSO(ncclScatter);

/* ---- from one to another ---- */
SIM_EXPORT int ncclSend(const void *send, size_t count, int type, int peer, struct nccl_comm *comm, long stream);
int ncclSend(const void *send, size_t count, int type, int peer, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("message", comm);
	return start(OP(NCCL_SEND, .send = send, .root = peer), true, false);
}
NCCL_ALSO(ncclSend);

SIM_EXPORT int ncclRecv(void *receive, size_t count, int type, int peer, struct nccl_comm *comm, long stream);
int ncclRecv(void *receive, size_t count, int type, int peer, struct nccl_comm *comm, long stream)
{
	NCCL_CALLED("message", comm);
	return start(OP(NCCL_RECEIVE, .receive = receive, .root = peer), false, true);
}
NCCL_ALSO(ncclRecv);
