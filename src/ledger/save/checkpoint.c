/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint is saved in groups for each device: what was booked when a peak of it was reached (moments.def),
 * and what is booked now. Within a group things stand some microseconds apart, so that readers that
 * merge several logs by time keep them in order:
 *
 *   contexts come and go · what is carried, falls first · live objects · witnesses · the reading
 *
 * What is carried is booked without asking any rule why it changed.
 *
 * Not carried: which of several overlapping calls an unweighed one belongs to, if that is still open
 * at the point of the checkpoint, and the times of what is in `unexplained`.
 */
#include "ledger/save/checkpoint_private.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static void note_saved(struct checkpoint *c, int bucket, const struct tare_amount *by)
{
	c->saved[bucket].bytes += by->bytes;
	c->saved[bucket].low += by->low;
	c->saved[bucket].high += by->high;
	c->saved[bucket].count += by->count;
	c->saved[bucket].ns += by->ns;
}

static void add_record(void *arg, const struct tare_event *e, const struct tare_record *rec,
		       size_t size)
{
	union record *r = tare_checkpoint_add(arg, e->kind, e->process, e->device, e->at_ns);

	memcpy(r, rec, size);
	*tare_checkpoint_last(arg) = *e;
}

/* ---- contexts ---- */

static void add_context(struct checkpoint *c, int context, enum tare_effect effect, int64_t t)
{
	const struct tare_context *x = &c->f->contexts[context];
	union record *r =
		tare_checkpoint_add(c, TARE_KIND_EVENT, c->f->processes[x->process]->process,
				    c->f->devices[x->device]->device, t);

	r->event.class = TARE_CLASS_CONTEXT;
	r->event.effect = (uint8_t)effect;
	r->event.handle = r->event.context = x->handle;
	r->event.flags = x->is_primary ? TARE_EVENT_PRIMARY : 0;
	if (effect == TARE_EFFECT_NEW)
		tare_checkpoint_site(c, c->f->buckets[x->bucket_of[TARE_ACCOUNT_CONTEXT]].site,
				     &r->event.python, &r->event.stack);
	c->is_saved[context] = effect == TARE_EFFECT_NEW;
}

static bool lived_at(const struct checkpoint *c, int context, enum tare_moment m)
{
	int bucket = c->f->contexts[context].bucket_of[TARE_ACCOUNT_CONTEXT];

	return bucket >= 0 && tare_fold_amount(c->f, &c->f->buckets[bucket], m)->count > 0;
}

/* Makes the saved contexts of a device those that lived at the moment. */
static void save_contexts(struct checkpoint *c, const struct tare_device_fold *d,
			  enum tare_moment m, int64_t t)
{
	struct tare_fold *f = c->f;

	for (size_t i = 0; i < f->context_nr; i++) {
		bool lives = lived_at(c, (int)i, m);

		if (f->contexts[i].device != d->index || lives == c->is_saved[i])
			continue;
		if (lives) {
			add_context(c, (int)i, TARE_EFFECT_NEW, t - AT_CONTEXT_NEW * US);
			note_saved(c, f->contexts[i].bucket_of[TARE_ACCOUNT_CONTEXT],
				   &(struct tare_amount){ .count = 1 });
			continue;
		}
		add_context(c, (int)i, TARE_EFFECT_DEL, t - AT_CONTEXT_END * US);
		for (int b = f->contexts[i].buckets; b >= 0; b = f->buckets[b].next_of_context)
			c->saved[b] = (struct tare_amount){ .ns = c->saved[b].ns };
	}
}

/* ---- what is carried ---- */

static void fill_carry(struct checkpoint *c, const struct tare_bucket *b, struct tare_rec_carry *r)
{
	struct tare_fold *f = c->f;

	if (b->process < 0) {
		r->account = (uint8_t)b->account;
		if (b->owner) {
			r->context = f->devices[b->device]->others[b->owner - 1].pid;
			tare_checkpoint_last(c)->name =
				f->devices[b->device]->others[b->owner - 1].name;
		}
		return;
	}
	r->pid = f->processes[b->process]->process->pid;
	r->generation = f->processes[b->process]->process->generation;
	r->account = (uint8_t)tare_carry_of_account(b->account);
	/* The handle of a context that has ended may be another context's. */
	r->context = c->is_saved[b->context] ? f->contexts[b->context].handle : 0;
	if (tare_account_has_owner(b->account) && b->owner)
		tare_checkpoint_last(c)->name = f->owners[b->owner - 1];
	tare_checkpoint_site(c, b->site, &r->python, &r->stack);
}

