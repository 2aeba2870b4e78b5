/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include <stddef.h>

#include "simgpu/sim_abi.h"
#include "tests/unit/cuda_h.h"

#ifdef HAVE_CUDA_H
static const struct cuda_h_value ours[] = {
#define SIZE(type)         { "sizeof " #type, (long)sizeof(type) },
#define FIELD(type, field) { #type "." #field, (long)offsetof(type, field) },
#define VALUE(name)        { #name, (long)name },
#include "abi.def"
	{ NULL, 0 },
};
#endif

/* The types of the functions, and the error codes, are checked when cuda_side.c is compiled. */
TEST(sim_layouts_and_constants_are_the_toolkits)
{
#ifndef HAVE_CUDA_H
	SKIP("cuda.h is not installed here");
#else
	for (int i = 0; ours[i].name; i++) {
		CHECK_STR(ours[i].name, cuda_h_values[i].name);
		if (ours[i].value != cuda_h_values[i].value)
			test_fail(__FILE__, __LINE__, "%s is %ld, cuda.h has %ld", ours[i].name, ours[i].value,
			          cuda_h_values[i].value);
	}
#endif
}

TEST(sim_no_symbol_is_in_both_tables)
{
	static const char *const symbols[] = {
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) #symbol,
#include "recorder/cuda/cuda_api.def"
#include "simgpu/sim_extra.def"
#undef CU_API
	};
	size_t nr = sizeof(symbols) / sizeof(symbols[0]);

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(symbols[i], symbols[j]) == 0)
				test_fail(__FILE__, __LINE__, "%s is in two rows", symbols[i]);
}
