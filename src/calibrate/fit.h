/* SPDX-License-Identifier: Apache-2.0 */
/* Rules laid through readings. Pure. */
#ifndef TARE_CALIBRATE_FIT_H
#define TARE_CALIBRATE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the driver takes in whole steps: for n units it has taken
 *
 *     ceil((n × slope / divisor - free) / step) × step, or nothing if that is below 0
 *
 * A point is n and what was taken by then: exactly, or somewhere from `low` to `high`.
 */
struct tare_fit_point {
	int64_t n, low, high;
};

struct tare_fit_law {
	int64_t step, divisor;
	int64_t slope_least, slope_most; /* where to look */
};

/*
 * The best rule, and all values that every point allows. `miss` is 0, or by how much the best rule
 * misses a point; then the values are those of rules that miss none by more than a step.
 */
struct tare_fit {
	int64_t slope, slope_low, slope_high;
	int64_t free, free_low, free_high;
	int64_t miss;
};

void tare_fit_steps(const struct tare_fit_law *law, const struct tare_fit_point *points, size_t count,
                    struct tare_fit *out);

/* "", or ", to 2048 bytes": behind the evidence. */
const char *tare_fit_miss(const struct tare_fit *fit, char room[48]);

/*
 * Two kinds of memory, each a step for every so many objects after the first few. grew[i] is the
 * number of steps that came with object i, from 0. False: no such rule makes these.
 */
struct tare_fit_pair {
	int64_t free, per_step;
	int64_t free_2, per_step_2; /* per_step_2 is 0: no second kind was seen; 1 step: -1 */
};
bool tare_fit_two_kinds(const int64_t *grew, size_t count, struct tare_fit_pair *out);

/* The value from `low` to `high` that the largest power of two divides. */
int64_t tare_fit_roundest(int64_t low, int64_t high);

#endif
