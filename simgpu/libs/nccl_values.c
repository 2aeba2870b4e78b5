/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, products, least, greatest and average of values of NCCL's types. Floating types below 32 bits are
 * reduced in 32 bits and rounded once, at the end; whole numbers wrap around in their own width.
 */
#include "simgpu/libs/nccl.h"

#include <string.h>

static const struct {
	unsigned char size;
	unsigned char exponent, mantissa; /* bits of a small floating type; 0: is none */
	bool is_finite;                   /* no infinities: the largest value stands for what is larger */
} types[NCCL_TYPES] = {
	[NCCL_INT8] = { 1, 0, 0, false },     [NCCL_UINT8] = { 1, 0, 0, false },     [NCCL_INT32] = { 4, 0, 0, false },
	[NCCL_UINT32] = { 4, 0, 0, false },   [NCCL_INT64] = { 8, 0, 0, false },     [NCCL_UINT64] = { 8, 0, 0, false },
	[NCCL_FLOAT16] = { 2, 5, 10, false }, [NCCL_FLOAT32] = { 4, 0, 0, false },   [NCCL_FLOAT64] = { 8, 0, 0, false },
	[NCCL_BFLOAT16] = { 2, 8, 7, false }, [NCCL_FLOAT8E4M3] = { 1, 4, 3, true }, [NCCL_FLOAT8E5M2] = { 1, 5, 2, true },
};

size_t nccl_type_size(int type)
{
	return types[type].size;
}

/* ---- small floating types ---- */
static float float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t bits_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float power_of_two(int exponent) /* of a normal number */
{
	return float_of_bits((uint32_t)(exponent + 127) << 23);
}

static float widen(uint32_t bits, int type)
{
	int e = types[type].exponent, m = types[type].mantissa, bias = (1 << (e - 1)) - 1;
	uint32_t sign = bits >> (e + m), fraction = bits & ((1u << m) - 1);
	int exponent = (int)(bits >> m & ((1u << e) - 1));
	float value;

	if (type == NCCL_BFLOAT16)
		return float_of_bits(bits << 16);
	if (exponent == (1 << e) - 1 && (type == NCCL_FLOAT8E4M3 ? fraction == (1u << m) - 1 : true))
		value = float_of_bits(fraction ? 0x7fc00000u : 0x7f800000u);
	else if (exponent == 0)
		value = (float)fraction * power_of_two(1 - bias - m);
	else
		value = (float)(fraction + (1u << m)) * power_of_two(exponent - bias - m);
	return sign ? -value : value;
}

