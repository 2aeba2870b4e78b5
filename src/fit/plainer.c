/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of parts: an account, or a phase, of what a program needs. */
#include "fit/fit.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* A part that is less than this share of the total does not matter for what a program needs. */
#define MATTERS 0.005
/* A plain law may be so many times as wrong on cells left out: the more terms, the more of them follow noise. */
#define AS_GOOD 1.25

/* Terms and laws. */
static size_t complexity(const struct tare_fitted *f)
{
	size_t sum = f->laws.count;

	for (size_t l = 0; l < f->laws.count; l++)
		sum += f->laws.law[l].count;
	return sum;
}

static double mean_size(const struct tare_fit_data *d, const double *of)
{
	double sum = 0;

	for (size_t i = 0; i < d->row_count; i++)
		sum += fabs(of[i]) / (double)d->row_count;
	return sum;
}

/* In the unit of the target. */
static double wrong_by(const struct tare_fitted *f)
{
	return f->mean_error * mean_size(&f->data, f->data.scale);
}

static bool is_as_good(const struct tare_fitted *plain, const struct tare_fitted *free_law,
                       const struct tare_fitted *total)
{
	if (plain->is_stairs)
		return false;
	if (wrong_by(plain) <= MATTERS * mean_size(&total->data, total->data.y))
		return true;
	return plain->strength != TARE_FIT_NO_LAW && plain->mean_error <= AS_GOOD * free_law->mean_error;
}

void tare_fit_make_part(const struct tare_fit_data *d, const struct tare_fitted *total, struct tare_arena *arena,
                        struct tare_fitted *out)
{
	struct tare_fitted *plain;

	tare_fit_make(d, arena, out);
	if (out->is_stairs || out->strength == TARE_FIT_NO_LAW || total->is_stairs || total->strength == TARE_FIT_NO_LAW ||
	    complexity(out) <= complexity(total))
		return;
	plain = tare_xcalloc(1, sizeof(*plain));
	tare_fit_make_like(d, total, arena, plain);
	if (complexity(plain) < complexity(out) && is_as_good(plain, out, total)) {
		tare_fit_free(out);
		*out = *plain;
	} else {
		tare_fit_free(plain);
	}
	free(plain);
}
