/* SPDX-License-Identifier: Apache-2.0 */
/* What whole stacks are called in the log, by the places that their frames are at. */
#ifndef TARE_RECORDER_PYTHON_WHOLES_H
#define TARE_RECORDER_PYTHON_WHOLES_H

#include <stdbool.h>
#include <stdint.h>

/* Of those calls of modules the innermost may not tell its module (calls.h); the next one outwards is asked then. */
enum { TARE_PYTHON_WHOLE_CALLS = 3 };

struct tare_python_whole {
	uint32_t stack;                         /* its id */
	int16_t calls[TARE_PYTHON_WHOLE_CALLS]; /* of PyTorch's modules: how far from the innermost frame, or -1 */
};

/* `key`: of memo.h. False: it was not kept, or something else is there now. */
bool tare_python_whole_find(uint64_t key, struct tare_python_whole *out);
void tare_python_whole_keep(uint64_t key, const struct tare_python_whole *whole);

#endif
