/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack shares with the last one of its thread. The address of the next frame comes from memory of
 * ours and is only compared with what the frame says, so a processor needs not wait for one frame to get to
 * the next; and nothing but frames is read where that is enough.
 */
#include "recorder/python/memo.h"

#include <stddef.h>

#include "recorder/python/content.h"
#include "recorder/python/interpreter.h"
#include "recorder/python/walk.h"
#include "recorder/recorder.h"

/*
 * Not thread-local, for that would be taken from the stack of every thread of the program. A thread
 * is known by where its thread-local variables are: another can only be there when it has ended.
 */
enum { MEMOS = 128 };
static struct tare_python_memo memos[MEMOS];

TARE_COLD struct tare_python_memo *tare_python_memo_claim(void)
{
	size_t i;

	for (i = 0; i < MEMOS; i++) {
		const void *owner = __atomic_load_n(&memos[i].owner, __ATOMIC_RELAXED);

		if (owner == &tare_thread || (!owner && __atomic_compare_exchange_n(&memos[i].owner, &owner, &tare_thread,
		                                                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
			return tare_thread.memo = &memos[i];
	}
	tare_thread.has_no_memo = true;
	return NULL;
}

/* What tells a code object from one that was at its address before, besides that address. */
enum check { NOTHING, NUMBER, CONTENT };

static inline __attribute__((always_inline)) uint64_t place_of(const struct tare_python *python, uint64_t frame,
                                                               enum check check)
{
	const struct tare_python_layout *l = &python->layout;
	uint64_t at = tare_python_at(l, frame), number;
	struct tare_python_file_seen file = { 0, 0 };
	uintptr_t code;

	if (check == NOTHING || tare_python_is_internal(l, frame))
		return at;
	code = tare_python_code_of(tare_python_word(frame + l->code));
	if (!code || (l->owner != TARE_PYTHON_NONE && tare_python_word(code + TARE_PYTHON_TYPE) != python->code_type))
		return at;
	number = check == NUMBER ? tare_python_half(code + l->version) : 0;
	return at ^ (number ? number * TARE_PYTHON_MULTIPLIER : tare_python_content(l, code, &file));
}

static uint8_t *slot_of(struct tare_python_memo *memo, uint64_t frame)
{
	return &memo->at[(frame >> 4) * TARE_PYTHON_MULTIPLIER >> 56];
}

/* The first frame from `frame` outwards that is among the links, or -1. Looks at `*may_look` frames at most. */
static inline int find(struct tare_python_memo *memo, size_t to_back, uint64_t frame, int *may_look)
{
	for (; frame && (*may_look)-- > 0; frame = tare_python_word(frame + to_back)) {
		int at = *slot_of(memo, frame);

		if (at < memo->count && memo->links[at].frame == frame)
			return at;
	}
	return -1;
}

/*
 * How many links, from the outermost, the chain that begins with `frame` still has: each at its address, with the
 * same caller, and at the same place.
 */
static inline __attribute__((always_inline)) int
count_shared(struct tare_python_memo *memo, const struct tare_python *python, uint64_t frame, enum check check)
{
	const struct tare_python_link *first = memo->links, *link;
	const size_t to_back = python->layout.back;
	int may_look = 2 * TARE_PYTHON_CHAIN, shared, i;
	uint64_t back;

	while ((i = find(memo, to_back, frame, &may_look)) >= 0) {
		for (shared = i + 1, link = first + i;; link--) {
			frame = link->frame;
			if (unlikely(place_of(python, frame, check) != link->place))
				shared = (int)(link - first);
			back = tare_python_word(frame + to_back);
			if (link == first)
				return back ? 0 : shared;
			if (unlikely(back != link[-1].frame))
				break;
		}
		frame = back; /* has another caller than it had: perhaps further out there is one that has not */
	}
	return 0;
}

/* A signal handler may leave by longjmp at any point of this; then the new links do not count. */
static inline __attribute__((always_inline)) int add_others(struct tare_python_memo *memo,
                                                            const struct tare_python *python, uint64_t frame,
                                                            int shared, enum check check)
{
	const size_t to_back = python->layout.back;
	uint64_t until = shared ? memo->links[shared - 1].frame : 0, inner = frame, key;
	int count = shared, i;

	for (; frame != until; frame = tare_python_word(frame + to_back))
		if (unlikely(!frame || ++count > TARE_PYTHON_CHAIN))
			return 0;
	for (i = count - 1, frame = inner; i >= shared; i--, frame = tare_python_word(frame + to_back)) {
		memo->links[i].frame = frame;
		memo->links[i].place = place_of(python, frame, check);
		*slot_of(memo, frame) = (uint8_t)i;
	}
	key = shared ? memo->keys[shared - 1] : memo->age;
	for (i = shared; i < count; i++)
		memo->keys[i] = key = tare_python_mix(key, memo->links[i].place);
	__atomic_signal_fence(__ATOMIC_RELEASE);
	memo->count = count;
	return count;
}

static inline __attribute__((always_inline)) int follow(struct tare_python_memo *memo, const struct tare_python *python,
                                                        uint64_t frame, enum check check)
{
	int shared = count_shared(memo, python, frame, check);

	if (shared && memo->links[shared - 1].frame == frame)
		return shared;
	memo->count = shared;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	return add_others(memo, python, frame, shared, check);
}

/* Where deaths of code objects are not known, something in each code object tells. */
TARE_COLD static int follow_warily(struct tare_python_memo *memo, const struct tare_python *python, uint64_t frame)
{
	return python->has_versions ? follow(memo, python, frame, NUMBER) : follow(memo, python, frame, CONTENT);
}

TARE_HOT int tare_python_follow(struct tare_python_memo *memo, const struct tare_python *python,
                                const struct tare_python_age *age, uint64_t frame)
{
	uint64_t now = tare_python_mix(age->interpreter, age->deaths);

	if (unlikely(memo->age != now)) {
		memo->count = 0;
		__atomic_signal_fence(__ATOMIC_RELEASE);
		memo->age = now;
	}
	return likely(age->deaths != TARE_PYTHON_DEATHS_UNKNOWN) ? follow(memo, python, frame, NOTHING)
	                                                         : follow_warily(memo, python, frame);
}
