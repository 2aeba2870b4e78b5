/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps few executable graphs for many templates, and retargets one for a launch. */
#include "graphs/group.h"

#include "graphs/error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* First guesses of the time per node, on an H200; measured times replace them. */
#define UPDATE_NS 330
#define SET_NS    380
#define NEW_SHARE 0.125 /* share of a new measurement in the running mean */
#define TRY_OTHER 64    /* one in so many switches goes the other way, so that both stay measured */

void tare_groups_init(struct tare_groups *groups, unsigned execs_max, uint64_t total_max,
                      struct tare_graphs_stats *stats)
{
	memset(groups, 0, sizeof(*groups));
	groups->execs_max = execs_max ? execs_max : 1;
	groups->total_max = total_max;
	groups->update_ns = UPDATE_NS;
	groups->set_ns = SET_NS;
	groups->stats = stats;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void learn(double *estimate, uint64_t ns, size_t nodes)
{
	if (nodes)
		*estimate += ((double)ns / (double)nodes - *estimate) * NEW_SHARE;
}

/* ---- switching ---- */
/* -1: the driver refuses this pair, though it may accept both with others. */
static int update(struct tare_groups *groups, struct tare_group_exec *exec, const struct tare_template *tmpl)
{
	CUgraphExecUpdateResultInfo info = { 0 };
	uint64_t begin = now_ns(), ns;
	CUresult result = tare_cu.cuGraphExecUpdate_v2(exec->exec, tmpl->graph, &info);

	/*
	 * What a failed update leaves in the executable graph is not documented: the graph is updated before
	 * its next use.
	 */
	exec->current = NULL;
	if (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
		tare_graphs_fail(TARE_GRAPHS_UNSUPPORTED, "cuGraphExecUpdate refuses this graph (result %d); capture it again",
		                 info.result);
		return -1;
	}
	if (result != CUDA_SUCCESS)
		return tare_graphs_cuda(result, "cuGraphExecUpdate");
	ns = now_ns() - begin;
	learn(&groups->update_ns, ns, tmpl->nodes_nr);
	groups->stats->updates++;
	groups->stats->update_ns += ns;
	exec->current = tmpl;
	return 0;
}

/*
 * Sets only the nodes that differ. The handles of nodes are those of the graph that was instantiated.
 */
static int set_nodes(struct tare_groups *groups, struct tare_group_exec *exec, const struct tare_template *tmpl,
                     size_t differences)
{
	const struct tare_template *had = exec->current;
	uint64_t begin = now_ns(), ns;
	size_t i;

	exec->current = NULL;
	for (i = 0; i < tmpl->nodes_nr; i++) {
		CUresult result;

		if (!tare_node_differs(had, tmpl, i))
			continue;
		result =
			tare_cu.cuGraphExecKernelNodeSetParams_v2(exec->exec, exec->base->nodes[i].node, &tmpl->nodes[i].kernel);
		if (result != CUDA_SUCCESS)
			return tare_graphs_cuda(result, "cuGraphExecKernelNodeSetParams");
	}
	ns = now_ns() - begin;
	learn(&groups->set_ns, ns, differences);
	groups->stats->node_switches++;
	groups->stats->node_switch_nodes += differences;
	groups->stats->node_switch_ns += ns;
	exec->current = tmpl;
	return 0;
}

static int switch_to(struct tare_groups *groups, struct tare_group_exec *exec, const struct tare_template *tmpl)
{
	size_t differences = exec->current ? tare_template_differences(exec->current, tmpl) : SIZE_MAX;
	bool by_nodes = (double)differences * groups->set_ns < (double)tmpl->nodes_nr * groups->update_ns;

	by_nodes ^= ++groups->switches % TRY_OTHER == 0;
	if (differences != SIZE_MAX && by_nodes && set_nodes(groups, exec, tmpl, differences) == 0)
		return 0;
	return update(groups, exec, tmpl); /* also if setting single nodes failed half-way */
}

/* ---- executable graphs ---- */
/* A destroyed executable graph that still runs does so to its end: cuGraphExecDestroy promises that. */
static void destroy_exec(struct tare_groups *groups, struct tare_group *group, struct tare_group_exec *exec)
{
	tare_cu.cuGraphExecDestroy(exec->exec);
	tare_template_drop(exec->base);
	*exec = group->execs[--group->execs_nr];
	groups->total -= !group->base->is_fixed;
}

/* Destroys the one that was used longest ago, of any group, until there is room for one more. */
static void make_room(struct tare_groups *groups)
{
	while (groups->total_max && groups->total >= groups->total_max) {
		struct tare_group *group, *of = NULL;
		struct tare_group_exec *oldest = NULL;
		size_t i;

		for (group = groups->first; group; group = group->next)
			for (i = 0; i < group->execs_nr && !group->base->is_fixed; i++)
				if (!oldest || group->execs[i].used_at < oldest->used_at)
					oldest = &group->execs[i], of = group;
		if (!oldest)
			return;
		destroy_exec(groups, of, oldest);
	}
}

static int add_exec(struct tare_groups *groups, struct tare_group *group, struct tare_template *base)
{
	size_t free_before = 0, free_after = 0, total;
	struct tare_group_exec *more, *made;
	int rc;

	if (!base->is_fixed)
		make_room(groups);
	more = realloc(group->execs, (group->execs_nr + 1) * sizeof(*more));
	if (!more)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "group: no host memory");
	group->execs = more;
	made = &more[group->execs_nr];
	memset(made, 0, sizeof(*made));
	tare_cu.cuMemGetInfo_v2(&free_before, &total);
	rc = tare_graphs_cuda(tare_cu.cuGraphInstantiateWithFlags(&made->exec, base->graph,
	                                                          CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY),
	                      "cuGraphInstantiateWithFlags");
	if (rc)
		return rc;
	tare_cu.cuMemGetInfo_v2(&free_after, &total);
	made->device_bytes = free_before > free_after ? free_before - free_after : 0;
	made->current = made->base = base;
	made->used_at = ++groups->clock;
	base->refs++;
	group->execs_nr++;
	groups->total += !base->is_fixed;
	return 0;
}

