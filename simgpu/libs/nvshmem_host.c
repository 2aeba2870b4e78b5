/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVSHMEM does beyond its table: which processor this is, memory of the symmetric heap, teams.
 *
 * ASSUMED: the heap takes what the program asks for. The library makes room in larger steps, which nobody has measured.
 */
#include "simgpu/libs/nvshmem_host.h"

#include <stdlib.h>
#include <string.h>

enum { SPEC_MAJOR = 1, SPEC_MINOR = 3, MAJOR = 3, MINOR = 4, PATCH = 5 };
enum { FAILED = 7, NOT_INITIALIZED = 0, IS_INITIALIZED = 2, THREAD_MULTIPLE = 3, TEAMS = 4096 };

/* Which way a kernel reaches another processor, as the headers of NVSHMEM 3.8 number them; PyTorch 2.15 is linked with it. */
SIM_EXPORT int nvshmem_selected_device_transport;
int nvshmem_selected_device_transport = 0; /* by the host */

static int status = NOT_INITIALIZED;
static int own = 0, all = 1;
/* Teams: where each begins, its stride and size; 0 is everybody. */
static struct team {
	int start, stride, size;
} teams[TEAMS];
static int teams_nr = 16; /* those before are the library's own: each is everybody */

/* The team of a number; everybody's for the library's own. */
static struct team team_of(int number)
{
	if (number >= 16 && number < teams_nr)
		return teams[number];
	return (struct team){ 0, 1, all };
}

/* The processor's place in a team; -1: it is not in it. */
static int place_in(struct team team, int processor)
{
	int behind = processor - team.start;

	return behind >= 0 && behind % team.stride == 0 && behind / team.stride < team.size ? behind / team.stride : -1;
}

static int new_team(struct team team, int *number)
{
	int at = __atomic_fetch_add(&teams_nr, 1, __ATOMIC_SEQ_CST);

	if (!number || at >= TEAMS || team.stride < 1)
		return FAILED;
	teams[at] = team;
	*number = place_in(team, own) < 0 ? -1 : at;
	return 0;
}

#define CALL(result, name, ...)                                                                                        \
	SIM_EXPORT result name(__VA_ARGS__);                                                                               \
	result name(__VA_ARGS__)

CALL(int, nvshmemx_set_attr_uniqueid_args, int rank, int ranks, const void *id, void *attributes)
{
	SIM_CALLED("keeps");
	(void)id, (void)attributes;
	if (rank < 0 || rank >= ranks)
		return FAILED;
	own = rank;
	all = ranks;
	return 0;
}

CALL(int, nvshmemx_set_attr_mpi_comm_args, void *communicator, void *attributes)
{
	SIM_CALLED("refuses");
	(void)communicator, (void)attributes;
	return FAILED; /* ranks of MPI are not known here */
}

CALL(int, nvshmemx_get_uniqueid, void *id)
{
	SIM_CALLED("answers");
	if (!id)
		return FAILED;
	memset(id, 0, 128);
	return 0;
}

CALL(int, nvshmemx_team_get_uniqueid, uint64_t *id)
{
	SIM_CALLED("answers");
	if (!id)
		return FAILED;
	*id = 1;
	return 0;
}

CALL(int, nvshmemx_hostlib_init_attr, unsigned flags, void *attributes)
{
	SIM_CALLED("makes");
	(void)flags, (void)attributes;
	status = IS_INITIALIZED;
	return 0;
}

CALL(int, nvshmemid_hostlib_init_attr, int requested, int *provided)
{
	SIM_CALLED("makes");
	(void)requested;
	if (provided)
		*provided = THREAD_MULTIPLE;
	status = IS_INITIALIZED;
	return 0;
}

CALL(void, nvshmemx_hostlib_finalize, void)
{
	SIM_CALLED("ends");
	status = NOT_INITIALIZED;
}

CALL(void, nvshmemid_hostlib_finalize, void)
{
	SIM_CALLED("ends");
	status = NOT_INITIALIZED;
}

CALL(int, nvshmemx_init_status, void)
{
	SIM_CALLED("tells");
	return status;
}

CALL(int, nvshmemid_init_status, void)
{
	SIM_CALLED("tells");
	return status;
}

