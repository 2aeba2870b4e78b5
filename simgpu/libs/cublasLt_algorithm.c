/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The algorithms of cuBLASLt: one for each product, and it needs no workspace. What an H100 would choose may need
 * some; the program takes that from its own memory as a rule, so it is in the program's rows whether it is used or not.
 */
#include <string.h>

#include "simgpu/libs/cublasLt_attribute.h"
#include "simgpu/libs/cublas_status.h"
#include "simgpu/libs/lib.h"

struct algorithm {
	uint64_t data[8];
};

struct found {
	struct algorithm algorithm;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

static void fill(struct found *found)
{
	memset(found, 0, sizeof(*found));
	sim_attributes_begin(config_list, &found->algorithm, sizeof(found->algorithm));
	found->state = CUBLAS_STATUS_SUCCESS;
	found->waves = 1;
}

SIM_EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, void *matmul, void *a, void *b, void *c, void *d,
                                              void *preference, int requested, struct found *found, int *count);
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *matmul, void *a, void *b, void *c, void *d, void *preference,
                                   int requested, struct found *found, int *count)
{
	(void)preference;
	SIM_CALLED("answers");
	if (count)
		*count = 0;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!matmul || !a || !b || !c || !d || requested < 1 || !found || !count)
		return CUBLAS_STATUS_INVALID_VALUE;
	fill(found);
	*count = 1;
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c, int d, int requested,
                                        int *ids, int *count);
int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c, int d, int requested, int *ids,
                             int *count)
{
	(void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
	SIM_CALLED("answers");
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (requested < 1 || !ids || !count)
		return CUBLAS_STATUS_INVALID_VALUE;
	ids[0] = 0;
	*count = 1;
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c, int d, int id,
                                      struct algorithm *algorithm);
int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c, int d, int id,
                           struct algorithm *algorithm)
{
	(void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
	SIM_CALLED("makes");
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!algorithm)
		return CUBLAS_STATUS_INVALID_VALUE;
	sim_attributes_begin(config_list, algorithm, sizeof(*algorithm));
	sim_attributes_set(config_list, algorithm, sizeof(*algorithm), 0, &id, sizeof(id));
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasLtMatmulAlgoCheck(void *handle, void *matmul, void *a, void *b, void *c, void *d,
                                       const struct algorithm *algorithm, struct found *found);
int cublasLtMatmulAlgoCheck(void *handle, void *matmul, void *a, void *b, void *c, void *d,
                            const struct algorithm *algorithm, struct found *found)
{
	SIM_CALLED("answers");
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!matmul || !a || !b || !c || !d || !algorithm || !found)
		return CUBLAS_STATUS_INVALID_VALUE;
	fill(found);
	found->algorithm = *algorithm;
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasLtMatmulAlgoCapGetAttribute(const struct algorithm *algorithm, int id, void *to, size_t bytes,
                                                 size_t *written);
int cublasLtMatmulAlgoCapGetAttribute(const struct algorithm *algorithm, int id, void *to, size_t bytes,
                                      size_t *written)
{
	char store[128];

	SIM_CALLED("answers");
	sim_attributes_begin(capability_list, store, sizeof(store));
	return algorithm && sim_attributes_get(capability_list, store, sizeof(store), id, to, bytes, written)
	           ? CUBLAS_STATUS_SUCCESS
	           : CUBLAS_STATUS_INVALID_VALUE;
}
