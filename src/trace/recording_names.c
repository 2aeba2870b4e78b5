/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes are called in reports: `train.py`, not `python3.11`; its children that run the same program, as a
 * DataLoader and multiprocessing start them, `train.py worker 2`; a rank of a job `train.py rank 3`.
 */
#include "trace/recording_private.h"

#include "base/str.h"
#include "record/script.h"

#include <string.h>

static bool has_script(const struct tare_rprocess *p)
{
	return p->header.script[0] && strcmp(p->header.script, TARE_SCRIPT_CODE) != 0;
}

/* A child runs its parent's program if it was forked, or if multiprocessing started it, by `python -c …`. */
static bool is_worker(const struct tare_rprocess *p, const struct tare_rprocess *parent)
{
	const struct tare_process *a = &p->public, *b = &parent->public;

	return p != parent && a->ppid == b->pid && a->pid != b->pid && a->machine == b->machine &&
	       a->pid_namespace == b->pid_namespace && p->folder == parent->folder && has_script(parent) &&
	       (!strcmp(p->header.script, TARE_SCRIPT_CODE) || !strcmp(p->header.script, parent->header.script));
}

static const struct tare_rprocess *parent_of(const struct tare_recording *r, const struct tare_rprocess *p)
{
	for (size_t i = 0; p->header.script[0] && i < r->process_nr; i++)
		if (is_worker(p, r->processes[i]))
			return r->processes[i];
	return NULL;
}

/* Workers are counted in the order in which they were started, as their parents count them. */
static int number_of(const struct tare_recording *r, const struct tare_rprocess *p, const struct tare_rprocess *parent)
{
	int number = 1;

	for (size_t i = 0; i < r->process_nr; i++) {
		const struct tare_process *a = &r->processes[i]->public, *b = &p->public;

		if (is_worker(r->processes[i], parent))
			number += a->start_ticks < b->start_ticks || (a->start_ticks == b->start_ticks && a->pid < b->pid);
	}
	return number;
}

void tare_recording_name_processes(struct tare_recording *r)
{
	for (size_t i = 0; i < r->process_nr; i++) {
		struct tare_rprocess *p = r->processes[i];
		const struct tare_rprocess *parent = parent_of(r, p), *named = has_script(p) ? p : parent;
		TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

		if (!named && p->public.rank.rank < 0)
			continue;
		tare_str_add(&name, named ? named->header.script : p->public.program);
		if (name.len && p->public.rank.rank >= 0)
			tare_str_addf(&name, " rank %d", p->public.rank.rank);
		if (parent)
			tare_str_addf(&name, " worker %d", number_of(r, p, parent));
		p->public.program = tare_arena_strdup(&r->arena, tare_str_text(&name));
	}
}
