/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory with references, in a checkpoint: made under its handle or, where it has none any more, under
 * one of ours; mapped; imported, with the number of what it is of; and last what is let go again.
 */
#include "ledger/save/checkpoint_private.h"

/* A handle that no driver gives. */
#define OUR_HANDLE(i, is_import) (UINT64_C(0xfe) << 56 | (uint64_t)(i) << 1 | (is_import))

static struct tare_rec_event *add_event(struct checkpoint *c, int process, int device,
					enum tare_class class, enum tare_effect effect, int64_t t)
{
	struct tare_rec_event *r =
		&tare_checkpoint_add(c, TARE_KIND_EVENT, c->f->processes[process]->process,
				     c->f->devices[device]->device, t)
			 ->event;

	r->class = (uint8_t) class;
	r->effect = (uint8_t)effect;
	return r;
}

static uint64_t saved_handle(const struct tare_refs *refs, uint64_t handle, size_t i,
			     bool is_import)
{
	return refs->handles ? handle : OUR_HANDLE(i, is_import);
}

static void save_mappings(struct checkpoint *c, uint64_t ref, uint64_t handle, int device,
			  int64_t t)
{
	for (size_t i = 0; i < c->f->mapping_nr; i++) {
		const struct tare_mapping *m = &c->f->mappings[i];
		struct tare_rec_event *r;

		if (m->ref != ref)
			continue;
		r = add_event(c, m->process, device, TARE_CLASS_VMM_MAP, TARE_EFFECT_NEW, t);
		r->handle = m->at;
		r->parent = handle;
		r->asked = m->bytes;
		r->limit = (uint64_t)(m->graph + 1);
	}
}

/* `lent`: of enum TARE_SAVED_…; 0: only the handle is gone. */
static void save_end(struct checkpoint *c, int process, int device, uint64_t handle, uint64_t lent,
		     int64_t t)
{
	struct tare_rec_event *r =
		add_event(c, process, device, TARE_CLASS_VMM, TARE_EFFECT_DEL, t - AT_RELEASE * US);

	r->handle = handle;
	r->limit = lent;
}

/* The allocation itself is saved elsewhere. */
static void save_shared(struct checkpoint *c, size_t i, int64_t t)
{
	const struct tare_physical *p = &c->f->physicals[i];
	struct tare_rec_event *r = add_event(c, p->process, p->device, TARE_CLASS_IPC,
					     TARE_EFFECT_CHANGE, t - AT_OBJECT * US);

	r->handle = i + 1;
	r->parent = p->handle;
	r->limit = p->identity;
}

static void save_physical(struct checkpoint *c, size_t i, int64_t t)
{
	const struct tare_physical *p = &c->f->physicals[i];
	uint64_t handle = saved_handle(&p->refs, p->handle, i, false);
	uint64_t owner = c->f->buckets[p->bucket].owner, lent = 0;
	struct tare_rec_event *r = add_event(c, p->process, p->device, TARE_CLASS_VMM,
					     TARE_EFFECT_NEW, t - AT_OBJECT * US);

	r->handle = handle;
	r->parent = i + 1;
	r->asked = r->granted = (uint64_t)p->bytes;
	r->local = p->refs.handles ? p->refs.handles : 1;
	r->limit = p->identity;
	if (owner && !p->is_lent)
		tare_checkpoint_last(c)->name = c->f->owners[owner - 1];
	if (!p->is_lent)
		tare_checkpoint_site(c, c->f->buckets[p->bucket].site, &r->python, &r->stack);
	save_mappings(c, i << 1, handle, p->device, t - AT_OBJECT * US);
	if (p->is_lent && p->holder < 0)
		lent = p->is_allocation ? TARE_SAVED_ALLOCATION : TARE_SAVED_LENT;
	if (!p->refs.handles)
		save_end(c, p->process, p->device, handle, lent, t);
}

static void save_import(struct checkpoint *c, size_t i, int64_t t)
{
	const struct tare_import *m = &c->f->imports[i];
	uint64_t handle = saved_handle(&m->refs, m->handle, i, true);
	struct tare_rec_event *r = add_event(c, m->process, m->device,
					     m->is_address ? TARE_CLASS_IPC : TARE_CLASS_VMM_IMPORT,
					     TARE_EFFECT_NEW, t - AT_IMPORT * US);

	r->handle = handle;
	r->parent = m->origin < 0 ? 0 : (uint64_t)m->origin + 1;
	r->asked = (uint64_t)m->bytes;
	r->local = m->refs.handles ? m->refs.handles : 1;
	r->limit = m->identity;
	save_mappings(c, i << 1 | 1, handle, m->device, t - AT_IMPORT * US);
	if (!m->refs.handles)
		save_end(c, m->process, m->device, handle, false, t);
}

void tare_checkpoint_vmm(struct checkpoint *c, int64_t t)
{
	for (size_t i = 0; i < c->f->physical_nr; i++)
		if (c->f->physicals[i].is_live && c->f->physicals[i].bucket < 0)
			save_shared(c, i, t);
		else if (c->f->physicals[i].is_live)
			save_physical(c, i, t);
	for (size_t i = 0; i < c->f->import_nr; i++)
		if (c->f->imports[i].is_live)
			save_import(c, i, t);
}

void tare_checkpoint_vmm_own(const struct tare_fold *f, struct tare_amount *own)
{
	for (size_t i = 0; i < f->physical_nr; i++) {
		const struct tare_physical *p = &f->physicals[i];

		if (!p->is_live || p->bucket < 0)
			continue;
		own[p->bucket].count++;
		own[p->bucket].bytes += p->bytes;
		own[p->bucket].low += p->bytes;
		own[p->bucket].high += p->bytes;
	}
}
