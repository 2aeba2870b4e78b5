/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "host tensors": what PyTorch asked for in the memory of the CPU, by process. It says nothing of
 * what is resident, so it enters no sum.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

static void mark_now(struct tare_fold *f, enum tare_moment m)
{
	f->host_moment_nr[m]++;
	f->host.kept.at[m] = f->block_serial;
}

static void set_host_moment(struct tare_fold *f, enum tare_moment m, int64_t t)
{
	mark_now(f, m);
	f->host.has_moment[m] = true;
	f->host.moment_ns[m] = t;
}

/* Rule "peak:host". Devices are shown as their books stand then. */
static void set_peak(struct tare_fold *f, int64_t t)
{
	f->host.most = f->host.live;
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			tare_device_set_moment(f, f->devices[i], TARE_MOMENT_HOST, t);
	set_host_moment(f, TARE_MOMENT_HOST, t);
}

static void fold_peak_host(struct tare_fold *f, int64_t t)
{
	if (f->host.live > f->host.most)
		set_peak(f, t);
}

void tare_host_set_end(struct tare_fold *f, int64_t t)
{
	if (!f->host.has_moment[TARE_MOMENT_END])
		set_host_moment(f, TARE_MOMENT_END, t);
}

/* A device came to a moment: it is one of the host too. */
void tare_host_set_moment(struct tare_fold *f, enum tare_moment m)
{
	if (m != TARE_MOMENT_END || !f->host.has_moment[m])
		mark_now(f, m);
}

static void move(struct tare_fold *f, struct tare_process_fold *p, int64_t by)
{
	struct tare_host_fold *h = &f->host;

	if (!p->host_part) /* the last place is shared */
		p->host_part = h->part_nr < TARE_HOST_PARTS ? ++h->part_nr : TARE_HOST_PARTS;
	h->live += by;
	h->parts[p->host_part - 1] += by;
}

static void count_at_site(struct tare_fold *f, uint32_t site, int64_t by)
{
	struct tare_site *s = site ? &f->sites[site] : &f->no_site;

	s->host_bytes += by;
	if (s->least > s->host_bytes)
		s->least = s->host_bytes;
}

static void count(struct tare_fold *f, struct tare_process_fold *p, const struct tare_live_block *b, int sign)
{
	struct tare_host_tensors *now = &p->host.tensors;

	tare_fold_host_keep(f, p);
	count_at_site(f, b->site, sign * b->bytes);
	now->is_known = true;
	if (b->flags & TARE_TENSOR_MAPPED) {
		now->mapped += sign * b->bytes;
		now->mapped_count += sign;
		return;
	}
	now->bytes += sign * b->bytes;
	now->count += sign;
	if (now->most < now->bytes)
		now->most = now->bytes;
	move(f, p, sign * b->bytes);
}

static void block_free(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_process_fold *p,
                       uint64_t address, struct tare_taking by)
{
	struct tare_live_block *block = tare_blocks_remove(&p->host_blocks, address, by, &f->block_serial, &f->host.kept);

	if (!block)
		return;
	count(f, p, block, -1);
	tare_fold_block_gone(tensors, f, &p->host_blocks.work, block);
	tare_tensor_kinds_gone(f, block, -1);
	tare_block_courses_change(f, block, -1, true);
	tare_blocks_release(&p->host_blocks, block);
}

static struct tare_live_block *block_alloc(struct tare_tensors_part *tensors, struct tare_fold *f,
                                           struct tare_process_fold *p, const struct tare_block *b)
{
	struct tare_live_block *block = tare_blocks_add(&p->host_blocks, b);
	uint64_t file = b->flags & TARE_TENSOR_MAPPED ? tare_mapped_file_of_next(p, b->address) : 0;

	if (!p->is_torn_down)
		f->host.has_moment[TARE_MOMENT_END] = false;
	if (tare_block_facts_are_full(&p->host_blocks.work.facts))
		tare_block_facts_make_room(&p->host_blocks, &f->host.kept, b->process);
	tare_work_begin(tensors, f, &p->host_blocks.work, block, b, (int64_t)file);
	count(f, p, block, 1);
	fold_peak_host(f, b->t);
	tare_tensor_kinds_made(f, block, -1);
	tare_block_courses_change(f, block, -1, false);
	return block;
}

