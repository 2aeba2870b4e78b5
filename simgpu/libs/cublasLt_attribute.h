/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of cuBLASLt's descriptors: number, bytes, initial value, in the order in which they lie in a
 * descriptor: what newer libraries have is at the end, where older descriptors have no room.
 */
#ifndef TARE_SIM_CUBLASLT_ATTRIBUTE_H
#define TARE_SIM_CUBLASLT_ATTRIBUTE_H

#include "simgpu/libs/attribute.h"

static const struct sim_attribute_row layout_list[] = {
	{ 0, 4, 0 }, /* TYPE */
	{ 1, 4, 0 }, /* ORDER */
	{ 2, 8, 0 }, /* ROWS */
	{ 3, 8, 0 }, /* COLS */
	{ 4, 8, 0 }, /* LD */
	{ 5, 4, 1 }, /* BATCH_COUNT */
	{ 6, 8, 0 }, /* STRIDED_BATCH_OFFSET */
	{ 7, 8, 0 }, /* PLANE_OFFSET */
	{ 8, 4, 0 }, /* BATCH_MODE */
	{ 0 },
};

static const struct sim_attribute_row matmul_list[] = {
	{ 0, 4, 0 },   /* COMPUTE_TYPE */
	{ 1, 4, 0 },   /* SCALE_TYPE */
	{ 2, 4, 0 },   /* POINTER_MODE */
	{ 3, 4, 0 },   /* TRANSA */
	{ 4, 4, 0 },   /* TRANSB */
	{ 5, 4, 0 },   /* TRANSC */
	{ 6, 4, 2 },   /* FILL_MODE */
	{ 7, 4, 1 },   /* EPILOGUE */
	{ 8, 8, 0 },   /* BIAS_POINTER */
	{ 10, 8, 0 },  /* BIAS_BATCH_STRIDE */
	{ 11, 8, 0 },  /* EPILOGUE_AUX_POINTER */
	{ 12, 8, 0 },  /* EPILOGUE_AUX_LD */
	{ 13, 8, 0 },  /* EPILOGUE_AUX_BATCH_STRIDE */
	{ 14, 8, 0 },  /* ALPHA_VECTOR_BATCH_STRIDE */
	{ 15, 4, 0 },  /* SM_COUNT_TARGET */
	{ 17, 8, 0 },  /* A_SCALE_POINTER */
	{ 18, 8, 0 },  /* B_SCALE_POINTER */
	{ 19, 8, 0 },  /* C_SCALE_POINTER */
	{ 20, 8, 0 },  /* D_SCALE_POINTER */
	{ 21, 8, 0 },  /* AMAX_D_POINTER */
	{ 22, 4, -1 }, /* EPILOGUE_AUX_DATA_TYPE */
	{ 23, 8, 0 },  /* EPILOGUE_AUX_SCALE_POINTER */
	{ 24, 8, 0 },  /* EPILOGUE_AUX_AMAX_POINTER */
	{ 25, 1, 0 },  /* FAST_ACCUM */
	{ 26, 4, -1 }, /* BIAS_DATA_TYPE */
	{ 31, 4, 0 },  /* A_SCALE_MODE */
	{ 32, 4, 0 },  /* B_SCALE_MODE */
	{ 33, 4, 0 },  /* C_SCALE_MODE */
	{ 34, 4, 0 },  /* D_SCALE_MODE */
	{ 35, 4, 0 },  /* EPILOGUE_AUX_SCALE_MODE */
	{ 36, 8, 0 },  /* D_OUT_SCALE_POINTER */
	{ 37, 4, 0 },  /* D_OUT_SCALE_MODE */
	{ 38, 8, 0 },  /* EMULATION_DESCRIPTOR */
	{ 0 },
};

