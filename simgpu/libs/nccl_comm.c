/* SPDX-License-Identifier: Apache-2.0 */
/* A communicator: what it tells of itself, and its end. nccl_make.c and nccl_birth.c make it. */
#include "simgpu/libs/nccl.h"

#include <stdlib.h>
#include <time.h>

enum { RELAXED = 2 }; /* CU_STREAM_CAPTURE_MODE_RELAXED */

int nccl_comm_check(const struct nccl_comm *comm, const char *call)
{
	if (!comm || comm->magic != NCCL_COMM_MAGIC)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator is none, or was destroyed", call));
	if (comm->error)
		return nccl_refuse(comm->error);
	if (comm->is_suspended)
		return nccl_refuse(nccl_fail(NCCL_INVALID_USAGE,
		                             "%s: the communicator is suspended; call ncclCommResume "
		                             "first",
		                             call));
	if (comm->is_finalized)
		return nccl_refuse(nccl_fail(NCCL_INVALID_USAGE, "%s: the communicator was finalized", call));
	return NCCL_SUCCESS;
}

struct nccl_inside nccl_enter(const struct nccl_comm *comm)
{
	struct nccl_inside inside = { .mode = RELAXED };
	long current = 0;

	SIM_DRIVER("cuThreadExchangeStreamCaptureMode", &inside.mode);
	if (!SIM_DRIVER("cuCtxGetCurrent", &current) && current != comm->context)
		inside.is_pushed = !SIM_DRIVER("cuCtxPushCurrent_v2", comm->context);
	return inside;
}

void nccl_leave(struct nccl_inside inside)
{
	long context;

	if (inside.is_pushed)
		SIM_DRIVER("cuCtxPopCurrent_v2", &context);
	SIM_DRIVER("cuThreadExchangeStreamCaptureMode", &inside.mode);
}

/* ---- what it is ---- */
static int tell(const struct nccl_comm *comm, int *place, const char *call, int value)
{
	if (!comm || comm->magic != NCCL_COMM_MAGIC || !place)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator is none, or there is no place for the answer",
		                 call);
	*place = value;
	return NCCL_SUCCESS;
}

SIM_EXPORT int ncclCommCount(const struct nccl_comm *comm, int *count);
int ncclCommCount(const struct nccl_comm *comm, int *count)
{
	SIM_CALLED("answers");
	return tell(comm, count, __func__, comm ? comm->ranks_nr : 0);
}
NCCL_ALSO(ncclCommCount);

SIM_EXPORT int ncclCommUserRank(const struct nccl_comm *comm, int *rank);
int ncclCommUserRank(const struct nccl_comm *comm, int *rank)
{
	SIM_CALLED("answers");
	return tell(comm, rank, __func__, comm ? comm->rank : 0);
}
NCCL_ALSO(ncclCommUserRank);

SIM_EXPORT int ncclCommCuDevice(const struct nccl_comm *comm, int *device);
int ncclCommCuDevice(const struct nccl_comm *comm, int *device)
{
	SIM_CALLED("answers");
	return tell(comm, device, __func__, comm ? comm->device : 0);
}
NCCL_ALSO(ncclCommCuDevice);

/* A communicator that is not blocking goes on here, as far as it can. */
SIM_EXPORT int ncclCommGetAsyncError(struct nccl_comm *comm, int *error);
int ncclCommGetAsyncError(struct nccl_comm *comm, int *error)
{
	struct nccl_op *making;
	int result;

	SIM_CALLED("answers");
	if (!comm || comm->magic != NCCL_COMM_MAGIC || !error)
		return tell(NULL, NULL, __func__, 0);
	making = comm->making;
	if (making) {
		result = nccl_step(making);
		if (result == NCCL_IN_PROGRESS) {
			*error = result;
			return NCCL_SUCCESS;
		}
		comm->making = NULL;
		free(making);
		if (result != NCCL_SUCCESS)
			comm->error = result;
	}
	*error = comm->error;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclCommGetAsyncError);

/* ---- its end ---- */
static void leave_room(struct nccl_comm *comm, enum nccl_presence how)
{
	if (comm->room)
		nccl_room_leave(comm->room, comm->rank, how);
	comm->room = NULL;
}

static void end(struct nccl_comm *comm, enum nccl_presence how)
{
	nccl_memory_end(comm);
	leave_room(comm, how);
	comm->magic = 0;
	free(comm->making);
	free(comm->peers);
	free(comm);
}

SIM_EXPORT int ncclCommFinalize(struct nccl_comm *comm);
int ncclCommFinalize(struct nccl_comm *comm)
{
	int result = nccl_comm_check(comm, __func__);

	NCCL_ENDS(comm);
	if (result == NCCL_SUCCESS)
		comm->is_finalized = true;
	return result;
}
NCCL_ALSO(ncclCommFinalize);

/* NCCL takes one that is not, and does nothing. */
SIM_EXPORT int ncclCommDestroy(struct nccl_comm *comm);
int ncclCommDestroy(struct nccl_comm *comm)
{
	NCCL_ENDS(comm);
	if (!comm)
		return NCCL_SUCCESS;
	if (comm->magic != NCCL_COMM_MAGIC)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator was destroyed before", __func__);
	end(comm, NCCL_LEFT);
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclCommDestroy);

