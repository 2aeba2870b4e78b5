/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "lost": records that are missing may have said anything. From the first of them on nothing of their
 * process is more than inferred.
 */
#include "ledger/losses/losses.h"

#include "base/array.h"
#include "base/comparator.h"
#include "record/decode.h"

static void add(struct tare_losses_part *p, struct tare_loss_fold by)
{
	struct tare_loss_fold *l = NULL;

	if (by.to_ns < by.from_ns) /* damage */
		by.to_ns = by.from_ns;
	for (size_t i = 0; i < p->count && !l; i++)
		if (p->items[i].process == by.process && p->items[i].tid == by.tid && p->items[i].reason == by.reason)
			l = &p->items[i];
	if (!l) {
		TARE_APPEND(p->items, p->count, p->cap) = by;
		return;
	}
	l->records += by.records;
	l->from_ns = l->from_ns < by.from_ns ? l->from_ns : by.from_ns;
	l->to_ns = l->to_ns > by.to_ns ? l->to_ns : by.to_ns;
}

static void keep(struct tare_losses_part *p, const struct tare_loss_fold *l)
{
	TARE_APPEND(p->told, p->told_nr, p->told_cap) = *l;
}

/* Before the first that is told of, those of the state that the fold goes on from. */
static void keep_told(struct tare_losses_part *p, const struct tare_loss_fold *l)
{
	size_t known = p->told_nr ? 0 : p->count;

	for (size_t i = 0; i < known; i++) {
		p->items[i].told_ns = INT64_MIN;
		keep(p, &p->items[i]);
	}
	keep(p, l);
}

/* The first pass: a LOST record stands behind what was lost. */
void tare_losses_prepass(struct tare_losses_part *p, const struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_lost *r = e->rec.lost;
	struct tare_loss_fold l;

	if (e->kind != TARE_KIND_LOST || !e->process || (!r->records && r->reason != TARE_LOST_DAMAGED))
		return;
	l = (struct tare_loss_fold){ .process = e->process->index,
		                         .tid = r->tid,
		                         .reason = r->reason,
		                         .records = r->records,
		                         .from_ns = r->first ? e->begin_ns : e->process->first_ns,
		                         .to_ns = e->end_ns,
		                         .told_ns = e->at_ns };
	if (f->keeps_history)
		keep_told(p, &l);
	add(p, l);
}

/* Adds what the reader found missing, which no record tells of. */
void tare_losses_begin(struct tare_losses_part *p, const struct tare_fold *f)
{
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process *of = f->processes[i] ? f->processes[i]->process : NULL;

		if (of && of->is_damaged)
			add(p, (struct tare_loss_fold){ .process = i,
			                                .reason = TARE_LOST_DAMAGED,
			                                .records = of->damaged_records,
			                                .from_ns = of->damage_from_ns,
			                                .to_ns = of->damage_to_ns });
	}
}

void tare_losses_forget(struct tare_losses_part *p, int64_t until)
{
	size_t n = 0;

	if (p->told_nr)
		p->count = 0;
	for (size_t i = 0; i < p->told_nr; i++)
		if (p->told[i].told_ns <= until)
			add(p, p->told[i]);
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].reason != TARE_LOST_DAMAGED)
			p->items[n++] = p->items[i];
	p->count = n;
}

void tare_losses_learn(struct tare_losses_part *p, const struct tare_losses_part *later)
{
	p->count = 0;
	for (size_t i = 0; i < later->count; i++)
		add(p, later->items[i]);
}

/* Up to t. */
static bool losses_has(const struct tare_losses_part *p, int process, int64_t t)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process && p->items[i].from_ns <= t)
			return true;
	return false;
}

enum tare_evidence tare_losses_evidence(const struct tare_losses_part *p, int process, int64_t t,
                                        enum tare_evidence evidence)
{
	if (evidence >= TARE_EVIDENCE_INFERRED || process < 0 || !losses_has(p, process, t))
		return evidence;
	return TARE_EVIDENCE_INFERRED;
}

void tare_losses_doubt(const struct tare_losses_part *p, const struct tare_fold *f, int64_t t, struct tare_ledger *out)
{
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_host_ledger *h;

		if (!f->processes[i] || f->processes[i]->host_row < 0)
			continue;
		h = &out->hosts[f->processes[i]->host_row];
		h->evidence = tare_losses_evidence(p, i, t, h->evidence);
		for (int k = 0; k < h->line_nr; k++)
			h->lines[k].evidence = tare_losses_evidence(p, i, t, h->lines[k].evidence);
	}
}

TARE_COMPARATOR(by_process, struct tare_loss_fold, TARE_RISING(process) TARE_RISING(tid) TARE_RISING(reason))

static void doubt_timeline(struct tare_timeline *t, const struct tare_loss_fold *l)
{
	double width = t->nr ? (double)(t->to_ns - t->from_ns) / t->nr : 0;

	for (int i = 0; i < t->nr; i++) {
		double from = (double)t->from_ns + width * i;

		if (from <= (double)l->to_ns && from + width >= (double)l->from_ns)
			t->used[i] = -1;
	}
}

/*
 * What stands between damage and damage may have been anything, on every device that the process was on. Of records that were
 * lost in order only the first and the last time is known, which may be far apart: the curve stays.
 */
static void doubt_timelines(const struct tare_fold *f, const struct tare_loss_fold *l, struct tare_ledger *out)
{
	const struct tare_process_fold *of = f->processes[l->process];

	if (l->reason != TARE_LOST_DAMAGED || of->process->role != TARE_ROLE_PROGRAM)
		return;
	doubt_timeline(&out->host_timeline, l);
	for (int i = 0; i < f->device_nr; i++)
		if (i < of->on_device_nr && of->on_device[i] && f->devices[i])
			doubt_timeline(&out->devices[tare_fold_device_place(f, f->devices[i])].timeline, l);
}

void tare_losses_rows(const struct tare_losses_part *p, const struct tare_fold *f, struct tare_ledger *out)
{
	out->loss_nr = (int)p->count;
	out->losses = tare_arena_alloc(out->memory, p->count * sizeof(*out->losses) + 1);
	TARE_SORT(p->items, p->count, by_process);
	for (size_t i = 0; i < p->count; i++) {
		const struct tare_loss_fold *l = &p->items[i];
		const struct tare_process *of = f->processes[l->process]->process;

		doubt_timelines(f, l, out);
		out->losses[i] = (struct tare_loss){
			.pid = of->pid,
			.generation = of->generation,
			.program = tare_arena_strdup(out->memory, of->program ? of->program : ""),
			.tid = l->tid,
			.records = l->records,
			.from_ns = l->from_ns,
			.to_ns = l->to_ns,
			.reason = tare_lost_word(l->reason),
			.why = tare_lost_meaning(l->reason),
			.is_of_tare = of->role != TARE_ROLE_PROGRAM,
		};
	}
}

const char *tare_losses_check(const struct tare_losses_part *p, const struct tare_fold *f)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process >= f->process_nr || p->items[i].to_ns < p->items[i].from_ns)
			return "records were lost of a process that is none, or until before they were";
	return NULL;
}
