/* SPDX-License-Identifier: Apache-2.0 */
/* From buckets to the rows of one device, in display order. */
#include "ledger/rows/rows.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/str.h"
#include "ledger/owner.h"

#include <stdlib.h>
#include <string.h>

/* A leaf in the making: the sum of the buckets that share it. */
struct leaf {
	struct tare_amount sum;
	int process; /* -1: others, which stand last */
	enum tare_account account;
	uint64_t part;    /* owner, context or other process; 0: the account has no parts */
	const char *name; /* name of the owner; NULL: none */
};

struct build {
	const struct tare_fold *f;
	const struct tare_device_fold *d;
	enum tare_moment moment;
	int64_t t; /* what was paused or lost until then makes rows less sure */
	struct tare_arena *memory;
	struct leaf *leaves;
	size_t leaf_nr, leaf_cap;
	struct tare_row *rows;
	size_t row_nr, row_cap;
};

/* Contexts that have ended share one part: their handles may belong to new contexts. */
enum { PART_ENDED = 1, PART_CONTEXT = 2 };

static uint64_t part_of(const struct tare_bucket *b, const struct tare_amount *a)
{
	switch (b->account) {
	case TARE_ACCOUNT_ALLOCATION:
	case TARE_ACCOUNT_POOL:
	case TARE_ACCOUNT_POOL_IDLE:
	case TARE_ACCOUNT_VMM:
	case TARE_ACCOUNT_IPC:
	case TARE_ACCOUNT_OTHER:
	case TARE_ACCOUNT_HEAP:
	case TARE_ACCOUNT_MAPPED:
		return 1 + b->owner;
	case TARE_ACCOUNT_CONTEXT:
		return a->count > 0 ? PART_CONTEXT + (uint64_t)b->context : PART_ENDED;
	default:
		return 0;
	}
}

static const char *name_of(const struct tare_fold *f, const struct tare_bucket *b)
{
	return tare_account_is_named(b->account) && b->owner ? f->owners[b->owner - 1] : NULL;
}

/* The account below the process under which a leaf stands: mostly its own. */
static enum tare_account group_of(const struct leaf *l)
{
	enum tare_account parent = tare_accounts[l->account].parent;

	return parent == TARE_ACCOUNT_NONE || parent == TARE_ACCOUNT_PROCESS ? l->account : parent;
}

/* Others last; within a process by account; parts by size, so that the screen shows what matters. */
static int by_place(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->process != y->process)
		return (unsigned)x->process < (unsigned)y->process ? -1 : 1;
	if (group_of(x) != group_of(y))
		return group_of(x) < group_of(y) ? -1 : 1;
	/* Names are compared, as numbers of owners depend on which came first. */
	if (group_of(x) == TARE_ACCOUNT_POOL && x->name && y->name && strcmp(x->name, y->name))
		return strcmp(x->name, y->name);
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->account < y->account ? -1 : x->account > y->account;
}

static int by_size(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes > y->sum.bytes ? -1 : 1;
	if (x->name && y->name)
		return strcmp(x->name, y->name);
	return x->part < y->part ? -1 : x->part > y->part;
}

static void collect(struct build *b, enum tare_moment m)
{
	size_t kept = 0;

	for (int i = b->d->buckets; i >= 0; i = b->f->buckets[i].next_of_device) {
		const struct tare_bucket *bucket = &b->f->buckets[i];
		const struct tare_amount *a = tare_fold_amount(b->f, bucket, m);

		if ((tare_amount_is_empty(a) && i != b->d->before) || !tare_bucket_is_device(bucket))
			continue;
		TARE_APPEND(b->leaves, b->leaf_nr, b->leaf_cap) =
			(struct leaf){ *a, bucket->process, (enum tare_account)bucket->account, part_of(bucket, a),
			               name_of(b->f, bucket) };
	}
	if (!b->leaf_nr)
		return;
	TARE_SORT(b->leaves, b->leaf_nr, by_place);
	for (size_t i = 1; i < b->leaf_nr; i++) {
		if (!by_place(&b->leaves[kept], &b->leaves[i]))
			tare_amount_add(&b->leaves[kept].sum, &b->leaves[i].sum);
		else
			b->leaves[++kept] = b->leaves[i];
	}
	b->leaf_nr = kept + 1;
}

