/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "shared memory": what a process exported is in its own row as long as it refers to it. When
 * it lets go and a process of the recording still holds an import, the memory goes on in that one's
 * row, and is given back when that one lets go.
 *
 * A descriptor says nothing of what it was exported from (docs/measurements/in-capture.md). So an import
 * is matched by device, size and order; handles of legacy IPC and of fabrics by their bytes. Where
 * several exports fit, nothing is guessed: the counter around the calls tells what went.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"
#include "base/str.h"

#include <stdlib.h>

/* Does the identity tell which memory it is of? Else it is only a kind of handle. */
#define IS_TOLD(identity) ((identity) >> 63)

static int row_of_holder(struct tare_fold *f, const struct tare_physical *p, int process)
{
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };
	int context = tare_fold_context(f, process, p->device, 0), bucket;

	tare_str_addf(&label, "from:%u", f->processes[p->process]->process->pid);
	bucket = tare_fold_bucket(f, context, TARE_ACCOUNT_IPC, tare_fold_owner_named(f, tare_str_text(&label)));
	return bucket;
}

/*
 * The row of memory that is held, but by no known process: it stays with the process that made it.
 */
static int row_of_nobody(struct tare_fold *f, const struct tare_physical *p)
{
	return tare_fold_bucket(f, tare_fold_context(f, p->process, p->device, 0),
	                        p->is_allocation ? TARE_ACCOUNT_ALLOCATION : TARE_ACCOUNT_VMM,
	                        tare_fold_owner_named(f, TARE_OWNER_SHARED));
}

static int holder_of(const struct tare_fold *f, int physical)
{
	for (size_t i = 0; i < f->import_nr; i++)
		if (f->imports[i].is_live && f->imports[i].origin == physical &&
		    !f->processes[f->imports[i].process]->is_vmm_over)
			return (int)i;
	return -1;
}

static void move(struct tare_fold *f, int physical, int import, enum tare_evidence how)
{
	struct tare_physical *p = &f->physicals[physical];
	int to = import >= 0 ? row_of_holder(f, p, f->imports[import].process) : row_of_nobody(f, p);

	p = &f->physicals[physical];
	if (p->bucket >= 0) /* the rows of an allocation have given it up already */
		tare_fold_op_bytes(f, p->bucket, -p->bytes, -1, TARE_EVIDENCE_EXACT);
	tare_fold_op_bytes(f, to, p->bytes, 1, how);
	p->bucket = to;
	p->holder = import;
	p->is_lent = true;
}

static enum tare_evidence match_evidence(const struct tare_physical *p)
{
	return IS_TOLD(p->identity) ? TARE_EVIDENCE_EXACT : TARE_EVIDENCE_INFERRED;
}

static bool has_unmatched(const struct tare_fold *f, const struct tare_physical *p)
{
	for (size_t i = 0; i < f->import_nr; i++) {
		const struct tare_import *m = &f->imports[i];

		if (m->is_live && m->origin < 0 && m->device == p->device && (!m->bytes || m->bytes == p->bytes))
			return true;
	}
	return false;
}

/* By how much the device fell inside the call; not known: by what was expected. */
static int64_t fall_in(const struct tare_step *s, int64_t expected)
{
	return s->flags & TARE_EVENT_WEIGHED ? (int64_t)s->before - (int64_t)s->after : expected;
}

void tare_fold_export(struct tare_fold *f, const struct tare_step *s, int physical)
{
	struct tare_physical *p = &f->physicals[physical];

	if (!p->identity)
		p->exported_ns = s->begin;
	p->identity = s->limit ? s->limit : 1;
}

