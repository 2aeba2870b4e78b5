/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and stacks of a snapshot by their numbers. */
#include "snapshot/pickle.h"

const char *tare_snapshot_text(const struct tare_snapshot *s, uint32_t text)
{
	return s->intern.bytes + s->intern.texts[text].at;
}

bool tare_snapshot_frame(const struct tare_snapshot *s, uint32_t stack, size_t at, struct tare_snapshot_frame *frame)
{
	const struct tare_intern_stack *of = &s->intern.stacks[stack];

	if (at >= of->count)
		return false;
	*frame = s->intern.frames[s->intern.stack_frames[of->at + at]];
	return true;
}

uint32_t tare_snapshot_frame_number(const struct tare_snapshot *s, uint32_t stack, size_t at)
{
	return s->intern.stack_frames[s->intern.stacks[stack].at + at];
}

size_t tare_snapshot_frame_count(const struct tare_snapshot *s)
{
	return s->intern.frame_count;
}

size_t tare_snapshot_stack_count(const struct tare_snapshot *s)
{
	return s->intern.stack_count;
}
