/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of frames of a thread. The caller is that thread, so nothing of the chain moves while it
 * is read: a frame is pushed and popped by the thread it runs on and by nobody else, also while the
 * thread is inside C code and has released the GIL; and each frame keeps its code object alive.
 */
#ifndef TARE_RECORDER_PYTHON_WALK_H
#define TARE_RECORDER_PYTHON_WALK_H

#include "recorder/python/layout.h"
#include "recorder/python/memory.h"

struct tare_python_frame {
	uintptr_t code; /* address of its code object */
	int at;         /* byte of code that it is at; negative: it has not begun */
};

/* References to code objects have tags from 3.14 on. */
static inline uintptr_t tare_python_code_of(uint64_t word)
{
	return word & ~(uint64_t)7;
}

/*
 * Where a frame is, as a word: a pointer into its code object; or where the frame has an int, that and the code
 * object's address, mixed.
 */
static inline uint64_t tare_python_at(const struct tare_python_layout *l, uint64_t frame)
{
	return l->instructions == TARE_PYTHON_NONE
	           ? tare_python_word(frame + l->code) + tare_python_half(frame + l->at) * 0x9e3779b97f4a7c15u
	           : tare_python_word(frame + l->at);
}

/* The byte of its code that it is at. */
static inline int tare_python_offset(const struct tare_python_layout *l, uint64_t frame, uintptr_t code)
{
	return l->instructions == TARE_PYTHON_NONE ? (int)tare_python_half(frame + l->at) * l->unit
	                                           : (int)(tare_python_word(frame + l->at) - (code + l->instructions));
}

/* The innermost frame of a layout that was checked. */
static inline uint64_t tare_python_innermost(const struct tare_python_layout *l, uintptr_t state)
{
	uint64_t frame = tare_python_word(state + l->frame);

	return frame && l->nested != TARE_PYTHON_NONE ? tare_python_word(frame + l->nested) : frame;
}

/* Frames between those of code, of the interpreter's own. */
static inline bool tare_python_is_internal(const struct tare_python_layout *l, uint64_t frame)
{
	enum { OWNED_BY_INTERPRETER = 3 };

	return l->owner != TARE_PYTHON_NONE && *(const uint8_t *)(uintptr_t)(frame + l->owner) >= OWNED_BY_INTERPRETER;
}

/*
 * Up to `max` frames, innermost first, from the thread state `state`. `code_type` is &PyCode_Type: frames
 * of anything else are the interpreter's own and are left out. -1: something could not be read.
 */
static inline __attribute__((always_inline)) int tare_python_walk(const struct tare_python_layout *l, uintptr_t state,
                                                                  uintptr_t code_type, struct tare_python_frame *out,
                                                                  int max, enum tare_python_trust trust)
{
	enum { OWNED_BY_INTERPRETER = 3, TAG_BITS = 7, HOPS_MAX = 100000 };
	uint64_t frame, code, type, at;
	int n = 0, hops;

	if (!tare_python_load(state + l->frame, &frame, trust))
		return -1;
	if (l->nested != TARE_PYTHON_NONE && (!frame || !tare_python_load(frame + l->nested, &frame, trust)))
		return -1;
	for (hops = 0; frame && n < max && hops < HOPS_MAX; hops++) {
		uint8_t owner = 0;
		int units = 0;

		if (!tare_python_load(frame + l->code, &code, trust))
			return -1;
		code &= ~(uint64_t)TAG_BITS; /* references of 3.14 have tags */
		if (l->owner != TARE_PYTHON_NONE && !tare_python_load_byte(frame + l->owner, &owner, trust))
			return -1;
		if (!code || !tare_python_load(code + TARE_PYTHON_TYPE, &type, trust))
			return -1;
		if (type == code_type && owner < OWNED_BY_INTERPRETER) {
			out[n].code = code;
			if (l->instructions != TARE_PYTHON_NONE) {
				if (!tare_python_load(frame + l->at, &at, trust))
					return -1;
				out[n].at = (int)((int64_t)at - (int64_t)(code + l->instructions));
			} else {
				if (!tare_python_load_int(frame + l->at, &units, trust))
					return -1;
				out[n].at = units * l->unit;
			}
			n++;
		} else if (owner < OWNED_BY_INTERPRETER && l->owner == TARE_PYTHON_NONE) {
			return -1; /* every frame of these versions is somebody's code */
		}
		if (!tare_python_load(frame + l->back, &frame, trust))
			return -1;
	}
	return hops < HOPS_MAX ? n : -1;
}

/*
 * Whether Python shows a frame too. From 3.12 on one can be of something that is no code object, or of
 * code of the interpreter's own, as between a class and its __init__: that never gets to where tracing begins.
 */
static inline bool tare_python_is_shown(const struct tare_python_layout *l, const struct tare_python_frame *frame,
                                        uintptr_t code_type)
{
	if (l->owner == TARE_PYTHON_NONE)
		return true;
	return tare_python_word(frame->code + TARE_PYTHON_TYPE) == code_type &&
	       frame->at >= 2 * (int)tare_python_half(frame->code + l->instructions - TARE_PYTHON_TRACEABLE);
}

#endif
