/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_COMPACT_LOGS_H
#define TARE_TESTS_UNIT_COMPACT_LOGS_H

#include "compact/compact.h"
#include "make_log.h"

/* A recording of two logs in make_dir(), to be compacted: a program's, 431-0, and that of `tare`. */
extern struct make_log compact_program, compact_tare;

void compact_init(void);
void compact_write(void);
void compact_make_threads(void);
void compact_make_backwards(bool has_damage);

/* All that a reader of the recording gets; it lives until the test ends. */
char *compact_all_of(const char *folder);
bool compact_is_there(const char *name);

struct tare_compacted compact_run(bool is_forced);
/* The reader says the same, every record has the same bytes, and the logs are gone. */
void compact_check(bool is_forced);

#endif
