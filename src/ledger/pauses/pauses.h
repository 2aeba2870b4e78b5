/* SPDX-License-Identifier: Apache-2.0 */
/* When recording was paused, as the records of `tare ctl` tell. */
#ifndef TARE_LEDGER_PAUSES_H
#define TARE_LEDGER_PAUSES_H

#include "ledger/core/fold.h"

/* The control word of one recording, as its records tell it. */
struct tare_paused {
	const char *folder;
	uint32_t number; /* of the last change */
	int64_t since;   /* -1: not paused */
	bool is_stopped;
};

/* The part. */
struct tare_pauses_part {
	struct tare_paused *paused; /* by recording */
	size_t paused_nr, paused_cap;
	struct tare_pause_ledger *items;
	size_t count, cap;
};

/* Does the record begin a pause? What happened before must not be taken for it. Then: is it a stop? */
bool tare_pauses_halts(struct tare_pauses_part *p, const struct tare_event *e);
bool tare_pauses_control(struct tare_pauses_part *p, struct tare_fold *f, const struct tare_event *e);
void tare_pauses_finish(struct tare_pauses_part *p, struct tare_fold *f);
bool tare_pauses_misses(const struct tare_pauses_part *p, int64_t t); /* … or is, at or before t */
void tare_pauses_doubt(const struct tare_pauses_part *p, const struct tare_fold *f, int64_t t, struct tare_ledger *out);
void tare_pauses_notes(const struct tare_pauses_part *p, struct tare_fold *f);
void tare_pauses_rows(const struct tare_pauses_part *p, const struct tare_fold *f, struct tare_ledger *out);
const char *tare_pauses_check(const struct tare_pauses_part *p, const struct tare_fold *f);

#endif