/* Another thread may be in a call that waits: it comes out with an error first. */
static void stop(struct nccl_comm *comm)
{
	static const struct timespec moment = { 0, 200000 };

	__atomic_store_n(&comm->aborted, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&comm->inside, __ATOMIC_ACQUIRE)) {
		if (comm->room)
			nccl_room_ring(comm->room);
		nanosleep(&moment, NULL);
	}
}

SIM_EXPORT int ncclCommAbort(struct nccl_comm *comm);
int ncclCommAbort(struct nccl_comm *comm)
{
	NCCL_ENDS(comm);
	if (!comm)
		return NCCL_SUCCESS;
	if (comm->magic != NCCL_COMM_MAGIC)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator was destroyed before", __func__);
	stop(comm);
	end(comm, NCCL_ABORTED);
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclCommAbort);

/* What is under way ends with an error; the communicator stays for ncclCommShrink() and ncclCommDestroy(). */
SIM_EXPORT int ncclCommRevoke(struct nccl_comm *comm, int flags);
int ncclCommRevoke(struct nccl_comm *comm, int flags)
{
	SIM_CALLED("ends");
	if (!comm || comm->magic != NCCL_COMM_MAGIC || flags)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator is none, or the flags are not 0", __func__);
	stop(comm);
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclCommRevoke);

/* ---- memory ---- */
SIM_EXPORT int ncclCommSuspend(struct nccl_comm *comm, int flags);
int ncclCommSuspend(struct nccl_comm *comm, int flags)
{
	int result = nccl_comm_check(comm, __func__);

	SIM_CALLED("memory");
	if (result != NCCL_SUCCESS)
		return result;
	if (flags != 1)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the flags are %d; NCCL_SUSPEND_MEM (1) is the one there is",
		                 __func__, flags);
	return nccl_memory_suspend(comm);
}
NCCL_ALSO(ncclCommSuspend);

SIM_EXPORT int ncclCommResume(struct nccl_comm *comm);
int ncclCommResume(struct nccl_comm *comm)
{
	SIM_CALLED("memory");
	if (!comm || comm->magic != NCCL_COMM_MAGIC || !comm->is_suspended)
		return nccl_fail(NCCL_INVALID_USAGE, "%s: the communicator is none, or not suspended", __func__);
	return nccl_memory_resume(comm);
}
NCCL_ALSO(ncclCommResume);

SIM_EXPORT int ncclCommMemStats(struct nccl_comm *comm, int which, uint64_t *value);
int ncclCommMemStats(struct nccl_comm *comm, int which, uint64_t *value)
{
	uint64_t can, cannot;

	SIM_CALLED("answers");
	if (!comm || comm->magic != NCCL_COMM_MAGIC || !value || which < 0 || which > 3)
		return nccl_fail(NCCL_INVALID_ARGUMENT,
		                 "%s: the communicator is none, there is no place for the answer, or "
		                 "there is no such figure",
		                 __func__);
	can = nccl_memory_bytes(comm, true);
	cannot = nccl_memory_bytes(comm, false);
	*value = which == 0 ? can : which == 1 ? comm->is_suspended : which == 2 ? cannot : can + cannot;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclCommMemStats);

/* ---- operators of its own ---- */
SIM_EXPORT int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct nccl_comm *comm);
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct nccl_comm *comm)
{
	int result = nccl_comm_check(comm, __func__), i = 0;
	struct nccl_scale *scale;

	SIM_CALLED("makes");
	if (result != NCCL_SUCCESS)
		return result;
	if (!op || !scalar || type < 0 || type >= NCCL_TYPES || residence < 0 || residence > 1)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place for the operator, no scalar, or no such type",
		                 __func__);
	while (i < NCCL_SCALES && comm->scales[i].is_made)
		i++;
	if (i == NCCL_SCALES)
		return nccl_fail(NCCL_SYSTEM_ERROR, "%s: there are %d operators already; destroy what is not used", __func__,
		                 NCCL_SCALES);
	scale = &comm->scales[i];
	*scale = (struct nccl_scale){ .is_made = true, .type = type, .is_on_device = !residence };
	if (residence)
		__builtin_memcpy(&scale->value, scalar, nccl_type_size(type));
	else
		scale->value = (uint64_t)scalar;
	*op = NCCL_OPS + i;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclRedOpCreatePreMulSum);

SIM_EXPORT int ncclRedOpDestroy(int op, struct nccl_comm *comm);
int ncclRedOpDestroy(int op, struct nccl_comm *comm)
{
	SIM_CALLED("ends");
	if (!comm || comm->magic != NCCL_COMM_MAGIC || op < NCCL_OPS || op >= NCCL_OPS + NCCL_SCALES ||
	    !comm->scales[op - NCCL_OPS].is_made)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator is none, or has no operator %d", __func__, op);
	comm->scales[op - NCCL_OPS].is_made = false;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclRedOpDestroy);
