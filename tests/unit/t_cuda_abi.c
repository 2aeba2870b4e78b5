/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "record/cuda_abi.h"

#include <stddef.h>
#include <string.h>

#include "cuda_h.h"

#ifdef HAVE_CUDA_H
static const struct cuda_h_value ours[] = {
#define SIZE(type)         { "sizeof " #type, (long)sizeof(type) },
#define FIELD(type, field) { #type "." #field, (long)offsetof(type, field) },
#define VALUE(name)        { #name, (long)name },
#include "cuda_h.def"
	{ NULL, 0 },
};
#endif

/* The types of the functions themselves are checked when cuda_h.c is compiled. */
TEST(layouts_and_constants_are_the_toolkits)
{
#ifndef HAVE_CUDA_H
	SKIP("cuda.h is not installed here");
#else
	for (int i = 0; ours[i].name; i++) {
		CHECK_STR(ours[i].name, cuda_h_values[i].name);
		CHECK_INT(ours[i].value, cuda_h_values[i].value);
	}
#endif
}

TEST(every_row_is_named_once)
{
	static const char *const symbols[] = {
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) #symbol,
#include "recorder/cuda/cuda_api.def"
#undef CU_API
	};
	size_t nr = sizeof(symbols) / sizeof(symbols[0]);

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(symbols[i], symbols[j]) != 0);
}
