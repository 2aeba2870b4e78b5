/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps each text, frame and stack of a snapshot once. */
#include "snapshot/intern.h"

#include "base/array.h"

#include <stdlib.h>

static uint32_t hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t h = len * 0x9e3779b97f4a7c15ull, word;

	for (; len >= 8; len -= 8, at += 8) {
		memcpy(&word, at, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	for (; len; len--, at++)
		h = (h ^ *at) * 0x100000001b3ull;
	h ^= h >> 29;
	h *= 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(h >> 32);
}

/* Room for one more; `hash_of` says the hash of a number that is in it. */
static void make_room(struct tare_intern_table *t, const struct tare_intern *in,
                      uint32_t (*hash_of)(const struct tare_intern *in, uint32_t number))
{
	struct tare_intern_table more = { .cap = t->cap ? 2 * t->cap : 1024, .count = t->count };

	if (2 * (t->count + 1) <= t->cap)
		return;
	more.slots = tare_xcalloc(more.cap, sizeof(*more.slots));
	for (size_t i = 0; i < t->cap; i++) {
		size_t at;

		if (!t->slots[i])
			continue;
		at = hash_of(in, t->slots[i] - 1) & (more.cap - 1);
		while (more.slots[at])
			at = (at + 1) & (more.cap - 1);
		more.slots[at] = t->slots[i];
	}
	free(t->slots);
	*t = more;
}

static uint32_t text_hash(const struct tare_intern *in, uint32_t text)
{
	return in->texts[text].hash;
}

uint32_t tare_intern_text(struct tare_intern *in, const void *bytes, size_t len)
{
	uint32_t hash = hash_bytes(bytes, len);
	size_t at;

	make_room(&in->text_table, in, text_hash);
	for (at = hash & (in->text_table.cap - 1); in->text_table.slots[at]; at = (at + 1) & (in->text_table.cap - 1)) {
		const struct tare_intern_text *t = &in->texts[in->text_table.slots[at] - 1];

		if (t->hash == hash && t->len == len && !memcmp(in->bytes + t->at, bytes, len))
			return in->text_table.slots[at] - 1;
	}
	if (in->byte_count + len + in->text_count * sizeof(*in->texts) > TARE_INTERN_TEXTS) {
		in->lost_texts++;
		return 0;
	}
	in->bytes = tare_array_reserve(in->bytes, &in->byte_cap, in->byte_count + len + 1, 1);
	memcpy(in->bytes + in->byte_count, bytes, len);
	in->bytes[in->byte_count + len] = 0;
	TARE_APPEND(in->texts, in->text_count, in->text_cap) =
		(struct tare_intern_text){ (uint32_t)in->byte_count, (uint32_t)len, hash };
	in->byte_count += len + 1;
	in->text_table.slots[at] = (uint32_t)in->text_count;
	in->text_table.count++;
	return (uint32_t)in->text_count - 1;
}

static uint32_t frame_hash(const struct tare_intern *in, uint32_t frame)
{
	return hash_bytes(&in->frames[frame], sizeof(*in->frames));
}

uint32_t tare_intern_frame(struct tare_intern *in, const struct tare_snapshot_frame *frame)
{
	size_t at;

	make_room(&in->frame_table, in, frame_hash);
	for (at = hash_bytes(frame, sizeof(*frame)) & (in->frame_table.cap - 1); in->frame_table.slots[at];
	     at = (at + 1) & (in->frame_table.cap - 1)) {
		const struct tare_snapshot_frame *f = &in->frames[in->frame_table.slots[at] - 1];

		if (f->name == frame->name && f->file == frame->file && f->line == frame->line)
			return in->frame_table.slots[at] - 1;
	}
	if (in->frame_count * sizeof(*in->frames) > TARE_INTERN_STACKS / 4) {
		in->lost_stacks++;
		return 0;
	}
	TARE_APPEND(in->frames, in->frame_count, in->frame_cap) = *frame;
	in->frame_table.slots[at] = (uint32_t)in->frame_count;
	in->frame_table.count++;
	return (uint32_t)in->frame_count - 1;
}

static uint32_t stack_hash(const struct tare_intern *in, uint32_t stack)
{
	return in->stacks[stack].hash;
}

uint32_t tare_intern_stack(struct tare_intern *in, const uint32_t *frames, size_t count)
{
	uint32_t hash = hash_bytes(frames, count * sizeof(*frames));
	size_t at;

	make_room(&in->stack_table, in, stack_hash);
	for (at = hash & (in->stack_table.cap - 1); in->stack_table.slots[at]; at = (at + 1) & (in->stack_table.cap - 1)) {
		const struct tare_intern_stack *s = &in->stacks[in->stack_table.slots[at] - 1];

		if (s->hash == hash && s->count == count && !memcmp(in->stack_frames + s->at, frames, count * sizeof(*frames)))
			return in->stack_table.slots[at] - 1;
	}
	if ((in->stack_frame_count + count) * sizeof(*frames) + in->stack_count * sizeof(*in->stacks) >
	    TARE_INTERN_STACKS) {
		in->lost_stacks++;
		return 0;
	}
	in->stack_frames = tare_array_reserve(in->stack_frames, &in->stack_frame_cap, in->stack_frame_count + count + 1,
	                                      sizeof(*in->stack_frames));
	memcpy(in->stack_frames + in->stack_frame_count, frames, count * sizeof(*frames));
	TARE_APPEND(in->stacks, in->stack_count, in->stack_cap) =
		(struct tare_intern_stack){ (uint32_t)in->stack_frame_count, (uint32_t)count, hash };
	in->stack_frame_count += count;
	in->stack_table.slots[at] = (uint32_t)in->stack_count;
	in->stack_table.count++;
	return (uint32_t)in->stack_count - 1;
}

void tare_intern_init(struct tare_intern *in)
{
	*in = (struct tare_intern){ 0 };
	tare_intern_text(in, "", 0);
	tare_intern_frame(in, &(struct tare_snapshot_frame){ 0 });
	tare_intern_stack(in, (const uint32_t[]){ 0 }, 0);
}