static struct tare_row *add_row(struct build *b, int parent, enum tare_account account, const char *segment,
                                const char *label)
{
	struct tare_row *r;

	r = &TARE_APPEND(b->rows, b->row_nr, b->row_cap);
	*r = (struct tare_row){ .path = tare_fold_row_path(b->memory, parent < 0 ? NULL : b->rows[parent].path, segment),
		                    .label = tare_arena_strdup(b->memory, label),
		                    .parent = parent,
		                    .depth = parent < 0 ? 0 : b->rows[parent].depth + 1,
		                    .account = account,
		                    .pid = parent < 0 ? -1 : b->rows[parent].pid,
		                    .generation = parent < 0 ? 0 : b->rows[parent].generation,
		                    .rank = parent < 0 ? -1 : b->rows[parent].rank,
		                    .rank_at = parent < 0 ? -1 : b->rows[parent].rank_at };
	return r;
}

/*
 * Bounds the doubt of a row, which adds up call by call: to no less than nothing and no more than the whole
 * device.
 */
static void bound(const struct build *b, struct tare_row *r)
{
	int64_t used = b->moment == TARE_MOMENT_NOW ? b->d->used : b->d->moment_used[b->moment];

	if (r->low < 0 && r->bytes >= 0)
		r->low = 0;
	if (r->high > used && r->bytes <= used)
		r->high = used;
}

static void fill(const struct build *b, struct tare_row *r, const struct tare_amount *a)
{
	const struct tare_account_info *info = &tare_accounts[r->account];

	r->leaf = true;
	r->bytes = a->bytes;
	r->low = a->low;
	r->high = a->high;
	r->contended = a->low < a->high;
	if (r->contended)
		bound(b, r);
	r->count = a->count > 0 ? (uint64_t)a->count : 0;
	r->driver_ns = a->ns > 0 ? (uint64_t)a->ns : 0;
	r->evidence = a->evidence ? (enum tare_evidence)(a->evidence - 1) : info->evidence;
	r->elastic = info->elastic;
}

static bool is_pool(const struct build *b, const struct leaf *l)
{
	return (l->account == TARE_ACCOUNT_ALLOCATION || l->account == TARE_ACCOUNT_VMM) && l->part > 1 &&
	       tare_fold_tensor_is_pool(b->f, l->part - 1);
}

/*
 * The name of the framework's pool that a leaf is of; NULL: none. Of PyTorch's libraries only the allocator
 * has a pool.
 */
static const char *pool_of(const struct build *b, const struct leaf *l)
{
#define TARE_POOL(OWNER, LABEL) { OWNER, LABEL },
	static const struct {
		const char *owner, *label;
	} pools[] = {
#include "ledger/rows/pools.def"
	};
#undef TARE_POOL
	const char *owner = l->name ? tare_owner_name(l->name) : "";

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		if (!strcmp(owner, pools[i].owner) && (i || is_pool(b, l)))
			return pools[i].label;
	return NULL;
}

static void label_part(const struct build *b, const struct leaf *l, struct tare_str *segment, struct tare_str *label)
{
	if (tare_account_has_libraries(l->account)) {
		tare_str_add(segment, l->name ? l->name : "not known");
		if (pool_of(b, l))
			tare_str_addf(label, "%s (%s)", pool_of(b, l), l->name);
		else
			tare_str_add(label, l->name ? l->name : "owner not known");
		if (l->name && !strcmp(l->name, TARE_OWNER_SHARED)) {
			tare_str_cut(label, 0);
			tare_str_add(label, "let go here, held by others");
		}
	} else if (l->account == TARE_ACCOUNT_IPC) {
		tare_str_add(segment, l->name ? l->name : "mapping");
		tare_str_add(label, l->name ? "kept alive here, " : "what mapping it costs");
		tare_str_add(label, l->name ? l->name : "");
	} else if (l->account == TARE_ACCOUNT_OTHER && l->part > 1) {
		const struct tare_other_process *p = &b->d->others[l->part - 2];

		tare_str_addf(segment, "pid:%u", p->pid);
		if (p->name)
			tare_str_addf(label, "%s (pid %u)", p->name, p->pid);
		else
			tare_str_addf(label, "pid %u", p->pid);
	} else if (l->account == TARE_ACCOUNT_OTHER) {
		tare_str_add(segment, "before");
		tare_str_add(label, "before the recording, not listed");
	} else if (l->part == PART_ENDED) {
		tare_str_add(segment, "ended");
		tare_str_add(label, "ended or not recorded");
	} else {
		const struct tare_context *c = &b->f->contexts[l->part - PART_CONTEXT];

		if (c->is_primary)
			tare_str_add(segment, "primary");
		else
			tare_str_addf(segment, "created %d", c->number);
		tare_str_add(label, tare_str_text(segment));
	}
}

