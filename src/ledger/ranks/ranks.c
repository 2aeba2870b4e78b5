/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks: which processes make one up, how it ended, and which of a job failed first. All of it is in
 * what the reader says of processes; no event is needed.
 */
#include "ledger/ranks/ranks.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const struct tare_process *process_at(const struct tare_fold *f, int i)
{
	return f->processes[i] ? f->processes[i]->process : NULL;
}

static bool is_member(const struct tare_process *p)
{
	return p && p->role == TARE_ROLE_PROGRAM && p->rank.rank >= 0;
}

static bool is_same_rank(const struct tare_process *p, const struct tare_process *q)
{
	return p->rank.rank == q->rank.rank && p->rank.attempt == q->rank.attempt && !strcmp(p->rank.job, q->rank.job);
}

/* A parent, or what it was before an exec, speaks for its children. */
static bool is_below(const struct tare_process *p, const struct tare_process *q)
{
	if (p->machine != q->machine || p->pid_namespace != q->pid_namespace)
		return false;
	return p->ppid == q->pid || (p->pid == q->pid && p->generation < q->generation);
}

/* The process of the rank whose end is the rank's: no child of another, and the last to be heard of. */
static const struct tare_process *find_root(const struct tare_fold *f, const struct tare_process *p)
{
	const struct tare_process *root = NULL;

	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process *q = process_at(f, i);
		bool is_child = false;

		if (!is_member(q) || !is_same_rank(p, q))
			continue;
		for (int k = 0; k < f->process_nr && !is_child; k++) {
			const struct tare_process *up = process_at(f, k);

			is_child = up != q && is_member(up) && is_same_rank(p, up) && is_below(q, up);
		}
		if (!is_child && (!root || root->last_ns < q->last_ns))
			root = q;
	}
	return root ? root : p;
}

/* A wrapper script never opened the GPU, so its end is known of the `tare` in front of it only. */
static const struct tare_process *status_of(const struct tare_fold *f, const struct tare_process *root)
{
	for (int i = 0; i < f->process_nr && !root->is_status_known; i++) {
		const struct tare_process *p = process_at(f, i);

		if (p && p->role == TARE_ROLE_TARE && p->is_status_known && is_same_rank(p, root) &&
		    !strcmp(p->folder, root->folder))
			return p;
	}
	return root;
}

static void set_end(const struct tare_fold *f, struct tare_rank_ledger *r, const struct tare_process *root)
{
	const struct tare_process *p = status_of(f, root);

	r->end_ns = root->is_ended || !p->is_status_known ? root->last_ns : p->status_ns;
	r->code = -1;
	if (p->is_status_known && WIFSIGNALED(p->status)) {
		r->end = TARE_RANK_SIGNAL;
		r->code = WTERMSIG(p->status);
		r->is_oom = r->code == 9 && p->oom_kills > 0;
	} else if (p->is_status_known) {
		r->end = TARE_RANK_EXITED;
		r->code = WEXITSTATUS(p->status);
	} else if (root->is_ended) {
		r->end = TARE_RANK_EXITED;
	} else {
		r->end = root->is_open ? TARE_RANK_RUNS : TARE_RANK_KILLED;
	}
	r->is_failed =
		r->end == TARE_RANK_SIGNAL || r->end == TARE_RANK_KILLED || (r->end == TARE_RANK_EXITED && r->code > 0);
}

TARE_COMPARATOR(by_rank, struct tare_rank_ledger, TARE_ALPHABETIC(job) TARE_RISING(attempt) TARE_RISING(rank))

/* The index of a process's rank, -1: not there yet. */
static int find(const struct tare_ranks_part *t, const struct tare_process *p)
{
	for (int i = 0; i < t->count; i++)
		if (t->items[i].rank == p->rank.rank && t->items[i].attempt == p->rank.attempt &&
		    !strcmp(t->items[i].job, p->rank.job))
			return i;
	return -1;
}

static void add(struct tare_ranks_part *t, const struct tare_fold *f, const struct tare_process *p)
{
	struct tare_rank_ledger *r = &t->items[t->count];
	const struct tare_process *root;

	if (find(t, p) >= 0)
		return;
	t->count++;
	root = find_root(f, p);
	*r = (struct tare_rank_ledger){ .rank = p->rank.rank,
		                            .local = p->rank.local,
		                            .world = p->rank.world,
		                            .attempt = p->rank.attempt,
		                            .job = p->rank.job,
		                            .launcher = p->rank.launcher,
		                            .host = p->host,
		                            .pid = root->pid,
		                            .first_ns = p->first_ns };
	set_end(f, r, root);
}

/* When one was killed unseen is not known: it comes first only if no other failed. */
static bool fails_before(const struct tare_rank_ledger *a, const struct tare_rank_ledger *b)
{
	bool is_a_known = a->end != TARE_RANK_KILLED, is_b_known = b->end != TARE_RANK_KILLED;

	if (!a->is_failed || strcmp(a->job, b->job) || a->attempt != b->attempt)
		return false;
	if (is_a_known != is_b_known)
		return is_a_known;
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->rank < b->rank;
}

static void find_first_failures(struct tare_ranks_part *t)
{
	for (int i = 0; i < t->count; i++) {
		struct tare_rank_ledger *r = &t->items[i];

		r->is_first = r->is_failed;
		for (int k = 0; k < t->count && r->is_first; k++)
			r->is_first = k == i || !fails_before(&t->items[k], r);
	}
}

void tare_ranks_begin(struct tare_ranks_part *t, const struct tare_fold *f)
{
	free(t->items);
	free(t->of);
	t->count = 0;
	t->items = tare_xcalloc((size_t)f->process_nr + 1, sizeof(*t->items));
	t->of = tare_xcalloc((size_t)f->process_nr + 1, sizeof(*t->of));
	t->process_nr = f->process_nr;
	for (int i = 0; i < f->process_nr; i++)
		if (is_member(process_at(f, i)))
			add(t, f, process_at(f, i));
	TARE_SORT(t->items, t->count, by_rank);
	find_first_failures(t);
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process *p = process_at(f, i);
		struct tare_rank_ledger *r;

		t->of[i] = is_member(p) ? find(t, p) : -1;
		if (t->of[i] < 0)
			continue;
		r = &t->items[t->of[i]];
		r->process_nr++;
		r->first_ns = p->first_ns < r->first_ns ? p->first_ns : r->first_ns;
	}
}

void tare_ranks_process_row(const struct tare_ranks_part *t, int process, struct tare_row *row)
{
	row->rank_at = process < t->process_nr ? t->of[process] : -1;
}

void tare_ranks_rows(const struct tare_ranks_part *t, const struct tare_fold *f, struct tare_ledger *out)
{
	(void)f;
	out->rank_nr = t->count;
	out->ranks = tare_arena_alloc(out->memory, (size_t)t->count * sizeof(*out->ranks) + 1);
	for (int i = 0; i < t->count; i++) {
		out->ranks[i] = t->items[i];
		out->ranks[i].job = tare_arena_strdup(out->memory, t->items[i].job);
		out->ranks[i].host = tare_arena_strdup(out->memory, t->items[i].host);
	}
}

const char *tare_ranks_check(const struct tare_ranks_part *t, const struct tare_fold *f)
{
	int members = 0, known = 0;

	for (int i = 0; i < t->process_nr; i++)
		members += is_member(process_at(f, i));
	for (int i = 0; i < t->count; i++)
		known += t->items[i].process_nr;
	return known == members ? NULL : "a process is in no rank, or in two";
}