/* The process that made the memory has no reference to it any more. */
void tare_fold_physical_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a, int physical)
{
	struct tare_physical *p = &f->physicals[physical];
	int holder = p->identity ? holder_of(f, physical) : -1;

	/* If the memory went though a process was matched as its holder, the match was wrong. */
	if (holder >= 0 && fall_in(s, 0) != p->bytes) {
		move(f, physical, holder, match_evidence(p));
		return;
	}
	for (; holder >= 0; holder = holder_of(f, physical))
		f->imports[holder].origin = -1;
	/* A process of which nothing is known may hold it: then the memory has not gone now. */
	if (p->identity && p->bytes && 2 * fall_in(s, p->bytes) < p->bytes) {
		move(f, physical, -1, has_unmatched(f, p) ? TARE_EVIDENCE_INFERRED : TARE_EVIDENCE_WEIGHED);
		return;
	}
	if (p->bucket >= 0)
		tare_fold_op_bytes(f, p->bucket, -p->bytes, -1, TARE_EVIDENCE_EXACT);
	tare_fold_physical_remove(f, physical);
	(void)a;
}

/* ---- imports ---- */
static bool is_taken(const struct tare_fold *f, int physical, int process)
{
	for (size_t i = 0; i < f->import_nr; i++)
		if (f->imports[i].is_live && f->imports[i].process == process && f->imports[i].origin == physical)
			return true;
	return false;
}

/*
 * Matches an import with the only export that fits and that this process has not imported already.
 */
static void match(struct tare_fold *f, struct tare_import *m)
{
	int found = -1;

	for (size_t i = 0; i < f->physical_nr; i++) {
		const struct tare_physical *p = &f->physicals[i];

		if (!p->is_live || p->identity != m->identity || (p->device != m->device && !IS_TOLD(m->identity)))
			continue;
		if (!IS_TOLD(m->identity) &&
		    (p->bytes != m->bytes || p->exported_ns > m->begin_ns || is_taken(f, (int)i, m->process)))
			continue;
		if (found >= 0)
			return;
		found = (int)i;
	}
	m->origin = found;
	/* No known process held the memory: this import does. */
	if (found >= 0 && f->physicals[found].is_lent && f->physicals[found].holder < 0)
		move(f, found, (int)(m - f->imports), match_evidence(&f->physicals[found]));
}

int tare_fold_import_add(struct tare_fold *f, const struct tare_step *s, int64_t bytes)
{
	struct tare_import *m;
	size_t i = 0;

	while (i < f->import_nr && f->imports[i].is_live)
		i++;
	if (i == f->import_nr) {
		f->imports = tare_array_reserve(f->imports, &f->import_cap, f->import_nr + 1, sizeof(*f->imports));
		f->import_nr++;
	}
	m = &f->imports[i];
	*m = (struct tare_import){ .handle = s->handle,
		                       .identity = s->limit ? s->limit : 1,
		                       .bytes = bytes,
		                       .begin_ns = s->end,
		                       .process = s->process,
		                       .device = s->device,
		                       .origin = -1,
		                       .is_live = true,
		                       .is_address = s->class == TARE_CLASS_IPC };
	if (IS_TOLD(m->identity) || m->bytes)
		match(f, m);
	return (int)i;
}

/* The first mapping of an import tells its size. */
void tare_fold_import_size(struct tare_fold *f, int import, int64_t bytes)
{
	struct tare_import *m = &f->imports[import];

	if (m->bytes)
		return;
	m->bytes = bytes;
	if (m->origin < 0)
		match(f, m);
}

static void give_back(struct tare_fold *f, int physical)
{
	struct tare_physical *p = &f->physicals[physical];

	tare_fold_op_bytes(f, p->bucket, -p->bytes, -1, TARE_EVIDENCE_EXACT);
	tare_fold_physical_remove(f, physical);
}

/* Of memory that no known process holds, one of this size; in one row it does not matter which. */
static int lent_of_size(const struct tare_fold *f, int device, int64_t bytes)
{
	int found = -1;

	for (size_t i = 0; i < f->physical_nr; i++) {
		const struct tare_physical *p = &f->physicals[i];

		if (!p->is_live || !p->is_lent || p->holder >= 0 || p->device != device || p->bytes != bytes || !bytes)
			continue;
		if (found >= 0 && f->physicals[found].bucket != p->bucket)
			return -1;
		found = (int)i;
	}
	return found;
}

