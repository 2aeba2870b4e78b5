/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations against NVIDIA's, where cuda.h is installed. */
#include "record/cuda_abi_graph.h"

#include "../test.h"
#include "abi_rows.h"

extern const struct abi_row abi_cuda[];
static ABI_ROWS(abi_ours)
#include "abi.def"
	ABI_ROWS_END

	TEST(types_and_values_are_nvidias)
{
	for (size_t i = 0; abi_ours[i].name; i++) {
		CHECK_STR(abi_cuda[i].name, abi_ours[i].name);
		if (abi_cuda[i].value != abi_ours[i].value)
			test_fail(__FILE__, __LINE__, "%s is %lu, NVIDIA says %lu", abi_ours[i].name, abi_ours[i].value,
			          abi_cuda[i].value);
	}
}
