/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's allocator is asked at safe points what it counts itself (POOL_WITNESS). It knows what of a block
 * is rounding, which it tells nobody else; and what it has in blocks and segments must be what the books have.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "record/bytes.h"

#include <stdlib.h>

static int64_t known(uint64_t bytes, int64_t most)
{
	return bytes <= (uint64_t)most ? (int64_t)bytes : -1;
}

size_t tare_tensors_ask(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                        const struct tare_event *e)
{
	const struct tare_rec_pool_witness *r = e->rec.pool_witness;
	struct tare_pool_self_report_fold *w;

	if (!tare_bytes_are_known(r->reserved) || r->allocated > r->reserved)
		return 0;
	tare_fold_process(f, e->process);
	w = &TARE_APPEND(tensors->self_reports, tensors->self_report_nr, tensors->self_report_cap);
	*w = (struct tare_pool_self_report_fold){
		.process = e->process->index,
		.device = d->index,
		.said = { .pid = e->process->pid,
		          .generation = e->process->generation,
		          .t_ns = e->at_ns,
		          .allocated = (int64_t)r->allocated,
		          .reserved = (int64_t)r->reserved,
		          .active = known(r->active, (int64_t)r->reserved),
		          .requested = known(r->requested, (int64_t)r->allocated),
		          .inactive_split = known(r->inactive_split, (int64_t)r->reserved) },
	};
	return tensors->self_report_nr;
}

static const char *apart(char text[TARE_UNITS_TEXT_MAX], int64_t ours, int64_t said)
{
	return tare_units_human(text, (uint64_t)(ours < said ? said - ours : ours - said));
}

static void note(struct tare_fold *f, const struct tare_device *device, const struct tare_pool_self_report *s)
{
	char t[TARE_UNITS_TEXT_MAX], live[TARE_UNITS_TEXT_MAX], segments[TARE_UNITS_TEXT_MAX];

	tare_fold_note(f,
	               "GPU %d: PyTorch's allocator of process %lld counted otherwise at %s: it had %s %s in blocks "
	               "and %s %s in segments than the ledger",
	               tare_device_number(device), (long long)s->pid, tare_units_duration(t, s->t_ns),
	               apart(live, s->live, s->allocated), s->allocated < s->live ? "less" : "more",
	               apart(segments, s->segments, s->reserved), s->reserved < s->segments ? "less" : "more");
}

/* Nothing to compare with where no block was told, or where some went by unseen. One sentence for each place. */
void tare_tensors_look(struct tare_tensors_part *tensors, struct tare_fold *f, size_t self_report)
{
	struct tare_pool_self_report_fold *w = &tensors->self_reports[self_report];
	struct tare_process_on_device *p = tare_fold_process_on(f, w->process, w->device);
	struct tare_pool_self_report *s = &w->said;

	if (!p->blocks.cap || f->pause_nr)
		return;
	s->is_compared = true;
	for (size_t i = 0; i < p->segments.count; i++) {
		s->live += p->segments.items[i].live;
		s->segments += (int64_t)p->segments.items[i].size;
	}
	if (p->is_contradicted || (s->live == s->allocated && s->segments == s->reserved))
		return;
	p->is_contradicted = true;
	note(f, f->devices[w->device]->device, s);
}

/* The end is when the books changed last: what was said after it is of that state too. */
void tare_fold_self_report_rows(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                                const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                                struct tare_arena *memory, struct tare_device_ledger *out)
{
	int64_t until = f->is_over && m == TARE_MOMENT_NOW ? INT64_MAX : t;
	size_t *last;

	if (!tensors->self_report_nr)
		return;
	last = tare_xcalloc((size_t)f->process_nr, sizeof(*last));
	for (size_t k = 0; k < tensors->self_report_nr && tensors->self_reports[k].said.t_ns <= until; k++)
		if (tensors->self_reports[k].device == d->index)
			last[tensors->self_reports[k].process] = k + 1;
	out->self_reports = tare_arena_alloc(memory, ((size_t)f->process_nr + 1) * sizeof(*out->self_reports));
	for (int i = 0; i < f->process_nr; i++)
		if (last[i] && !(f->processes[i]->is_ended && f->processes[i]->end_ns < t))
			out->self_reports[out->self_report_nr++] = tensors->self_reports[last[i] - 1].said;
	free(last);
}
