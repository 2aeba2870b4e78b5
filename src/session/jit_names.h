/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a process made at run time, as it tells them in /tmp/perf-PID.map: a line each, "START SIZE name", in
 * hexadecimal. Node writes one with --perf-basic-prof, Python 3.12 with -X perf, Java with an agent.
 */
#ifndef TARE_SESSION_JIT_NAMES_H
#define TARE_SESSION_JIT_NAMES_H

#include <stdint.h>

struct tare_jit_names;

/*
 * Of the process that calls itself `pid` and began so many clock ticks after this machine (0: not known). NULL: there is
 * none, it is of another user, or of a process that had this number before.
 */
struct tare_jit_names *tare_jit_names_open(uint32_t pid, uint64_t start_ticks);
void tare_jit_names_close(struct tare_jit_names *names); /* NULL is fine */

/* The function that was made last of those that hold the address, and how far into it; NULL: none. */
const char *tare_jit_names_find(const struct tare_jit_names *names, uint64_t address, uint64_t *offset);

#endif