static const struct sim_attribute_row preference_list[] = {
	{ 0, 4, 0 },   /* SEARCH_MODE */
	{ 1, 8, 0 },   /* MAX_WORKSPACE_BYTES */
	{ 3, 4, 7 },   /* REDUCTION_SCHEME_MASK */
	{ 5, 4, 256 }, /* MIN_ALIGNMENT_A_BYTES */
	{ 6, 4, 256 }, /* MIN_ALIGNMENT_B_BYTES */
	{ 7, 4, 256 }, /* MIN_ALIGNMENT_C_BYTES */
	{ 8, 4, 256 }, /* MIN_ALIGNMENT_D_BYTES */
	{ 9, 4, 0 },   /* MAX_WAVES_COUNT */
	{ 12, 8, -1 }, /* IMPL_MASK */
	{ 0 },
};

static const struct sim_attribute_row transform_list[] = {
	{ 0, 4, 0 }, /* SCALE_TYPE */
	{ 1, 4, 0 }, /* POINTER_MODE */
	{ 2, 4, 0 }, /* TRANSA */
	{ 3, 4, 0 }, /* TRANSB */
	{ 0 },
};

static const struct sim_attribute_row emulation_list[] = {
	{ 0, 4, 0 },      /* STRATEGY */
	{ 1, 4, 0xFFFF }, /* SPECIAL_VALUES_SUPPORT */
	{ 2, 4, 0 },      /* FIXEDPOINT_MANTISSA_CONTROL */
	{ 3, 4, 0 },      /* FIXEDPOINT_MAX_MANTISSA_BIT_COUNT */
	{ 4, 4, 0 },      /* FIXEDPOINT_MANTISSA_BIT_OFFSET */
	{ 5, 8, 0 },      /* FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER */
	{ 0 },
};

static const struct sim_attribute_row config_list[] = {
	{ 0, 4, 0 }, /* ID */
	{ 1, 4, 0 }, /* TILE_ID */
	{ 2, 4, 1 }, /* SPLITK_NUM */
	{ 3, 4, 0 }, /* REDUCTION_SCHEME */
	{ 4, 4, 0 }, /* CTA_SWIZZLING */
	{ 5, 4, 0 }, /* CUSTOM_OPTION */
	{ 6, 4, 0 }, /* STAGES_ID */
	{ 7, 2, 0 }, /* INNER_SHAPE_ID */
	{ 8, 2, 0 }, /* CLUSTER_SHAPE_ID */
	{ 0 },
};

/* Read only: what any algorithm can. */
static const struct sim_attribute_row capability_list[] = {
	{ 0, 4, 0 },   /* SPLITK_SUPPORT */
	{ 1, 4, 0 },   /* REDUCTION_SCHEME_MASK */
	{ 2, 4, 0 },   /* CTA_SWIZZLING_SUPPORT */
	{ 3, 4, 1 },   /* STRIDED_BATCH_SUPPORT */
	{ 4, 4, 1 },   /* OUT_OF_PLACE_RESULT_SUPPORT */
	{ 5, 4, 0 },   /* UPLO_SUPPORT */
	{ 6, 4, 0 },   /* TILE_IDS */
	{ 7, 4, 0 },   /* CUSTOM_OPTION_MAX */
	{ 10, 4, 0 },  /* CUSTOM_MEMORY_ORDER */
	{ 11, 4, 31 }, /* POINTER_MODE_MASK */
	{ 12, 4, -1 }, /* EPILOGUE_MASK */
	{ 13, 4, 0 },  /* STAGES_IDS */
	{ 14, 4, 0 },  /* LD_NEGATIVE */
	{ 15, 8, 0 },  /* NUMERICAL_IMPL_FLAGS */
	{ 16, 4, 1 },  /* MIN_ALIGNMENT_A_BYTES */
	{ 17, 4, 1 },  /* MIN_ALIGNMENT_B_BYTES */
	{ 18, 4, 1 },  /* MIN_ALIGNMENT_C_BYTES */
	{ 19, 4, 1 },  /* MIN_ALIGNMENT_D_BYTES */
	{ 21, 4, 1 },  /* POINTER_ARRAY_BATCH_SUPPORT */
	{ 22, 4, 0 },  /* FLOATING_POINT_EMULATION_SUPPORT */
	{ 0 },
};

#endif