static uint32_t narrow_bfloat(float value)
{
	uint32_t bits = bits_of_float(value);

	if (value != value)
		return bits >> 16 | 0x40;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint32_t narrow(float value, int type)
{
	int e = types[type].exponent, m = types[type].mantissa, bias = (1 << (e - 1)) - 1;
	uint32_t sign = bits_of_float(value) >> 31 << (e + m);
	uint32_t infinity = ((1u << e) - 1) << m, nan = infinity | ((1u << m) - 1), whole, largest;
	int exponent = (int)(bits_of_float(value) >> 23 & 0xff) - 127;
	float size = value < 0 ? -value : value, rest;

	if (type == NCCL_BFLOAT16)
		return narrow_bfloat(value);
	if (value != value)
		return sign | nan;
	largest = type == NCCL_FLOAT8E4M3 ? nan - 1 : infinity - 1;
	if (exponent > bias + 1)
		return sign | (types[type].is_finite ? largest : infinity);
	if (exponent < 1 - bias)
		exponent = 1 - bias;
	size *= power_of_two(m - exponent);
	whole = (uint32_t)size;
	rest = size - (float)whole;
	if (rest > 0.5f || (rest == 0.5f && whole & 1))
		whole++;
	/* A carry goes into the exponent by itself; below one mantissa the exponent's bits are 0. */
	whole += (uint32_t)(exponent - (1 - bias)) << m;
	if (whole > largest)
		return sign | (types[type].is_finite ? largest : infinity);
	return sign | whole;
}

static float small_at(const void *in, size_t i, int type)
{
	uint16_t two;

	if (types[type].size == 1)
		return widen(((const unsigned char *)in)[i], type);
	memcpy(&two, (const unsigned char *)in + 2 * i, 2);
	return widen(two, type);
}

static void put_small(void *out, size_t i, float value, int type)
{
	uint16_t two = (uint16_t)narrow(value, type);

	if (types[type].size == 1)
		((unsigned char *)out)[i] = (unsigned char)two;
	else
		memcpy((unsigned char *)out + 2 * i, &two, 2);
}

/* ---- one rank's values into the sum of those before it ---- */
/* Whole numbers are added and multiplied as unsigned ones: that wraps around, and signed ones must not. */
#define TAKE(acc_type, wrap_type, value_at, scaled)                                                                    \
	do {                                                                                                               \
		acc_type *to = acc;                                                                                            \
		for (i = 0; i < count; i++) {                                                                                  \
			acc_type value = (value_at);                                                                               \
			if (scale)                                                                                                 \
				value = (acc_type)(scaled);                                                                            \
			if (is_first)                                                                                              \
				to[i] = value;                                                                                         \
			else if (op == NCCL_PROD)                                                                                  \
				to[i] = (acc_type)((wrap_type)to[i] * (wrap_type)value);                                               \
			else if (op == NCCL_MAX)                                                                                   \
				to[i] = value > to[i] ? value : to[i];                                                                 \
			else if (op == NCCL_MIN)                                                                                   \
				to[i] = value < to[i] ? value : to[i];                                                                 \
			else                                                                                                       \
				to[i] = (acc_type)((wrap_type)to[i] + (wrap_type)value);                                               \
		}                                                                                                              \
	} while (0)
#define TAKE_WHOLE(type, wrap) TAKE(type, wrap, ((const type *)in)[i], (wrap)value *(wrap)(type)scale->value)

void nccl_reduce_take(void *acc, const void *in, size_t count, int type, int op, bool is_first,
                      const struct nccl_scale *scale)
{
	float small = scale && types[type].mantissa ? small_at(&scale->value, 0, type) : 0;
	float single = 0;
	double twice = 0;
	size_t i;

	if (scale) {
		memcpy(&single, &scale->value, sizeof(single));
		memcpy(&twice, &scale->value, sizeof(twice));
	}
	switch (type) {
	case NCCL_INT8:
		TAKE_WHOLE(int8_t, uint32_t);
		break;
	case NCCL_UINT8:
		TAKE_WHOLE(uint8_t, uint32_t);
		break;
	case NCCL_INT32:
		TAKE_WHOLE(int32_t, uint32_t);
		break;
	case NCCL_UINT32:
		TAKE_WHOLE(uint32_t, uint32_t);
		break;
	case NCCL_INT64:
		TAKE_WHOLE(int64_t, uint64_t);
		break;
	case NCCL_UINT64:
		TAKE_WHOLE(uint64_t, uint64_t);
		break;
	case NCCL_FLOAT32:
		TAKE(float, float, ((const float *)in)[i], value *single);
		break;
	case NCCL_FLOAT64:
		TAKE(double, double, ((const double *)in)[i], value *twice);
		break;
	default:
		TAKE(float, float, small_at(in, i, type), value *small);
	}
}

/* ---- the result ---- */
#define GIVE(type)                                                                                                     \
	do {                                                                                                               \
		type *from = acc;                                                                                              \
		if (op == NCCL_AVG)                                                                                            \
			for (i = 0; i < count; i++)                                                                                \
				from[i] = (type)(from[i] / (type)ranks_nr);                                                            \
		memmove(out, from, count * sizeof(type));                                                                      \
	} while (0)

void nccl_reduce_give(void *out, void *acc, size_t count, int type, int op, int ranks_nr)
{
	size_t i;

	switch (type) {
	case NCCL_INT8:
		GIVE(int8_t);
		break;
	case NCCL_UINT8:
		GIVE(uint8_t);
		break;
	case NCCL_INT32:
		GIVE(int32_t);
		break;
	case NCCL_UINT32:
		GIVE(uint32_t);
		break;
	case NCCL_INT64:
		GIVE(int64_t);
		break;
	case NCCL_UINT64:
		GIVE(uint64_t);
		break;
	case NCCL_FLOAT32:
		GIVE(float);
		break;
	case NCCL_FLOAT64:
		GIVE(double);
		break;
	default:
		for (i = 0; i < count; i++) {
			float value = ((float *)acc)[i];

			put_small(out, i, op == NCCL_AVG ? value / (float)ranks_nr : value, type);
		}
	}
}
