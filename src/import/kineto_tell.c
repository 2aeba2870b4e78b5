/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a whole trace of torch.profiler as records, in the order of time. */
#include "import/kineto_tell.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"
#include "import/kineto_gpu.h"
#include "import/kineto_match.h"
#include "import/kineto_modules.h"
#include "import/torch_library.h"

#include <stdlib.h>

#define AFTER_NS 100000 /* the program went on when the trace ended */

struct teller {
	struct tare_kineto *k;
	struct tare_import_out *out;
	struct tare_kineto_told *told;
	struct tare_kineto_gpu gpus[TARE_KINETO_GPUS];
	bool is_there[TARE_KINETO_GPUS];
	struct tare_kineto_modules modules;
};

TARE_COMPARATOR(by_time, struct tare_kineto_event, TARE_RISING(t_ns) TARE_RISING(kind) TARE_RISING(number))

static uint32_t tid_of(int64_t tid)
{
	return (uint32_t)tid & 0x7fffffff;
}

/* ---- before the first event ---- */

static void find_addresses(struct teller *c)
{
	TARE_FREED_HERE struct tare_kineto_match *match = tare_xcalloc(TARE_KINETO_GPUS + 1, sizeof(*match));

	for (size_t i = 0; i < c->k->count; i++) {
		struct tare_kineto_event *e = &c->k->events[i];

		if (e->kind != TARE_KINETO_MEMORY || e->address)
			continue;
		c->told->guessed++;
		e->address = e->bytes > 0 ? tare_kineto_match_begin(&match[e->device], (uint64_t)e->bytes)
		                          : tare_kineto_match_end(&match[e->device], -(uint64_t)e->bytes);
	}
	for (int i = 0; i <= TARE_KINETO_GPUS; i++)
		tare_kineto_match_free(&match[i]);
}

static void begin_gpu(struct teller *c, const struct tare_kineto_event *first)
{
	const struct tare_kineto_device *d = &c->k->devices[first->device];

	if (c->is_there[first->device])
		return;
	c->is_there[first->device] = true;
	if (!c->told->gpus++)
		tare_torch_library_name(c->out);
	c->told->has_reserved |= first->reserved != TARE_NOT_KNOWN;
	tare_kineto_gpu_begin(&c->gpus[first->device], c->out,
	                      tare_import_device(c->out, d->name ? d->name : "", first->device, d->total), first->reserved,
	                      tare_kineto_spans_saying(&c->k->spans, "no line in the trace"));
}

static void host_block(struct teller *c, const struct tare_kineto_from *from, uint64_t address, int64_t bytes)
{
	struct tare_rec_tensor rec = { .head = { .kind = TARE_KIND_TENSOR },
		                           .block = address,
		                           .bytes = bytes,
		                           .tid = from->tid,
		                           .device = -1,
		                           .flags = from->flags | TARE_TENSOR_HOST,
		                           .python = bytes > 0 ? from->python : 0 };

	tare_import_add(c->out, tare_import_later(c->out, from->t_ns), &rec, sizeof(rec), NULL, 0);
}

/* What goes and never came was there before; so was what totals have beyond that. */
static void tell_before(struct teller *c)
{
	struct tare_kineto_from from = { .tid = 1, .python = tare_kineto_spans_saying(&c->k->spans, "before the trace") };
	uint64_t before[TARE_KINETO_GPUS + 1] = { 0 }, total[TARE_KINETO_GPUS] = { 0 };
	struct tare_map live[TARE_KINETO_GPUS + 1] = { 0 };
	bool is_seen[TARE_KINETO_GPUS + 1] = { false };
	struct tare_kineto_event *starts = NULL;
	size_t count = 0, cap = 0;

	for (size_t i = 0; i < c->k->count; i++) {
		const struct tare_kineto_event *e = &c->k->events[i];

		if (e->kind != TARE_KINETO_MEMORY)
			continue;
		if (!is_seen[e->device] && e->device != TARE_KINETO_CPU) {
			begin_gpu(c, e);
			if (e->allocated != TARE_NOT_KNOWN)
				total[e->device] = e->allocated - (uint64_t)e->bytes;
		}
		is_seen[e->device] = true;
		if (e->bytes > 0) {
			*tare_map_put(&live[e->device], e->address, NULL) = 1;
		} else if (!tare_map_remove(&live[e->device], e->address, NULL)) {
			TARE_APPEND(starts, count, cap) = *e;
			before[e->device] -= (uint64_t)e->bytes;
		}
	}
	for (int i = 0; i < TARE_KINETO_GPUS; i++)
		if (c->is_there[i] && total[i] > before[i] && total[i] - before[i] < TARE_KINETO_BYTES_MAX) {
			tare_kineto_gpu_before(&c->gpus[i], total[i] - before[i], from.python);
			c->told->before += total[i] - before[i];
		}
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = -(uint64_t)starts[i].bytes;

		if (starts[i].device != TARE_KINETO_CPU) {
			tare_kineto_gpu_block(&c->gpus[starts[i].device], &from, starts[i].address, bytes);
			continue;
		}
		host_block(c, &from, starts[i].address, (int64_t)bytes);
	}
	for (int i = 0; i <= TARE_KINETO_GPUS; i++)
		tare_map_free(&live[i]);
	free(starts);
}

