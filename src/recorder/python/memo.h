/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_MEMO_H
#define TARE_RECORDER_PYTHON_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/python/calls.h"
#include "recorder/python/interpreter.h"
#include "recorder/recorder.h"

/* The last stack of a thread, so that the next one is only looked at from where it differs. */
/* Frames of one thread, those that Python does not show included. */
enum { TARE_PYTHON_CHAIN = 256 };

/*
 * A frame as it was: what is compared with what is there now. Of each frame of every stack this is read, and nothing
 * else where no code object has died; so it is as small as can be.
 */
struct tare_python_link {
	uint64_t frame; /* its address */
	uint64_t place; /* which code object it runs, and how far it is there */
};

/* Outermost first: what a stack shares with the next one is at its beginning. */
struct tare_python_memo {
	const void *owner;
	uint64_t age; /* of the interpreter and its code objects, when all these were compared */
	int count;    /* of the links that hold; may be more than the last stack had */
	uint8_t at[256] __attribute__((aligned(64))); /* where a frame may be, by its address */
	struct tare_python_link links[TARE_PYTHON_CHAIN];
	uint64_t keys[TARE_PYTHON_CHAIN]; /* of the places up to a link: what tells that stack from others */
} __attribute__((aligned(64)));

/* The calling thread's, which no other touches while it lives. NULL: there are too many threads. */
struct tare_python_memo *tare_python_memo_claim(void);

static inline struct tare_python_memo *tare_python_memo(void)
{
	if (unlikely(!tare_thread.memo) && !tare_thread.has_no_memo)
		return tare_python_memo_claim();
	return tare_thread.memo;
}

/*
 * Makes the memo hold the chain of frames that begins with `frame`. Returns how many they are; 0: too many.
 */
int tare_python_follow(struct tare_python_memo *memo, const struct tare_python *python,
                       const struct tare_python_age *age, uint64_t frame);

/*
 * wholes.c: what whole stacks are called in the log, by the places that their frames are at. Of those calls of modules the innermost may not tell its module (calls.h); the next one outwards is asked then.
 */
enum { TARE_PYTHON_WHOLE_CALLS = 3 };

struct tare_python_whole {
	uint32_t stack;                         /* its id */
	int16_t calls[TARE_PYTHON_WHOLE_CALLS]; /* of PyTorch's modules: how far from the innermost frame, or -1 */
};

/* `key`: of a memo. False: it was not kept, or something else is there now. */
bool tare_python_whole_find(uint64_t key, struct tare_python_whole *out);
void tare_python_whole_keep(uint64_t key, const struct tare_python_whole *whole);

#endif
