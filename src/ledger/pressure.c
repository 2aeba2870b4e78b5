/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the calls that were refused for want of memory, and which of them a process got over. */
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

static void refuse(struct build *b, const struct tare_event *e, uint64_t bytes)
{
	struct open_refusal *open = open_of(b, e->process);

	if (b->out->largest < bytes)
		b->out->largest = bytes;
	if (b->out->first_ns < 0)
		b->out->first_ns = e->end_ns;
	b->out->refused++;
	b->out->ns += e->end_ns - e->begin_ns;
	open->calls++;
	open->bytes = bytes;
	open->api = e->api;
	open->ns = e->end_ns;
}

/*
 * A process gets memory: less than it was refused does not end the refusal, as a program that ran out of
 * memory may still get a few bytes.
 */
static void give(struct build *b, const struct tare_event *e, uint64_t bytes)
{
	struct open_refusal *open = open_of(b, e->process);

	if (!open->calls || (open->bytes && bytes && bytes < open->bytes))
		return;
	b->out->retries += open->calls;
	*open = (struct open_refusal){ .ns = -1 };
}

static bool takes_memory(const struct tare_rec_event *e)
{
	return e->effect == TARE_EFFECT_NEW || e->after > e->before;
}

/* On the CPU PyTorch says what it was refused, and what it got. */
static bool see_cpu(struct build *b, const struct tare_event *e)
{
	if (e->kind == TARE_KIND_OOM && e->rec.oom->device < 0)
		refuse(b, e, e->rec.oom->asked);
	else if (e->kind == TARE_KIND_TENSOR && e->rec.tensor->flags & TARE_TENSOR_HOST && e->rec.tensor->bytes > 0)
		give(b, e, (uint64_t)e->rec.tensor->bytes);
	else
		return false;
	return true;
}

static void see(struct build *b, const struct tare_event *e)
{
	if (see_cpu(b, e))
		return;
	if (e->kind != TARE_KIND_EVENT || e->rec.event->tid & TARE_TID_INSIDE)
		return;
	if (!(e->rec.event->flags & TARE_EVENT_FAILED)) {
		if (takes_memory(e->rec.event))
			give(b, e, e->rec.event->granted ? e->rec.event->granted : e->rec.event->asked);
	} else if (e->rec.event->result == OUT_OF_MEMORY && e->rec.event->effect != TARE_EFFECT_UNDO) {
		refuse(b, e, e->rec.event->asked);
	}
}

static void pressure_build(const struct tare_ledger_source *source, struct tare_pressure *out)
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

	pressure_build(&source, out);
}
