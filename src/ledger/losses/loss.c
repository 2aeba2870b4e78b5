/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "lost": records that are missing may have said anything. From the first of them on nothing of their
 * process is more than inferred.
 */
#include "ledger/fold.h"

#include "base/array.h"
#include "base/sat.h"
#include "trace/decode.h"

#include <stdlib.h>

static void add(struct tare_fold *f, const struct tare_loss_fold *by)
{
	struct tare_loss_fold *l = NULL;

	for (size_t i = 0; i < f->loss_nr && !l; i++)
		if (f->losses[i].process == by->process && f->losses[i].tid == by->tid &&
		    f->losses[i].reason == by->reason)
			l = &f->losses[i];
	if (!l) {
		f->losses = tare_array_reserve(f->losses, &f->loss_cap, f->loss_nr + 1,
					       sizeof(*f->losses));
		f->losses[f->loss_nr++] = *by;
		return;
	}
	l->records = tare_sat_addu(l->records, by->records);
	l->from_ns = l->from_ns < by->from_ns ? l->from_ns : by->from_ns;
	l->to_ns = l->to_ns > by->to_ns ? l->to_ns : by->to_ns;
}

/* The first pass: a LOST record stands behind what was lost. */
void tare_fold_loss_see(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_lost *r = e->rec.lost;

	if (!r->records && r->reason != TARE_LOST_DAMAGED)
		return;
	add(f, &(struct tare_loss_fold){ .process = e->process->index,
					 .tid = r->tid,
					 .reason = r->reason,
					 .records = r->records,
					 .from_ns = r->first ? e->begin_ns : e->process->first_ns,
					 .to_ns = e->end_ns });
}

/* … and what the reader found missing, which no record tells of. */
void tare_fold_loss_damage(struct tare_fold *f)
{
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process *p = f->processes[i] ? f->processes[i]->process : NULL;

		if (p && p->is_damaged)
			add(f, &(struct tare_loss_fold){ .process = i,
							 .reason = TARE_LOST_DAMAGED,
							 .from_ns = p->damage_from_ns,
							 .to_ns = p->damage_to_ns });
	}
}

bool tare_fold_is_lost(const struct tare_fold *f, int process, int64_t t)
{
	for (size_t i = 0; i < f->loss_nr; i++)
		if (f->losses[i].process == process && f->losses[i].from_ns <= t)
			return true;
	return false;
}

enum tare_evidence tare_fold_loss_evidence(const struct tare_fold *f, int process, int64_t t,
					   enum tare_evidence evidence)
{
	if (evidence >= TARE_EVIDENCE_INFERRED || process < 0 || !tare_fold_is_lost(f, process, t))
		return evidence;
	return TARE_EVIDENCE_INFERRED;
}

int64_t tare_fold_doubt_ns(const struct tare_fold *f, enum tare_mark m, int64_t t)
{
	return f->is_over && (m == TARE_MARK_NOW || m == TARE_MARK_END) ? INT64_MAX : t;
}

/* What is of several instants is as sure as at the last of them. */
int64_t tare_fold_doubt_ns_of(const struct tare_instant *at, const struct tare_ledger *l)
{
	int64_t t = l->t_ns;

	if (at->kind == TARE_INSTANT_MARK && at->mark == TARE_MARK_END)
		return INT64_MAX;
	for (int i = 0; l->t_ns < 0 && i < l->device_nr; i++)
		t = l->devices[i].t_ns > t ? l->devices[i].t_ns : t;
	return t < 0 ? INT64_MAX : t;
}

void tare_fold_loss_hosts(const struct tare_fold *f, int64_t t, struct tare_ledger *out)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_host_ledger *h;

		if (!f->processes[i] || f->processes[i]->host_row < 0)
			continue;
		h = &out->hosts[f->processes[i]->host_row];
		h->evidence = tare_fold_loss_evidence(f, i, t, h->evidence);
		for (int k = 0; k < h->line_nr; k++)
			h->lines[k].evidence =
				tare_fold_loss_evidence(f, i, t, h->lines[k].evidence);
	}
}

static int by_process(const void *a, const void *b)
{
	const struct tare_loss_fold *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (int)x->reason - (int)y->reason;
}

void tare_fold_snapshot_losses(const struct tare_fold *f, struct tare_ledger *out)
{
	out->loss_nr = (int)f->loss_nr;
	out->losses = tare_arena_alloc(out->memory, f->loss_nr * sizeof(*out->losses) + 1);
	if (f->loss_nr)
		qsort(f->losses, f->loss_nr, sizeof(*f->losses), by_process);
	for (size_t i = 0; i < f->loss_nr; i++) {
		const struct tare_loss_fold *l = &f->losses[i];
		const struct tare_process *p = f->processes[l->process]->process;

		out->losses[i] = (struct tare_loss){
			.pid = p->pid,
			.generation = p->generation,
			.program = tare_arena_strdup(out->memory, p->program ? p->program : ""),
			.tid = l->tid,
			.records = l->records,
			.from_ns = l->from_ns,
			.to_ns = l->to_ns,
			.reason = tare_lost_word(l->reason),
			.why = tare_lost_meaning(l->reason),
			.is_of_tare = p->role != TARE_ROLE_PROGRAM,
		};
	}
}
