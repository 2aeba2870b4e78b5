/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cuSPARSELt does beyond its table: descriptors in the program's own memory, which keep attributes and what they
 * were made of, and the size of a matrix without its zeros.
 */
#include <string.h>

#include "simgpu/libs/attribute.h"
#include "simgpu/libs/data_type.h"
#include "simgpu/libs/lib.h"
#include "simgpu/libs/version.h"

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3 };

static const struct sim_version version = { 0, 8, 0 };

/* Numbers and sizes of attributes, as the public header orders them. */
static const struct sim_attribute_row matrix_list[] = {
	{ 0, 4, 1 }, /* NUM_BATCHES */
	{ 1, 8, 0 }, /* BATCH_STRIDE */
	{ 0 },
};
static const struct sim_attribute_row product_list[] = {
	{ 0, 4, 0 },                                                          /* ACTIVATION_RELU */
	{ 1, 4, 0 },                                                          /* ACTIVATION_RELU_UPPERBOUND */
	{ 2, 4, 0 },                                                          /* ACTIVATION_RELU_THRESHOLD */
	{ 3, 4, 0 },                                                          /* ACTIVATION_GELU */
	{ 4, 4, 0 },                                                          /* ACTIVATION_GELU_SCALING */
	{ 5, 4, 0 },                                                          /* ALPHA_VECTOR_SCALING */
	{ 6, 4, 0 },                                                          /* BETA_VECTOR_SCALING */
	{ 7, 8, 0 },                                                          /* BIAS_STRIDE */
	{ 8, 8, 0 },                                                          /* BIAS_POINTER */
	{ 9, 8, 0 },                                                          /* SPARSE_MAT_POINTER */
	{ 10, 4, 0 }, { 11, 4, 0 }, { 12, 4, 0 }, { 13, 4, 0 }, { 14, 4, 0 }, /* …_SCALE_MODE */
	{ 15, 8, 0 }, { 16, 8, 0 }, { 17, 8, 0 }, { 18, 8, 0 }, { 19, 8, 0 }, /* …_SCALE_POINTER */
	{ 0 },
};
static const struct sim_attribute_row algorithm_list[] = {
	{ 0, 4, 0 },  /* CONFIG_ID */
	{ 1, 4, 1 },  /* CONFIG_MAX_ID */
	{ 2, 4, 10 }, /* SEARCH_ITERATIONS */
	{ 3, 4, 1 },  /* SPLIT_K */
	{ 4, 4, 0 },  /* SPLIT_K_MODE */
	{ 5, 4, 0 },  /* SPLIT_K_BUFFERS */
	{ 0 },
};
enum { ROOM = 160 };

/* What lies in the program's 512 bytes. */
struct matrix {
	char attributes[ROOM];
	int64_t rows, columns;
	int type;
	bool is_structured;
};
struct product {
	char attributes[ROOM];
	const struct matrix *structured; /* NULL: neither side is */
};
struct plan {
	const struct product *product;
};

SIM_EXPORT int cusparseLtInit(void *handle);
int cusparseLtInit(void *handle)
{
	SIM_CALLED("makes");
	if (!handle)
		return INVALID_VALUE;
	memset(handle, 0, 16);
	return SUCCESS;
}

static int make_matrix(const void *handle, struct matrix *matrix, int64_t rows, int64_t columns, int type,
                       bool is_structured)
{
	if (!handle)
		return NOT_INITIALIZED;
	if (!matrix || rows < 1 || columns < 1)
		return INVALID_VALUE;
	sim_attributes_begin(matrix_list, matrix->attributes, ROOM);
	matrix->rows = rows;
	matrix->columns = columns;
	matrix->type = type;
	matrix->is_structured = is_structured;
	return SUCCESS;
}

/* clang-format off */
#define MATRIX(kind, is_structured, ...)                                                           \
	SIM_EXPORT int cusparseLt##kind##DescriptorInit(const void *handle, struct matrix *matrix, int64_t rows, \
		int64_t columns, int64_t ld, uint32_t alignment, int type, int order, int sparsity); \
	int cusparseLt##kind##DescriptorInit(const void *handle, struct matrix *matrix, int64_t rows, int64_t columns, \
		int64_t ld, uint32_t alignment, int type, int order, int sparsity)                 \
	{                                                                                          \
		(void)ld, (void)alignment, (void)order, (void)sparsity;                            \
		SIM_CALLED("makes");                                                               \
		return make_matrix(handle, matrix, rows, columns, type, is_structured);            \
	}
/* clang-format on */
MATRIX(Dense, false) /* which has no last argument */
MATRIX(Structured, true)

SIM_EXPORT int cusparseLtMatmulDescriptorInit(const void *handle, struct product *product, int op_a, int op_b,
                                              const struct matrix *a, const struct matrix *b);
int cusparseLtMatmulDescriptorInit(const void *handle, struct product *product, int op_a, int op_b,
                                   const struct matrix *a, const struct matrix *b)
{
	(void)op_a, (void)op_b;
	SIM_CALLED("makes");
	if (!handle)
		return NOT_INITIALIZED;
	if (!product || !a || !b)
		return INVALID_VALUE;
	sim_attributes_begin(product_list, product->attributes, ROOM);
	product->structured = a->is_structured ? a : b->is_structured ? b : NULL;
	return SUCCESS;
}

