/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that come one by one, each once, and the largest of them. */
#include "export/builder.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/simulated.h"
#include "export/frame.h"
#include "ledger/line.h"

#include <stdlib.h>
#include <string.h>

/* ---- frames ---- */

void tare_builder_push(struct tare_builder *b, const char *text, size_t len, bool is_row)
{
	TARE_APPEND(b->frames, b->nr, b->cap) = tare_export_frame(b->s, text, len, is_row);
}

void tare_builder_row(struct tare_builder *b, const struct tare_row *row)
{
	if (row->parent >= 0)
		tare_builder_row(b, &b->d->rows[row->parent]);
	tare_builder_push(b, row->label, strlen(row->label), true);
}

/* The outermost first; what has no frames says so itself: "no line in the snapshot". */
void tare_builder_line(struct tare_builder *b, const struct tare_ledger_line *l)
{
	if (!l->frame_nr)
		tare_builder_push(b, l->label, strlen(l->label), false);
	for (int i = l->frame_nr; i--;) {
		size_t from = i ? l->frame_ends[i - 1] + strlen(TARE_LINE_BETWEEN) : 0;

		tare_builder_push(b, l->stack + from, l->frame_ends[i] - from, false);
	}
}

void tare_export_device_name(struct tare_str *out, const struct tare_device_ledger *d)
{
	if (!d)
		tare_str_add(out, "CPU tensors");
	else if (d->is_heap)
		tare_str_add(out, "host memory from malloc");
	else
		tare_str_addf(out, "GPU %d", d->index);
	if (d && d->name && d->name[0] && !d->is_heap)
		tare_str_addf(out, " %s%s", d->name, tare_simulated_mark(d->simulated));
	if (d && d->host)
		tare_str_addf(out, " on %s", d->host);
}

void tare_builder_begin(struct tare_builder *b)
{
	struct tare_str name = { 0 };

	b->nr = 0;
	tare_export_device_name(&name, b->d);
	tare_builder_push(b, tare_str_text(&name), name.len, true);
	tare_str_free(&name);
}

/* ---- samples ---- */

static struct tare_export_sample *sample_of_stack(struct tare_builder *b, int64_t pid)
{
	struct tare_export_stacks *s = b->s;
	struct tare_str key = { 0 };
	uint32_t *frames;
	uint64_t *place;

	for (size_t i = 0; i < b->nr; i++)
		tare_str_addf(&key, "%x ", b->frames[i]);
	place = tare_strmap_put(&b->by_stack, tare_str_text(&key), NULL);
	tare_str_free(&key);
	if (*place) {
		if (s->samples[*place - 1].pid != pid)
			s->samples[*place - 1].pid = -1;
		return &s->samples[*place - 1];
	}
	s->samples = tare_array_reserve(s->samples, &s->cap, s->nr + 1, sizeof(*s->samples));
	frames = tare_arena_alloc(&s->arena, b->nr * sizeof(*frames));
	memcpy(frames, b->frames, b->nr * sizeof(*frames));
	s->samples[s->nr] = (struct tare_export_sample){
		.frames = frames, .frame_nr = (uint32_t)b->nr, .device = b->d, .pid = pid, .is_of_pool = b->is_of_pool
	};
	*place = ++s->nr;
	return &s->samples[s->nr - 1];
}

void tare_builder_add(struct tare_builder *b, int64_t pid, enum tare_evidence evidence,
                      const struct tare_blocks_ledger *sizes)
{
	struct tare_export_sample *sample;

	if (!sizes->bytes && !sizes->count && !sizes->ever_bytes)
		return;
	sample = sample_of_stack(b, pid);
	sample->bytes += sizes->bytes;
	sample->count += sizes->count;
	sample->ever_bytes += sizes->ever_bytes > sizes->bytes ? sizes->ever_bytes : sizes->bytes;
	sample->ever += sizes->ever > sizes->count ? sizes->ever : sizes->count;
	if (sample->evidence < evidence)
		sample->evidence = evidence;
}

/* ---- the largest ---- */

/* The largest first, of the same size in the order in which they came. */
TARE_COMPARATOR(by_size, struct tare_export_sample, TARE_FALLING(bytes) TARE_FALLING(ever_bytes) TARE_RISING(frames))

/* The samples from `first` on that are of the pool, or those that are not, become one. */
static struct tare_blocks_ledger sum_of(const struct tare_export_stacks *s, size_t first, bool is_of_pool)
{
	struct tare_blocks_ledger sum = { 0 };

	for (size_t i = first; i < s->nr; i++) {
		if (s->samples[i].is_of_pool != is_of_pool)
			continue;
		sum.bytes += s->samples[i].bytes;
		sum.count += s->samples[i].count;
		sum.ever_bytes += s->samples[i].ever_bytes;
		sum.ever += s->samples[i].ever;
	}
	return sum;
}

static void add_rest(struct tare_builder *b, const char *label, bool is_of_pool, const struct tare_blocks_ledger *sum)
{
	b->is_of_pool = is_of_pool;
	tare_builder_begin(b);
	tare_builder_push(b, label, strlen(label), true);
	tare_builder_add(b, -1, TARE_EVIDENCE_INFERRED, sum);
}

void tare_builder_keep_largest(struct tare_builder *b)
{
	struct tare_export_stacks *s = b->s;
	struct tare_blocks_ledger of_pool, others;
	size_t kept = b->first + TARE_EXPORT_STACKS_MAX;

	TARE_SORT(s->samples + b->first, s->nr - b->first, by_size);
	if (s->nr <= kept)
		return;
	of_pool = sum_of(s, kept, true);
	others = sum_of(s, kept, false);
	s->left_out += s->nr - kept;
	s->nr = kept;
	add_rest(b, "smaller stacks", false, &others);
	add_rest(b, "smaller stacks in PyTorch's pool", true, &of_pool);
}