static void add_carry(struct checkpoint *c, int bucket, const struct tare_amount *by, int64_t t)
{
	const struct tare_bucket *b = &c->f->buckets[bucket];
	const struct tare_process *process =
		b->process < 0 ? c->tare : c->f->processes[b->process]->process;
	struct tare_rec_carry *r =
		&tare_checkpoint_add(c, TARE_KIND_CARRY, process, c->f->devices[b->device]->device,
				     t - (by->bytes < 0 ? AT_FALL : AT_RISE) * US)
			 ->carry;

	tare_checkpoint_last(c)->about = process;
	fill_carry(c, b, r);
	r->evidence = b->now.evidence ? b->now.evidence - 1 : 0;
	r->bytes = by->bytes;
	r->low = by->low;
	r->high = by->high;
	r->count = (int32_t)by->count;
	r->ns = by->ns;
	note_saved(c, bucket, by);
}

/* Carries what the buckets were at the moment beyond what is saved, less `own`, which follows by itself. */
static void save_buckets(struct checkpoint *c, const struct tare_device_fold *d, enum tare_moment m,
			 const struct tare_amount *own, int64_t t)
{
	static const struct tare_amount nothing;

	for (int i = d->buckets; i >= 0; i = c->f->buckets[i].next_of_device) {
		const struct tare_amount *want = tare_fold_amount(c->f, &c->f->buckets[i], m);
		const struct tare_amount *saved = &c->saved[i],
					 *by_itself = own ? &own[i] : &nothing;
		struct tare_amount by = { .bytes = want->bytes - saved->bytes - by_itself->bytes,
					  .low = want->low - saved->low - by_itself->low,
					  .high = want->high - saved->high - by_itself->high,
					  .count = want->count - saved->count - by_itself->count,
					  .ns = want->ns - saved->ns };

		for (; by.count > INT32_MAX; by.count -= INT32_MAX) /* the most in a record */
			add_carry(c, i, &(struct tare_amount){ .count = INT32_MAX }, t);
		if (by.bytes || by.low || by.high || by.count || by.ns)
			add_carry(c, i, &by, t);
	}
}

/* ---- what is alive ---- */

/* Is it an account that enters no sum of a device and does not follow from live objects? */
static bool is_history(int account)
{
	return account == TARE_BUCKET_EVER_ALLOCATED || account == TARE_BUCKET_COLLECTED ||
	       account == TARE_BUCKET_UNEXPLAINED;
}

/* What the live objects bring along when they are saved. */
static struct tare_amount *own_amounts(const struct checkpoint *c)
{
	const struct tare_fold *f = c->f;
	struct tare_amount *own = tare_xcalloc(f->bucket_nr, sizeof(*own));

	for (size_t i = 0; i < f->bucket_nr; i++)
		if (f->buckets[i].account == TARE_ACCOUNT_GRANULARITY ||
		    (!tare_bucket_is_device(&f->buckets[i]) && !is_history(f->buckets[i].account)))
			own[i] = f->buckets[i].now; /* these follow from live objects alone */
	for (int i = tare_fold_object_next(f, -1); i >= 0; i = tare_fold_object_next(f, i)) {
		const struct tare_object_live *o = &f->objects[i];

		if (o->bucket < 0)
			continue;
		if (o->class == TARE_CLASS_POOL_STATE) {
			tare_fold_pool_own(c->f, o, own);
			continue;
		}
		own[o->bucket].count++;
		if (tare_classes[o->class].sizing != TARE_SIZING_PAGES &&
		    tare_classes[o->class].sizing != TARE_SIZING_EXACT)
			continue;
		own[o->bucket].bytes += (int64_t)o->granted;
		own[o->bucket].low += (int64_t)o->granted;
		own[o->bucket].high += (int64_t)o->granted;
	}
	tare_checkpoint_vmm_own(f, own);
	return own;
}

