/* SPDX-License-Identifier: Apache-2.0 */
/* From buckets to the lines of one device: what every place in the program holds. */
#include "ledger/rows/rows.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

/* The sums of one site of one process; without a site, of one account that cannot have one. */
struct part {
	struct tare_amount sum, tensors, ever_allocated;
	int process; /* -1: others */
	uint32_t site;
	int64_t host_anon, host_file, unexplained;
	enum tare_account account; /* account of what no single line can have; else NONE */
};

TARE_COMPARATOR(by_site, struct part, TARE_RISING(process) TARE_RISING(site) TARE_RISING(account))

/*
 * Does a line have nothing of a bucket? What it had once counts at the fold's own moments: a page has many other instants, and tens of thousands of places
 * that once asked for something are as many rows at each.
 */
static bool is_nothing(const struct tare_amount *a, enum tare_moment m)
{
	return tare_amount_is_empty(a) && (!a->ever || m == TARE_MOMENT_NOW);
}

/*
 * The account whose memory is no line's, or NONE: what pages have beyond the allocations in them, what a pool
 * keeps, and what came when the GPU touched it.
 */
static enum tare_account account_of(const struct tare_bucket *b)
{
	switch (b->account) {
	case TARE_ACCOUNT_GRANULARITY:
	case TARE_ACCOUNT_MANAGED:
	case TARE_ACCOUNT_OTHER:
	case TARE_ACCOUNT_POOL:
		return b->site ? TARE_ACCOUNT_NONE : (enum tare_account)b->account;
	case TARE_ACCOUNT_POOL_IDLE:
		return TARE_ACCOUNT_POOL;
	default:
		return TARE_ACCOUNT_NONE;
	}
}

/* Adds what a bucket has to the part of a line; false: it is in no line. */
static bool part_of(const struct tare_device_fold *d, const struct tare_bucket *b, const struct tare_amount *a,
                    struct part *out)
{
	*out = (struct part){ .process = b->process, .site = b->site };
	if (b->account == TARE_BUCKET_TENSOR) {
		out->tensors = *a;
	} else if (b->account == TARE_BUCKET_EVER_ALLOCATED) {
		out->ever_allocated = *a;
	} else if (b->account == TARE_BUCKET_UNEXPLAINED) {
		out->unexplained = a->bytes;
		return b->site && a->bytes; /* else of no line */
	} else {
		out->sum = *a;
		out->account = account_of(b);
		return tare_bucket_is_device(b) && (b->account != TARE_ACCOUNT_OTHER || d->is_measured);
	}
	return true;
}

static void add_host(const struct tare_fold *f, const struct tare_device_fold *d, int64_t t, struct part **parts,
                     size_t *count, size_t *cap)
{
	struct tare_rss_change *changes;
	size_t n = tare_increments_until(&f->parts->increments, t, &changes);

	for (size_t i = 0; i < n; i++) {
		const struct tare_process_fold *p = f->processes[changes[i].process];

		if (d->index >= p->on_device_nr || !p->on_device[d->index])
			continue;
		TARE_APPEND(*parts, *count, *cap) = (struct part){ .process = changes[i].process,
			                                               .site = changes[i].site,
			                                               .host_anon = changes[i].anon,
			                                               .host_file = changes[i].file };
	}
	free(changes);
}

static size_t collect(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                      struct part **out)
{
	size_t count = 0, cap = 0, kept = 0;
	struct part *parts = NULL;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];
		const struct tare_amount *a = tare_fold_amount(f, b, m);
		struct part part;

		if (is_nothing(a, m) || !part_of(d, b, a, &part))
			continue;
		TARE_APPEND(parts, count, cap) = part;
	}
	add_host(f, d, t, &parts, &count, &cap);
	*out = parts;
	if (!count)
		return 0;
	TARE_SORT(parts, count, by_site);
	for (size_t i = 1; i < count; i++) {
		if (by_site(&parts[kept], &parts[i])) {
			parts[++kept] = parts[i];
			continue;
		}
		tare_amount_add(&parts[kept].sum, &parts[i].sum);
		tare_amount_add(&parts[kept].tensors, &parts[i].tensors);
		tare_amount_add(&parts[kept].ever_allocated, &parts[i].ever_allocated);
		parts[kept].unexplained += parts[i].unexplained;
		parts[kept].host_anon += parts[i].host_anon;
		parts[kept].host_file += parts[i].host_file;
	}
	return kept + 1;
}