/* The process has no reference to what it imported any more. */
void tare_fold_import_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a, int import)
{
	struct tare_import *m = &f->imports[import];
	int origin = m->origin, next;

	m->is_live = false;
	a->takes_rest = false;
	if (origin < 0) {
		origin = lent_of_size(f, m->device, fall_in(s, 0));
		if (origin >= 0)
			give_back(f, origin);
		return;
	}
	if (!f->physicals[origin].is_lent)
		return;
	next = holder_of(f, origin);
	if (f->physicals[origin].device != s->device)
		f->physicals[origin].holder = next; /* on another device, whose counter will tell */
	else if (next >= 0)
		move(f, origin, next, match_evidence(&f->physicals[origin]));
	else
		give_back(f, origin);
}

/* ---- allocations that are shared by legacy IPC ---- */
static int shared_at(const struct tare_fold *f, int process, uint64_t at)
{
	const uint64_t *known = tare_map_get(&f->processes[process]->shared, at);

	return known ? (int)*known : -1;
}

static void forget_shared(struct tare_fold *f, int process, uint64_t at)
{
	int known = shared_at(f, process, at);

	if (known < 0)
		return;
	tare_map_remove(&f->processes[process]->shared, at, NULL);
	tare_fold_physical_remove(f, known);
}

/* The driver gives the same bytes for an allocation however often it is asked. */
static void share_allocation(struct tare_fold *f, const struct tare_step *s)
{
	struct tare_physical p = { .handle = s->parent,
		                       .identity = s->limit,
		                       .exported_ns = s->end,
		                       .process = s->process,
		                       .device = s->device,
		                       .bucket = -1,
		                       .is_allocation = true };
	int known = shared_at(f, s->process, s->parent);

	if (known >= 0 && f->physicals[known].identity == s->limit)
		return;
	forget_shared(f, s->process, s->parent);
	known = tare_fold_physical_add(f, &p);
	*tare_map_put(&f->processes[s->process]->shared, s->parent, NULL) = (uint64_t)known;
}

/*
 * A shared allocation was freed and `bytes` are out of the books. The counter says whether they are off the
 * device, too: if not, another process still has the allocation open.
 */
void tare_fold_share_freed(struct tare_fold *f, const struct tare_step *s, uint64_t at, int64_t bytes)
{
	int known = shared_at(f, s->process, at), holder;

	if (known < 0)
		return;
	tare_map_remove(&f->processes[s->process]->shared, at, NULL);
	if (bytes <= 0 || 2 * fall_in(s, bytes) >= bytes) {
		tare_fold_physical_remove(f, known);
		return;
	}
	f->physicals[known].bytes = bytes;
	holder = holder_of(f, known);
	move(f, known, holder, holder < 0 ? TARE_EVIDENCE_WEIGHED : TARE_EVIDENCE_EXACT);
}

/* The address belongs to another allocation now. */
void tare_fold_share_given(struct tare_fold *f, const struct tare_step *s)
{
	if (f->processes[s->process]->shared.count)
		forget_shared(f, s->process, s->handle);
}

static void open_shared(struct tare_fold *f, const struct tare_step *s)
{
	uint64_t *known = tare_map_put(&f->processes[s->process]->opened, s->handle, NULL);
	int import;

	if (!*known) {
		import = tare_fold_import_add(f, s, 0);
		*known = (uint64_t)import + 1;
	}
	f->imports[*known - 1].refs.handles++;
}

static void close_shared(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	uint64_t *known = tare_map_get(&f->processes[s->process]->opened, s->handle);
	int import;

	if (!known)
		return;
	import = (int)*known - 1;
	if (--f->imports[import].refs.handles)
		return;
	tare_map_remove(&f->processes[s->process]->opened, s->handle, NULL);
	tare_fold_import_end(f, s, a, import);
	a->takes_rest = true; /* what the mapping itself took */
}

void tare_fold_ipc(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a)
{
	a->takes_rest = true;
	if (s->flags & TARE_EVENT_FAILED || s->device < 0)
		return;
	if (s->effect == TARE_EFFECT_NEW)
		open_shared(f, s);
	else if (s->effect == TARE_EFFECT_DEL)
		close_shared(f, s, a);
	else if (s->limit)
		share_allocation(f, s);
}

