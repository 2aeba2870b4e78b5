/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "vmm": physical memory of cuMemCreate is there as long as a handle or a mapping refers to it,
 * however often it is mapped. Both are counted here as the driver does, so what the last call of them
 * gives back is exact, whichever it was.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"

/* What a handle or a mapping refers to: memory of this process, or another's that it imported. */
static uint64_t ref_of(int physical, int import)
{
	return physical >= 0 ? (uint64_t)physical << 1 : (uint64_t)import << 1 | 1;
}

static struct tare_refs *refs_of(struct tare_fold *f, uint64_t ref)
{
	return ref & 1 ? &f->imports[ref >> 1].refs : &f->physicals[ref >> 1].refs;
}

int tare_fold_physical_add(struct tare_fold *f, const struct tare_physical *p)
{
	int i = 0;

	while ((size_t)i < f->physical_nr && (f->physicals[i].is_live || (size_t)i < f->physical_free))
		i++;
	f->physical_free = (size_t)i + 1;
	if ((size_t)i == f->physical_nr) {
		f->physicals = tare_array_reserve(f->physicals, &f->physical_cap, f->physical_nr + 1, sizeof(*f->physicals));
		f->physical_nr++;
	}
	f->physicals[i] = *p;
	f->physicals[i].is_live = true;
	f->physicals[i].holder = -1;
	return i;
}

void tare_fold_physical_remove(struct tare_fold *f, int physical)
{
	f->physicals[physical].is_live = false;
	if (f->physical_free > (size_t)physical)
		f->physical_free = (size_t)physical;
}

static uint64_t *handle_of(struct tare_fold *f, int process, uint64_t handle)
{
	return tare_map_get(&f->processes[process]->vmm, handle);
}

/* The bucket in which a call that names the memory is booked. */
static int row_of(struct tare_fold *f, const struct tare_step *s, uint64_t ref)
{
	if (!(ref & 1))
		return f->physicals[ref >> 1].bucket;
	return tare_fold_bucket(f, tare_fold_context(f, s->process, f->imports[ref >> 1].device, 0), TARE_ACCOUNT_IPC, 0);
}

/* The last reference of a process to the memory has gone. */
static void let_go(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a, uint64_t ref)
{
	struct tare_refs *refs = refs_of(f, ref);

	if (refs->handles || refs->mappings)
		return;
	if (ref & 1)
		tare_fold_import_end(f, s, a, (int)(ref >> 1));
	else
		tare_fold_physical_end(f, s, a, (int)(ref >> 1));
}

static void bind(struct tare_fold *f, int process, uint64_t handle, uint64_t ref)
{
	*tare_map_put(&f->processes[process]->vmm, handle, NULL) = ref;
	refs_of(f, ref)->handles++;
}

/* One reference by handle less; a handle whose last is gone may be given for other memory. */
static void unbind(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	uint64_t *known = handle_of(f, s->process, s->handle), ref;

	if (!known) {
		a->takes_rest = true; /* the handle is of a kind that is not counted */
		return;
	}
	ref = *known;
	a->bucket = row_of(f, s, ref);
	if (--refs_of(f, ref)->handles == 0)
		tare_map_remove(&f->processes[s->process]->vmm, s->handle, NULL);
	let_go(f, s, a, ref);
}

static void create(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	struct tare_physical p = { .handle = s->handle,
		                       .bytes = (int64_t)s->granted,
		                       .process = s->process,
		                       .device = s->device,
		                       .bucket = a->bucket };
	int physical;

	if (handle_of(f, s->process, s->handle)) /* the driver gave the handle again: its end was not seen */
		unbind(f, s, a);
	a->takes_rest = false;
	a->bucket = p.bucket;
	tare_fold_op_bytes(f, a->bucket, p.bytes, 1, TARE_EVIDENCE_EXACT);
	physical = tare_fold_physical_add(f, &p);
	bind(f, s->process, s->handle, ref_of(physical, -1));
}

/* A handle for what is mapped at an address. */
static void retain(struct tare_fold *f, const struct tare_step *s)
{
	for (size_t i = 0; i < f->mapping_nr; i++) {
		const struct tare_mapping *m = &f->mappings[i];

		if (m->process == s->process && s->parent - m->at < m->bytes) {
			bind(f, s->process, s->handle, m->ref);
			return;
		}
	}
}

