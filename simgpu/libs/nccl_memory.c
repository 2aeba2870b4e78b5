/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL takes of a card, by the table nccl_memory.def: pieces that are made and mapped as NCCL does it. */
#include "simgpu/libs/nccl.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/cuda_abi.h"

enum when { MADE, CONNECTED, PEER, SENDS, RECEIVES };

enum {
	PINNED = 1,
	FILE_DESCRIPTOR = 1,
	ON_DEVICE = 1,
	READ_WRITE = 3,
};

/* Of collectives, between several ranks; alone every channel that there may be. */
enum { CHANNELS = 24, CHANNELS_ALONE = 64 };

#define LL_BYTES    (8 * 512 * 8 * 16)
#define LL128_BYTES (120 * 640 * 8 * 8)

static uint64_t variable(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *end;
	long long value;

	if (!text || !*text)
		return otherwise;
	value = strtoll(text, &end, 10);
	return *end || value < 0 ? otherwise : (uint64_t)value;
}

static uint64_t channels_of(const struct nccl_comm *comm)
{
	uint64_t least = variable("NCCL_MIN_CTAS", variable("NCCL_MIN_NCHANNELS", 0));
	uint64_t most = variable("NCCL_MAX_CTAS", variable("NCCL_MAX_NCHANNELS", 64));
	uint64_t channels = comm->ranks_nr + comm->is_partial > 1 ? CHANNELS : CHANNELS_ALONE;

	if (comm->min_ctas && !least)
		least = (uint64_t)comm->min_ctas;
	if (comm->max_ctas && (uint64_t)comm->max_ctas < most)
		most = (uint64_t)comm->max_ctas;
	if (channels < least)
		channels = least;
	if (channels > most)
		channels = most;
	return channels < 1 ? 1 : channels > 64 ? 64 : channels;
}

static uint64_t power_of_two(uint64_t least)
{
	uint64_t power = 1;

	while (power < least)
		power *= 2;
	return power;
}

/* ---- pieces ---- */
static uint64_t granularity(const CUmemAllocationProp *about)
{
	size_t bytes = 2u << 20; /* where the driver does not say */

	SIM_DRIVER("cuMemGetAllocationGranularity", &bytes, about, 0);
	return bytes;
}

static bool map(struct nccl_piece *piece, const CUmemAllocationProp *about)
{
	CUmemAccessDesc access = { about->location, READ_WRITE };

	if (SIM_DRIVER("cuMemAddressReserve", &piece->address, piece->size, 0, 0, 0))
		return false;
	if (SIM_DRIVER("cuMemMap", piece->address, piece->size, 0, piece->handle, 0)) {
		SIM_DRIVER("cuMemAddressFree", piece->address, piece->size);
		return false;
	}
	SIM_DRIVER("cuMemSetAccess", piece->address, piece->size, &access, 1);
	return true;
}

struct nccl_piece *nccl_memory_take(int device, uint64_t bytes)
{
	CUmemAllocationProp about = { .type = PINNED,
		                          .requestedHandleTypes = FILE_DESCRIPTOR,
		                          .location = { ON_DEVICE, device } };
	struct nccl_piece *piece = calloc(1, sizeof(*piece));
	uint64_t step;

	if (!piece)
		return NULL;
	step = granularity(&about);
	piece->size = (bytes + step - 1) / step * step;
	if (!SIM_DRIVER("cuMemCreate", &piece->handle, piece->size, &about, 0)) {
		if (map(piece, &about))
			return piece;
		SIM_DRIVER("cuMemRelease", piece->handle);
	}
	free(piece);
	return NULL;
}

void nccl_memory_give(struct nccl_piece *piece)
{
	if (piece->handle) { /* else it is suspended */
		SIM_DRIVER("cuMemUnmap", piece->address, piece->size);
		SIM_DRIVER("cuMemRelease", piece->handle);
	}
	SIM_DRIVER("cuMemAddressFree", piece->address, piece->size);
	free(piece);
}