/* Where the group's were destroyed to make room: one is made again, of the very template. */
static int remake(struct tare_groups *groups, struct tare_group *group, struct tare_template *tmpl, CUgraphExec *exec)
{
	int rc = add_exec(groups, group, tmpl);

	if (rc)
		return rc;
	groups->stats->remade++;
	*exec = group->execs[group->execs_nr - 1].exec;
	return 0;
}

/* In the stream in which the launch follows. */
static int device_ready(struct tare_groups *groups, struct tare_group *group, const struct tare_template *tmpl,
                        CUstream stream, CUgraphExec *exec)
{
	int rc = 0;

	*exec = group->device.exec;
	if (group->device_current == tmpl) {
		groups->stats->repeats++;
		return 0;
	}
	group->device_current = NULL;
	rc = tare_device_switch(&groups->device, tmpl, &group->device, stream);
	if (rc)
		return rc;
	groups->stats->device_switches++;
	group->device_current = tmpl;
	return 0;
}

int tare_group_ready(struct tare_groups *groups, struct tare_group *group, struct tare_template *tmpl, CUstream stream,
                     CUgraphExec *exec)
{
	struct tare_group_exec *oldest = &group->execs[0];
	size_t i;
	int rc;

	if (group->is_device)
		return device_ready(groups, group, tmpl, stream, exec);
	if (!group->execs_nr)
		return remake(groups, group, tmpl, exec);
	for (i = 0; i < group->execs_nr; i++) {
		struct tare_group_exec *at = &group->execs[i];

		if (at->current == tmpl) {
			at->used_at = ++groups->clock;
			groups->stats->repeats++;
			*exec = at->exec;
			return 0;
		}
		if (at->used_at < oldest->used_at)
			oldest = at;
	}
	rc = switch_to(groups, oldest, tmpl);
	if (rc)
		groups->stats->failed_updates++;
	if (rc == -1) { /* this pair the driver refuses, so the template gets one of its own */
		destroy_exec(groups, group, oldest);
		return remake(groups, group, tmpl, exec);
	}
	if (rc)
		return rc;
	oldest->used_at = ++groups->clock;
	*exec = oldest->exec;
	return 0;
}

/* ---- groups ---- */
static void append(struct tare_groups *groups, struct tare_group *group)
{
	struct tare_group **last = &groups->first;

	while (*last)
		last = &(*last)->next;
	*last = group;
	group->base->refs++;
	group->keys = 1;
}

