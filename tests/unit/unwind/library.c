/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled twice, into libraries of the same shape: the calls are at the same addresses when one is
 * loaded in the other's place, but frames differ.
 */
#include "code.h"

__attribute__((noinline)) static int inner(volatile char *room, code_fn then, void *arg)
{
	volatile char more[LIBRARY_FRAME / 2 + 40];

	more[1] = room[0];
	then(arg);
	return more[1];
}

__attribute__((visibility("default"))) int code_library(code_fn then, void *arg)
{
	volatile char room[LIBRARY_FRAME];

	room[0] = 1;
	return inner(room, then, arg) + room[0];
}