/*
 * Does the account get a row per part? Allocations always do; heaps where it is known who asked; contexts and others only
 * if there are several.
 */
static bool is_split(const struct leaf *l, size_t count)
{
	size_t parts = 0;

	if (l->account == TARE_ACCOUNT_ALLOCATION || l->account == TARE_ACCOUNT_VMM)
		return true;
	if (l->account != TARE_ACCOUNT_CONTEXT && l->account != TARE_ACCOUNT_OTHER && l->account != TARE_ACCOUNT_IPC &&
	    !tare_account_has_libraries(l->account))
		return false;
	for (size_t i = 0; i < count; i++)
		parts += l[i].part > PART_ENDED;
	return parts > (l->account == TARE_ACCOUNT_CONTEXT);
}

/*
 * Adds the rows of pools: two below the name of each; what was weighed of pools that say nothing is one row.
 */
static void add_pools(struct build *b, int own, struct leaf *leaves, size_t count)
{
	int pool = own;

	for (size_t i = 0; i < count; i++) {
		const char *name = leaves[i].name;
		bool is_idle = leaves[i].account == TARE_ACCOUNT_POOL_IDLE;
		struct tare_row *r;

		if (name && (!i || leaves[i].part != leaves[i - 1].part)) {
			pool = (int)b->row_nr;
			add_row(b, own, TARE_ACCOUNT_POOL, name, name);
		}
		if (!name)
			r = add_row(b, own, TARE_ACCOUNT_POOL, "weighed", "weighed, do not say");
		else if (is_idle)
			r = add_row(b, pool, TARE_ACCOUNT_POOL_IDLE, tare_accounts[TARE_ACCOUNT_POOL_IDLE].key,
			            tare_accounts[TARE_ACCOUNT_POOL_IDLE].label);
		else
			r = add_row(b, pool, TARE_ACCOUNT_POOL, "used", "in use");
		fill(b, r, &leaves[i].sum);
	}
}

/* Rule "tensors": adds what PyTorch's segments are made up of. Returns if that is known. */
static bool split_pool(struct build *b, int own, const struct leaf *l)
{
	enum { LIVE, CACHED, PARTLY, HELD, NR };
	static const struct {
		const char *key, *label;
		bool elastic;
	} parts[NR] = {
		[LIVE] = { "tensors", "live tensors", false },
		[CACHED] = { "cached", "cached, can be given back", true },
		[PARTLY] = { "partly", "cached beside live tensors", false },
		[HELD] = { "held", "cached for CUDA graphs", false },
	};
	struct tare_pool_use use = tare_fold_tensor_use(b->f, b->d, l->process, l->account, l->part - 1, b->moment);
	uint8_t evidence = l->sum.evidence;
	int64_t bytes[NR] = { use.live, l->sum.bytes - use.live - use.partly - use.held, use.partly, use.held };

	if (!use.is_known || !l->sum.bytes || l->sum.low < l->sum.high)
		return false;
	/* Blocks that were allocated during a pause look as if they were cached. */
	if (tare_pauses_misses(&b->f->parts->pauses, b->t) && evidence < 1 + TARE_EVIDENCE_INFERRED)
		evidence = 1 + TARE_EVIDENCE_INFERRED;
	for (int i = 0; i < NR; i++) {
		struct tare_amount part = { .bytes = bytes[i],
			                        .low = bytes[i],
			                        .high = bytes[i],
			                        .count = i == LIVE ? use.count : 0,
			                        .ns = i == LIVE ? l->sum.ns : 0,
			                        .evidence = evidence };
		struct tare_row *r;

		if (!bytes[i] && i != LIVE)
			continue;
		r = add_row(b, own, l->account, parts[i].key, parts[i].label);
		fill(b, r, &part);
		r->elastic = parts[i].elastic;
		if (i == LIVE)
			r->pool = tare_fold_pool_key(l->process, l->account, l->part - 1);
	}
	return true;
}

