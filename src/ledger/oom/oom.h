/* SPDX-License-Identifier: Apache-2.0 */
/* Moments at which memory ran out. */
#ifndef TARE_LEDGER_OOM_H
#define TARE_LEDGER_OOM_H

#include "base/extent.h"
#include "ledger/core/fold.h"

/* The last call of PyTorch that the driver refused on a device. */
struct tare_oom_refused {
	int process;
	uint32_t tid;
	uint64_t asked; /* 0: nothing */
};

struct tare_oom_fold {
	int process, device; /* device -1: the CPU */
	int64_t t;           /* time of the first */
	uint64_t count;
	bool is_torch;
	uint32_t site;
	uint64_t owner;
	const char *api;
	uint64_t asked, segment, allocated, reserved;
	int64_t free, elastic, stuck, held, others; /* free -1: not known */
	int64_t used;                               /* on the device; -1: not known */
	uint64_t room; /* device -1, the CPU: what RLIMIT_AS left; TARE_NOT_KNOWN: there was no limit */
};

/* The part. */
struct tare_oom_part {
	struct tare_oom_fold *items;
	size_t count, cap;
	TARE_SAVED_AS_MANY(device_nr) struct tare_oom_refused *refused; /* by device */
	int device_nr;
};

void tare_oom_begin(struct tare_oom_part *p, const struct tare_fold *f);
/* PyTorch gave up on the CPU; of a device, tare_oom_ask() takes it. */
void tare_oom_event(struct tare_oom_part *p, struct tare_fold *f, struct tare_device_fold *d,
                    const struct tare_event *e);
/*
 * Returns 1 + index of a moment that is to be looked at when the calls before it are settled, 0: none; and
 * looks at it.
 */
size_t tare_oom_ask(struct tare_oom_part *p, struct tare_fold *f, struct tare_device_fold *d,
                    const struct tare_event *e);
void tare_oom_look(struct tare_oom_part *p, const struct tare_fold *f, size_t place, const struct tare_ledger *ledger);
void tare_oom_rows(const struct tare_oom_part *p, const struct tare_fold *f, struct tare_ledger *out);
/* Moments behind `from` and up to `until`, as instants in a list. */
void tare_oom_list(const struct tare_oom_part *p, int64_t from, int64_t until, struct tare_extent_list *out);
const char *tare_oom_check(const struct tare_oom_part *p, const struct tare_fold *f);

#endif
