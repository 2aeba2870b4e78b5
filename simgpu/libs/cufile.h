/* SPDX-License-Identifier: Apache-2.0 */
/* cuFile's results, as its public header numbers them. */
#ifndef TARE_SIM_CUFILE_H
#define TARE_SIM_CUFILE_H

#include "simgpu/libs/lib.h"

enum {
	CU_FILE_SUCCESS = 0,
	CU_FILE_IO_NOT_SUPPORTED = 5008,
	CU_FILE_INVALID_VALUE = 5022,
	CU_FILE_HANDLE_NOT_REGISTERED = 5027,
};

#undef SIM_BAD_ARGUMENT
#define SIM_BAD_ARGUMENT CU_FILE_INVALID_VALUE

#define SIM_BOOL bool

#endif
