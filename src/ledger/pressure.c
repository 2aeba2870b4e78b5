/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/pressure.h"

#include "base/array.h"
#include "trace/recording.h"

#include <stdlib.h>

enum { OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* A refusal after which a process has got no memory yet. */
struct open_refusal {
	uint64_t calls;
	uint64_t bytes; /* bytes of the last refused call, 0: not known */
	const char *api;
	int64_t ns; /* when the last was refused */
};

struct build {
	struct tare_pressure *out;
	struct open_refusal *open; /* by process */
	size_t open_nr, open_cap;
};

static struct open_refusal *open_of(struct build *b, const struct tare_process *p)
{
	size_t index = p ? (size_t)p->index : 0;

	b->open = tare_array_reserve(b->open, &b->open_cap, index + 1, sizeof(*b->open));
	while (b->open_nr <= index)
		b->open[b->open_nr++] = (struct open_refusal){ .ns = -1 };
	return &b->open[index];
}

static void refuse(struct build *b, const struct tare_event *e)
{
	struct open_refusal *open = open_of(b, e->process);

	if (b->out->largest < e->rec.event->asked)
		b->out->largest = e->rec.event->asked;
	if (b->out->first_ns < 0)
		b->out->first_ns = e->end_ns;
	b->out->refused++;
	b->out->ns += e->end_ns - e->begin_ns;
	open->calls++;
	open->bytes = e->rec.event->asked;
	open->api = e->api;
	open->ns = e->end_ns;
}

/*
 * A process gets memory: less than it was refused does not end the refusal, as a program that ran out of
 * memory may still get a few bytes.
 */
static void give(struct build *b, const struct tare_event *e)
{
	struct open_refusal *open = open_of(b, e->process);
	uint64_t bytes = e->rec.event->granted ? e->rec.event->granted : e->rec.event->asked;

	if (!open->calls || (open->bytes && bytes && bytes < open->bytes))
		return;
	b->out->retries += open->calls;
	*open = (struct open_refusal){ .ns = -1 };
}

static bool takes_memory(const struct tare_rec_event *e)
{
	return e->effect == TARE_EFFECT_NEW || e->after > e->before;
}

static void see(struct build *b, const struct tare_event *e)
{
	if (e->kind ==
	    TARE_KIND_REFUSALS) { /* of a span that a checkpoint replaced: how it went on is not known */
		b->out->refused += e->rec.refusals->count;
		b->out->retries += e->rec.refusals->count;
		if (b->out->largest < e->rec.refusals->largest)
			b->out->largest = e->rec.refusals->largest;
		if (b->out->first_ns < 0 || b->out->first_ns > e->rec.refusals->first_ns)
			b->out->first_ns = e->rec.refusals->first_ns;
		return;
	}
	if (e->kind != TARE_KIND_EVENT || e->rec.event->tid & TARE_TID_INSIDE)
		return;
	if (!(e->rec.event->flags & TARE_EVENT_FAILED)) {
		if (takes_memory(e->rec.event))
			give(b, e);
	} else if (e->rec.event->result == OUT_OF_MEMORY &&
		   e->rec.event->effect != TARE_EFFECT_UNDO) {
		refuse(b, e);
	}
}

void tare_pressure_build(const struct tare_ledger_source *source, struct tare_pressure *out)
{
	struct build b = { .out = out };
	struct tare_event e;
	int64_t last = -1;

	*out = (struct tare_pressure){ .first_ns = -1, .out_api = "" };
	source->rewind(source->arg);
	while (source->next(source->arg, &e))
		see(&b, &e);
	for (size_t i = 0; i < b.open_nr; i++)
		if (b.open[i].calls && b.open[i].ns > last) {
			last = b.open[i].ns;
			out->is_out = true;
			out->out_bytes = b.open[i].bytes;
			out->out_api = b.open[i].api ? b.open[i].api : "";
		}
	free(b.open);
}

static bool next_of_recording(void *arg, struct tare_event *e)
{
	return tare_recording_next(arg, e);
}

static void rewind_recording(void *arg)
{
	tare_recording_rewind(arg);
}

void tare_pressure_of_recording(struct tare_recording *recording, struct tare_pressure *out)
{
	const struct tare_ledger_source source = { .next = next_of_recording,
						   .rewind = rewind_recording,
						   .arg = recording };

	tare_pressure_build(&source, out);
}
