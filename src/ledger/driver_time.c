/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/driver_time.h"

#include "base/array.h"
#include "ledger/run.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* A recording has some dozens of pairs of account and entry point: looking through them is quick. */
static struct tare_time_row *row_of(struct tare_time_rows *out, enum tare_account account,
				    const char *api)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->rows[i].account == account && !strcmp(out->rows[i].api, api))
			return &out->rows[i];
	out->rows = tare_array_reserve(out->rows, &out->cap, out->count + 1, sizeof(*out->rows));
	out->rows[out->count] =
		(struct tare_time_row){ .account = account, .api = api, .longest_ns = -1 };
	return &out->rows[out->count++];
}

static void add_call(struct tare_time_rows *out, const struct tare_event *e)
{
	unsigned class = e->kind == TARE_KIND_POOL ? TARE_CLASS_POOL_STATE : e->rec.event->class;
	enum tare_account account =
		class < TARE_CLASS_NR ? tare_classes[class].account : TARE_ACCOUNT_DRIVER;
	struct tare_time_row *row = row_of(out, account, e->api);
	int64_t ns = e->end_ns - e->begin_ns;

	row->calls++;
	row->total_ns += ns;
	if (ns <= row->longest_ns)
		return;
	row->longest_ns = ns;
	row->longest_at_ns = e->begin_ns;
	row->longest_name = e->name;
}

static int compare(const void *a, const void *b)
{
	const struct tare_time_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return strcmp(x->api, y->api);
}

void tare_driver_time_build(const struct tare_ledger_source *source,
			    const struct tare_time_opts *opts, struct tare_time_rows *out)
{
	struct tare_event e;

	*out = (struct tare_time_rows){ 0 };
	source->rewind(source->arg);
	while (source->next(source->arg, &e)) {
		/* The call of an UNDO was counted with its DEL. */
		if ((e.kind != TARE_KIND_EVENT && e.kind != TARE_KIND_POOL) || !e.api ||
		    e.end_ns > opts->until_ns)
			continue;
		if (e.kind == TARE_KIND_EVENT && e.rec.event->effect == TARE_EFFECT_UNDO)
			continue;
		if (opts->pid < 0 || (e.process && (int64_t)e.process->pid == opts->pid))
			add_call(out, &e);
	}
	if (out->count)
		qsort(out->rows, out->count, sizeof(*out->rows), compare);
}

static bool next_of_recording(void *arg, struct tare_event *e)
{
	return tare_recording_next(arg, e);
}

static void rewind_recording(void *arg)
{
	tare_recording_rewind(arg);
}

void tare_driver_time_of_recording(struct tare_recording *recording,
				   const struct tare_time_opts *opts, struct tare_time_rows *out)
{
	const struct tare_ledger_source source = { .next = next_of_recording,
						   .rewind = rewind_recording,
						   .arg = recording };
	static const uint16_t calls[] = { TARE_KIND_EVENT, TARE_KIND_POOL };

	tare_recording_want(recording, calls, sizeof(calls) / sizeof(calls[0]));
	rewind_recording(recording);
	tare_driver_time_build(&source, opts, out);
	tare_recording_want(recording, NULL, 0);
}

void tare_driver_time_free(struct tare_time_rows *rows)
{
	free(rows->rows);
	*rows = (struct tare_time_rows){ 0 };
}
