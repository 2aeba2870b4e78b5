/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers: memory that NCCL allocates for a program, and buffers and windows that a program registers. A window is
 * known to the rank that registered it alone, so what kernels would do through windows of others is refused.
 */
#include "simgpu/libs/nccl.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- memory for programs ---- */
static struct nccl_piece *allocated;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

SIM_EXPORT int ncclMemAlloc(void **place, size_t size);
int ncclMemAlloc(void **place, size_t size)
{
	struct nccl_piece *piece = NULL;
	int device = 0;

	NCCL_CALLED("memory", NULL);
	if (!place || !size)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place for the address, or no bytes are asked for",
		                 __func__);
	if (!SIM_DRIVER("cuCtxGetDevice", &device))
		piece = nccl_memory_take(device, size);
	if (!piece)
		return nccl_fail(NCCL_CUDA_ERROR, "%s: device %d has no %zu bytes, or no context", __func__, device, size);
	pthread_mutex_lock(&lock);
	piece->next = allocated;
	allocated = piece;
	pthread_mutex_unlock(&lock);
	*place = (void *)piece->address;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclMemAlloc);

SIM_EXPORT int ncclMemFree(void *address);
int ncclMemFree(void *address)
{
	struct nccl_piece **place = &allocated, *piece;

	SIM_CALLED("memory");
	if (!address)
		return NCCL_SUCCESS;
	pthread_mutex_lock(&lock);
	while (*place && (*place)->address != (uint64_t)address)
		place = &(*place)->next;
	piece = *place;
	if (piece)
		*place = piece->next;
	pthread_mutex_unlock(&lock);
	if (!piece)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: %p is not of ncclMemAlloc", __func__, address);
	nccl_memory_give(piece);
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclMemFree);

/* ---- buffers of programs ---- */
struct window {
	void *buffer;
	size_t size;
};

static int make_window(const struct nccl_comm *comm, void *buffer, size_t size, struct window **place, const char *call)
{
	int result = nccl_comm_check(comm, call);

	if (result != NCCL_SUCCESS)
		return result;
	if (!place || !buffer || !size)
		return nccl_fail(NCCL_INVALID_ARGUMENT,
		                 "%s: there is no buffer, or no place for its "
		                 "handle",
		                 call);
	*place = malloc(sizeof(**place));
	if (!*place)
		return nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", call);
	**place = (struct window){ buffer, size };
	return NCCL_SUCCESS;
}

static int end_window(const struct nccl_comm *comm, struct window *window, const char *call)
{
	if (!comm || comm->magic != NCCL_COMM_MAGIC)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator is none", call);
	free(window);
	return NCCL_SUCCESS;
}

SIM_EXPORT int ncclCommRegister(const struct nccl_comm *comm, void *buffer, size_t size, struct window **handle);
int ncclCommRegister(const struct nccl_comm *comm, void *buffer, size_t size, struct window **handle)
{
	NCCL_CALLED("makes", NULL);
	return make_window(comm, buffer, size, handle, __func__);
}
NCCL_ALSO(ncclCommRegister);

SIM_EXPORT int ncclCommDeregister(const struct nccl_comm *comm, struct window *handle);
int ncclCommDeregister(const struct nccl_comm *comm, struct window *handle)
{
	SIM_CALLED("ends");
	return end_window(comm, handle, __func__);
}
NCCL_ALSO(ncclCommDeregister);

SIM_EXPORT int ncclCommWindowRegister(struct nccl_comm *comm, void *buffer, size_t size, struct window **window,
                                      int flags);
int ncclCommWindowRegister(struct nccl_comm *comm, void *buffer, size_t size, struct window **window, int flags)
{
	(void)flags;
	NCCL_CALLED("makes", NULL);
	return make_window(comm, buffer, size, window, __func__);
}
NCCL_ALSO(ncclCommWindowRegister);

SIM_EXPORT int ncclCommWindowDeregister(struct nccl_comm *comm, struct window *window);
int ncclCommWindowDeregister(struct nccl_comm *comm, struct window *window)
{
	SIM_CALLED("ends");
	return end_window(comm, window, __func__);
}
NCCL_ALSO(ncclCommWindowDeregister);

