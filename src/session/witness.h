/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SESSION_WITNESS_H
#define TARE_SESSION_WITNESS_H

#include "base/err.h"
#include "session/drain.h"
#include "trace/event.h"

#include <stdbool.h>
#include <sys/types.h>

struct tare_nvml;
struct tare_unrecorded;
struct tare_witness;

/*
 * What others say while the program runs: NVML's memory and processes per GPU, the kernel's figures
 * per process; and clocks. All of it goes into tare.events.
 */
/* Reads the clocks once more than by itself. */
void tare_witness_clock(struct tare_witness *w);

/*
 * `nvml_path`: of the simulated library, or NULL. Without NVML the rest is still witnessed. `no_paths`: what a launcher
 * has set is written without them. `chunk_bytes`: of the log in each of its files, 0: it is in one.
 */
int tare_witness_open(struct tare_witness **out, const char *folder, const char *name, uint32_t chunk_bytes,
                      const char *nvml_path, bool no_paths, struct tare_err *err);
/* Looks for processes that get past the recorder, too, and rests once the recording was stopped. */
void tare_witness_watch(struct tare_witness *w, const struct tare_control *control, const char *folder);
/* Reads what is due: devices and processes some ten times a second, the clock once. */
void tare_witness_turn(struct tare_witness *w, const struct tare_drain *drain);
void tare_witness_exit(struct tare_witness *w, pid_t pid, int status);
/* How another recorded process ended, seen before its parent took it off the list of processes. */
void tare_witness_status(struct tare_witness *w, pid_t pid, uint32_t generation, int status);
/* Somebody used the control word, or took a snapshot. */
void tare_witness_control(struct tare_witness *w, enum tare_act what, uint32_t number, const char *name);
/* Reads everything at once; host memory of these processes. */
void tare_witness_sample(struct tare_witness *w, const struct tare_drain_process *processes, size_t count);
void tare_witness_degraded(struct tare_witness *w, const char *sentence);
void tare_witness_symbol(struct tare_witness *w, uint32_t pid, uint32_t generation, const struct tare_symbol *symbol);
/* One more look at everything, so that the recording ends with what was there at its end. */
void tare_witness_close(struct tare_witness *w, const struct tare_drain *drain);

/* Processes that used the GPU past the recorder. */
int tare_witness_unrecorded(const struct tare_witness *w);

/* NULL: there is no NVML here. */
struct tare_nvml *tare_witness_nvml(const struct tare_witness *w);

const char *tare_witness_driver_version(const struct tare_witness *w); /* "" where not known */

/*
 * unrecorded.c: whoever uses the GPU past us. A process that NVML lists, that was started to be recorded and that
 * has no log reached the driver by a route that we do not know: RTLD_DEEPBIND, an LD_PRELOAD taken
 * away. Without this check a recording of it would say that nothing happened.
 */
struct tare_unrecorded *tare_unrecorded_new(const char *folder);
void tare_unrecorded_free(struct tare_unrecorded *unrecorded);

/* For each listed process, each time the list is read. True once for one that is unrecorded. */
bool tare_unrecorded_add(struct tare_unrecorded *unrecorded, pid_t pid);
int tare_unrecorded_count(const struct tare_unrecorded *unrecorded);

#endif
