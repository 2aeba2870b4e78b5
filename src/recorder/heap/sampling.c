/* SPDX-License-Identifier: Apache-2.0 */
/* Draws which blocks are recorded, each by the chance of its size. */
#include "recorder/heap/sampling.h"

#include "recorder/base/fork.h"
#include "record/clock.h"

TARE_TLS struct tare_sampling tare_sampling;

/* Marsaglia's xorshift, whose sums are scrambled by a product (xorshift64*). */
static uint64_t draw(void)
{
	tare_sampling.state ^= tare_sampling.state >> 12;
	tare_sampling.state ^= tare_sampling.state << 25;
	tare_sampling.state ^= tare_sampling.state >> 27;
	return tare_sampling.state * 0x2545f4914f6cdd1du;
}

/* -ln(u) for u in (0, 1], to 1e-9: the exponent apart, and of the rest the series of ln((1+z)/(1-z)). */
static double minus_ln(double u)
{
	const double ln2 = 0.69314718055994531, root = 1.4142135623730951;
	union {
		double value;
		uint64_t bits;
	} m = { u };
	int exponent = (int)(m.bits >> 52) - 1023;
	double z, square, sum = 0;

	m.bits = (m.bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	if (m.value > root) {
		m.value /= 2;
		exponent++;
	}
	z = (m.value - 1) / (m.value + 1);
	square = z * z;
	for (int k = 11; k >= 1; k -= 2)
		sum = sum * square + 2.0 / k;
	return -(exponent * ln2 + z * sum);
}

/* Bytes to the next mark. */
static uint64_t next(uint64_t mean)
{
	double u = (double)((draw() >> 11) + 1) * 0x1p-53;

	return (uint64_t)(minus_ln(u) * (double)mean);
}

/* What is larger than the mean never passes: such blocks are recorded all. */
static void set(uint64_t left, uint64_t mean)
{
	tare_sampling.left = left < mean ? left : mean;
	tare_sampling.rest = left - tare_sampling.left;
}

static void begin(uint64_t mean)
{
	tare_sampling.state =
		(tare_clock_ticks() ^ (uint64_t)tare_fork_tid() << 40 ^ (uint64_t)(uintptr_t)&tare_sampling) | 1;
	for (int i = 0; i < 8; i++)
		draw();
	set(next(mean), mean);
}

TARE_COLD bool tare_sampling_takes(size_t bytes, uint64_t mean)
{
	uint64_t left;

	if (!tare_sampling.state)
		begin(mean);
	left = tare_sampling.left + tare_sampling.rest;
	if (left >= bytes) {
		set(left - bytes, mean);
		return false;
	}
	set(next(mean), mean);
	return true;
}
