/* SPDX-License-Identifier: Apache-2.0 */
/* An arena from its creation to its end, and what can be asked about it. */
#include "graphs/graphs.h"

#include "graphs/error.h"

#include <stdlib.h>
#include <string.h>

int tare_enter(struct tare_enter *enter, struct tare_graphs *graphs)
{
	CUcontext current = NULL;
	CUresult result;

	if (!graphs)
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "graphs is NULL; call tare_graphs_create first");
	pthread_mutex_lock(&graphs->lock);
	*enter = (struct tare_enter){ .graphs = graphs, .mode = CU_STREAM_CAPTURE_MODE_RELAXED };
	result = tare_cu.cuCtxGetCurrent(&current);
	if (result == CUDA_SUCCESS && current != graphs->context) {
		result = tare_cu.cuCtxPushCurrent_v2(graphs->context);
		enter->is_pushed = result == CUDA_SUCCESS;
	}
	if (result != CUDA_SUCCESS) {
		pthread_mutex_unlock(&graphs->lock);
		return tare_graphs_cuda(result, "the arena's context");
	}
	/* In global mode, our events would spoil a capture that somebody else has open. */
	if (tare_cu.cuThreadExchangeStreamCaptureMode)
		tare_cu.cuThreadExchangeStreamCaptureMode(&enter->mode);
	return 0;
}

int tare_leave(struct tare_enter *enter, int rc)
{
	CUcontext popped;

	if (tare_cu.cuThreadExchangeStreamCaptureMode)
		tare_cu.cuThreadExchangeStreamCaptureMode(&enter->mode);
	if (enter->is_pushed)
		tare_cu.cuCtxPopCurrent_v2(&popped);
	pthread_mutex_unlock(&enter->graphs->lock);
	return rc;
}

/* ---- create, destroy ---- */
static int check_options(const struct tare_graphs_options *given, struct tare_graphs_options *options)
{
	memset(options, 0, sizeof(*options));
	if (!given)
		return 0;
	if (given->size < offsetof(struct tare_graphs_options, execs_per_group))
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT,
		                        "options.size is %zu; set it to sizeof(struct tare_graphs_options)", given->size);
	memcpy(options, given, given->size < sizeof(*options) ? given->size : sizeof(*options));
	if (options->flags & ~(unsigned)(TARE_GRAPHS_REFUSE_OVERLAP | TARE_GRAPHS_ONE_RANGE))
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "options.flags has unknown bits");
	if (options->execs_max && options->device_runtime)
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "options: executable graphs that the card switches are not made "
		                                              "again; leave out execs_max or device_runtime");
	return 0;
}

static int set_up(struct tare_graphs *graphs, const struct tare_graphs_options *options)
{
	int rc = tare_graphs_cuda(tare_cu.cuCtxGetCurrent(&graphs->context), "cuCtxGetCurrent");

	if (!rc && !graphs->context)
		rc = tare_graphs_fail(TARE_GRAPHS_ORDER, "no CUDA context is current; create one before the arena");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuCtxGetDevice(&graphs->device), "cuCtxGetDevice");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuEventCreate(&graphs->done, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
	if (rc)
		return rc;
	if (options->device_runtime)
		rc = tare_device_init(&graphs->groups.device, options->device_runtime);
	if (!rc)
		rc = tare_arena_init(&graphs->arena, graphs->device, options->limit_bytes, options->reserve_bytes);
	if (!rc && options->flags & TARE_GRAPHS_ONE_RANGE) {
		rc = tare_mapping_open(&graphs->arena, &graphs->shared);
		if (rc)
			tare_arena_fini(&graphs->arena);
	}
	if (rc) {
		tare_device_fini(&graphs->groups.device);
		tare_cu.cuEventDestroy_v2(graphs->done);
	}
	return rc;
}

int tare_graphs_create(const struct tare_graphs_options *given, struct tare_graphs **out)
{
	struct tare_graphs_options options;
	struct tare_graphs *graphs;
	int rc = check_options(given, &options);

	if (!rc && !out)
		rc = tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "out is NULL; give the address of a pointer");
	if (!rc)
		rc = tare_graphs_driver_load();
	if (rc)
		return rc;
	graphs = calloc(1, sizeof(*graphs));
	if (!graphs)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "graphs: no host memory");
	graphs->flags = options.flags;
	tare_groups_init(&graphs->groups, options.execs_per_group, options.execs_max, &graphs->stats);
	rc = set_up(graphs, &options);
	if (rc) {
		free(graphs);
		return rc;
	}
	pthread_mutex_init(&graphs->lock, NULL);
	*out = graphs;
	return 0;
}

