/* SPDX-License-Identifier: Apache-2.0 */
/* Lays steps and straight lines through readings. */
#include "calibrate/fit.h"

#include "base/number.h"

#include <stdio.h>

int64_t tare_fit_roundest(int64_t low, int64_t high)
{
	int64_t best = low;

	for (int shift = 1; shift < 62; shift++) {
		int64_t value = (low + (INT64_C(1) << shift) - 1) >> shift << shift;

		if (value > high || value < low)
			break;
		best = value;
	}
	return best;
}

/* With this slope, `free` is from *low to *high; the other way round, no value of it fits. */
static void free_range(const struct tare_fit_law *law, const struct tare_fit_point *points, size_t count, int64_t slope,
                       int64_t *low, int64_t *high)
{
	*low = 0;
	*high = INT64_MAX;
	for (size_t i = 0; i < count; i++) {
		int64_t bytes = points[i].n * slope / law->divisor;

		*low = tare_most(*low, bytes - points[i].high);
		if (points[i].low > 0)
			*high = tare_least(*high, bytes - points[i].low + law->step - 1);
	}
}

/* By how much the worst point is missed with this slope, where `free` is in the middle. */
static int64_t miss_of(const struct tare_fit_law *law, const struct tare_fit_point *points, size_t count, int64_t slope)
{
	int64_t low, high;

	free_range(law, points, count, slope, &low, &high);
	return low > high ? (low - high + 1) / 2 : 0;
}

/* The slopes that miss no point by more than `miss`: first and last. */
static void slope_range(const struct tare_fit_law *law, const struct tare_fit_point *points, size_t count, int64_t miss,
                        int64_t *first, int64_t *last)
{
	*first = 0;
	for (int64_t slope = law->slope_least; slope <= law->slope_most; slope++) {
		if (miss_of(law, points, count, slope) > miss)
			continue;
		*first = *first ? *first : slope;
		*last = slope;
	}
}

/* What `free` may be where no point is missed by more than `miss`. */
static void widen(const struct tare_fit_law *law, const struct tare_fit_point *points, size_t count, int64_t miss,
                  struct tare_fit *out)
{
	int64_t slope, low, high;

	out->free_low = INT64_MAX;
	for (slope = out->slope_low; slope <= out->slope_high; slope++) {
		if (miss_of(law, points, count, slope) > miss)
			continue;
		free_range(law, points, count, slope, &low, &high);
		out->free_low = tare_least(out->free_low, tare_most(low - miss, 0));
		out->free_high = tare_most(out->free_high, high + miss);
	}
}

void tare_fit_steps(const struct tare_fit_law *law, const struct tare_fit_point *points, size_t count,
                    struct tare_fit *out)
{
	int64_t low, high, slope, first = 0, last = 0, allowed;

	*out = (struct tare_fit){ .miss = INT64_MAX };
	for (slope = law->slope_least; slope <= law->slope_most; slope++)
		out->miss = tare_least(out->miss, miss_of(law, points, count, slope));
	slope_range(law, points, count, out->miss, &first, &last);
	out->slope = (first + last) / 2;
	free_range(law, points, count, out->slope, &low, &high);
	out->free = low <= high ? tare_fit_roundest(low, high) : tare_most((low + high) / 2, 0);
	/* No rule is exact: then one is as good as another that is right to a step. */
	allowed = out->miss ? tare_most(out->miss, law->step) : 0;
	slope_range(law, points, count, allowed, &out->slope_low, &out->slope_high);
	widen(law, points, count, allowed, out);
}

const char *tare_fit_miss(const struct tare_fit *fit, char room[48])
{
	snprintf(room, 48, ", to %lld bytes", (long long)fit->miss);
	return fit->miss ? room : "";
}

/* ---- two kinds ---- */
/* Whether object i brings a step, after `free` of them and for every `per_step`. */
static bool is_due(int64_t i, int64_t free, int64_t per_step)
{
	return per_step > 0 && i >= free && (i - free) % per_step == 0;
}

/* The first object from `from` on that brings more steps than the first kind explains; -1: none. */
static int64_t next_rest(const int64_t *grew, size_t count, int64_t from, const struct tare_fit_pair *pair)
{
	for (int64_t i = from; i < (int64_t)count; i++)
		if (grew[i] > is_due(i, pair->free, pair->per_step))
			return i;
	return -1;
}

static bool explains(const int64_t *grew, size_t count, const struct tare_fit_pair *pair)
{
	for (int64_t i = 0; i < (int64_t)count; i++) {
		bool second = pair->per_step_2 < 0 ? i == pair->free_2 : is_due(i, pair->free_2, pair->per_step_2);

		if (grew[i] != is_due(i, pair->free, pair->per_step) + second)
			return false;
	}
	return true;
}

bool tare_fit_two_kinds(const int64_t *grew, size_t count, struct tare_fit_pair *out)
{
	int64_t first = next_rest(grew, count, 0, &(struct tare_fit_pair){ 0 }), i;

	*out = (struct tare_fit_pair){ 0 };
	if (first < 0)
		return false;
	/* The kind with the first step is the more frequent one: try its period, shortest first. */
	for (i = first + 1; i < (int64_t)count; i++) {
		if (!grew[i])
			continue;
		*out = (struct tare_fit_pair){ .free = first, .per_step = i - first };
		out->free_2 = next_rest(grew, count, 0, out);
		if (out->free_2 >= 0) {
			int64_t again = next_rest(grew, count, out->free_2 + 1, out);

			out->per_step_2 = again < 0 ? -1 : again - out->free_2;
		}
		if (explains(grew, count, out))
			return true;
	}
	return false;
}