/* ---- between calls ---- */
static bool is_with_unrecorded(const struct tare_physical *p, int device)
{
	return p->is_live && p->is_lent && p->holder < 0 && p->device == device && p->bytes > 0;
}

/* Is memory of several makers held by unknown processes? Then only the size tells whose went. */
static bool is_of_several(const struct tare_fold *f, int device)
{
	int bucket = -1;

	for (size_t i = 0; i < f->physical_nr; i++) {
		if (!is_with_unrecorded(&f->physicals[i], device))
			continue;
		if (bucket >= 0 && bucket != f->physicals[i].bucket)
			return true;
		bucket = f->physicals[i].bucket;
	}
	return false;
}

static int largest_lent(const struct tare_fold *f, int device, const bool *is_taken, int64_t most)
{
	int found = -1;

	for (size_t i = 0; i < f->physical_nr; i++)
		if (!is_taken[i] && is_with_unrecorded(&f->physicals[i], device) && f->physicals[i].bytes <= most &&
		    (found < 0 || f->physicals[i].bytes > f->physicals[found].bytes))
			found = (int)i;
	return found;
}

static void take_lent(struct tare_fold *f, int physical)
{
	int64_t bytes = f->physicals[physical].bytes;

	tare_fold_book(f, f->physicals[physical].bucket,
	               &(struct tare_amount){ .bytes = -bytes,
	                                      .low = -bytes,
	                                      .high = -bytes,
	                                      .count = -1,
	                                      .evidence = 1 + TARE_EVIDENCE_INFERRED });
	tare_fold_physical_remove(f, physical);
}

/*
 * A process that is not recorded released memory that only it still held: one, or, as at its end, several
 * whose sizes make up the fall. Otherwise nothing is taken out of the books.
 */
int64_t tare_fold_share_between_calls(struct tare_fold *f, const struct tare_device_fold *d, int64_t change)
{
	int64_t rest = -change;
	bool *is_taken;
	int one;

	if (change >= 0 || !f->physical_nr)
		return 0;
	if (is_of_several(f, d->index)) {
		one = lent_of_size(f, d->index, rest);
		if (one >= 0)
			take_lent(f, one);
		return one >= 0 ? change : 0;
	}
	is_taken = tare_xcalloc(f->physical_nr, sizeof(*is_taken));
	while (rest > 0 && (one = largest_lent(f, d->index, is_taken, rest)) >= 0) {
		is_taken[one] = true;
		rest -= f->physicals[one].bytes;
	}
	for (size_t i = 0; !rest && i < f->physical_nr; i++)
		if (is_taken[i])
			take_lent(f, (int)i);
	free(is_taken);
	return rest ? 0 : change;
}

/*
 * A process has ended, and with it every reference it had: memory that others hold of it moves to their rows,
 * and memory that it alone held for others goes with its rows.
 */
void tare_fold_share_end(struct tare_fold *f, int process)
{
	struct tare_process_fold *p = f->processes[process];

	if (p->is_vmm_over)
		return;
	p->is_vmm_over = true;
	f->ops.count = 0;
	for (size_t i = 0; i < f->physical_nr; i++) {
		struct tare_physical *x = &f->physicals[i];
		int holder;

		if (!x->is_live ||
		    (x->is_lent ? x->holder < 0 || f->imports[x->holder].process != process : x->process != process))
			continue;
		holder = x->identity ? holder_of(f, (int)i) : -1;
		if (holder >= 0 && x->bytes)
			move(f, (int)i, holder, match_evidence(x));
		else
			tare_fold_physical_remove(f, (int)i);
	}
	for (size_t i = 0; i < f->import_nr; i++)
		if (f->imports[i].process == process)
			f->imports[i].is_live = false;
	tare_fold_vmm_forget(f, process);
	tare_fold_book_ops(f, f->ops.items, f->ops.count);
}
