/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a process. */
#ifndef TARE_RECORDER_PROC_H
#define TARE_RECORDER_PROC_H

#include <stddef.h>
#include <stdint.h>

/*
 * When the process of the file /proc/…/stat started: with the pid that names a process for good. 0: not known.
 * `state`: its letter there; 0: not known.
 */
uint64_t tare_proc_start_ticks(const char *stat, char *state);

uint64_t tare_proc_pid_namespace(void); /* our own; 0: not known */

/* What this process is called, if `program` is an interpreter of Python: record/script.h says how. Else "". */
void tare_proc_script(const char *program, char *out, size_t size);

#endif