/* Adds the accounts below an account, each in a row. */
static void add_members(struct build *b, int own, const struct leaf *leaves, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tare_account_info *info = &tare_accounts[leaves[i].account];

		fill(b, add_row(b, own, leaves[i].account, info->key, info->label), &leaves[i].sum);
	}
}

/* ---- parts of a library ---- */

static size_t library_len(const struct leaf *l)
{
	const char *rest = l->name;
	size_t len = 0;

	return tare_owner_part(&rest, &len) ? len : 0;
}

static bool is_part(const struct leaf *l)
{
	return l->name && l->name[library_len(l)];
}

static bool is_same_library(const struct leaf *x, const struct leaf *y)
{
	return x->name && y->name && library_len(x) == library_len(y) && !strncmp(x->name, y->name, library_len(x));
}

/* Numbers by their value, and what is no part last. */
TARE_COMPARATOR(by_part, struct leaf, TARE_FALLING_BY(is_part(it)) TARE_COMPARED(strverscmp(x->name, y->name)))

/* Parts of a library stand together, where the largest of them would. */
static void bring_together(struct leaf *leaves, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		bool is_any = is_part(&leaves[i]);

		end = i + 1;
		for (size_t k = end; leaves[i].name && k < count; k++) {
			struct leaf found = leaves[k];

			if (!is_same_library(&leaves[i], &found) || (!is_any && !is_part(&found)))
				continue;
			is_any = true;
			memmove(&leaves[end + 1], &leaves[end], (k - end) * sizeof(*leaves));
			leaves[end++] = found;
		}
		TARE_SORT(&leaves[i], end - i, by_part);
	}
}

/* The row of that name below another, which is added where it is not the last that was. */
static int row_below(struct build *b, int parent, enum tare_account account, const char *name)
{
	size_t i = b->row_nr;

	while (i-- > (size_t)parent + 1)
		if (b->rows[i].parent == parent && !strcmp(b->rows[i].label, name))
			return (int)i;
	add_row(b, parent, account, name, name);
	return (int)b->row_nr - 1;
}

/* Adds a leaf below the rows of its library; false: it is no part of one. */
static bool add_part_of_library(struct build *b, int own, const struct leaf *leaves, size_t i)
{
	const struct leaf *l = &leaves[i];
	const char *rest = l->name, *name, *library = NULL;
	int row = own;
	size_t len;

	if (!is_part(l) && !(i && is_same_library(l, l - 1)))
		return false;
	while ((name = tare_owner_part(&rest, &len)) != NULL) {
		const char *copy = tare_arena_strndup(b->memory, name, len);

		library = library ? library : copy;
		row = row_below(b, row, l->account, copy);
		b->rows[row].library = library;
	}
	if (!is_part(l)) {
		row = row_below(b, row, l->account, "not told for what");
		b->rows[row].library = library;
	}
	fill(b, &b->rows[row], &l->sum);
	return true;
}

static void add_account(struct build *b, int parent, struct leaf *leaves, size_t count)
{
	const struct tare_account_info *info = &tare_accounts[group_of(leaves)];
	int own = (int)b->row_nr;

	add_row(b, parent, group_of(leaves), info->key,
	        group_of(leaves) == TARE_ACCOUNT_OTHER && b->d->primary == TARE_SOURCE_CUDA
	            ? "in use before, and the first context"
	            : info->label);
	if (group_of(leaves) == TARE_ACCOUNT_POOL && (count > 1 || leaves->part > 1)) {
		add_pools(b, own, leaves, count);
		return;
	}
	if (group_of(leaves) != TARE_ACCOUNT_POOL && group_of(leaves) != leaves->account) {
		add_members(b, own, leaves, count);
		return;
	}
	if (!is_split(leaves, count)) {
		for (size_t i = 1; i < count; i++)
			tare_amount_add(&leaves->sum, &leaves[i].sum);
		fill(b, &b->rows[own], &leaves->sum);
		return;
	}
	if (leaves->account != TARE_ACCOUNT_CONTEXT) {
		TARE_SORT(leaves, count, by_size);
		bring_together(leaves, count);
	}
	for (size_t i = 0; i < count; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str segment = { 0 }, label = { 0 };
		int row = (int)b->row_nr;
		struct tare_row *r;

		if (tare_amount_is_empty(&leaves[i].sum))
			continue;
		if (add_part_of_library(b, own, leaves, i))
			continue;
		label_part(b, &leaves[i], &segment, &label);
		r = add_row(b, own, leaves->account, tare_str_text(&segment), tare_str_text(&label));
		if (leaves->account == TARE_ACCOUNT_OTHER && leaves[i].part > 1)
			r->pid = b->d->others[leaves[i].part - 2].pid;
		if (!is_pool(b, &leaves[i]) || !split_pool(b, (int)b->row_nr - 1, &leaves[i]))
			fill(b, &b->rows[row], &leaves[i].sum);
	}
}