static int take(struct nccl_comm *comm, const char *what, uint64_t bytes, uint64_t times, bool is_suspendable)
{
	struct nccl_piece *piece;

	for (; times; times--) {
		piece = nccl_memory_take(comm->device, bytes);
		if (!piece)
			return nccl_fail(NCCL_CUDA_ERROR,
			                 "rank %d of %d: device %d has no memory for %s of its "
			                 "communicator (%llu bytes)",
			                 comm->rank, comm->ranks_nr, comm->device, what, (unsigned long long)bytes);
		piece->is_suspendable = is_suspendable;
		piece->next = comm->pieces;
		comm->pieces = piece;
	}
	return NCCL_SUCCESS;
}

static int take_rows(struct nccl_comm *comm, enum when now)
{
	uint64_t channels = channels_of(comm), messages = power_of_two(channels);
	uint64_t ranks = (uint64_t)comm->ranks_nr + comm->is_partial; /* others would be in it */
	uint64_t simple = variable("NCCL_BUFFSIZE", 4 << 20);
	uint64_t ll = variable("NCCL_LL_BUFFSIZE", LL_BYTES);
	uint64_t ll128 = variable("NCCL_LL128_BUFFSIZE", LL128_BYTES);
	int result = NCCL_SUCCESS;

	(void)ranks;
	/* clang-format off */
#define NCCL_CODE(bytes)
#define NCCL_LOCAL(when, bytes)
#define NCCL_TAKES(what, when, is_suspendable, bytes, times)                                       \
	if (now == when && result == NCCL_SUCCESS)                                                 \
		result = take(comm, what, bytes, times, is_suspendable);
#include "simgpu/libs/nccl_memory.def"
#undef NCCL_CODE
#undef NCCL_LOCAL
#undef NCCL_TAKES
	/* clang-format on */
	return result;
}

/* ---- kernels: one image for each context of the process ---- */
#define NCCL_LOCAL(when, bytes)
#define NCCL_TAKES(what, when, is_suspendable, bytes, times)
#define NCCL_CODE(bytes) enum { CODE = bytes };
#include "simgpu/libs/nccl_memory.def"
#undef NCCL_CODE
#undef NCCL_LOCAL

#define NCCL_CODE(bytes)
#define NCCL_LOCAL(when, bytes) [when] = bytes,
static const int local_bytes[] = {
#include "simgpu/libs/nccl_memory.def"
};
#undef NCCL_CODE
#undef NCCL_LOCAL
#undef NCCL_TAKES

static struct kernels {
	long context;
	long functions[PEER + 1]; /* 0: none, or it has run */
} kernels[64];
static pthread_mutex_t kernels_lock = PTHREAD_MUTEX_INITIALIZER;

static void load(struct kernels *of, long context)
{
	long module = 0;
	char image[256];

	snprintf(image, sizeof(image),
	         "tare-sim-module\nkernel collective code=%d local=%d params=4096 assert=1\n"
	         "kernel message code=0 local=%d params=4096\n",
	         (int)CODE, local_bytes[CONNECTED], local_bytes[PEER]);
	of->context = context;
	if (SIM_DRIVER("cuModuleLoadData", &module, image))
		return;
	SIM_DRIVER("cuModuleGetFunction", &of->functions[CONNECTED], module, "collective");
	SIM_DRIVER("cuModuleGetFunction", &of->functions[PEER], module, "message");
	if (of->functions[CONNECTED])
		SIM_DRIVER("cuFuncLoad", of->functions[CONNECTED]);
}

