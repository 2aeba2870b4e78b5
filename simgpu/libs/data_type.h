/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a value of a cudaDataType, as the libraries' public headers number these. */
#ifndef TARE_SIM_DATA_TYPE_H
#define TARE_SIM_DATA_TYPE_H

#include <stddef.h>

static inline size_t sim_data_type_width(int type)
{
	switch (type) {
	case 0:  /* CUDA_R_32F */
	case 6:  /* CUDA_C_16F */
	case 10: /* CUDA_R_32I */
	case 12: /* CUDA_R_32U */
	case 15: /* CUDA_C_16BF */
		return 4;
	case 1:  /* CUDA_R_64F */
	case 4:  /* CUDA_C_32F */
	case 11: /* CUDA_C_32I */
	case 24: /* CUDA_R_64I */
		return 8;
	case 5: /* CUDA_C_64F */
		return 16;
	case 3:  /* CUDA_R_8I */
	case 8:  /* CUDA_R_8U */
	case 28: /* CUDA_R_8F_E4M3 */
	case 29: /* CUDA_R_8F_E5M2 */
		return 1;
	default: /* CUDA_R_16F, CUDA_R_16BF */
		return 2;
	}
}

#endif
