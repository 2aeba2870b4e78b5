/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that the calling thread had lately, by the words that were read on the way through them: return addresses and
 * frame pointers. Where a walk begins at the same place with the same registers, and each of these words is what it was,
 * it is the same stack; and its id in the log is known without a look at any row.
 */
#ifndef TARE_RECORDER_UNWIND_SEEN_H
#define TARE_RECORDER_UNWIND_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/unwind/unwind_stack.h"

enum { TARE_SEEN_WORDS = 80, TARE_SEEN_PAIRS = 32 };

/* Where a walk begins, and all that it depends on besides the stack. */
struct tare_seen_from {
	uintptr_t pc, sp, fp;
	uint64_t unloads, changes;
	uintptr_t last; /* code in which it ends */
};

struct tare_seen_word {
	uintptr_t at, value;
};

struct tare_seen_stack {
	struct tare_seen_from from;
	uintptr_t lowest, highest; /* of what was read */
	uint32_t count, id, log;   /* id 0: not known, or more than fits */
	bool uses_fp;              /* else `from.fp` is some variable of the program's */
	struct tare_seen_word words[TARE_SEEN_WORDS];
};

/* Of one thread. */
struct tare_seen {
	const void *owner;
	bool is_busy; /* a walk is at it: that of a signal handler goes without */
	uint8_t older[TARE_SEEN_PAIRS];
	struct tare_seen_stack *now; /* the one that is looked for, or walked through */
	struct tare_seen_stack stacks[TARE_SEEN_PAIRS][2];
} __attribute__((aligned(64)));

/* The calling thread's, until it is given back with the id of the stack. NULL: another walk has it, or there is none. */
struct tare_seen *tare_seen_take(void);
void tare_seen_give_back(struct tare_seen *seen, uint32_t id, uint32_t log);

/* The id of that stack in that log; 0: it must be walked through, and its words be noted. */
uint32_t tare_seen_find(struct tare_seen *seen, const struct tare_seen_from *from,
                        const struct tare_unwind_stack *stack, uint32_t log);

static inline void tare_seen_read(struct tare_seen *seen, uintptr_t at)
{
	struct tare_seen_stack *s = seen->now;

	s->lowest = at < s->lowest ? at : s->lowest;
	s->highest = at > s->highest ? at : s->highest;
}

static inline void tare_seen_note(struct tare_seen *seen, uintptr_t at, uintptr_t value)
{
	struct tare_seen_stack *s = seen->now;

	if (s->count < TARE_SEEN_WORDS)
		s->words[s->count] = (struct tare_seen_word){ at, value };
	s->count++;
}

#endif
