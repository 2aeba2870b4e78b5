/* SPDX-License-Identifier: Apache-2.0 */
/* The last stack of a thread, so that the next one is only looked up from where it differs. */
#ifndef TARE_RECORDER_PYTHON_MEMO_H
#define TARE_RECORDER_PYTHON_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/python/interpreter.h"
#include "recorder/python/stack.h"

/* Frames of one thread, those that Python does not show included. */
enum { TARE_PYTHON_CHAIN = 256 };

/*
 * A frame as it was: what is compared with what is there now. Of each frame of every stack this is read, and nothing
 * else where no code object has died; so it is as small as can be.
 */
struct tare_python_link {
	uint64_t frame; /* its address */
	uint64_t at;    /* in which code object, and how far: tare_python_at() */
};

/* What was found out about it. */
struct tare_python_seen {
	uint64_t code;    /* in the frame: its code object, with tags */
	uint64_t number;  /* of the code object, or one of those below */
	uint64_t content; /* what tells its code object from others */
	uint64_t hash;    /* of the lines from the outermost to this one */
	uint32_t line;    /* its id in the log; 0: the frame is not shown */
	uint32_t stack;   /* id of the stack that ends here, 0: never asked for */
	uint32_t depth;   /* frames that are shown, up to this one */
	int16_t call; /* the innermost link, up to this one, that is a call of a module, or -1 */
};
#define TARE_PYTHON_NO_CODE   UINT64_MAX       /* the interpreter's own, which does not change */
#define TARE_PYTHON_NO_NUMBER (UINT64_MAX - 1) /* no code object has this one */

/* Outermost first: what a stack shares with the next one is at its beginning. */
struct tare_python_memo {
	const void *owner;
	uint32_t epoch;       /* of the log that has the ids */
	bool is_cut;          /* the outermost of these had a caller */
	uint64_t interpreter; /* whose frames these are */
	uint64_t deaths;      /* of code objects, when all these were compared */
	int count;            /* of the links that hold; may be more than the last stack had */
	uint8_t places[256];  /* where a frame may be among them, by its address */
	struct tare_python_link links[TARE_PYTHON_CHAIN];
	struct tare_python_seen seen[TARE_PYTHON_CHAIN];
};

/* The calling thread's, which no other touches while it lives. NULL: there are too many threads. */
struct tare_python_memo *tare_python_memo(void);

static inline uint8_t *tare_python_place(struct tare_python_memo *memo, uint64_t frame)
{
	return &memo->places[(frame >> 4) * 0x9e3779b97f4a7c15u >> 56];
}

/*
 * How many links, from the outermost, the chain of frames that begins with `frame` still has: each at its
 * address, with the same caller, the same code object with the same contents, and as far as it was.
 * `is_alive`: no code object has died meanwhile.
 */
int tare_python_shared(struct tare_python_memo *memo, const struct tare_python *python,
		       uint64_t frame, bool is_alive);

#endif