static void add_object(struct checkpoint *c, const struct tare_object_live *o, int64_t t)
{
	struct tare_fold *f = c->f;
	struct tare_rec_event *r =
		&tare_checkpoint_add(c, TARE_KIND_EVENT, f->processes[o->process]->process,
				     o->device < 0 ? NULL : f->devices[o->device]->device,
				     t - AT_OBJECT * US)
			 ->event;
	const struct tare_bucket *b = o->bucket < 0 ? NULL : &f->buckets[o->bucket];

	r->class = o->class;
	r->effect = TARE_EFFECT_NEW;
	r->handle = o->handle;
	r->asked = o->asked;
	r->granted = o->granted;
	r->context = o->context < 0 ? 0 : f->contexts[o->context].handle;
	r->limit = o->graph < 0 ? 0 : (uint64_t)o->graph + 1;
	if (b && b->owner &&
	    (tare_account_has_owner(b->account) || b->account == TARE_ACCOUNT_PREALLOCATED))
		tare_checkpoint_last(c)->name = f->owners[b->owner - 1];
	if (b)
		tare_checkpoint_site(c, b->site, &r->python, &r->stack);
}

static struct tare_rec_event *add_change(struct checkpoint *c, const struct tare_context *x,
					 enum tare_class class, int64_t t)
{
	struct tare_rec_event *r =
		&tare_checkpoint_add(c, TARE_KIND_EVENT, c->f->processes[x->process]->process,
				     c->f->devices[x->device]->device, t - AT_LOCAL * US)
			 ->event;

	r->class = (uint8_t) class;
	r->effect = TARE_EFFECT_CHANGE;
	r->context = x->handle;
	return r;
}

/*
 * Saves what launches need not take any more, and what the next launch may take: as calls that lead to that
 * state.
 */
static void add_local(struct checkpoint *c, const struct tare_context *x, int64_t t)
{
	int64_t local = tare_fold_local_of(c->f, x), own;
	struct tare_rec_event *r;
	const char *kernel;

	for (size_t i = 0; (kernel = tare_facts_stack(x, i, &own)); i++) {
		add_change(c, x, TARE_CLASS_LAUNCH, t)->local = (uint64_t)own;
		tare_checkpoint_last(c)->name = kernel;
	}
	if (local > 0)
		add_change(c, x, TARE_CLASS_LAUNCH, t)->local = (uint64_t)local;
	if (x->exec_nodes_high)
		add_change(c, x, TARE_CLASS_GRAPH, t)->asked = x->exec_nodes_high;
	if (x->heap_wanted > 0) {
		r = add_change(c, x, TARE_CLASS_LIMIT, t);
		r->limit = TARE_LIMIT_MALLOC_HEAP_SIZE;
		r->asked = (uint64_t)x->heap_wanted;
	}
}

/* Saves blocks, behind the segments that hold them. */
static void add_blocks(struct checkpoint *c, const struct tare_process_fold *p,
		       const struct tare_blocks *blocks, const struct tare_device *device,
		       int64_t t)
{
	for (size_t i = 0; i < blocks->count; i++) {
		const struct tare_live_block *b = &blocks->items[i];
		struct tare_rec_tensor *r;

		if (b->process < 0)
			continue;
		r = &tare_checkpoint_add(c, TARE_KIND_TENSOR, p->process, device, t)->tensor;
		r->block = b->address;
		r->bytes = b->bytes;
		r->tid = b->tid;
		r->flags = b->flags & (uint16_t) ~(TARE_TENSOR_ON_DEFAULT |
						   TARE_TENSOR_ON_STREAM); /* segments have it */
		if (!b->use.role && tare_work_has_stayed(&blocks->work, b))
			r->flags |= TARE_TENSOR_STAYED;
		tare_checkpoint_site(c, b->site, &r->python, &r->stack);
	}
}

static void save_live(struct checkpoint *c, int64_t t)
{
	struct tare_fold *f = c->f;

	for (int i = tare_fold_object_next(f, -1); i >= 0; i = tare_fold_object_next(f, i))
		add_object(c, &f->objects[i], t);
	tare_checkpoint_vmm(c, t);
	for (size_t i = 0; i < f->context_nr; i++)
		if (f->contexts[i].is_live)
			add_local(c, &f->contexts[i], t);
	tare_fold_stream_save(f, t - AT_LOCAL * US, add_record, c);
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];

		for (int k = 0; p && k < p->on_device_nr; k++)
			if (p->on_device[k])
				add_blocks(c, p, &p->on_device[k]->blocks, f->devices[k]->device,
					   t - AT_LOCAL * US);
		if (!p)
			continue;
		add_blocks(c, p, &p->host_blocks, NULL, t);
		tare_checkpoint_names(c, p, t);
	}
}

/* ---- witnesses ---- */

