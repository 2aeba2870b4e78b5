/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators by a unique id: each rank takes its seat in the room of that id, and waits for the others. */
#include "simgpu/libs/nccl_make.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the device ---- */
/* That of the thread's context; a program on the CUDA runtime may have none yet, and the runtime knows its device. */
static int find_context(struct nccl_comm *comm)
{
	int (*of_runtime)(int *) = NULL;

	SIM_DRIVER("cuInit", 0);
	if (!SIM_DRIVER("cuCtxGetCurrent", &comm->context) && comm->context && !SIM_DRIVER("cuCtxGetDevice", &comm->device))
		return NCCL_SUCCESS;
	*(void **)&of_runtime = dlsym(RTLD_DEFAULT, "cudaGetDevice");
	if (!of_runtime || of_runtime(&comm->device))
		comm->device = 0;
	return nccl_context_of(comm, comm->device);
}

int nccl_context_of(struct nccl_comm *comm, int device)
{
	int failed = SIM_DRIVER("cuInit", 0);

	comm->device = device;
	if (!failed)
		failed = SIM_DRIVER("cuDevicePrimaryCtxRetain", &comm->context, device);
	return failed ? nccl_fail(NCCL_CUDA_ERROR, "rank %d has no context on device %d: the driver says error %d",
	                          comm->rank, device, failed)
	              : NCCL_SUCCESS;
}

/* ---- the structure ---- */
static int take_config(struct nccl_comm *comm, const struct nccl_config *config, const char *call)
{
	if (!config)
		return NCCL_SUCCESS;
	if (config->magic != NCCL_CONFIG_MAGIC)
		return nccl_fail(NCCL_INVALID_ARGUMENT,
		                 "%s: the configuration was not initialised with "
		                 "NCCL_CONFIG_INITIALIZER",
		                 call);
	if (config->blocking != NCCL_UNDEFINED && config->blocking != 0 && config->blocking != 1)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: blocking is %d, and not 0 or 1", call, config->blocking);
	comm->is_blocking = config->blocking != 0;
	comm->min_ctas = config->min_ctas > 0 ? config->min_ctas : 0;
	comm->max_ctas = config->max_ctas > 0 ? config->max_ctas : 0;
	return NCCL_SUCCESS;
}

struct nccl_comm *nccl_comm_new(int ranks_nr, int rank, const struct nccl_config *config, const char *call, int *result)
{
	struct nccl_comm *comm;

	*result = NCCL_SUCCESS;
	if (ranks_nr < 1 || rank < 0 || rank >= ranks_nr) {
		*result = nccl_fail(NCCL_INVALID_ARGUMENT,
		                    "%s: rank %d of %d is none: ranks are 0 to one less than their "
		                    "number",
		                    call, rank, ranks_nr);
		return NULL;
	}
	comm = calloc(1, sizeof(*comm));
	if (comm)
		comm->peers = calloc((size_t)ranks_nr, sizeof(*comm->peers));
	if (!comm || !comm->peers) {
		free(comm);
		*result = nccl_fail(NCCL_SYSTEM_ERROR, "%s: no memory", call);
		return NULL;
	}
	comm->magic = NCCL_COMM_MAGIC;
	comm->ranks_nr = ranks_nr;
	comm->rank = rank;
	comm->is_blocking = true;
	*result = take_config(comm, config, call);
	if (*result) {
		nccl_comm_free(comm);
		return NULL;
	}
	return comm;
}

void nccl_comm_free(struct nccl_comm *comm)
{
	comm->magic = 0;
	free(comm->peers);
	free(comm);
}

/* ---- joining ---- */
#define QUIET_MS 2000

enum { PCI_BUS = 33 }; /* CU_DEVICE_ATTRIBUTE_PCI_BUS_ID */

static unsigned card_of(int device)
{
	int bus = device;

	SIM_DRIVER("cuDeviceGetAttribute", &bus, PCI_BUS, device);
	return (unsigned)bus;
}

/* NCCL has one rank on a card. More ranks than cards stand for several machines, whose cards have the same names. */
static int check_cards(const struct nccl_comm *comm)
{
	int count = 0, other = nccl_room_on_card(comm->room, comm->rank);

	if (other < 0 || SIM_DRIVER("cuDeviceGetCount", &count) || comm->ranks_nr > count)
		return NCCL_SUCCESS;
	return nccl_fail(NCCL_INVALID_USAGE,
	                 "Duplicate GPU detected: rank %d and rank %d are both on device %d; give each "
	                 "its own (cudaSetDevice)",
	                 comm->rank, other, comm->device);
}

/*
 * Of a job of which TARE_SIM_RANKS=N ranks run, a communicator has all that it will get when N are there, or when
 * nobody came for a while: not all that run may belong to it.
 */
static void go_on_without(struct nccl_comm *comm)
{
	const char *text = getenv("TARE_SIM_RANKS");
	int running = text ? atoi(text) : 0, joined = nccl_room_joined(comm->room);
	struct timespec now;
	uint64_t at;

	if (running < 1)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	at = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (comm->join.joined != joined)
		comm->join = (struct nccl_join){ at, joined };
	if (joined >= running || at - comm->join.since > QUIET_MS)
		nccl_room_close_doors(comm->room);
}