SIM_EXPORT int ncclWinGetUserPtr(struct nccl_comm *comm, struct window *window, void **place);
int ncclWinGetUserPtr(struct nccl_comm *comm, struct window *window, void **place)
{
	SIM_CALLED("answers");
	if (!comm || comm->magic != NCCL_COMM_MAGIC || !window || !place)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator or the window is none, or there is no place",
		                 __func__);
	*place = window->buffer;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclWinGetUserPtr);

/* ---- what kernels would do: of one's own memory, an address; of others', none ---- */
static int own_address(const struct window *window, size_t offset, void **place, const char *call)
{
	if (!window || !place || offset >= window->size)
		return nccl_fail(NCCL_INVALID_ARGUMENT,
		                 "%s: the window is none, there is no place, or the offset %zu is not "
		                 "in it",
		                 call, offset);
	*place = (unsigned char *)window->buffer + offset;
	return NCCL_SUCCESS;
}

/* Kernels do nothing here, so that each rank's own memory stands for that of its peers. */
SIM_EXPORT int ncclGetLsaDevicePointer(struct window *window, size_t offset, int rank, void **place);
int ncclGetLsaDevicePointer(struct window *window, size_t offset, int rank, void **place)
{
	(void)rank;
	SIM_CALLED("answers");
	return own_address(window, offset, place, __func__);
}
NCCL_ALSO(ncclGetLsaDevicePointer);

SIM_EXPORT int ncclGetPeerDevicePointer(struct window *window, size_t offset, int peer, void **place);
int ncclGetPeerDevicePointer(struct window *window, size_t offset, int peer, void **place)
{
	(void)peer;
	SIM_CALLED("answers");
	return own_address(window, offset, place, __func__);
}
NCCL_ALSO(ncclGetPeerDevicePointer);

/* Multicast is off on a simulated card. */
SIM_EXPORT int ncclGetLsaMultimemDevicePointer(struct window *window, size_t offset, void **place);
int ncclGetLsaMultimemDevicePointer(struct window *window, size_t offset, void **place)
{
	(void)window;
	(void)offset;
	SIM_CALLED("answers");
	if (!place)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place", __func__);
	*place = NULL;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclGetLsaMultimemDevicePointer);

/* ---- teams: three numbers, returned by value ---- */
struct team {
	int ranks_nr, rank, stride;
};

static struct team team_of(const struct nccl_comm *comm)
{
	bool is_one = comm && comm->magic == NCCL_COMM_MAGIC;

	return (struct team){ is_one ? comm->ranks_nr : 0, is_one ? comm->rank : 0, 1 };
}

SIM_EXPORT struct team ncclTeamWorld(struct nccl_comm *comm);
struct team ncclTeamWorld(struct nccl_comm *comm)
{
	SIM_CALLED("answers");
	return team_of(comm);
}
NCCL_ALSO(ncclTeamWorld);

/* All ranks of a simulated machine reach each other's memory by load and store. */
SIM_EXPORT struct team ncclTeamLsa(struct nccl_comm *comm);
struct team ncclTeamLsa(struct nccl_comm *comm)
{
	SIM_CALLED("answers");
	return team_of(comm);
}
NCCL_ALSO(ncclTeamLsa);

SIM_EXPORT struct team ncclTeamRail(struct nccl_comm *comm);
struct team ncclTeamRail(struct nccl_comm *comm)
{
	(void)comm;
	SIM_CALLED("answers");
	return (struct team){ 1, 0, 1 };
}
NCCL_ALSO(ncclTeamRail);

SIM_EXPORT int ncclTeamRankToWorld(struct nccl_comm *comm, struct team team, int rank);
int ncclTeamRankToWorld(struct nccl_comm *comm, struct team team, int rank)
{
	SIM_CALLED("answers");
	return team_of(comm).rank + (rank - team.rank) * team.stride;
}
NCCL_ALSO(ncclTeamRankToWorld);

SIM_EXPORT int ncclTeamRankToLsa(struct nccl_comm *comm, struct team team, int rank);
int ncclTeamRankToLsa(struct nccl_comm *comm, struct team team, int rank)
{
	SIM_CALLED("answers");
	return team_of(comm).rank + (rank - team.rank) * team.stride;
}
NCCL_ALSO(ncclTeamRankToLsa);