CALL(void, nvshmem_global_exit, int code)
{
	SIM_CALLED("ends");
	exit(code);
}

CALL(void, nvshmem_query_thread, int *provided)
{
	SIM_CALLED("answers");
	if (provided)
		*provided = THREAD_MULTIPLE;
}

CALL(void, nvshmem_info_get_version, int *major, int *minor)
{
	SIM_CALLED("version");
	if (major)
		*major = SPEC_MAJOR;
	if (minor)
		*minor = SPEC_MINOR;
}

CALL(void, nvshmemx_vendor_get_version_info, int *major, int *minor, int *patch)
{
	SIM_CALLED("version");
	if (major)
		*major = MAJOR;
	if (minor)
		*minor = MINOR;
	if (patch)
		*patch = PATCH;
}

CALL(void, nvshmem_info_get_name, char *name)
{
	SIM_CALLED("text");
	if (name)
		strcpy(name, "NVSHMEM");
}

CALL(int, nvshmem_my_pe, void)
{
	SIM_CALLED("tells");
	return own;
}

CALL(int, nvshmem_n_pes, void)
{
	SIM_CALLED("tells");
	return all;
}

CALL(int, nvshmem_team_my_pe, int team)
{
	SIM_CALLED("tells");
	return place_in(team_of(team), own);
}

CALL(int, nvshmem_team_n_pes, int team)
{
	SIM_CALLED("tells");
	return team_of(team).size;
}

CALL(int, nvshmem_team_translate_pe, int from, int processor, int to)
{
	struct team team = team_of(from);

	SIM_CALLED("answers");
	if (processor < 0 || processor >= team.size)
		return -1;
	return place_in(team_of(to), team.start + processor * team.stride);
}

CALL(int, nvshmem_team_split_strided, int parent, int start, int stride, int size, const void *settings, long mask,
     int *number)
{
	struct team team = team_of(parent);

	SIM_CALLED("makes");
	(void)settings, (void)mask;
	return new_team((struct team){ team.start + start * team.stride, stride * team.stride, size }, number);
}

CALL(int, nvshmem_team_split_2d, int parent, int range, const void *settings, long mask, int *across, const void *more,
     long more_mask, int *down)
{
	struct team team = team_of(parent);
	int place = place_in(team, own);

	SIM_CALLED("makes");
	int failed;
	(void)settings, (void)mask, (void)more, (void)more_mask;
	if (range < 1 || place < 0)
		return FAILED;
	failed = new_team((struct team){ team.start + place / range * range * team.stride, team.stride, range }, across);
	return failed ? failed
	              : new_team((struct team){ team.start + place % range * team.stride, range * team.stride,
	                                        (team.size + range - 1) / range },
	                         down);
}

CALL(int, nvshmemx_team_init, int *number, void *settings, long mask, int size, int place)
{
	SIM_CALLED("makes");
	(void)settings, (void)mask;
	return new_team((struct team){ own - place, 1, size }, number);
}

static void *take(size_t bytes)
{
	uint64_t address = 0;

	return bytes && !SIM_DRIVER("cuMemAlloc_v2", &address, bytes) ? (void *)address : NULL;
}

CALL(void *, nvshmem_malloc, size_t bytes)
{
	SIM_CALLED("driver");
	return take(bytes);
}

CALL(void *, nvshmem_align, size_t alignment, size_t bytes)
{
	SIM_CALLED("driver");
	(void)alignment; /* the driver's is enough for any */
	return take(bytes);
}

CALL(void *, nvshmem_calloc, size_t count, size_t bytes)
{
	void *memory = take(count * bytes);

	SIM_CALLED("driver");
	if (memory)
		SIM_DRIVER("cuMemsetD8_v2", memory, 0, count * bytes);
	return memory;
}

CALL(void, nvshmem_free, void *memory)
{
	SIM_CALLED("driver");
	if (memory)
		SIM_DRIVER("cuMemFree_v2", memory);
}

CALL(void *, nvshmem_ptr, const void *memory, int processor)
{
	SIM_CALLED("answers");
	return processor == own ? (void *)memory : NULL;
}
