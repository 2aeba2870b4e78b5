/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs, few: a group per topology, and per group as many as asked for. A template is
 * launched by retargeting an executable graph of its group.
 */
#ifndef TARE_GRAPHS_GROUP_H
#define TARE_GRAPHS_GROUP_H

#include "graphs/template.h"
#include "tare/tare_graphs.h"

struct tare_group_exec {
	CUgraphExec exec;
	const struct tare_template *current; /* NULL: not known, after a failed switch */
	uint64_t used_at;
	uint64_t device_bytes; /* weighed */
};

struct tare_group {
	struct tare_group *next;
	struct tare_template *base; /* what all were instantiated from: its nodes name theirs */
	bool is_refused;            /* another group has this signature, but the driver refused */
	struct tare_group_exec *execs;
	size_t execs_nr;
	uint64_t keys;
};

struct tare_groups {
	struct tare_group *first;
	unsigned execs_max; /* per group */
	uint64_t clock, switches;
	double update_ns, set_ns;        /* per node, as measured lately */
	struct tare_graphs_stats *stats; /* of switches */
};

void tare_groups_init(struct tare_groups *groups, unsigned execs_max,
		      struct tare_graphs_stats *stats);

/*
 * Finds or makes the group of a template. What can fail about the template fails here: afterwards
 * it has been in an executable graph once.
 */
int tare_groups_join(struct tare_groups *groups, struct tare_template *tmpl,
		     struct tare_group **out);
/* The last one to leave takes the executable graphs along: none of them may be running. */
void tare_groups_leave(struct tare_groups *groups, struct tare_group *group,
		       const struct tare_template *tmpl);

/* An executable graph that does what the template says. On failure the others are as they were. */
int tare_group_ready(struct tare_groups *groups, struct tare_group *group,
		     const struct tare_template *tmpl, CUgraphExec *exec);

#endif
