/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in PyTorch's segments, as data of a page: each block by where in its segment it is, how large, and what it is for. */
#include "view/page.h"

#include "base/bisect.h"
#include "base/comparator.h"
#include "base/emit.h"
#include "base/xalloc.h"
#include "view/page_texts.h"

#include <stdio.h>
#include <stdlib.h>

/* Of an instant at most so many blocks, the largest; the others are only part of what is live in their segment. */
enum { BLOCKS_MAX = 8000 };

struct block {
	const struct tare_pool_segment *segment;
	const struct tare_tensor_row *of;
};

TARE_COMPARATOR_OF_POINTERS(by_address, struct tare_pool_segment, TARE_RISING(pid) TARE_RISING(address))

TARE_COMPARATOR(by_place, struct block, TARE_RISING(segment) TARE_RISING(of->address))

/* The last that does not begin behind it, where the block ends in it. */
static const struct tare_pool_segment *segment_of(const struct tare_pool_segment *const *all, int nr,
                                                  const struct tare_tensor_row *t)
{
	const struct tare_pool_segment wanted = { .pid = t->pid, .address = t->address };
	const struct tare_pool_segment *key = &wanted, *found;
	int low = 0;

	TARE_BISECT(low, nr, i, by_address(&all[i], &key) <= 0);
	found = low ? all[low - 1] : NULL;
	if (!found || found->pid != t->pid || t->bytes > found->bytes ||
	    t->address - found->address > (uint64_t)(found->bytes - t->bytes))
		return NULL;
	return found;
}

static size_t find_blocks(struct block *out, const struct tare_device_ledger *d)
{
	const struct tare_pool_segment **all = tare_xcalloc((size_t)d->segment_nr + 1, sizeof(*all));
	size_t nr = 0;

	for (int i = 0; i < d->segment_nr; i++)
		all[i] = &d->segments[i];
	TARE_SORT(all, d->segment_nr, by_address);
	for (int i = 0; i < d->tensors.count && nr < BLOCKS_MAX; i++) {
		const struct tare_tensor_row *t = &d->tensors.items[i];
		const struct tare_pool_segment *s = t->address ? segment_of(all, d->segment_nr, t) : NULL;

		if (s)
			out[nr++] = (struct block){ s, t };
	}
	free(all);
	TARE_SORT(out, nr, by_place);
	return nr;
}

/* {"at", "device", "address": of the segment, "blocks": [[offset, bytes, category, line or -1], …]} */
static void add_segment(struct tare_emit *e, struct tare_page_texts *lines, const struct tare_ledger *l,
                        const struct tare_device_ledger *d, const struct block *blocks, size_t nr)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)blocks->segment->address);
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "at", l->at);
	tare_emit_int(e, "device", d->index);
	tare_emit_int(e, "pid", blocks->segment->pid);
	tare_emit_str(e, "address", address);
	tare_emit_open(e, "blocks", '[');
	for (size_t i = 0; i < nr; i++) {
		const struct tare_tensor_row *t = blocks[i].of;

		tare_emit_open(e, NULL, '[');
		tare_emit_uint(e, NULL, t->address - blocks->segment->address);
		tare_emit_int(e, NULL, t->bytes);
		tare_emit_int(e, NULL, tare_rules[t->rule].category);
		tare_emit_int(e, NULL, tare_page_texts_number(lines, t->name ? t->name : t->line));
		tare_emit_close(e);
	}
	tare_emit_close(e);
	tare_emit_close(e);
}

static void add_device(struct tare_emit *e, struct tare_page_texts *lines, const struct tare_ledger *l,
                       const struct tare_device_ledger *d)
{
	TARE_FREED_HERE struct block *blocks = tare_xcalloc(BLOCKS_MAX, sizeof(*blocks));
	size_t nr = find_blocks(blocks, d);

	for (size_t from = 0, until; from < nr; from = until) {
		for (until = from; until < nr && blocks[until].segment == blocks[from].segment;)
			until++;
		add_segment(e, lines, l, d, blocks + from, until - from);
	}
}

/* What the allocator would have had with other settings: tare whatif --best. */
static void add_settings(struct tare_emit *e, const struct tare_page *p)
{
	tare_emit_open(e, "settings", '[');
	for (size_t i = 0; i < p->setting_nr; i++) {
		const struct tare_page_setting *s = &p->settings[i];

		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "settings", s->conf ? s->conf : "as recorded");
		tare_emit_uint(e, "peak_reserved_bytes", s->peak_reserved);
		tare_emit_uint(e, "driver_allocs", s->driver_allocs);
		tare_emit_flag(e, "runs_out", s->runs_out);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

void tare_page_pool(struct tare_emit *e, const struct tare_page *p)
{
	struct tare_page_texts lines = { 0 };

	tare_emit_open(e, "pool", '{');
	tare_emit_open(e, "categories", '[');
	for (int i = 0; i < TARE_CATEGORY_NR; i++)
		tare_emit_str(e, NULL, tare_category_name((enum tare_category)i));
	tare_emit_close(e);
	tare_emit_open(e, "segments", '[');
	for (int i = 0; i < p->ledger_nr; i++)
		for (int d = 0; d < p->ledgers[i].device_nr; d++)
			add_device(e, &lines, &p->ledgers[i], &p->ledgers[i].devices[d]);
	tare_emit_close(e);
	tare_page_texts_emit(e, "lines", &lines);
	add_settings(e, p);
	tare_emit_close(e);
}