void tare_fold_vmm(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	uint64_t *known;

	a->takes_rest = !s->handle;
	if (s->flags & TARE_EVENT_FAILED || !s->handle)
		return;
	switch ((enum tare_effect)s->effect) {
	case TARE_EFFECT_NEW:
		if (a->bucket >= 0)
			create(f, s, a);
		return;
	case TARE_EFFECT_DEL:
		unbind(f, s, a);
		return;
	default:
		if (s->parent)
			retain(f, s);
		known = handle_of(f, s->process, s->handle);
		if (known)
			a->bucket = row_of(f, s, *known);
		if (s->parent)
			return;
		if (known && !(*known & 1))
			tare_fold_export(f, s, (int)(*known >> 1));
		return;
	}
}

void tare_fold_vmm_import(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	int import;

	a->takes_rest = true;
	if (s->flags & TARE_EVENT_FAILED || !s->handle || s->device < 0)
		return;
	if (handle_of(f, s->process, s->handle))
		unbind(f, s, a);
	import = tare_fold_import_add(f, s, 0);
	bind(f, s->process, s->handle, ref_of(-1, import));
}

/* ---- mappings ---- */
static void map(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	uint64_t *known = handle_of(f, s->process, s->parent);
	struct tare_mapping *m;

	if (!known)
		return;
	refs_of(f, *known)->mappings++;
	a->bucket = row_of(f, s, *known);
	tare_asleep_forget(f, s->process, s->handle, s->asked, true);
	if (*known & 1)
		tare_fold_import_size(f, (int)(*known >> 1), (int64_t)s->asked);
	*tare_map_put(&f->processes[s->process]->mapped, s->handle, NULL) = f->mapping_nr;
	m = TARE_ADD(f->mappings, f->mapping_nr, f->mapping_cap,
	             (struct tare_mapping){ s->handle, s->asked, *known, s->process, a->capture });
	if (!(*known & 1) && tare_fold_tensor_is_segment(f, f->physicals[*known >> 1].bucket))
		tare_fold_segment_add(f, f->physicals[*known >> 1].bucket, m->at, m->bytes, m->graph);
}

/* Forgets a mapping; the last mapping moves to its index. */
static void forget_mapping(struct tare_fold *f, uint64_t i)
{
	struct tare_mapping *m = &f->mappings[i], *end = &f->mappings[--f->mapping_nr];

	if (!(m->ref & 1))
		tare_tensors_unmap(&f->parts->tensors, f, m->process, f->physicals[m->ref >> 1].device, m->at);
	tare_map_remove(&f->processes[m->process]->mapped, m->at, NULL);
	if (m == end)
		return;
	*m = *end;
	*tare_map_put(&f->processes[m->process]->mapped, m->at, NULL) = i;
}

/* Several mappings that lie side by side may go in one call. */
static void unmap(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	uint64_t at = s->handle, end = s->handle + s->asked, ref, bytes;
	const uint64_t *known;

	while (at < end && (known = tare_map_get(&f->processes[s->process]->mapped, at))) {
		ref = f->mappings[*known].ref;
		bytes = f->mappings[*known].bytes;
		a->bucket = row_of(f, s, ref);
		if (!(ref & 1) && refs_of(f, ref)->mappings == 1)
			tare_asleep_add(f, &f->physicals[ref >> 1], at, bytes);
		forget_mapping(f, *known);
		refs_of(f, ref)->mappings--;
		let_go(f, s, a, ref);
		if (!bytes)
			break;
		at += bytes;
	}
}

void tare_fold_vmm_map(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	a->takes_rest = !s->handle;
	if (s->flags & TARE_EVENT_FAILED)
		return;
	if (s->effect == TARE_EFFECT_NEW)
		map(f, s, a);
	else if (s->effect == TARE_EFFECT_DEL)
		unmap(f, s, a);
	else /* the addresses are given back */
		tare_asleep_forget(f, s->process, s->handle, s->asked, true);
}

/* A process has ended: it has no references any more. */
void tare_fold_vmm_forget(struct tare_fold *f, int process)
{
	for (size_t i = f->mapping_nr; i-- > 0;)
		if (f->mappings[i].process == process)
			forget_mapping(f, i);
	tare_asleep_forget(f, process, 0, UINT64_MAX, false);
	tare_map_free(&f->processes[process]->vmm);
	tare_map_free(&f->processes[process]->shared);
	tare_map_free(&f->processes[process]->opened);
}