static void add_reading(struct checkpoint *c, const struct tare_device_fold *d, int source,
			int64_t used, int64_t t)
{
	struct tare_rec_reading *r =
		&tare_checkpoint_add(c, TARE_KIND_READING, c->tare, d->device, t)->reading;

	r->source = (uint32_t)source;
	r->used = (uint64_t)used;
	r->reserved = d->device->reserved;
	r->total = d->device->total;
	r->peers = TARE_NOT_KNOWN;
}

static void add_other(struct checkpoint *c, const struct tare_device_fold *d, uint32_t pid,
		      int64_t used, const char *name, int64_t t)
{
	struct tare_rec_peer *r =
		&tare_checkpoint_add(c, TARE_KIND_PEER, c->tare, d->device, t)->peer;

	r->pid = pid;
	r->used = (uint64_t)used;
	tare_checkpoint_last(c)->text = name ? name : "";
	tare_checkpoint_last(c)->text_len = strlen(tare_checkpoint_last(c)->text);
}

static void save_other_processes(struct checkpoint *c, const struct tare_device_fold *d, int64_t t)
{
	for (size_t i = 0; i < d->other_nr; i++) {
		const struct tare_other_process *p = &d->others[i];
		int64_t used = p->is_ours ? p->most : p->used;

		/* A process that was only taken for a recorded one will be taken for one again. */
		if (used && (!p->is_ours || tare_other_process_is_recorded(c->f, d, p->pid)))
			add_other(c, d, p->pid, used, p->name, t - AT_WITNESS * US);
	}
	if (d->is_level_known)
		add_other(c, d, 0, d->level, NULL, t - AT_LEVEL * US);
	if (d->unexplained_open) {
		struct tare_rec_carry *r =
			&tare_checkpoint_add(c, TARE_KIND_CARRY, c->tare, d->device, t)->carry;

		r->account = TARE_ACCOUNT_NONE;
		r->bytes = d->unexplained_open;
	}
}

static void save_hosts(struct checkpoint *c, enum tare_moment m, int64_t t)
{
	for (int i = 0; i < c->f->process_nr; i++) {
		const struct tare_process_fold *p = c->f->processes[i];
		const struct tare_host_now *h = p ? tare_fold_host_at(c->f, p, m) : NULL;
		struct tare_rec_host *r;

		if (!h || !h->is_read)
			continue;
		r = &tare_checkpoint_add(c, TARE_KIND_HOST, c->tare, NULL, t - AT_WITNESS * US)
			     ->host;
		tare_checkpoint_last(c)->about = p->process;
		r->pid = p->process->pid;
		r->generation = p->process->generation;
		r->anon = h->anon;
		r->file = h->file;
		r->shmem = h->shmem;
		r->swap = h->swap;
		r->peak = h->peak;
		r->pss = h->pss;
	}
}

/* Saves sums; of what there is now, the blocks follow. */
static void save_host_tensors(struct checkpoint *c, enum tare_moment m, int64_t t)
{
	for (int i = 0; i < c->f->process_nr; i++) {
		const struct tare_process_fold *p = c->f->processes[i];
		const struct tare_host_tensors *h =
			p ? &tare_fold_host_at(c->f, p, m)->tensors : NULL;
		struct tare_rec_host_tensors *r;

		if (!h || !h->is_known)
			continue;
		r = &tare_checkpoint_add(c, TARE_KIND_HOST_TENSORS, p->process, NULL, t)
			     ->host_tensors;
		tare_checkpoint_last(c)->about = p->process;
		r->pid = p->process->pid;
		r->generation = p->process->generation;
		r->most = h->most;
		if (m == TARE_MOMENT_NOW)
			continue;
		r->bytes = h->bytes;
		r->count = h->count;
		r->mapped = h->mapped;
		r->mapped_count = h->mapped_count;
	}
}

/* ---- groups ---- */

static void save_start(struct checkpoint *c, const struct tare_device_fold *d, int64_t t)
{
	if (!d->is_measured)
		return;
	add_reading(c, d, d->primary, d->used_start, t - AT_START * US);
	note_saved(c, d->before,
		   &(struct tare_amount){
			   .bytes = d->used_start, .low = d->used_start, .high = d->used_start });
}

static void save_peak(struct checkpoint *c, const struct tare_device_fold *d, enum tare_moment m,
		      int64_t t)
{
	save_contexts(c, d, m, t);
	save_buckets(c, d, m, NULL, t);
	save_hosts(c, m, t);
	save_host_tensors(c, m, t - AT_WITNESS * US);
	add_reading(c, d, d->primary, d->is_measured ? d->moment_used[m] : (int64_t)TARE_NOT_KNOWN,
		    t);
}