int nccl_join_step(struct nccl_op *op)
{
	struct nccl_comm *comm = op->comm;
	int result = NCCL_SUCCESS;

	if (!comm->room) {
		comm->room = nccl_room_open(comm->key, comm->ranks_nr, comm->rank, card_of(comm->device), &result);
		if (!comm->room)
			return result;
		op->phase = 1;
	}
	if (!nccl_room_is_full(comm->room))
		go_on_without(comm);
	if (!nccl_room_is_full(comm->room))
		return NCCL_IN_PROGRESS;
	comm->is_partial |= nccl_room_is_partial(comm->room);
	result = check_cards(comm);
	return result == NCCL_SUCCESS ? nccl_memory_made(comm) : result;
}

static int join(struct nccl_comm **place, struct nccl_key key, int ranks_nr, int rank, int device,
                const struct nccl_config *config, const char *call)
{
	struct nccl_op op = { .call = call, .kind = NCCL_JOIN };
	int result;

	if (!place)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place for the communicator", call));
	*place = NULL;
	op.comm = nccl_comm_new(ranks_nr, rank, config, call, &result);
	if (!op.comm)
		return nccl_refuse(result);
	op.comm->key = key;
	result = device < 0 ? find_context(op.comm) : nccl_context_of(op.comm, device);
	if (result != NCCL_SUCCESS) {
		nccl_comm_free(op.comm);
		return nccl_refuse(result);
	}
	*place = op.comm;
	return nccl_start(&op);
}

/* ---- what programs call ---- */
SIM_EXPORT int ncclGetUniqueId(struct nccl_id *id);
int ncclGetUniqueId(struct nccl_id *id)
{
	SIM_CALLED("makes");
	if (!id)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place for the id", __func__);
	nccl_key_new(id);
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclGetUniqueId);

SIM_EXPORT int ncclCommInitRankConfig(struct nccl_comm **comm, int ranks_nr, struct nccl_id id, int rank,
                                      struct nccl_config *config);
int ncclCommInitRankConfig(struct nccl_comm **comm, int ranks_nr, struct nccl_id id, int rank,
                           struct nccl_config *config)
{
	NCCL_MAKES(comm);
	return join(comm, nccl_key_of(&id, sizeof(id)), ranks_nr, rank, -1, config, __func__);
}
NCCL_ALSO(ncclCommInitRankConfig);

SIM_EXPORT int ncclCommInitRank(struct nccl_comm **comm, int ranks_nr, struct nccl_id id, int rank);
int ncclCommInitRank(struct nccl_comm **comm, int ranks_nr, struct nccl_id id, int rank)
{
	NCCL_MAKES(comm);
	return join(comm, nccl_key_of(&id, sizeof(id)), ranks_nr, rank, -1, NULL, __func__);
}
NCCL_ALSO(ncclCommInitRank);

SIM_EXPORT int ncclCommInitRankScalable(struct nccl_comm **comm, int ranks_nr, int rank, int ids_nr,
                                        struct nccl_id *ids, struct nccl_config *config);
int ncclCommInitRankScalable(struct nccl_comm **comm, int ranks_nr, int rank, int ids_nr, struct nccl_id *ids,
                             struct nccl_config *config)
{
	NCCL_MAKES(comm);
	if (!ids || ids_nr < 1 || ids_nr > ranks_nr)
		return nccl_refuse(nccl_fail(NCCL_INVALID_ARGUMENT,
		                             "%s: %d ids for %d ranks: there must be one at least, and "
		                             "one for each rank at most",
		                             __func__, ids ? ids_nr : 0, ranks_nr));
	return join(comm, nccl_key_of(ids, sizeof(*ids) * (size_t)ids_nr), ranks_nr, rank, -1, config, __func__);
}
NCCL_ALSO(ncclCommInitRankScalable);

static int check_devices(int ranks_nr, const int *devices, const char *call)
{
	int count = 0, i, k;

	SIM_DRIVER("cuInit", 0);
	if (SIM_DRIVER("cuDeviceGetCount", &count))
		return nccl_fail(NCCL_CUDA_ERROR, "%s: the driver does not say how many devices there are", call);
	if (ranks_nr < 1 || (!devices && ranks_nr > count))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: %d communicators on %d devices", call, ranks_nr, count);
	for (i = 0; devices && i < ranks_nr; i++) {
		if (devices[i] < 0 || devices[i] >= count)
			return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no device %d of %d", call, devices[i], count);
		for (k = 0; k < i; k++)
			if (devices[k] == devices[i])
				return nccl_fail(NCCL_INVALID_USAGE, "%s: device %d is twice in the list", call, devices[i]);
	}
	return NCCL_SUCCESS;
}

SIM_EXPORT int ncclGroupStart(void);
SIM_EXPORT int ncclGroupEnd(void);
SIM_EXPORT int ncclCommInitAll(struct nccl_comm **comms, int ranks_nr, const int *devices);
int ncclCommInitAll(struct nccl_comm **comms, int ranks_nr, const int *devices)
{
	int result = check_devices(ranks_nr, devices, __func__), end, i;
	struct nccl_id id;

	NCCL_MAKES(comms);
	if (!comms)
		result = nccl_fail(NCCL_INVALID_ARGUMENT, "%s: there is no place for the communicators", __func__);
	if (result != NCCL_SUCCESS)
		return nccl_refuse(result);
	nccl_key_new(&id);
	ncclGroupStart();
	for (i = 0; i < ranks_nr && result == NCCL_SUCCESS; i++)
		result = join(&comms[i], nccl_key_of(&id, sizeof(id)), ranks_nr, i, devices ? devices[i] : i, NULL, __func__);
	end = ncclGroupEnd();
	return result == NCCL_SUCCESS ? end : result;
}
NCCL_ALSO(ncclCommInitAll);
