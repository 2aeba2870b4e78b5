/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The toolkit's side of t_cuda_abi.c, built only where cuda.h is installed: every row of the hook
 * table must have exactly the type that cudaTypedefs.h gives to (name, version, per-thread stream).
 */
#define __CUDA_API_VERSION_INTERNAL 1 /* the older ABIs too */
#include <cuda.h>
#include <cudaTypedefs.h>
#include <stddef.h>

#include "cuda_h.h"

/* `name` must be pasted at once: cuda.h defines many of them to another. */
#define TYPE_0(type) type
#define TYPE_1(type) type##_ptsz
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	_Static_assert(__builtin_types_compatible_p(TYPE_##ptsz(PFN_##name##_v##version), CUresult(*) params),             \
	               #symbol " does not have the type of " #name " " #version);
#include "recorder/cuda/cuda_api.def"
#undef CU_API

const struct cuda_h_value cuda_h_values[] = {
#define SIZE(type)         { "sizeof " #type, (long)sizeof(type) },
#define FIELD(type, field) { #type "." #field, (long)offsetof(type, field) },
#define VALUE(name)        { #name, (long)name },
#include "cuda_h.def"
	{ NULL, 0 },
};