static int make_group(struct tare_groups *groups, struct tare_template *tmpl, bool is_refused, struct tare_group **out)
{
	struct tare_group *group = calloc(1, sizeof(*group));
	int rc;

	if (!group)
		return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "group: no host memory");
	group->base = tmpl;
	group->is_refused = is_refused;
	rc = add_exec(groups, group, tmpl);
	if (rc) {
		free(group->execs);
		free(group);
		return rc;
	}
	append(groups, group);
	*out = group;
	return 0;
}

/* A group that the card switches. -1: not with this template. */
static int join_device(struct tare_groups *groups, struct tare_template *tmpl, struct tare_group **out)
{
	uint64_t signature = tare_device_signature(tmpl);
	struct tare_group *group;

	for (group = groups->first; group; group = group->next) {
		if (!group->is_device || group->device_signature != signature)
			continue;
		group->device_current = NULL;
		if (tare_device_try(&groups->device, tmpl, &group->device))
			return -1;
		group->keys++;
		group->device_current = tmpl;
		*out = group;
		return 0;
	}
	group = calloc(1, sizeof(*group));
	if (!group)
		return -1;
	group->is_device = true;
	group->device_signature = signature;
	group->base = tmpl;
	group->device_current = tmpl;
	if (tare_device_make(&groups->device, tmpl, &group->device)) {
		free(group);
		return -1;
	}
	append(groups, group);
	*out = group;
	return 0;
}

static struct tare_group_exec *oldest_of(struct tare_group *group)
{
	struct tare_group_exec *oldest = &group->execs[0];
	size_t i;

	for (i = 1; i < group->execs_nr; i++)
		if (group->execs[i].used_at < oldest->used_at)
			oldest = &group->execs[i];
	return oldest;
}

static void forget(struct tare_group *group, const struct tare_template *tmpl)
{
	size_t i;

	for (i = 0; i < group->execs_nr; i++)
		if (group->execs[i].current == tmpl)
			group->execs[i].current = NULL;
	if (group->device_current == tmpl)
		group->device_current = NULL;
}

/*
 * Tries the template in an executable graph of the group; then adds one more, up to execs_max. -1: the driver
 * refuses.
 */
static int try_group(struct tare_groups *groups, struct tare_group *group, struct tare_template *tmpl)
{
	struct tare_group_exec *oldest;
	int rc = group->execs_nr ? 0 : add_exec(groups, group, group->base);

	if (rc)
		return rc;
	oldest = oldest_of(group);
	rc = update(groups, oldest, tmpl);
	if (rc)
		return rc;
	oldest->used_at = ++groups->clock;
	if (group->execs_nr < groups->execs_max && (!groups->total_max || groups->total < groups->total_max))
		rc = add_exec(groups, group, tmpl);
	if (rc) {
		forget(group, tmpl);
		return rc == -1 ? TARE_GRAPHS_UNSUPPORTED : rc;
	}
	group->keys++;
	return 0;
}

int tare_groups_join(struct tare_groups *groups, struct tare_template *tmpl, struct tare_group **out)
{
	struct tare_group *group;
	bool is_refused = false;

	if (groups->device.apply && tare_device_takes(tmpl) && join_device(groups, tmpl, out) == 0)
		return 0;
	for (group = groups->first; group && !tmpl->is_fixed; group = group->next) {
		int rc;

		if (group->is_device || group->base->is_fixed || group->base->signature != tmpl->signature)
			continue;
		rc = try_group(groups, group, tmpl);
		if (rc != -1) {
			if (!rc)
				*out = group;
			return rc;
		}
		is_refused = true;
	}
	return make_group(groups, tmpl, is_refused, out);
}

static void drop_group(struct tare_groups *groups, struct tare_group *group)
{
	struct tare_group **link = &groups->first;

	while (*link != group)
		link = &(*link)->next;
	*link = group->next;
	while (group->execs_nr)
		destroy_exec(groups, group, &group->execs[0]);
	tare_device_drop(&group->device);
	tare_template_drop(group->base);
	free(group->execs);
	free(group);
}

void tare_groups_leave(struct tare_groups *groups, struct tare_group *group, const struct tare_template *tmpl)
{
	forget(group, tmpl);
	if (--group->keys == 0)
		drop_group(groups, group);
}
