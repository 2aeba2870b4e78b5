/* SPDX-License-Identifier: Apache-2.0 */
/* The last stack of a thread, so that the next one is only looked up from where it differs. */
#ifndef TARE_RECORDER_PYTHON_MEMO_H
#define TARE_RECORDER_PYTHON_MEMO_H

#include <stdint.h>

#include "recorder/python/stack.h"

struct tare_python_seen {
	uint64_t code, content; /* its address, and what was in it */
	uint64_t hash;          /* of the lines from the outermost to this one */
	int32_t at;
	uint32_t line;  /* its id in the log */
	uint32_t stack; /* id of the stack that ends here, 0: never asked for */
};

/* Outermost first: what a stack shares with the next one is at its beginning. */
struct tare_python_memo {
	const void *owner;
	uint32_t epoch; /* of the log that has the ids */
	int count;      /* of `seen` that hold; may be more than the last stack had */
	struct tare_python_seen seen[TARE_PYTHON_FRAMES];
};

/* The calling thread's, which no other touches while it lives. NULL: there are too many threads. */
struct tare_python_memo *tare_python_memo(void);

#endif
