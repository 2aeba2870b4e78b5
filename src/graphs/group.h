/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs, few: a group per topology, and per group as many as asked for. A template is
 * launched by retargeting an executable graph of its group.
 */
#ifndef TARE_GRAPHS_GROUP_H
#define TARE_GRAPHS_GROUP_H

#include "graphs/device.h"
#include "graphs/template.h"
#include "tare/tare_graphs.h"

struct tare_group_exec {
	CUgraphExec exec;
	const struct tare_template *current; /* NULL: not known, after a failed switch */
	struct tare_template *base;          /* instantiated of its graph, and set by its nodes */
	uint64_t used_at;
	uint64_t device_bytes; /* measured around its calls */
};

struct tare_group {
	struct tare_group *next;
	struct tare_template *base; /* the first; its signature is that of all */
	bool is_refused;            /* another group has this signature, but the driver refused */
	struct tare_group_exec *execs;
	size_t execs_nr;
	uint64_t keys;
	/* switched by the card: one executable graph, and none of the above */
	bool is_device;
	uint64_t device_signature;
	struct tare_device_exec device;
	const struct tare_template *device_current;
};

struct tare_groups {
	struct tare_group *first;
	unsigned execs_max;        /* executable graphs per group, at most */
	uint64_t total_max, total; /* over all groups, at most (0: no limit), and now */
	uint64_t clock, switches;
	double update_ns, set_ns;        /* per node: running means */
	struct tare_graphs_stats *stats; /* counts switches */
	struct tare_switcher device;
};

void tare_groups_init(struct tare_groups *groups, unsigned execs_max, uint64_t total_max,
                      struct tare_graphs_stats *stats);

/*
 * Finds or makes the group of a template; no replay may run if the card switches. What can fail about a template fails here: on success the template
 * has been in an executable graph once.
 */
int tare_groups_join(struct tare_groups *groups, struct tare_template *tmpl, struct tare_group **out);
/*
 * A template leaves its group. With the last template the executable graphs are destroyed: none of them may be
 * running.
 */
void tare_groups_leave(struct tare_groups *groups, struct tare_group *group, const struct tare_template *tmpl);

/*
 * Finds or switches an executable graph to do what the template says. On failure the other ones are as they
 * were.
 */
int tare_group_ready(struct tare_groups *groups, struct tare_group *group, struct tare_template *tmpl, CUstream stream,
                     CUgraphExec *exec);

#endif
