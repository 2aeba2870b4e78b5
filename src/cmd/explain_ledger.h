/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of explain_recording.c share: a process in ledgers of its recording. */
#ifndef TARE_CMD_EXPLAIN_LEDGER_H
#define TARE_CMD_EXPLAIN_LEDGER_H

#include "cmd/explain.h"
#include "ledger/ledger.h"

struct tare_recording;

/* A process, and the ledgers that say on which GPUs it is: those of other ranks, which its recording sees, too, are not its own. */
struct tare_explain_process {
	int64_t pid;
	const struct tare_ledger *ledgers;
	int ledger_nr;
};

/* What a ledger does not know stays as it was. */
static inline void tare_figure_set(int64_t *to, uint64_t bytes)
{
	if (bytes <= INT64_MAX)
		*to = (int64_t)bytes;
}

static inline void tare_figure_add(int64_t *to, int64_t bytes)
{
	*to = (*to == TARE_FIGURE_NOT_KNOWN ? 0 : *to) + bytes;
}

/* NULL: it has none there. */
const struct tare_host_ledger *tare_explain_host(const struct tare_ledger *l, int64_t pid);
/* Its largest row on a device; of `pid` -1 that of any process. What lived too short has no host. */
const struct tare_row *tare_explain_device_row(const struct tare_ledger *l, int64_t pid);
bool tare_explain_has(const struct tare_ledger *l, int64_t pid);

/* A board, whose memory tegrastats printed. */
bool tare_explain_is_board(const struct tare_device_ledger *d);
/* A board whose GPU shares the host's memory and has no NVML has no nvidia-smi, either. */
bool tare_explain_is_seen_by_nvml(const struct tare_device_ledger *d);
/* Of a process that is on no GPU all are shown. */
bool tare_explain_is_its(const struct tare_explain_process *p, const struct tare_device_ledger *device);

/* False where the process was not there. */
bool tare_explain_take(struct tare_figures *f, const struct tare_ledger *l, const struct tare_explain_process *p);

/* explain_course.c: x->most and x->sampled. `end`: the ledger of the end. */
void tare_explain_course(struct tare_explain *x, struct tare_recording *recording, const struct tare_explain_process *p,
                         const struct tare_ledger *end);

#endif
