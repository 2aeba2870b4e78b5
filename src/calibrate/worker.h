/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that call the driver, so that nothing that it does can harm `tare`. */
#ifndef TARE_CALIBRATE_WORKER_H
#define TARE_CALIBRATE_WORKER_H

#include "base/err.h"
#include "calibrate/message.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <sys/types.h>

struct tare_worker_job {
	int device;
	char *driver, *nvml;           /* libraries; NULL: where the loader finds them */
	char *sim_profile, *sim_state; /* environment of the simulated GPU; NULL: as it is */
	bool is_wanted[TARE_PROBES];
	uint64_t first_init;              /* what cuInit took in the process before */
	struct tare_profile known;        /* from passes before … */
	bool is_known[TARE_PROFILE_KEYS]; /* … these */
};

struct tare_probe_worker {
	pid_t pid;
	int from, to; /* the worker ends when `to` is closed */
};

/* Starts the driver and then waits for its end, or goes through the wanted probes from `first` on. */
int tare_worker_hold(struct tare_probe_worker *worker, const struct tare_worker_job *job, struct tare_err *err);
int tare_worker_probe(struct tare_probe_worker *worker, const struct tare_worker_job *job, int first,
                      struct tare_err *err);

/*
 * The next message. False: it ended without, or said nothing for `ms` and was killed; `how` says
 * which, in words.
 */
bool tare_worker_next(struct tare_probe_worker *worker, struct tare_message *message, int ms, char *how, size_t size);
/* Ends it, waits for it, closes everything. */
void tare_worker_finish(struct tare_probe_worker *worker);

#endif