static void tear_down(struct tare_graphs *graphs)
{
	size_t i;

	tare_replay_wait(graphs);
	while (graphs->captures_nr)
		tare_capture_free(graphs, graphs->captures[--graphs->captures_nr]);
	if (graphs->shared)
		tare_mapping_close(graphs->shared);
	tare_arena_fini(&graphs->arena);
	tare_device_fini(&graphs->groups.device);
	tare_cu.cuEventDestroy_v2(graphs->done);
	for (i = 0; i < graphs->rehearsals_nr; i++)
		free(graphs->rehearsals[i].items);
	free(graphs->rehearsals);
	free(graphs->captures);
}

void tare_graphs_destroy(struct tare_graphs *graphs)
{
	struct tare_enter enter;

	if (!graphs)
		return;
	tare_graphs_abort(graphs);
	/* Where the context is gone, what was on the device has gone with the context. */
	if (tare_enter(&enter, graphs) == 0) {
		tear_down(graphs);
		tare_leave(&enter, 0);
	}
	pthread_mutex_destroy(&graphs->lock);
	free(graphs);
}

/* ---- statistics ---- */
static void count_captures(const struct tare_graphs *graphs, struct tare_graphs_stats *stats)
{
	size_t i;

	stats->captures = graphs->captures_nr;
	stats->address_bytes = graphs->shared ? graphs->shared->mapped : 0;
	for (i = 0; i < graphs->captures_nr; i++) {
		const struct tare_capture *capture = graphs->captures[i];

		if (capture->bytes > stats->largest_bytes)
			stats->largest_bytes = capture->bytes;
		stats->sum_bytes += capture->bytes;
		if (!graphs->shared)
			stats->address_bytes += capture->mapping->mapped;
		stats->template_nodes += capture->tmpl->nodes_nr;
		stats->template_bytes += capture->tmpl->bytes_nr + capture->tmpl->nodes_nr * sizeof(struct tare_template_node);
	}
}

static struct tare_graphs_group_info describe(const struct tare_group *group)
{
	struct tare_graphs_group_info info = { .nodes = group->base->nodes_nr,
		                                   .keys = group->keys,
		                                   .execs = group->execs_nr + group->is_device,
		                                   .is_refused = group->is_refused };
	size_t i;

	for (i = 0; i < group->execs_nr; i++)
		info.exec_bytes += group->execs[i].device_bytes;
	return info;
}

int tare_graphs_stats(struct tare_graphs *graphs, struct tare_graphs_stats *out, size_t size)
{
	struct tare_graphs_stats stats;
	const struct tare_group *group;
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	stats = graphs->stats;
	stats.arena_bytes = graphs->arena.bytes;
	count_captures(graphs, &stats);
	for (group = graphs->groups.first; group; group = group->next) {
		struct tare_graphs_group_info info = describe(group);

		stats.groups++;
		stats.groups_refused += info.is_refused;
		stats.execs += info.execs;
		stats.exec_nodes += info.execs * info.nodes;
		stats.exec_bytes += info.exec_bytes;
	}
	memcpy(out, &stats, size < sizeof(stats) ? size : sizeof(stats));
	return tare_leave(&enter, 0);
}

const char *tare_graphs_stat_name(size_t i)
{
	static const char *const names[] = {
#define X(NAME, HELP) #NAME,
		TARE_GRAPHS_STATS(X)
#undef X
	};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

static uint64_t group_index(const struct tare_graphs *graphs, const struct tare_group *group)
{
	const struct tare_group *at;
	uint64_t index = 0;

	for (at = graphs->groups.first; at && at != group; at = at->next)
		index++;
	return index;
}

size_t tare_graphs_list_keys(struct tare_graphs *graphs, struct tare_graphs_key_info *rows, size_t room)
{
	struct tare_enter enter;
	size_t i, count;

	if (tare_enter(&enter, graphs))
		return 0;
	count = graphs->captures_nr;
	for (i = 0; i < count && i < room; i++) {
		const struct tare_capture *capture = graphs->captures[i];

		rows[i] = (struct tare_graphs_key_info){
			.key = capture->key,
			.bytes = capture->bytes,
			.nodes = capture->tmpl->nodes_nr,
			.group = group_index(graphs, capture->group),
			.address = capture->mapping->base,
			.address_bytes = capture->mapping->mapped,
		};
	}
	tare_leave(&enter, 0);
	return count;
}

size_t tare_graphs_list_groups(struct tare_graphs *graphs, struct tare_graphs_group_info *rows, size_t room)
{
	const struct tare_group *group;
	struct tare_enter enter;
	size_t count = 0;

	if (tare_enter(&enter, graphs))
		return 0;
	for (group = graphs->groups.first; group; group = group->next, count++)
		if (count < room)
			rows[count] = describe(group);
	tare_leave(&enter, 0);
	return count;
}
