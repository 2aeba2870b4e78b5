/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollups of a recording while it is written (docs/GLOSSARY.md): when one is due, and the child of `tare` that makes it. The
 * child has a low priority, and may be killed at any time.
 */
#ifndef TARE_SESSION_ROLLUPS_H
#define TARE_SESSION_ROLLUPS_H

#include <stdbool.h>
#include <stdint.h>

/* How a rollup is to be made. The function that makes it comes from the command (rollup/rollup.h). */
struct tare_rollup_wish {
	uint64_t cap;    /* the folder may have so many bytes, by blocks and by apparent size */
	bool is_hurried; /* it has more: records that cannot be compacted in time are dropped, and the recording says so */
	bool is_urgent;  /* it must not wait for other programs */
	bool is_final;   /* nobody writes any more */
	bool
		is_late; /* the program waits for it, or soon will: no state is saved, unless the cap needs one, and nothing is synced */
	uint64_t most; /* of a rollup that is not final: so many bytes of each log; 0: all */
};
/* 0, or an error that was told to nobody. In a process of its own. */
typedef int tare_rollup_maker(const char *folder, const struct tare_rollup_wish *wish);

struct tare_control;
struct tare_rollups;

/* `make` NULL: there are no rollups. How much may be written into logs is told in `control` (record/allowance.h). */
struct tare_rollups *tare_rollups_new(const char *folder, uint64_t cap, struct tare_control *control,
                                      tare_rollup_maker *make);
void tare_rollups_free(struct tare_rollups *r); /* NULL is fine */

/* Begins a rollup where one is due, or sees that one is done: true where one began. Takes some µs. */
bool tare_rollups_turn(struct tare_rollups *r);
/* Readable as soon as the rollup that began is done. */
int tare_rollups_fd(const struct tare_rollups *r);
/* Waits for the rollup that began, and makes another one if the cap or the logs need it; a few seconds at most. */
void tare_rollups_finish(struct tare_rollups *r, bool is_final);

/* The folder is over its cap after a rollup that should have mended that; true once. */
bool tare_rollups_has_failed(struct tare_rollups *r);

#endif
