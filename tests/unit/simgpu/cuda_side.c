/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The toolkit's side of t_abi.c, built only where cuda.h is installed: every row of sim_extra.def
 * must have the type that the toolkit gives to (name, version, per-thread stream).
 */
#define __CUDA_API_VERSION_INTERNAL 1 /* the older ABIs too */
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <stddef.h>

#include "tests/unit/cuda_h.h"

/* `name` must be pasted at once: cuda.h defines many of them to another. */
#define TYPE_0(type) type
#define TYPE_1(type) type##_ptsz
#define TYPE_2(type) type##_ptds
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	_Static_assert(__builtin_types_compatible_p(TYPE_##ptsz(PFN_##name##_v##version), CUresult(*) params),             \
	               #symbol " does not have the type of " #name " " #version);
#include "simgpu/sim_extra.def"
#undef CU_API

#define CU_ERROR(code, name, text) _Static_assert(name == code, #name);
#include "simgpu/sim_error.def"
#undef CU_ERROR

const struct cuda_h_value cuda_h_values[] = {
#define SIZE(type)         { "sizeof " #type, (long)sizeof(type) },
#define FIELD(type, field) { #type "." #field, (long)offsetof(type, field) },
#define VALUE(name)        { #name, (long)name },
#include "abi.def"
	{ NULL, 0 },
};
