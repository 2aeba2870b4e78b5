/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks that are written by hand: rows of shape CUSTOM. */
#ifndef TARE_RECORDER_CUDA_CUSTOM_H
#define TARE_RECORDER_CUDA_CUSTOM_H

#include "recorder/cuda/cuda_abi.h"

#define DECLARE_NEW(symbol, params)
#define DECLARE_DEL(symbol, params)
#define DECLARE_WEIGH(symbol, params)
#define DECLARE_FIRST(symbol, params)
#define DECLARE_SYNC(symbol, params)
#define DECLARE_NOTE(symbol, params)
#define DECLARE_CALL(symbol, params)
#define DECLARE_ANSWER DECLARE_CUSTOM /* vram/answer.c */
#define DECLARE_CUSTOM(symbol, params) CUresult tare_hook_##symbol params;
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                       \
	DECLARE_##shape(symbol, params)
#include "recorder/cuda/cuda_api.def"
#undef CU_API

#endif
