/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "out of memory": PyTorch says when it gives up, on a GPU or on the CPU; of others, a call that the driver refused for want of
 * memory is one. What there was at that moment is kept, for the program may catch the error and go on.
 * Those of one line of one process are one row, the first of them in full.
 */
#include "ledger/oom/oom.h"

#include "base/array.h"

#include <string.h>

enum { OUT_OF_MEMORY = 2 /* CUresult */, ROWS_MAX = 64 };

static bool is_alike(const struct tare_oom_fold *a, const struct tare_oom_fold *b)
{
	return a->process == b->process && a->device == b->device && a->is_torch == b->is_torch && a->site == b->site &&
	       a->owner == b->owner;
}

/*
 * Makes a row for the first moment of its line and process; NULL: there was one before, or there are too many.
 */
static struct tare_oom_fold *first_of(struct tare_oom_part *t, const struct tare_oom_fold *like)
{
	for (size_t i = 0; i < t->count; i++)
		if (is_alike(&t->items[i], like) || t->count == ROWS_MAX) {
			t->items[i].count++;
			return NULL;
		}
	return TARE_ADD(t->items, t->count, t->cap, *like);
}

static bool is_of_caller(const struct tare_oom_refused *r, int process, uint32_t tid)
{
	return r->process == process && r->tid == (tid & 0x7fffffff);
}

static size_t refused_call(struct tare_oom_part *t, struct tare_fold *f, struct tare_device_fold *d,
                           const struct tare_event *e)
{
	const struct tare_rec_event *r = e->rec.event;
	struct tare_process_fold *p;
	struct tare_origin origin;
	struct tare_oom_fold *row;

	if (!(r->flags & TARE_EVENT_FAILED) || r->result != OUT_OF_MEMORY || !e->process || !r->asked)
		return 0;
	p = tare_fold_process(f, e->process);
	origin = tare_fold_origin(f, p, e);
	if (origin.owner && tare_fold_tensor_is_pool(f, origin.owner)) {
		/*
		 * PyTorch's allocator may still find memory of its own; if not, an OOM record follows.
		 */
		t->refused[d->index] = (struct tare_oom_refused){ e->process->index, r->tid & 0x7fffffff, r->asked };
		return 0;
	}
	row = first_of(t, &(struct tare_oom_fold){ .process = e->process->index,
	                                           .device = d->index,
	                                           .t = e->end_ns,
	                                           .count = 1,
	                                           .site = origin.site,
	                                           .owner = origin.owner,
	                                           .api = e->api ? tare_arena_strdup(&f->arena, e->api) : NULL,
	                                           .asked = r->asked,
	                                           .segment = r->asked });
	return row ? (size_t)(row - t->items) + 1 : 0;
}

static size_t given_up(struct tare_oom_part *t, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e)
{
	const struct tare_rec_oom *r = e->rec.oom;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_origin origin = tare_fold_origin(f, p, e);
	struct tare_oom_fold o = { .process = e->process->index,
		                       .device = d->index,
		                       .t = e->at_ns,
		                       .count = 1,
		                       .is_torch = true,
		                       .site = origin.site,
		                       .asked = r->asked,
		                       .allocated = r->allocated,
		                       .reserved = r->reserved };
	struct tare_oom_fold *row;

	if (is_of_caller(&t->refused[d->index], o.process, r->tid))
		o.segment = t->refused[d->index].asked;
	t->refused[d->index] = (struct tare_oom_refused){ 0 };
	row = first_of(t, &o);
	return row ? (size_t)(row - t->items) + 1 : 0;
}

void tare_oom_event(struct tare_oom_part *t, struct tare_fold *f, struct tare_device_fold *d,
                    const struct tare_event *e)
{
	const struct tare_rec_oom *r = e->rec.oom;
	struct tare_process_fold *p;
	int64_t others = 0;

	if (d || !e->process)
		return;
	p = tare_fold_process(f, e->process);
	for (int i = 0; i < f->process_nr; i++)
		if (f->processes[i] && f->processes[i] != p)
			others += f->processes[i]->host.tensors.bytes;
	first_of(t, &(struct tare_oom_fold){ .process = e->process->index,
	                                     .device = -1,
	                                     .t = e->at_ns,
	                                     .count = 1,
	                                     .is_torch = true,
	                                     .site = tare_fold_origin(f, p, e).site,
	                                     .asked = r->asked,
	                                     .allocated = (uint64_t)p->host.tensors.bytes,
	                                     .reserved = TARE_NOT_KNOWN,
	                                     .free = r->free,
	                                     .others = others,
	                                     .room = r->room });
}

size_t tare_oom_ask(struct tare_oom_part *t, struct tare_fold *f, struct tare_device_fold *d,
                    const struct tare_event *e)
{
	if (e->kind == TARE_KIND_OOM)
		return given_up(t, f, d, e);
	return e->kind == TARE_KIND_EVENT ? refused_call(t, f, d, e) : 0;
}

/* ---- what there was ---- */

static bool has_key(const struct tare_row *row, const char *key)
{
	const char *slash = strrchr(row->path, '/');

	return slash && !strcmp(slash + 1, key);
}

static int64_t free_of(const struct tare_device_ledger *l)
{
	uint64_t total = l->total, reserved = l->reserved == TARE_NOT_KNOWN ? 0 : l->reserved, used = l->used;

	if (l->card.is_there) {
		total = l->card.total;
		reserved = l->card.reserved;
		used = l->card.used;
	}
	if (total == TARE_NOT_KNOWN || used == TARE_NOT_KNOWN)
		return -1;
	return used + reserved < total ? (int64_t)(total - reserved - used) : 0;
}

