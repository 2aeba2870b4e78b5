/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large the work of a transform is. An H100 with cuFFT 12.0 says: 0 for 1,024 complex numbers, 8 and 32 MiB for
 * 2^20 and 2^22, 32,400,000 bytes for 1,000,003, which is a prime (docs/measurements/simulated.md).
 *
 * ASSUMED: what has no prime factors but 2, 3, 5 and 7 is as powers of two; a transform with real numbers on a side
 * needs half; one of two or three dimensions needs its data once more.
 */
#include "simgpu/libs/cufft.h"

enum { IN_ONE_PASS = 1 << 20 };

bool tare_sim_transform_type(struct tare_sim_transform *transform, int type)
{
	transform->is_real = type & 6;
	transform->width = type & 0x40 ? 16 : 8;
	switch (type) {
	case 0x2a: /* R2C, C2R, C2C; D2Z, Z2D, Z2Z */
	case 0x2c:
	case 0x29:
	case 0x6a:
	case 0x6c:
	case 0x69:
		return true;
	default:
		return false;
	}
}

/* What is left of a number without its factors up to `largest`. */
static int64_t without(int64_t n, int64_t largest)
{
	int64_t factor;

	for (factor = 2; factor <= largest; factor++)
		while (n > 1 && n % factor == 0)
			n /= factor;
	return n;
}

/* The length in which a transform of another length is done as a convolution (Bluestein). */
static int64_t padded(int64_t n)
{
	int64_t length = 2 * n - 1;

	while (without(length, 5) > 1)
		length++;
	return length;
}

static size_t elements(const struct tare_sim_transform *transform)
{
	int64_t all = transform->batch;
	int i;

	for (i = 0; i < transform->rank; i++)
		all *= transform->n[i];
	return (size_t)all;
}

size_t tare_sim_transform_work(const struct tare_sim_transform *transform)
{
	int64_t n = transform->n[0];
	size_t bytes = elements(transform) * transform->width;

	if (transform->rank > 1)
		return transform->is_real ? bytes / 2 : bytes;
	if (without(n, 7) > 1)
		return 2 * (size_t)padded(n) * (size_t)transform->batch * transform->width;
	if (n < IN_ONE_PASS)
		return 0;
	return transform->is_real ? bytes / 2 : bytes;
}

/*
 * The prime above takes 38 MiB besides its work; two tables of the padded length are 32 of these. What the others are is
 * not known.
 */
size_t tare_sim_transform_tables(const struct tare_sim_transform *transform)
{
	if (transform->rank > 1 || without(transform->n[0], 7) == 1)
		return 0;
	return 2 * (size_t)padded(transform->n[0]) * transform->width;
}
