/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT's results, its plans, and how large the work of a plan is. */
#ifndef TARE_SIM_CUFFT_H
#define TARE_SIM_CUFFT_H

#include "simgpu/libs/lib.h"

enum {
	CUFFT_SUCCESS = 0,
	CUFFT_INVALID_PLAN = 1,
	CUFFT_ALLOC_FAILED = 2,
	CUFFT_INVALID_TYPE = 3,
	CUFFT_INVALID_VALUE = 4,
	CUFFT_INVALID_SIZE = 8,
	CUFFT_NOT_SUPPORTED = 16,
};

/* A transform: its sizes, the slowest first, and how many of it. */
struct tare_sim_transform {
	int rank;
	int64_t n[3];
	int64_t batch;
	size_t width; /* bytes of a complex number */
	bool is_real; /* one side of it is */
};

/* False: there is no such type of transform. */
bool tare_sim_transform_type(struct tare_sim_transform *transform, int type);
/* The bytes of its work, which the program may give, and of tables that the library keeps with the plan. */
size_t tare_sim_transform_work(const struct tare_sim_transform *transform);
size_t tare_sim_transform_tables(const struct tare_sim_transform *transform);

int cufftCreate(int *plan);
int cufftDestroy(int plan);
/* Makes the work of a plan that is there; `work`, which may be NULL, is its size. */
int tare_sim_cufft_make(int plan, const struct tare_sim_transform *transform, size_t *work);
/* A plan's work on its stream. CUFFT_INVALID_PLAN: there is no such plan, or it is not made yet. */
int tare_sim_cufft_execute(int plan);

#define EXECUTES(name) SIM_RESULT(name, "node", tare_sim_cufft_execute((int)a0))

#endif
