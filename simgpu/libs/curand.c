/* SPDX-License-Identifier: Apache-2.0 */
/* What cuRAND does beyond its table: generators, some of which hold device memory, and tables for kernels. */
#include "simgpu/libs/curand.h"

#include "simgpu/libs/version.h"

/* cuRAND of CUDA 13.0: its soname has been the same since CUDA 11. */
static const struct sim_version version = { 10, 4, 0 };

/* A kind of generator, and what it holds on the device: an H100, weighed. Kinds between two rows are as the first. */
static const struct kind {
	int first;
	size_t bytes;
} kinds[] = {
	{ 100, 0 },        /* default, XORWOW, MRG32K3A */
	{ 141, 6 << 20 },  /* MTGP32 */
	{ 142, 60 << 20 }, /* MT19937 */
	{ 143, 0 },        /* Philox; Sobol' sequences, which nobody weighed */
};
enum { KINDS_NR = sizeof(kinds) / sizeof(kinds[0]), LAST_KIND = 204 };

static size_t held_by(int kind)
{
	size_t bytes = 0;
	int i;

	for (i = 0; i < KINDS_NR && kinds[i].first <= kind; i++)
		bytes = kinds[i].bytes;
	return bytes;
}

static int make(struct sim_handle **generator, int kind, bool is_on_host)
{
	size_t bytes = is_on_host ? 0 : held_by(kind);

	if (!generator)
		return CURAND_STATUS_OUT_OF_RANGE;
	if (kind < kinds[0].first || kind > LAST_KIND)
		return CURAND_STATUS_TYPE_ERROR;
	*generator = sim_handle_new();
	if (*generator && (!bytes || sim_handle_take(*generator, bytes))) {
		(*generator)->kept[CURAND_ON_HOST] = is_on_host;
		return CURAND_STATUS_SUCCESS;
	}
	sim_handle_end(*generator);
	*generator = NULL;
	return CURAND_STATUS_ALLOCATION_FAILED;
}

SIM_EXPORT int curandCreateGenerator(struct sim_handle **generator, int kind);
int curandCreateGenerator(struct sim_handle **generator, int kind)
{
	SIM_CALLED("makes");
	return make(generator, kind, false);
}

SIM_EXPORT int curandCreateGeneratorHost(struct sim_handle **generator, int kind);
int curandCreateGeneratorHost(struct sim_handle **generator, int kind)
{
	SIM_CALLED("makes");
	return make(generator, kind, true);
}

SIM_EXPORT int curandGetVersion(int *out);
int curandGetVersion(int *out)
{
	SIM_CALLED("version");
	if (!out)
		return CURAND_STATUS_OUT_OF_RANGE;
	*out = version.major * 1000 + version.minor * 100 + version.patch;
	return CURAND_STATUS_SUCCESS;
}

SIM_EXPORT int curandGetProperty(int property, int *value);
int curandGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&version, property, value) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}

/* Tables that a program copies for its own kernels: 20,000 dimensions of 0. Untouched, they take no memory. */
enum { DIMENSIONS = 20000 };
static uint32_t vectors32[DIMENSIONS][32], constants32[DIMENSIONS];
static uint64_t vectors64[DIMENSIONS][64], constants64[DIMENSIONS];

#define TABLE(name, table)                                                                                             \
	SIM_EXPORT int curandGet##name(void **out, int set);                                                               \
	int curandGet##name(void **out, int set)                                                                           \
	{                                                                                                                  \
		(void)set; /* an argument of two of them */                                                                    \
		SIM_CALLED("answers");                                                                                         \
		if (!out)                                                                                                      \
			return CURAND_STATUS_OUT_OF_RANGE;                                                                         \
		*out = table;                                                                                                  \
		return CURAND_STATUS_SUCCESS;                                                                                  \
	}
TABLE(DirectionVectors32, vectors32)
TABLE(DirectionVectors64, vectors64)
TABLE(ScrambleConstants32, constants32)
TABLE(ScrambleConstants64, constants64)
