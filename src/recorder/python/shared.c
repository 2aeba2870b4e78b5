/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack shares with the last one of its thread. The address of the next frame comes from memory of
 * ours and is only compared with what the frame says, so a processor needs not wait for one frame to get to
 * the next; and nothing but frames is read where that is enough.
 */
#include "recorder/python/content.h"
#include "recorder/python/memo.h"
#include "recorder/python/walk.h"

/* What must be as it was in a code object, besides its address. */
enum check { NOTHING, NUMBER, CONTENT };

/* The first frame from `frame` outwards that is among the links, or -1. Looks at `*may_look` frames at most. */
static int find(struct tare_python_memo *memo, const struct tare_python_layout *l, uint64_t frame,
		int *may_look)
{
	for (; frame && (*may_look)-- > 0; frame = tare_python_word(frame + l->back)) {
		int place = *tare_python_place(memo, frame);

		if (place < memo->count && memo->links[place].frame == frame)
			return place;
	}
	return -1;
}

static inline __attribute__((always_inline)) bool is_same_code(const struct tare_python_memo *memo,
							       const struct tare_python_layout *l,
							       int place, enum check check,
							       struct tare_python_file_seen *file)
{
	const struct tare_python_seen *seen = &memo->seen[place];
	uintptr_t code = tare_python_code_of(seen->code);

	if (tare_python_word(memo->links[place].frame + l->code) != seen->code)
		return false;
	if (seen->number == TARE_PYTHON_NO_CODE)
		return true;
	return check == NUMBER ? tare_python_half(code + l->version) == seen->number
			       : tare_python_content(l, code, file) == seen->content;
}

/* While no code object has died, one address is that of one code object, and a pointer into it tells which. */
static inline __attribute__((always_inline)) int count(struct tare_python_memo *memo,
						       const struct tare_python_layout *l,
						       uint64_t innermost, enum check check)
{
	const struct tare_python_link *first = memo->links, *link;
	const size_t to_back = l->back, to_at = l->at;
	const bool is_pointer = l->instructions != TARE_PYTHON_NONE;
	struct tare_python_file_seen file = { 0, 0 };
	int may_look = 2 * TARE_PYTHON_CHAIN, shared, i;
	uint64_t frame = innermost, at, back;

	while ((i = find(memo, l, frame, &may_look)) >= 0) {
		for (shared = i + 1, link = first + i;; link--) {
			frame = link->frame;
			at = likely(is_pointer) ? tare_python_word(frame + to_at)
						: tare_python_at(l, frame);
			if (unlikely(at != link->at) ||
			    (check != NOTHING &&
			     !is_same_code(memo, l, (int)(link - first), check, &file)))
				shared = (int)(link - first);
			back = tare_python_word(frame + to_back);
			if (link == first)
				return back && !memo->is_cut ? 0 : shared;
			if (unlikely(back != link[-1].frame))
				break;
		}
		frame = back; /* has another caller than it had: perhaps further out there is one that has not */
	}
	return 0;
}

TARE_HOT int tare_python_shared(struct tare_python_memo *memo, const struct tare_python *python,
				uint64_t frame, bool is_alive)
{
	if (likely(is_alive))
		return count(memo, &python->layout, frame, NOTHING);
	return python->has_versions ? count(memo, &python->layout, frame, NUMBER)
				    : count(memo, &python->layout, frame, CONTENT);
}
