/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "read back": a program on a simulated GPU reads what a kernel would have computed. The recorder counts such calls by their
 * stacks, and tells the counts so far; places with the same line are one row of a process.
 */
#include "ledger/read_backs/read_backs.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/sat.h"

#include <string.h>

enum { PLACES_MAX = 4096 };

void tare_read_backs_event(struct tare_read_backs_part *t, struct tare_fold *f, struct tare_device_fold *d,
                           const struct tare_event *e)
{
	const struct tare_rec_read_back *r = e->rec.read_back;
	struct tare_read_back_fold *item = NULL;

	(void)d;
	if (!e->process || !r->count)
		return;
	for (size_t i = 0; i < t->count && !item; i++)
		if (t->items[i].process == e->process->index && t->items[i].python == r->python &&
		    t->items[i].stack == r->stack)
			item = &t->items[i];
	if (!item) {
		if (t->count == PLACES_MAX) /* damage: a process tells of a thousand at most */
			return;
		item = &TARE_APPEND(t->items, t->count, t->cap);
		*item = (struct tare_read_back_fold){ .process = e->process->index,
			                                  .python = r->python,
			                                  .stack = r->stack,
			                                  .site = tare_fold_origin(f, tare_fold_process(f, e->process), e).site };
	}
	item->count = item->count > r->count ? item->count : r->count;
	item->bytes = item->bytes > r->bytes ? item->bytes : r->bytes;
	item->is_overflow |= r->overflow == 1;
}

TARE_COMPARATOR(by_count, struct tare_read_back, TARE_FALLING(count) TARE_RISING(number))

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Calls of several libraries, or by several ways, may come from one line: one row, or a new one. */
static struct tare_read_back *row_of(struct tare_ledger *out, const struct tare_read_back *like)
{
	for (int i = 0; i < out->read_back_nr; i++)
		if (out->read_backs[i].pid == like->pid && out->read_backs[i].generation == like->generation &&
		    out->read_backs[i].is_overflow == like->is_overflow &&
		    is_same_text(out->read_backs[i].source, like->source))
			return &out->read_backs[i];
	out->read_backs[out->read_back_nr] = *like;
	out->read_backs[out->read_back_nr].number = out->read_back_nr;
	return &out->read_backs[out->read_back_nr++];
}

void tare_read_backs_rows(const struct tare_read_backs_part *t, const struct tare_fold *f, struct tare_ledger *out)
{
	out->read_backs = tare_arena_alloc(out->memory, (t->count + 1) * sizeof(*out->read_backs));
	out->read_back_nr = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct tare_read_back_fold *item = &t->items[i];
		const struct tare_process *p = f->processes[item->process]->process;
		struct tare_read_back *row =
			row_of(out, &(struct tare_read_back){
							.pid = p->pid,
							.generation = p->generation,
							.is_overflow = item->is_overflow,
							.source = tare_fold_site_name(f, item->site, true, out->memory),
							.short_source = tare_fold_site_name(f, item->site, false, out->memory),
						});

		row->count += item->count;
		row->bytes = tare_sat_addu(row->bytes, item->bytes);
	}
	TARE_SORT(out->read_backs, out->read_back_nr, by_count);
}

const char *tare_read_backs_check(const struct tare_read_backs_part *t, const struct tare_fold *f)
{
	for (size_t i = 0; i < t->count; i++)
		if (!t->items[i].count || t->items[i].process >= f->process_nr)
			return "something was read back by nobody, or never";
	return NULL;
}