/* The peaks that a device has reached, in order of time. */
static int peaks_in_order(const struct tare_device_fold *d, enum tare_moment peaks[TARE_MOMENT_NR])
{
	int n = 0, at;

	for (int m = 0; m < TARE_MOMENT_NR; m++) {
		if (!tare_moment_is_peak(m) || !d->has_moment[m])
			continue;
		for (at = n++; at && d->moment_ns[peaks[at - 1]] > d->moment_ns[m]; at--)
			peaks[at] = peaks[at - 1];
		peaks[at] = m;
	}
	return n;
}

/*
 * Saves a group for each peak. No group may reach into the next, so the last ones may be stamped a little
 * early.
 */
static void save_peaks(struct checkpoint *c, const struct tare_device_fold *d)
{
	int64_t latest = c->point - GROUP_US * US, *at = c->group_ns + d->index * TARE_MOMENT_NR;
	enum tare_moment peaks[TARE_MOMENT_NR];
	int n = peaks_in_order(d, peaks);

	for (int i = n; i-- > 0; latest = at[peaks[i]]) {
		latest -= GROUP_US * US;
		at[peaks[i]] = d->moment_ns[peaks[i]] < latest ? d->moment_ns[peaks[i]] : latest;
	}
	if (n)
		save_start(c, d, at[peaks[0]]);
	for (int i = 0; i < n; i++)
		save_peak(c, d, peaks[i], at[peaks[i]]);
}

/* Saves the peak of the host. Without a device no reading ends the group. */
static void save_host_peak(struct checkpoint *c)
{
	const struct tare_host_fold *h = &c->f->host;
	int64_t latest = c->point - 2 * GROUP_US * US;

	for (int i = 0; i < c->f->device_nr; i++)
		if (c->f->devices[i])
			return;
	if (!h->has_moment[TARE_MOMENT_HOST])
		return;
	if (latest > h->moment_ns[TARE_MOMENT_HOST])
		latest = h->moment_ns[TARE_MOMENT_HOST];
	save_hosts(c, TARE_MOMENT_HOST, latest);
	save_host_tensors(c, TARE_MOMENT_HOST, latest);
}

static void save_now(struct checkpoint *c, const struct tare_device_fold *d,
		     const struct tare_amount *own)
{
	save_contexts(c, d, TARE_MOMENT_NOW, c->point);
	save_buckets(c, d, TARE_MOMENT_NOW, own, c->point);
	save_other_processes(c, d, c->point);
	if (!d->is_measured)
		return;
	add_reading(c, d, d->primary, d->used, c->point);
	for (int source = TARE_SOURCE_NVML2; source <= TARE_SOURCE_CUDA; source++)
		if (d->source_known[source] && source != d->primary)
			add_reading(c, d, source, d->used - d->source_offset[source], c->point);
}

static void save_processes(struct checkpoint *c)
{
	struct tare_fold *f = c->f;

	save_hosts(c, TARE_MOMENT_NOW, c->point);
	for (int i = 0; i < f->process_nr; i++)
		if (f->processes[i] && f->processes[i]->is_ended)
			tare_checkpoint_add(c, TARE_KIND_END, f->processes[i]->process, NULL,
					    c->point);
	tare_fold_notes_of_calls(f);
	for (size_t i = 0; i < f->note_nr; i++) {
		tare_checkpoint_add(c, TARE_KIND_DEGRADED, c->tare, NULL, c->point);
		tare_checkpoint_last(c)->text = f->notes[i];
		tare_checkpoint_last(c)->text_len = strlen(f->notes[i]);
	}
}

void tare_checkpoint_fill(struct checkpoint *c)
{
	struct tare_fold *f = c->f;
	const struct tare_save to = {
		.t = c->point, .group_ns = c->group_ns, .add = add_record, .arg = c
	};
	struct tare_amount *own;

	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			save_peaks(c, f->devices[i]);
	save_host_peak(c);
	own = own_amounts(c);
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			save_now(c, f->devices[i], own);
	save_host_tensors(c, TARE_MOMENT_NOW, c->point - AT_WITNESS * US);
	tare_checkpoint_blocks(c);
	save_live(c, c->point);
	tare_parts_save(f, &to);
	save_processes(c);
	free(own);
}