static uint64_t count_of(const struct tare_amount *a)
{
	return a->count > 0 ? (uint64_t)a->count : 0;
}

static enum tare_evidence evidence_of(const struct tare_fold *f, int process, int64_t t, const struct tare_amount *a)
{
	enum tare_evidence own = a->evidence ? (enum tare_evidence)(a->evidence - 1) : TARE_EVIDENCE_EXACT;

	return tare_losses_evidence(&f->parts->losses, process, t, own);
}

/* Makes the parts of one line of its buckets, which are `in`, those of one site together. */
static void take_apart(const struct tare_fold *f, enum tare_moment m, int64_t t, const int *in, size_t count,
                       struct tare_arena *memory, struct tare_ledger_line *l)
{
	l->parts = tare_arena_alloc(memory, count * sizeof(*l->parts));
	for (size_t i = 0; i < count; i++) {
		const struct tare_bucket *b = &f->buckets[in[i]];
		const struct tare_amount *a = tare_fold_amount(f, b, m);

		l->parts[l->part_nr++] = (struct tare_line_part){
			.account = (enum tare_account)b->account,
			.owner = tare_account_has_owner(b->account) && b->owner ? tare_arena_strdup(memory, f->owners[b->owner - 1])
			                                                        : NULL,
			.bytes = a->bytes,
			.count = count_of(a),
			.ever = a->ever > 0 ? (uint64_t)a->ever : 0,
			.ever_bytes = a->ever_bytes,
			.evidence = evidence_of(f, b->process, t, a),
		};
	}
}

/*
 * Lists the buckets of every line, in two rounds: counts, then places. Returns where the buckets of each line
 * begin.
 */
static size_t *list_buckets(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                            const struct part *parts, size_t count, int **out)
{
	size_t *starts = tare_xcalloc(count + 2, sizeof(*starts));

	for (int pass = 0; pass < 2; pass++) {
		for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
			const struct tare_bucket *b = &f->buckets[i];
			const struct part *found, key = { .process = b->process, .site = b->site };

			if (!b->site || !tare_bucket_is_device(b) || is_nothing(tare_fold_amount(f, b, m), m))
				continue;
			found = bsearch(&key, parts, count, sizeof(*parts), by_site);
			if (!found)
				continue;
			if (pass)
				(*out)[starts[found - parts + 1]++] = i;
			else
				starts[found - parts + 2]++;
		}
		for (size_t i = 2; !pass && i < count + 2; i++)
			starts[i] += starts[i - 1];
		if (!pass)
			*out = tare_xcalloc(starts[count + 1] + 1, sizeof(**out));
	}
	return starts;
}

void tare_fold_lines(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                     struct tare_arena *memory, struct tare_device_ledger *out)
{
	struct part *parts;
	size_t count = collect(f, d, m, t, &parts), *starts;
	int *buckets = NULL;

	t = tare_fold_doubt_ns(f, m, t);
	starts = list_buckets(f, d, m, parts, count, &buckets);
	out->lines = tare_arena_alloc(memory, (count + 1) * sizeof(*out->lines));
	out->line_nr = (int)count;
	for (size_t i = 0; i < count; i++) {
		const struct tare_amount *a = &parts[i].sum;
		struct tare_ledger_line *l = &out->lines[i];

		*l = (struct tare_ledger_line){
			.pid = parts[i].process < 0 ? -1 : (int64_t)f->processes[parts[i].process]->process->pid,
			.bytes = a->bytes,
			.low = a->low,
			.high = a->high,
			.count = count_of(a),
			.driver_ns = a->ns > 0 ? (uint64_t)a->ns : 0,
			.evidence = evidence_of(f, parts[i].process, t, a),
			.tensors = { parts[i].tensors.bytes, parts[i].ever_allocated.bytes, count_of(&parts[i].tensors),
			             count_of(&parts[i].ever_allocated) },
			.ever = a->ever > 0 ? (uint64_t)a->ever : 0,
			.ever_bytes = a->ever_bytes,
			.unexplained = parts[i].unexplained,
			.host_anon = parts[i].host_anon,
			.host_file = parts[i].host_file,
		};
		tare_fold_line_name(f, parts[i].site, parts[i].account, memory, l);
		if (starts[i + 1] > starts[i])
			take_apart(f, m, t, buckets + starts[i], starts[i + 1] - starts[i], memory, l);
	}
	free(parts);
	free(starts);
	free(buckets);
}
