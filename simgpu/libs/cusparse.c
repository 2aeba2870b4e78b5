/* SPDX-License-Identifier: Apache-2.0 */
/* What cuSPARSE does beyond its table: descriptors tell what they were made with; versions and names of results. */
#include "simgpu/libs/cusparse.h"

#include <string.h>

#include "simgpu/libs/version.h"

/* cuSPARSE of CUDA 11.8; one soname for CUDA 12 and 13: of CUDA 13.0. */
#if SIM_VERSION == 11
static const struct sim_version version = { 11, 7, 5 };
#else
static const struct sim_version version = { 12, 6, 3 };
#endif

enum { ARGUMENTS_NR = 13 };

/* Which of the arguments of a sparse matrix are its values and the base of its indices. */
static const struct format {
	int values, base;
} formats[] = {
	[CSR] = { 5, 8 },         [CSC] = { 5, 8 },  [COO] = { 5, 7 },         [COO_AOS] = { 4, 6 },
	[BLOCKED_ELL] = { 5, 7 }, [BSR] = { 7, 10 }, [SLICED_ELL] = { 7, 10 },
};

int tare_sim_cusparse_make(struct sim_handle **descriptor, int format, const long *arguments)
{
	int i;

	if (!descriptor)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*descriptor = sim_handle_new();
	if (!*descriptor)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	for (i = 0; i < ARGUMENTS_NR; i++)
		(*descriptor)->kept[i] = (uint64_t)arguments[i];
	(*descriptor)->kept[CUSPARSE_FORMAT] = (uint64_t)format;
	(*descriptor)->kept[CUSPARSE_BATCH] = 1;
	return CUSPARSE_STATUS_SUCCESS;
}

int tare_sim_cusparse_tell(const struct sim_handle *descriptor, const char *widths, const long *arguments)
{
	int i;

	if (!descriptor)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	for (i = 0; widths[i]; i++)
		if (arguments[i])
			memcpy((void *)arguments[i], &descriptor->kept[i], widths[i] == '8' ? 8 : 4);
	return CUSPARSE_STATUS_SUCCESS;
}

/* The format of a descriptor of a sparse matrix; NULL: it is none. */
static const struct format *format_of(const struct sim_handle *matrix)
{
	uint64_t format = matrix ? matrix->kept[CUSPARSE_FORMAT] : 0;

	return format >= CSR && format <= SLICED_ELL ? &formats[format] : NULL;
}