/* Python takes the program down: what it had before is what it has at its end, on its devices too. */
void tare_host_tear_down(struct tare_fold *f, struct tare_process_fold *p, int64_t t)
{
	tare_process_torn_down(p, t);
	if (p->is_torn_down)
		return;
	p->is_torn_down = true;
	tare_host_set_end(f, t);
	for (int i = 0; i < f->device_nr; i++)
		if (i < p->on_device_nr && p->on_device[i] && f->devices[i] && !f->devices[i]->has_moment[TARE_MOMENT_END])
			tare_device_set_moment(f, f->devices[i], TARE_MOMENT_END, t);
}

/* Instants before t see what there is now. */
void tare_host_show(struct tare_tensors_part *tensors, struct tare_fold *f, int64_t t)
{
	while (f->host.timed_next < f->timed_nr && f->timed[f->host.timed_next].t_ns < t) {
		struct tare_ledger *out = f->timed[f->host.timed_next++].out;

		for (int i = 0; i < f->process_nr; i++)
			if (f->processes[i] && f->processes[i]->host_row >= 0)
				out->hosts[f->processes[i]->host_row].tensors = f->processes[i]->host.tensors;
		tare_fold_host_lines(f, TARE_MOMENT_NOW, out);
		tare_mapped_file_rows(f, TARE_MOMENT_NOW, out);
		tare_fold_watch_host(tensors, f, out);
	}
}

struct tare_live_block *tare_host_take(struct tare_tensors_part *tensors, struct tare_fold *f)
{
	const struct tare_block *b = &f->host.queue[f->host.queue_at++];
	struct tare_process_fold *p = f->processes[b->process];
	struct tare_taking by = { b->tid, b->flags };

	if (b->flags & TARE_TENSOR_FINALIZING)
		tare_host_tear_down(f, p, b->t);
	if (b->bytes > 0) /* what is handed out again: its end was not seen */
		by.flags = 0;
	block_free(tensors, f, p, b->address, by);
	return b->bytes > 0 ? block_alloc(tensors, f, p, b) : NULL;
}

void tare_host_wait(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_tensor *r = e->rec.tensor;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_host_fold *h = &f->host;
	struct tare_block b = { .address = r->block,
		                    .bytes = r->bytes,
		                    .t = e->at_ns,
		                    .born_ns = e->at_ns,
		                    .process = e->process->index,
		                    .tid = r->tid,
		                    .flags = r->flags };

	if (!(r->flags & TARE_TENSOR_HOST))
		return; /* damage */
	if (r->bytes > 0) {
		b.site = tare_fold_site(f, p, e);
		b.module = tare_modules_of_block(&p->modules, r);
	}
	TARE_APPEND(h->queue, h->queue_nr, h->queue_cap) = b;
}

bool tare_host_next(struct tare_fold *f, int64_t t, int64_t *at)
{
	struct tare_host_fold *h = &f->host;

	if (h->queue_at < h->queue_nr && h->queue[h->queue_at].t < t) {
		*at = h->queue[h->queue_at].t;
		return true;
	}
	if (h->queue_at == h->queue_nr)
		h->queue_at = h->queue_nr = 0;
	return false;
}

static void forget(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_process_fold *p)
{
	static const struct tare_taking end = { .flags = TARE_TENSOR_FINALIZING };

	for (size_t i = 0; i < p->host_blocks.count; i++)
		if (p->host_blocks.items[i].process >= 0)
			block_free(tensors, f, p, p->host_blocks.items[i].address, end);
}

void tare_host_forget(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_process_fold *p)
{
	struct tare_host_tensors *now = &p->host.tensors;

	forget(tensors, f, p);
	tare_fold_host_keep(f, p);
	*now = (struct tare_host_tensors){ .is_known = now->is_known, .most = now->most };
}