/*
 * The number of processes with that pid: pids are reused, and come again on other hosts of a job.
 */
static int namesake_nr(const struct tare_fold *f, int process)
{
	const struct tare_process *p = f->processes[process]->process;
	int count = 0;

	for (int i = 0; i < process; i++)
		count += f->processes[i] && f->processes[i]->process->role == p->role &&
		         f->processes[i]->process->pid == p->pid && f->processes[i]->process->generation == p->generation;
	return count;
}

static int add_process(struct build *b, int process)
{
	const struct tare_process *p = b->f->processes[process]->process;
	int namesakes = namesake_nr(b->f, process);
	TARE_FREED_BY(tare_str_free) struct tare_str segment = { 0 }, label = { 0 };
	struct tare_row *r;

	tare_str_addf(&segment, "process:%u", p->pid);
	if (p->generation)
		tare_str_addf(&segment, ".%u", p->generation);
	if (namesakes)
		tare_str_addf(&segment, "~%d", namesakes + 1);
	tare_str_addf(&label, "%s (pid %u)", p->program && *p->program ? p->program : "process", p->pid);
	r = add_row(b, -1, TARE_ACCOUNT_PROCESS, tare_str_text(&segment), tare_str_text(&label));
	r->pid = p->pid;
	r->generation = p->generation;
	r->rank = p->rank.rank;
	tare_ranks_process_row(&b->f->parts->ranks, process, r);
	return (int)b->row_nr - 1;
}

/* A parent is the sum of its children, and as sure as the least sure of them. */
static void sum_up(struct build *b)
{
	for (size_t i = b->row_nr; i-- > 0;) {
		struct tare_row *r = &b->rows[i], *up;

		if (r->parent < 0)
			continue;
		up = &b->rows[r->parent];
		up->bytes += r->bytes;
		up->low += r->low;
		up->high += r->high;
		up->contended |= r->contended;
		up->count += r->count;
		up->driver_ns += r->driver_ns;
		if (up->evidence < r->evidence)
			up->evidence = r->evidence;
	}
}

/* Rule "lost" */
static void doubt(struct build *b, size_t from, int process)
{
	for (size_t i = from; i < b->row_nr; i++)
		b->rows[i].evidence = tare_losses_evidence(&b->f->parts->losses, process, b->t, b->rows[i].evidence);
}

/* What is imported has other processes only where it says so, and the heap has none. */
static bool is_shown(const struct tare_device_fold *d, const struct leaf *l)
{
	if (d->device->flags & TARE_DEVICE_HEAP)
		return l->account != TARE_ACCOUNT_OTHER;
	return l->account != TARE_ACCOUNT_OTHER ||
	       (d->is_measured && (l->sum.bytes || !(d->device->flags & TARE_DEVICE_IMPORTED)));
}

void tare_fold_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                    struct tare_arena *memory, struct tare_device_ledger *out)
{
	struct build b = { .f = f, .d = d, .moment = m, .t = tare_fold_doubt_ns(f, m, t), .memory = memory };
	int parent = -1;

	collect(&b, m);
	for (size_t i = 0, n; i < b.leaf_nr; i += n) {
		struct leaf *l = &b.leaves[i];
		size_t first = b.row_nr;

		n = 1;
		while (i + n < b.leaf_nr && l[n].process == l->process && group_of(&l[n]) == group_of(l))
			n++;
		if (l->process < 0)
			parent = -1;
		else if (!i || l[-1].process != l->process)
			parent = add_process(&b, l->process);
		if (is_shown(d, l))
			add_account(&b, parent, l, n);
		doubt(&b, first, l->process);
	}
	sum_up(&b);
	out->row_nr = (int)b.row_nr;
	if (b.row_nr) {
		out->rows = tare_arena_alloc(memory, b.row_nr * sizeof(*b.rows));
		memcpy(out->rows, b.rows, b.row_nr * sizeof(*b.rows));
	}
	free(b.rows);
	free(b.leaves);
}