SIM_EXPORT int cusparseSpMatGetSize(const struct sim_handle *matrix, int64_t *rows, int64_t *columns, int64_t *nonzero);
int cusparseSpMatGetSize(const struct sim_handle *matrix, int64_t *rows, int64_t *columns, int64_t *nonzero)
{
	const int64_t *kept = matrix ? (const int64_t *)matrix->kept : NULL;
	int64_t height = 1, width = 1;

	SIM_CALLED("tells");
	if (!format_of(matrix) || !rows || !columns || !nonzero)
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (kept[CUSPARSE_FORMAT] == BSR) {
		height = kept[3];
		width = kept[4];
	}
	*rows = kept[0] * height;
	*columns = kept[1] * width;
	*nonzero = kept[CUSPARSE_FORMAT] == BLOCKED_ELL ? kept[0] * kept[3] : kept[2] * height * width;
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseSpMatGetFormat(const struct sim_handle *matrix, int *format);
int cusparseSpMatGetFormat(const struct sim_handle *matrix, int *format)
{
	SIM_CALLED("tells");
	if (!format_of(matrix) || !format)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*format = (int)matrix->kept[CUSPARSE_FORMAT];
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseSpMatGetIndexBase(const struct sim_handle *matrix, int *base);
int cusparseSpMatGetIndexBase(const struct sim_handle *matrix, int *base)
{
	SIM_CALLED("tells");
	if (!format_of(matrix) || !base)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*base = (int)matrix->kept[format_of(matrix)->base];
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseSpMatSetValues(struct sim_handle *matrix, uint64_t values);
int cusparseSpMatSetValues(struct sim_handle *matrix, uint64_t values)
{
	SIM_CALLED("keeps");
	if (!format_of(matrix))
		return CUSPARSE_STATUS_INVALID_VALUE;
	matrix->kept[format_of(matrix)->values] = values;
	return CUSPARSE_STATUS_SUCCESS;
}

#define VALUES_OF_MATRIX(name)                                                                                         \
	SIM_EXPORT int name(const struct sim_handle *matrix, uint64_t *values);                                            \
	int name(const struct sim_handle *matrix, uint64_t *values)                                                        \
	{                                                                                                                  \
		SIM_CALLED("tells");                                                                                           \
		if (!format_of(matrix) || !values)                                                                             \
			return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
		*values = matrix->kept[format_of(matrix)->values];                                                             \
		return CUSPARSE_STATUS_SUCCESS;                                                                                \
	}
VALUES_OF_MATRIX(cusparseSpMatGetValues)
VALUES_OF_MATRIX(cusparseConstSpMatGetValues)

/* Attribute 0 is which half is filled, 1 whether the diagonal is of ones. */
SIM_EXPORT int cusparseSpMatSetAttribute(struct sim_handle *matrix, unsigned attribute, const int *data, size_t bytes);
int cusparseSpMatSetAttribute(struct sim_handle *matrix, unsigned attribute, const int *data, size_t bytes)
{
	SIM_CALLED("keeps");
	if (!format_of(matrix) || attribute > 1 || !data || bytes != sizeof(*data))
		return CUSPARSE_STATUS_INVALID_VALUE;
	matrix->kept[CUSPARSE_FILL + attribute] = (uint64_t)*data;
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseSpMatGetAttribute(const struct sim_handle *matrix, unsigned attribute, int *data, size_t bytes);
int cusparseSpMatGetAttribute(const struct sim_handle *matrix, unsigned attribute, int *data, size_t bytes)
{
	SIM_CALLED("tells");
	if (!format_of(matrix) || attribute > 1 || !data || bytes != sizeof(*data))
		return CUSPARSE_STATUS_INVALID_VALUE;
	*data = (int)matrix->kept[CUSPARSE_FILL + attribute];
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseCopyMatDescr(struct sim_handle *to, const struct sim_handle *from);
int cusparseCopyMatDescr(struct sim_handle *to, const struct sim_handle *from)
{
	SIM_CALLED("keeps");
	if (!to || !from)
		return CUSPARSE_STATUS_INVALID_VALUE;
	memcpy(to->kept, from->kept, sizeof(to->kept));
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseGetVersion(struct sim_handle *handle, int *out);
int cusparseGetVersion(struct sim_handle *handle, int *out)
{
	SIM_CALLED("version");
	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!out)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*out = version.major * 1000 + version.minor * 100 + version.patch;
	return CUSPARSE_STATUS_SUCCESS;
}

SIM_EXPORT int cusparseGetProperty(int property, int *value);
int cusparseGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&version, property, value) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

static const struct {
	const char *name, *sentence;
} results[] = {
	{ "CUSPARSE_STATUS_SUCCESS", "success" },
	{ "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error" },
	{ "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory" },
	{ "CUSPARSE_STATUS_INVALID_VALUE", "invalid value" },
	{ "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch" },
	{ "CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error" },
	{ "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure" },
	{ "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error" },
	{ "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported" },
	{ "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot" },
	{ "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported" },
	{ "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources" },
};
enum { RESULTS_NR = sizeof(results) / sizeof(results[0]) };

SIM_EXPORT const char *cusparseGetErrorName(unsigned result);
const char *cusparseGetErrorName(unsigned result)
{
	SIM_CALLED("text");
	return result < RESULTS_NR ? results[result].name : "unrecognized error code";
}

SIM_EXPORT const char *cusparseGetErrorString(unsigned result);
const char *cusparseGetErrorString(unsigned result)
{
	SIM_CALLED("text");
	return result < RESULTS_NR ? results[result].sentence : "unrecognized error code";
}
