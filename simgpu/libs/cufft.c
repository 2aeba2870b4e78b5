/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to describe a transform to cuFFT, and what is done with each: a plan, its work, its size. */
#include "simgpu/libs/cufft.h"

#include "simgpu/libs/data_type.h"
#include "simgpu/libs/version.h"

/* cuFFT of CUDA 11.8, 12.4 and 13.0. */
#if SIM_VERSION == 10
static const struct sim_version version = { 10, 9, 0 };
#elif SIM_VERSION == 11
static const struct sim_version version = { 11, 2, 1 };
#else
static const struct sim_version version = { 12, 0, 0 };
#endif

SIM_EXPORT int cufftGetVersion(int *out);
int cufftGetVersion(int *out)
{
	SIM_CALLED("version");
	if (!out)
		return CUFFT_INVALID_VALUE;
	*out = version.major * 1000 + version.minor * 100 + version.patch;
	return CUFFT_SUCCESS;
}

SIM_EXPORT int cufftGetProperty(int property, int *value);
int cufftGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&version, property, value) ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

/* Of a rank and sizes of either width, into the transform. */
static int describe(struct tare_sim_transform *transform, int rank, const int *n, const int64_t *n64, int64_t batch)
{
	int i;

	if (rank < 1 || rank > 3 || (!n && !n64))
		return CUFFT_INVALID_VALUE;
	transform->rank = rank;
	transform->batch = batch;
	for (i = 0; i < rank; i++) {
		transform->n[i] = n ? n[i] : n64[i];
		if (transform->n[i] < 1)
			return CUFFT_INVALID_SIZE;
	}
	return batch < 1 ? CUFFT_INVALID_SIZE : CUFFT_SUCCESS;
}

static int typed(struct tare_sim_transform *transform, int type, int rank, const int *n, const int64_t *n64,
                 int64_t batch)
{
	return tare_sim_transform_type(transform, type) ? describe(transform, rank, n, n64, batch) : CUFFT_INVALID_TYPE;
}

/* … whose types are cudaDataType: complex numbers of the type that it computes in. */
static int typed_xt(struct tare_sim_transform *transform, int in, int out, int execution, int rank, const int64_t *n,
                    int64_t batch)
{
	transform->width = sim_data_type_width(execution);
	transform->is_real = in != out;
	return describe(transform, rank, NULL, n, batch);
}

static int tell(int failed, const struct tare_sim_transform *transform, size_t *work)
{
	if (failed || !work)
		return failed ? failed : CUFFT_INVALID_VALUE;
	*work = tare_sim_transform_work(transform);
	return CUFFT_SUCCESS;
}

static int create_and_make(int failed, int *plan, const struct tare_sim_transform *transform)
{
	if (failed || !plan)
		return failed ? failed : CUFFT_INVALID_PLAN;
	failed = cufftCreate(plan);
	if (failed)
		return failed;
	failed = tare_sim_cufft_make(*plan, transform, NULL);
	if (failed)
		cufftDestroy(*plan);
	return failed;
}

/*
 * The functions of the API for each way to describe a transform: PlanX makes a plan and its work, MakePlanX the work of
 * a plan that is there, GetSizeX and EstimateX tell its size.
 */
#define WAYS(way, described, ...)                                                                                      \
	SIM_EXPORT int cufftPlan##way(int *plan, __VA_ARGS__);                                                             \
	int cufftPlan##way(int *plan, __VA_ARGS__)                                                                         \
	{                                                                                                                  \
		struct tare_sim_transform transform;                                                                           \
		int failed = described;                                                                                        \
                                                                                                                       \
		SIM_CALLED("makes");                                                                                           \
		return create_and_make(failed, plan, &transform);                                                              \
	}                                                                                                                  \
	SIM_EXPORT int cufftEstimate##way(__VA_ARGS__, size_t *work);                                                      \
	int cufftEstimate##way(__VA_ARGS__, size_t *work)                                                                  \
	{                                                                                                                  \
		struct tare_sim_transform transform;                                                                           \
		int failed = described;                                                                                        \
                                                                                                                       \
		SIM_CALLED("answers");                                                                                         \
		return tell(failed, &transform, work);                                                                         \
	}                                                                                                                  \
	WAYS_OF_PLAN(, way, described, __VA_ARGS__, size_t *work)
#define WAYS_OF_PLAN(prefix, way, described, ...)                                                                      \
	SIM_EXPORT int cufft##prefix##MakePlan##way(int plan, __VA_ARGS__);                                                \
	int cufft##prefix##MakePlan##way(int plan, __VA_ARGS__)                                                            \
	{                                                                                                                  \
		struct tare_sim_transform transform;                                                                           \
		int failed = described;                                                                                        \
                                                                                                                       \
		SIM_CALLED("makes");                                                                                           \
		return failed ? failed : tare_sim_cufft_make(plan, &transform, work);                                          \
	}                                                                                                                  \
	SIM_EXPORT int cufft##prefix##GetSize##way(int plan, __VA_ARGS__);                                                 \
	int cufft##prefix##GetSize##way(int plan, __VA_ARGS__)                                                             \
	{                                                                                                                  \
		struct tare_sim_transform transform;                                                                           \
		int failed = described;                                                                                        \
                                                                                                                       \
		(void)plan;                                                                                                    \
		SIM_CALLED("answers");                                                                                         \
		return tell(failed, &transform, work);                                                                         \
	}

WAYS(1d, typed(&transform, type, 1, (const int[]){ nx }, NULL, batch), int nx, int type, int batch)
WAYS(2d, typed(&transform, type, 2, (const int[]){ nx, ny }, NULL, 1), int nx, int ny, int type)
WAYS(3d, typed(&transform, type, 3, (const int[]){ nx, ny, nz }, NULL, 1), int nx, int ny, int nz, int type)

/* clang-format off */
#define EMBEDDED(number) \
	int rank, const number *n, __attribute__((unused)) number *in, __attribute__((unused)) number in_step, \
		__attribute__((unused)) number in_distance
#define OUT(number) \
	__attribute__((unused)) number *out, __attribute__((unused)) number out_step, \
		__attribute__((unused)) number out_distance
WAYS(Many, typed(&transform, type, rank, n, NULL, batch), EMBEDDED(int), OUT(int), int type, int batch)
WAYS_OF_PLAN(, Many64, typed(&transform, type, rank, NULL, n, batch), EMBEDDED(int64_t), OUT(int64_t), int type,
	     int64_t batch, size_t *work)
WAYS_OF_PLAN(Xt, Many, typed_xt(&transform, in_type, out_type, execution, rank, n, batch), EMBEDDED(int64_t),
	     int in_type, OUT(int64_t), int out_type, int64_t batch, size_t *work, int execution)
/* clang-format on */
