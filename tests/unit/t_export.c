/* SPDX-License-Identifier: Apache-2.0 */
/* Files for other programs, of ledgers that no recording easily has: sizes near the largest, more explained than in use, odd names. */
#include "export/blocks.h"
#include "export/export.h"
#include "export/gzip.h"
#include "export/protobuf.h"
#include "sample_ledger.h"
#include "test.h"
#include "record/format.h"

#include <string.h>

#define HUGE_BYTES (INT64_C(1) << 60)

static int64_t sum_of(const struct tare_export_stacks *s, const struct tare_device_ledger *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (s->samples[i].device == d)
			sum += s->samples[i].bytes;
	return sum;
}

/* What the rows that are not parts of others come to, and what is unexplained. */
static int64_t wanted_of(const struct tare_device_ledger *d)
{
	int64_t sum = d->used == TARE_NOT_KNOWN || d->used_by == TARE_EVIDENCE_INFERRED ? 0 : d->unexplained;

	for (int i = 0; i < d->row_nr; i++)
		if (tare_row_is_end(&d->rows[i]))
			sum += d->rows[i].bytes;
	return sum;
}

static void render(struct tare_str *out, enum tare_export_format format, const struct tare_ledger *l,
                   struct tare_str *notes)
{
	struct tare_export_stacks stacks = { 0 };
	struct tare_memory_history history = { 0 };
	struct tare_export_blocks blocks = { 0 };
	struct tare_export x = { .title = "t",
		                     .ledger = l,
		                     .stacks = &stacks,
		                     .end_ledger = l,
		                     .end = &stacks,
		                     .by_account = &history,
		                     .blocks = &blocks };
	struct tare_err err = { 0 };

	tare_export_stacks_build(&stacks, l);
	CHECK_INT(tare_exports[format].render(out, &x, &err), 0);
	if (notes)
		tare_str_add(notes, tare_str_text(&x.notes));
	tare_str_free(&x.notes);
	tare_export_stacks_free(&stacks);
}

TEST(stacks_sum_to_the_rows)
{
	const struct tare_ledger *ledgers[] = {
		sample_train_peak(), sample_train_end(), sample_pair(), sample_uncounted(),
		sample_ranks(),      sample_idle(),      sample_pool(),
	};

	for (size_t i = 0; i < sizeof(ledgers) / sizeof(ledgers[0]); i++) {
		struct tare_export_stacks stacks = { 0 };

		tare_export_stacks_build(&stacks, ledgers[i]);
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			CHECK_INT(sum_of(&stacks, &ledgers[i]->devices[d]), wanted_of(&ledgers[i]->devices[d]));
		tare_export_stacks_free(&stacks);
	}
}

/* One row that takes everything, of a program whose name is hostile. */
static struct tare_row rows[] = {
	{ .path = "process:1",
	  .label = "\"<script>\n;\xff\x1b[2J",
	  .parent = -1,
	  .account = TARE_ACCOUNT_PROCESS,
	  .bytes = HUGE_BYTES,
	  .pid = 1 },
	{ .path = "process:1/context",
	  .label = "context",
	  .leaf = true,
	  .account = TARE_ACCOUNT_CONTEXT,
	  .bytes = HUGE_BYTES,
	  .count = 1,
	  .pid = 1 },
};
static struct tare_device_ledger device = {
	.name = "n",
	.used = HUGE_BYTES - 5,
	.total = TARE_NOT_KNOWN,
	.unexplained = -5,
	.used_by = TARE_EVIDENCE_WEIGHED,
	.rows = rows,
	.row_nr = 2,
};
static const struct tare_ledger ledger = { .at = "end", .devices = &device, .device_nr = 1 };

TEST(sizes_near_the_largest_and_below_nothing)
{
	struct tare_str out = { 0 }, notes = { 0 };

	render(&out, TARE_EXPORT_COLLAPSED, &ledger, &notes);
	CHECK_STR(tare_str_text(&out), "GPU 0 n;\"<script>?,??[2J;context 1152921504606846976\n");
	CHECK(strstr(tare_str_text(&notes), "5 bytes that are explained beyond"));
	tare_str_free(&out);
	tare_str_free(&notes);
	for (int f = 0; f < TARE_EXPORT_NR; f++) {
		render(&out, f, &ledger, NULL);
		CHECK(out.len > 0);
		CHECK(!memmem(out.data, out.len, "\x1b[2J", 4));
		tare_str_free(&out);
		render(&out, f, sample_idle(), NULL);
		tare_str_free(&out);
	}
}

TEST(negative_numbers_take_ten_bytes)
{
	struct tare_str out = { 0 };

	tare_protobuf_int(&out, 1, -1);
	CHECK_INT(out.len, 11);
	CHECK(!memcmp(out.data, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
	tare_str_free(&out);
}

/* The check values are those of gzip -0: crc32("123456789") is cbf43926. */
TEST(gzip_is_stored)
{
	struct tare_str text = { 0 }, out = { 0 };

	tare_str_add(&text, "123456789");
	tare_gzip(&out, &text);
	CHECK_INT(out.len, 10 + 5 + 9 + 8);
	CHECK(!memcmp(out.data + 24, "\x26\x39\xf4\xcb\x09\0\0\0", 8));
	tare_str_free(&out);
	tare_str_add_repeat(&text, "x", 200000);
	tare_gzip(&out, &text);
	CHECK_INT(out.len, 10 + 4 * 5 + text.len + 8);
	tare_str_free(&out);
	tare_str_free(&text);
}