SIM_EXPORT int cusparseLtMatmulAlgSelectionInit(const void *handle, void *algorithm, const void *product);
int cusparseLtMatmulAlgSelectionInit(const void *handle, void *algorithm, const void *product)
{
	SIM_CALLED("makes");
	if (!handle)
		return NOT_INITIALIZED;
	if (!algorithm || !product)
		return INVALID_VALUE;
	sim_attributes_begin(algorithm_list, algorithm, ROOM);
	return SUCCESS;
}

SIM_EXPORT int cusparseLtMatmulPlanInit(const void *handle, struct plan *plan, const struct product *product);
int cusparseLtMatmulPlanInit(const void *handle, struct plan *plan, const struct product *product)
{
	SIM_CALLED("makes");
	if (!handle)
		return NOT_INITIALIZED;
	if (!plan || !product)
		return INVALID_VALUE;
	plan->product = product;
	return SUCCESS;
}

#define ATTRIBUTES(name, list)                                                                                         \
	SIM_EXPORT int cusparseLt##name##SetAttribute(const void *handle, void *store, int id, const void *from,           \
	                                              size_t bytes);                                                       \
	int cusparseLt##name##SetAttribute(const void *handle, void *store, int id, const void *from, size_t bytes)        \
	{                                                                                                                  \
		SIM_CALLED("keeps");                                                                                           \
		if (!handle)                                                                                                   \
			return NOT_INITIALIZED;                                                                                    \
		return sim_attributes_set(list, store, ROOM, id, from, bytes) ? SUCCESS : INVALID_VALUE;                       \
	}                                                                                                                  \
	SIM_EXPORT int cusparseLt##name##GetAttribute(const void *handle, const void *store, int id, void *to,             \
	                                              size_t bytes);                                                       \
	int cusparseLt##name##GetAttribute(const void *handle, const void *store, int id, void *to, size_t bytes)          \
	{                                                                                                                  \
		SIM_CALLED("tells");                                                                                           \
		if (!handle)                                                                                                   \
			return NOT_INITIALIZED;                                                                                    \
		return bytes && sim_attributes_get(list, store, ROOM, id, to, bytes, NULL) ? SUCCESS : INVALID_VALUE;          \
	}
ATTRIBUTES(MatDesc, matrix_list)
ATTRIBUTES(MatmulDesc, product_list)
ATTRIBUTES(MatmulAlg, algorithm_list)

/*
 * Half of the numbers, and where they were: an eighth of a number of 16 bits for each that is left. PyTorch's own
 * formula, 9/16 of the bytes and 10/16 of those of 8 bits.
 */
static int tell_compressed(const struct matrix *matrix, size_t *bytes, size_t *buffer)
{
	size_t width;

	if (!matrix || !bytes)
		return INVALID_VALUE;
	width = sim_data_type_width(matrix->type);
	*bytes = (size_t)matrix->rows * (size_t)matrix->columns * width * (width == 1 ? 10 : 9) / 16;
	if (buffer)
		*buffer = 0;
	return SUCCESS;
}

SIM_EXPORT int cusparseLtSpMMACompressedSize2(const void *handle, const struct matrix *matrix, size_t *bytes,
                                              size_t *buffer);
int cusparseLtSpMMACompressedSize2(const void *handle, const struct matrix *matrix, size_t *bytes, size_t *buffer)
{
	SIM_CALLED("answers");
	return handle ? tell_compressed(matrix, bytes, buffer) : NOT_INITIALIZED;
}

SIM_EXPORT int cusparseLtSpMMACompressedSize(const void *handle, const struct plan *plan, size_t *bytes,
                                             size_t *buffer);
int cusparseLtSpMMACompressedSize(const void *handle, const struct plan *plan, size_t *bytes, size_t *buffer)
{
	SIM_CALLED("answers");
	if (!handle)
		return NOT_INITIALIZED;
	return plan ? tell_compressed(plan->product->structured, bytes, buffer) : INVALID_VALUE;
}

SIM_EXPORT int cusparseLtGetVersion(const void *handle, int *out);
int cusparseLtGetVersion(const void *handle, int *out)
{
	(void)handle;
	SIM_CALLED("version");
	if (!out)
		return INVALID_VALUE;
	*out = version.major * 1000 + version.minor * 100 + version.patch;
	return SUCCESS;
}

SIM_EXPORT int cusparseLtGetProperty(int property, int *value);
int cusparseLtGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&version, property, value) ? SUCCESS : INVALID_VALUE;
}

#define TEXT_OF(what)                                                                                                  \
	SIM_EXPORT const char *cusparseLtGetError##what(int result);                                                       \
	const char *cusparseLtGetError##what(int result)                                                                   \
	{                                                                                                                  \
		SIM_CALLED("text");                                                                                            \
		return result ? "an error of cuSPARSELt" : "success";                                                          \
	}
TEXT_OF(Name)
TEXT_OF(String)
