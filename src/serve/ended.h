/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a recording that ended: what each GPU had at its peak, and for what. */
#ifndef TARE_SERVE_ENDED_H
#define TARE_SERVE_ENDED_H

#include "base/err.h"
#include "serve/sums.h"

#include <stdbool.h>

struct tare_serve_ended_process {
	int64_t pid, rank; /* pid -1: of no process */
	struct tare_serve_sums sums;
};

struct tare_serve_ended_device {
	int index;
	char uuid[48];
	int64_t used, unexplained;
	struct tare_serve_ended_process *processes;
	size_t process_nr;
};

struct tare_serve_ended {
	struct tare_serve_ended_device *devices;
	size_t device_nr;
	struct tare_serve_state {
		int64_t lost, losses, ooms;
		bool is_simulated;
		char host[65];
	} state;
	int64_t realtime_ns;     /* when it was read */
	struct tare_err failure; /* code 0: it could be */
};

/* Reads it whole; a recording that cannot be read has a failure and nothing else. */
void tare_serve_ended_read(struct tare_serve_ended *ended, const char *path);
void tare_serve_ended_free(struct tare_serve_ended *ended);

/* What its losses and moments without memory come to, of any ledger. */
struct tare_serve_state tare_serve_state_of(const struct tare_ledger *ledger);

/* `labels` has the recording's name. */
void tare_serve_ended_tell(const struct tare_serve_ended *ended, struct tare_metrics *m,
                           struct tare_metric_labels labels);
void tare_serve_state_tell(const struct tare_serve_state *state, struct tare_metrics *m,
                           struct tare_metric_labels labels);

#endif