void tare_oom_look(struct tare_oom_part *t, const struct tare_fold *f, size_t place, const struct tare_ledger *ledger)
{
	struct tare_oom_fold *o = &t->items[place];
	const struct tare_process *p = f->processes[o->process]->process;

	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *l = &ledger->devices[i];

		if (!l->name) /* a ledger of another device */
			continue;
		o->free = free_of(l);
		o->used = l->used == TARE_NOT_KNOWN ? -1 : (int64_t)l->used;
		for (int k = 0; k < l->row_nr; k++) {
			const struct tare_row *row = &l->rows[k];

			if (!tare_row_is_end(row))
				continue;
			if (row->pid != p->pid || row->generation != p->generation)
				o->others += row->bytes;
			else if (row->elastic)
				o->elastic += row->bytes;
			else if (has_key(row, "partly"))
				o->stuck += row->bytes;
			else if (has_key(row, "held"))
				o->held += row->bytes;
		}
	}
}

/* ---- out of it ---- */

/* What is stuck would have served this request, and hardly one more. */
static bool is_full(const struct tare_oom_fold *o)
{
	return o->allocated != TARE_NOT_KNOWN && (uint64_t)(o->free + o->elastic + o->stuck) < o->allocated / 100;
}

/* Which memory would have been enough. If the driver was not asked, the program limits itself. */
static enum tare_oom_verdict verdict_of(const struct tare_oom_fold *o)
{
	int64_t asked = (int64_t)(o->segment ? o->segment : o->asked);

	if (o->device < 0)
		return o->asked > o->room                             ? TARE_OOM_LIMIT
		       : o->free >= 0 && o->asked > (uint64_t)o->free ? TARE_OOM_NEED
		                                                      : TARE_OOM_OVERCOMMIT;
	if (!o->segment)
		return TARE_OOM_LIMIT;
	if (o->free < 0)
		return TARE_OOM_NEED;
	if (o->free + o->elastic + o->stuck >= (int64_t)o->asked && o->stuck > 0)
		return is_full(o) ? TARE_OOM_FULL : TARE_OOM_FRAGMENTED;
	if (o->free + o->elastic >= asked)
		return o->elastic > 0 ? TARE_OOM_ELASTIC : TARE_OOM_PIECES;
	return o->free + o->elastic + o->stuck + o->others >= asked ? TARE_OOM_OTHERS : TARE_OOM_NEED;
}

void tare_oom_rows(const struct tare_oom_part *t, const struct tare_fold *f, struct tare_ledger *out)
{
	out->ooms = tare_arena_alloc(out->memory, (t->count + 1) * sizeof(*out->ooms));
	out->oom_nr = (int)t->count;
	for (size_t i = 0; i < t->count; i++) {
		const struct tare_oom_fold *o = &t->items[i];
		const struct tare_process *p = f->processes[o->process]->process;
		const char *owner = tare_fold_text_of(f, o->owner);
		const struct tare_device *device = o->device < 0 ? NULL : f->devices[o->device]->device;

		out->ooms[i] = (struct tare_oom){
			.number = (int)i + 1,
			.device = device ? tare_device_number(device) : -1,
			.t_ns = o->t,
			.pid = p->pid,
			.generation = p->generation,
			.program = tare_arena_strdup(out->memory, p->program ? p->program : ""),
			.is_torch = o->is_torch,
			.api = o->api ? tare_arena_strdup(out->memory, o->api) : NULL,
			.owner = owner ? tare_arena_strdup(out->memory, tare_owner_name(owner)) : NULL,
			.source = tare_fold_site_name(f, o->site, true, out->memory),
			.short_source = tare_fold_site_name(f, o->site, false, out->memory),
			.count = o->count,
			.asked = o->asked,
			.segment = o->segment,
			.allocated = o->is_torch ? o->allocated : TARE_NOT_KNOWN,
			.reserved = o->is_torch ? o->reserved : TARE_NOT_KNOWN,
			.free = o->free < 0 ? TARE_NOT_KNOWN : (uint64_t)o->free,
			.elastic = o->elastic,
			.stuck = o->stuck,
			.held = o->held,
			.others = o->others,
			.room = device ? TARE_NOT_KNOWN : o->room,
			.verdict = verdict_of(o),
		};
	}
}

void tare_oom_list(const struct tare_oom_part *p, int64_t from, int64_t until, struct tare_extent_list *out)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct tare_oom_fold *o = &p->items[i];
		TARE_FREED_BY(tare_str_free) struct tare_str what = { 0 };

		if (o->t <= from || o->t > until || o->used <= 0 || o->device < 0)
			continue;
		tare_str_addf(&what, "oom#%zu", i + 1);
		tare_extent_add(out, &(struct tare_extent){ .device = o->device,
		                                            .from_ns = o->t,
		                                            .until_ns = o->t,
		                                            .low = { o->used, o->t },
		                                            .high = { o->used, o->t },
		                                            .what = what.data });
	}
}

const char *tare_oom_check(const struct tare_oom_part *t, const struct tare_fold *f)
{
	for (size_t i = 0; i < t->count; i++)
		if (!t->items[i].count || t->items[i].process >= f->process_nr || t->items[i].device >= f->device_nr)
			return "memory ran out for nobody, or nowhere";
	return NULL;
}

void tare_oom_begin(struct tare_oom_part *t, const struct tare_fold *f)
{
	t->refused = tare_array_widen(t->refused, (size_t)t->device_nr, (size_t)f->device_nr, sizeof(*t->refused));
	t->device_nr = f->device_nr;
}
