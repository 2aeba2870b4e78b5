/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda.h>
#include <stddef.h>

#include "abi_rows.h"

extern const struct abi_row abi_cuda[];
ABI_ROWS(abi_cuda)
#include "abi.def"
ABI_ROWS_END