/* ---- events ---- */

static void check_total(struct teller *c, const struct tare_kineto_event *e, const struct tare_kineto_gpu *g)
{
	if (g->allocated > c->told->most)
		c->told->most = g->allocated;
	if (e->allocated == TARE_NOT_KNOWN)
		return;
	c->told->checked++;
	c->told->apart += e->allocated != g->allocated;
}

static void tell_memory(struct teller *c, const struct tare_kineto_event *e)
{
	struct tare_kineto_gpu *g = e->device < TARE_KINETO_GPUS ? &c->gpus[e->device] : NULL;
	struct tare_kineto_from from = { .t_ns = e->t_ns, .tid = tid_of(e->tid) };

	if (e->bytes > 0) {
		struct tare_kineto_place place = tare_kineto_spans_at(&c->k->spans, e->tid, e->t_ns);

		from.python = place.python;
		if (place.module) {
			tare_kineto_modules_enter(&c->modules, &from, place.module);
			from.flags = TARE_TENSOR_IN_MODULE;
		}
	}
	if (!g) {
		host_block(c, &from, e->address, e->bytes);
		return;
	}
	if (e->bytes < 0)
		tare_kineto_gpu_block_gone(g, &from, e->address);
	if (g->knows_reserved && e->reserved != TARE_NOT_KNOWN)
		tare_kineto_gpu_reserved(g, e->t_ns, e->reserved);
	if (e->bytes > 0)
		tare_kineto_gpu_block(g, &from, e->address, (uint64_t)e->bytes);
	check_total(c, e, g);
}

static void tell_phase(struct teller *c, const struct tare_kineto_event *e)
{
	bool is_begin = e->kind == TARE_KINETO_BEGIN;
	struct tare_rec_phase rec = {
		.head = { .kind = TARE_KIND_PHASE },
		.tid = tid_of(e->tid),
		.what = is_begin ? TARE_PHASE_BEGIN : TARE_PHASE_END,
		.source = TARE_PHASE_BY_TORCH,
		.name = is_begin ? tare_import_string(c->out, tare_kineto_spans_name(&c->k->spans, e->name)) : 0,
		.id = e->number
	};

	tare_import_add(c->out, e->t_ns, &rec, sizeof(rec), NULL, 0);
}

void tare_kineto_tell(struct tare_kineto *k, struct tare_import_out *out, struct tare_kineto_told *told)
{
	TARE_FREED_HERE struct teller *c = tare_xcalloc(1, sizeof(*c));

	*told = (struct tare_kineto_told){ 0 };
	c->k = k;
	c->out = out;
	c->told = told;
	TARE_SORT(k->events, k->count, by_time);
	tare_kineto_spans_begin(&k->spans, out);
	find_addresses(c);
	tare_kineto_modules_begin(&c->modules, &k->spans, out);
	tell_before(c);
	for (size_t i = 0; i < k->count; i++)
		if (k->events[i].kind == TARE_KINETO_MEMORY)
			tell_memory(c, &k->events[i]);
		else
			tell_phase(c, &k->events[i]);
	tare_import_until(out, tare_import_now(out) + AFTER_NS);
	for (int i = 0; i < TARE_KINETO_GPUS; i++) {
		told->lost += c->gpus[i].lost;
		if (c->gpus[i].beyond > told->beyond)
			told->beyond = c->gpus[i].beyond;
		tare_kineto_gpu_end(&c->gpus[i]);
	}
	told->has_modules = c->modules.is_any;
	tare_kineto_modules_free(&c->modules);
}
