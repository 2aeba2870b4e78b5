/* SPDX-License-Identifier: Apache-2.0 */
/* Phases on their way into a checkpoint; phase_load.c reads what this writes. */
#include "ledger/phases/phase.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct saving {
	const struct tare_phases_part *phases;
	const struct tare_fold *f;
	const struct tare_save *to;
	uint32_t *numbers; /* by known: of its process, from 1 */
};

static void emit(const struct saving *c, enum tare_kind kind, int process, int device,
		 const struct tare_record *rec, size_t size, const struct tare_phase_known *k)
{
	struct tare_event e = { .kind = kind,
				.process = c->f->processes[process]->process,
				.about = c->f->processes[process]->process,
				.device = device < 0 ? NULL : c->f->devices[device]->device,
				.at_ns = c->to->t,
				.begin_ns = c->to->t,
				.end_ns = c->to->t,
				.text = "" };

	if (k) {
		e.name = k->name;
		e.domain = k->domain[0] ? k->domain : NULL;
	}
	c->to->add(c->to->arg, &e, rec, size);
}

static void save_parts(const struct saving *c, int process, int device, uint32_t number,
		       bool is_open, const int64_t *parts)
{
	const struct tare_process *p = c->f->processes[process]->process;

	for (int a = 0; a < TARE_ACCOUNT_NR; a++) {
		struct tare_rec_phase_part r = { .head = { .kind = TARE_KIND_PHASE_PART },
						 .pid = p->pid,
						 .generation = p->generation,
						 .number = number,
						 .account = (uint8_t)a,
						 .is_open = is_open,
						 .bytes = parts[a] };

		if (parts[a])
			emit(c, TARE_KIND_PHASE_PART, process, device, &r.head, sizeof(r), NULL);
	}
}

static void save_sum(const struct saving *c, size_t known, int device)
{
	const struct tare_phase_known *k = &c->phases->known[known];
	const struct tare_process *p = c->f->processes[k->process]->process;
	struct tare_rec_phase_sum r = {
		.head = { .kind = TARE_KIND_PHASE_SUM },
		.pid = p->pid,
		.generation = p->generation,
		.number = c->numbers[known],
		.parent = k->parent < 0 ? 0 : c->numbers[k->parent],
		.device = -1,
		.source = k->source,
		.what = k->what,
		.threads = k->threads,
		.repeats = k->repeats,
		.unclosed = k->unclosed,
		.first_ns = k->first_ns,
		.last_ns = k->last_ns,
		.ns = k->ns,
	};

	if (device >= 0) {
		const struct tare_phase_total *t = &k->totals[device];
		int64_t start = c->f->devices[device]->used_start;

		r.seen = t->seen;
		r.used_before = t->before + start;
		r.used_after = t->after + start;
		r.change = t->change;
		r.change_min = t->change_min;
		r.change_max = t->change_max;
		r.own = t->own;
		r.own_min = t->own_min;
		r.own_max = t->own_max;
		r.peak = t->peak.used + start;
		r.peak_live = t->peak.live;
		r.peak_ns = t->peak.ns;
	}
	emit(c, TARE_KIND_PHASE_SUM, k->process, device, &r.head, sizeof(r), k);
	if (device >= 0)
		save_parts(c, k->process, device, r.number, false, k->totals[device].parts);
}

static void save_known(struct saving *c)
{
	const struct tare_fold *f = c->f;
	uint32_t *used = tare_xcalloc((size_t)f->process_nr + 1, sizeof(*used));

	for (size_t i = 0; i < c->phases->known_nr; i++) {
		c->numbers[i] = ++used[c->phases->known[i].process];
		save_sum(c, i, -1);
		for (int d = 0; d < f->device_nr; d++)
			if (f->devices[d] && c->phases->known[i].totals[d].seen)
				save_sum(c, i, d);
	}
	free(used);
}

static void save_open(const struct saving *c, const struct tare_phase_frame *x, uint32_t open,
		      int device)
{
	const struct tare_process *p = c->f->processes[x->process]->process;
	struct tare_rec_phase_open r = {
		.head = { .kind = TARE_KIND_PHASE_OPEN },
		.pid = p->pid,
		.generation = p->generation,
		.number = x->known < 0 ? 0 : c->numbers[x->known],
		.tid = x->tid,
		.open = open,
		.device = -1,
		.id = x->id,
		.begin_ns = x->begin_ns,
	};

	if (device >= 0) {
		const struct tare_phase_level *l = &x->levels[device];
		int64_t start = c->f->devices[device]->used_start;

		r.used_before = l->before + start;
		r.nested = l->nested;
		r.peak = l->peak.used + start;
		r.peak_live = l->peak.live;
		r.peak_ns = l->peak.ns;
	}
	emit(c, TARE_KIND_PHASE_OPEN, x->process, device, &r.head, sizeof(r), NULL);
	if (device >= 0)
		save_parts(c, x->process, device, open, true, x->levels[device].accounts);
}

static int by_serial(const void *a, const void *b)
{
	const struct tare_phase_frame *const *x = a, *const *y = b;

	return (*x)->serial < (*y)->serial ? -1 : 1;
}

/* In the order in which they began, so that stacks come out as they were. */
static void save_frames(const struct saving *c)
{
	const struct tare_phases_part *p = c->phases;
	const struct tare_phase_frame **open = tare_xcalloc(p->frame_nr + 1, sizeof(*open));
	uint32_t count = 0;

	for (size_t i = 0; i < p->frame_nr; i++)
		if (p->frames[i].is_used && !p->frames[i].is_ended)
			open[count++] = &p->frames[i];
	if (count)
		qsort(open, count, sizeof(*open), by_serial);
	for (uint32_t i = 0; i < count; i++) {
		save_open(c, open[i], i + 1, -1);
		for (int d = 0; d < c->f->device_nr; d++)
			if (c->f->devices[d])
				save_open(c, open[i], i + 1, d);
	}
	free(open);
}

void tare_phases_save(struct tare_phases_part *phases, struct tare_fold *f,
		      const struct tare_save *to)
{
	struct saving c = { .phases = phases, .f = f, .to = to };

	c.numbers = tare_xcalloc(phases->known_nr + 1, sizeof(*c.numbers));
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			tare_phase_peaks(phases, f->devices[i]);
	save_known(&c);
	save_frames(&c);
	free(c.numbers);
}
