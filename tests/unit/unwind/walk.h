/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNWIND_WALK_H
#define TARE_TESTS_UNWIND_WALK_H

#include <stdint.h>

enum { DEPTH = 512 };

struct walk {
	uintptr_t pc[DEPTH];
	int count;
};

#endif