static void use_kernels(long context, enum when now)
{
	struct kernels *of = kernels, *end = kernels + sizeof(kernels) / sizeof(kernels[0]);

	pthread_mutex_lock(&kernels_lock);
	while (of < end && of->context && of->context != context)
		of++;
	if (of < end && !of->context)
		load(of, context);
	if (of < end && of->functions[now]) {
		SIM_DRIVER("cuLaunchKernel", of->functions[now], 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
		of->functions[now] = 0;
	}
	pthread_mutex_unlock(&kernels_lock);
}

/* ---- what a communicator asks for ---- */
int nccl_memory_made(struct nccl_comm *comm)
{
	struct nccl_inside inside = nccl_enter(comm);
	int result;

	use_kernels(comm->context, MADE);
	result = take_rows(comm, MADE);
	nccl_leave(inside);
	return result;
}

int nccl_memory_connected(struct nccl_comm *comm)
{
	struct nccl_inside inside;
	int result;

	if (comm->is_connected)
		return NCCL_SUCCESS;
	inside = nccl_enter(comm);
	if (comm->ranks_nr + comm->is_partial > 1) /* alone, there is nothing that a kernel would do */
		use_kernels(comm->context, CONNECTED);
	result = take_rows(comm, CONNECTED);
	nccl_leave(inside);
	comm->is_connected = result == NCCL_SUCCESS;
	return result;
}

int nccl_memory_peer(struct nccl_comm *comm, int peer, bool is_send)
{
	bool *is_connected = is_send ? &comm->peers[peer].is_sent_to : &comm->peers[peer].is_received_from;
	struct nccl_inside inside;
	int result;

	if (*is_connected)
		return NCCL_SUCCESS;
	inside = nccl_enter(comm);
	use_kernels(comm->context, PEER);
	result = peer == comm->rank ? NCCL_SUCCESS : take_rows(comm, is_send ? SENDS : RECEIVES);
	nccl_leave(inside);
	*is_connected = result == NCCL_SUCCESS;
	return result;
}

void nccl_memory_end(struct nccl_comm *comm)
{
	struct nccl_inside inside = nccl_enter(comm);

	while (comm->pieces) {
		struct nccl_piece *piece = comm->pieces;

		comm->pieces = piece->next;
		nccl_memory_give(piece);
	}
	nccl_leave(inside);
}

uint64_t nccl_memory_bytes(const struct nccl_comm *comm, bool is_suspendable)
{
	const struct nccl_piece *piece;
	uint64_t bytes = 0;

	for (piece = comm->pieces; piece; piece = piece->next)
		if (piece->is_suspendable == is_suspendable && piece->handle)
			bytes += piece->size;
	return bytes;
}

/* ---- to let go of it for a while ---- */
int nccl_memory_suspend(struct nccl_comm *comm)
{
	struct nccl_inside inside = nccl_enter(comm);
	struct nccl_piece *piece;

	for (piece = comm->pieces; piece; piece = piece->next)
		if (piece->is_suspendable) {
			SIM_DRIVER("cuMemUnmap", piece->address, piece->size);
			SIM_DRIVER("cuMemRelease", piece->handle);
			piece->handle = 0;
		}
	comm->is_suspended = true;
	nccl_leave(inside);
	return NCCL_SUCCESS;
}

int nccl_memory_resume(struct nccl_comm *comm)
{
	CUmemAllocationProp about = { .type = PINNED,
		                          .requestedHandleTypes = FILE_DESCRIPTOR,
		                          .location = { ON_DEVICE, comm->device } };
	CUmemAccessDesc access = { about.location, READ_WRITE };
	struct nccl_inside inside = nccl_enter(comm);
	struct nccl_piece *piece;
	int failed = 0;

	for (piece = comm->pieces; piece && !failed; piece = piece->next) {
		if (!piece->is_suspendable || piece->handle)
			continue;
		failed = SIM_DRIVER("cuMemCreate", &piece->handle, piece->size, &about, 0);
		if (failed)
			break;
		SIM_DRIVER("cuMemMap", piece->address, piece->size, 0, piece->handle, 0);
		SIM_DRIVER("cuMemSetAccess", piece->address, piece->size, &access, 1);
	}
	comm->is_suspended = failed;
	nccl_leave(inside);
	return failed
	           ? nccl_fail(NCCL_CUDA_ERROR, "ncclCommResume: device %d has no memory for what was let go", comm->device)
	           : NCCL_SUCCESS;
}
