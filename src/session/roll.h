/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a recording small while it is written: now and then a child of `tare` puts into segments what the logs have,
 * and keeps the folder under its cap. The child has a low priority, and may be killed at any time.
 */
#ifndef TARE_SESSION_ROLL_H
#define TARE_SESSION_ROLL_H

#include <stdbool.h>
#include <stdint.h>

/* How a rollup is to be made; what it is made by is known above (rollup/rollup.h). */
struct tare_roll_wish {
	uint64_t cap;     /* the folder may have so many bytes, by blocks and by apparent size */
	bool is_hurried;  /* it has more: what cannot be put into segments in time is dropped, and told */
	bool is_urgent;   /* it must not wait for others */
	bool is_final;    /* nobody writes any more */
	bool skips_state; /* it has enough to do: no state of the fold is made, unless the cap needs one */
	uint64_t most;    /* of one that is not final: of each log so many bytes; 0: all */
};
/* 0, or an error that was told to nobody. In a process of its own. */
typedef int tare_roll_maker(const char *folder, const struct tare_roll_wish *wish);

struct tare_control;
struct tare_roll;

/* `make` NULL: nothing is ever made small. How much may be written into logs is told in `control` (record/allowance.h). */
struct tare_roll *tare_roll_new(const char *folder, uint64_t cap, struct tare_control *control, tare_roll_maker *make);
void tare_roll_free(struct tare_roll *roll); /* NULL is fine */

/* Looks whether there is enough to do, and begins it, or sees that it is done: true where it began. Takes some µs. */
bool tare_roll_turn(struct tare_roll *roll);
/* Readable as soon as what it began is done. */
int tare_roll_fd(const struct tare_roll *roll);
/* Of what is begun the end, and once more if the cap says so; not longer than a few seconds. */
void tare_roll_finish(struct tare_roll *roll, bool is_final);

/* It was over its cap, and could not be made smaller: told once. */
bool tare_roll_has_failed(struct tare_roll *roll);

#endif
