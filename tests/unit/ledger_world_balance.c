/* SPDX-License-Identifier: Apache-2.0 */
/* What is true of every ledger: its rows add up. */
#include "ledger_world.h"

#include "base/xalloc.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void check_tensors(const struct tare_device_ledger *d)
{
	int64_t bytes = 0, count = 0;

	for (int i = 0; i < d->line_nr; i++) {
		const struct tare_blocks_ledger *t = &d->lines[i].tensors;

		CHECK(t->ever >= t->count && t->ever_bytes >= t->bytes);
		bytes += t->bytes;
		count += (int64_t)t->count;
	}
	for (int i = 0; i < d->row_nr; i++) {
		if (!strcmp(d->rows[i].label, "live tensors")) {
			bytes -= d->rows[i].bytes;
			count -= (int64_t)d->rows[i].count;
		}
	}
	CHECK_INT(bytes, 0);
	CHECK_INT(count, 0);
}

static void check_device(const struct tare_device_ledger *d)
{
	int64_t leaves = 0, *sums = tare_xcalloc((size_t)d->row_nr, sizeof(*sums));

	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *r = &d->rows[i];

		CHECK(r->parent < i);
		CHECK_INT(r->depth, r->parent < 0 ? 0 : d->rows[r->parent].depth + 1);
		for (int k = 0; k < i; k++)
			if (!strcmp(d->rows[k].path, r->path))
				test_fail(__FILE__, __LINE__, "%s stands there twice", r->path);
		if (!r->leaf)
			continue;
		CHECK(r->low <= r->bytes && r->bytes <= r->high);
		leaves += r->bytes;
		for (int up = r->parent; up >= 0; up = d->rows[up].parent)
			sums[up] += r->bytes;
	}
	for (int i = 0; i < d->row_nr; i++)
		if (!d->rows[i].leaf)
			CHECK_INT(d->rows[i].bytes, sums[i]);
	CHECK_INT(d->used == TARE_NOT_KNOWN ? 0 : (int64_t)d->used, leaves + d->unexplained);
	for (int i = 0; i < d->line_nr; i++)
		leaves -= d->lines[i].bytes;
	CHECK_INT(leaves, 0);
	check_tensors(d);
	free(sums);
}

static int64_t sum_of(const struct tare_device_ledger *d, const char *key)
{
	int64_t sum = 0;

	for (int i = 0; i < d->row_nr; i++) {
		const char *slash = strrchr(d->rows[i].path, '/');

		if (slash && !strcmp(slash + 1, key) && strstr(d->rows[i].path, "/libc10_cuda/"))
			sum += d->rows[i].bytes;
	}
	return sum;
}

/* What the segments come to, one by one, is what the rows say. */
static void check_segments(const struct tare_device_ledger *d)
{
	int64_t live = 0, partly = 0, held = 0, cached = 0;
	bool is_any_expandable = false;

	for (int i = 0; i < d->segment_nr; i++) {
		const struct tare_pool_segment *s = &d->segments[i];
		int64_t rest = s->bytes - s->live;

		if (s->is_trial)
			continue; /* in a row of its own */
		live += s->live;
		is_any_expandable |= s->is_expandable;
		*(s->live ? &partly : s->is_held ? &held : &cached) += rest;
	}
	if (!live && !sum_of(d, "tensors"))
		return; /* none was reported, or it was folded */
	CHECK_INT(sum_of(d, "tensors"), live);
	CHECK_INT(sum_of(d, "partly"), partly);
	CHECK_INT(sum_of(d, "held"), held);
	/* What is made and not mapped (yet, or any more) is in no segment. */
	CHECK(sum_of(d, "cached") >= cached);
	if (!is_any_expandable)
		CHECK_INT(sum_of(d, "cached"), cached);
}

/* Live tensors are told apart at every instant, on GPUs and on the CPU, also at a peak that was folded. */
void world_check_categories(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++)
		for (int k = 0; k < l->devices[i].row_nr; k++) {
			const struct tare_row *r = &l->devices[i].rows[k];

			if (r->pool && r->bytes && !r->has_categories)
				test_fail(__FILE__, __LINE__, "%s is not told apart", r->path);
		}
	for (int i = 0; i < l->host_nr; i++) {
		int64_t sum = 0;

		for (int k = 0; k < l->hosts[i].category_nr; k++)
			sum += l->hosts[i].categories[k].bytes;
		CHECK_INT(sum, l->hosts[i].tensors.bytes);
	}
}

void world_check_balance(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++)
		check_device(&l->devices[i]);
	for (int i = 0; i < l->device_nr; i++)
		check_segments(&l->devices[i]);
	world_check_categories(l);
}
