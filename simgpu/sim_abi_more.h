/* SPDX-License-Identifier: Apache-2.0 */
/* The binary interface of the driver's younger parts: resources, tensor maps, logs, batches. */
#ifndef SIM_ABI_MORE_H
#define SIM_ABI_MORE_H

#include "record/cuda_abi.h"

typedef int CUdevResourceType;
typedef int CUexecAffinityType;
typedef int CUarray_format;
typedef int CUflushGPUDirectRDMAWritesTarget;
typedef int CUflushGPUDirectRDMAWritesScope;
typedef int CUmemRangeHandleType;
typedef int CUmulticastGranularity_flags;
typedef int CUsharedconfig;
typedef int CUtensorMapDataType;
typedef int CUtensorMapInterleave;
typedef int CUtensorMapSwizzle;
typedef int CUtensorMapL2promotion;
typedef int CUtensorMapFloatOOBfill;
typedef int CUtensorMapIm2ColWideMode;
typedef int CUlogLevel;
typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;
typedef void (*CUlogsCallback)(void *data, CUlogLevel level, char *message, size_t length);
typedef unsigned int CUlogIterator;

enum {
	CUDA_ERROR_INVALID_RESOURCE_TYPE = 914,
	CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915,
	CU_DEV_RESOURCE_TYPE_SM = 1,
	CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE = 2,
	CU_EVENT_INTERPROCESS = 4,
	CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
	CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B = 15,
	CU_TENSOR_MAP_INTERLEAVE_32B = 2,
	CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B = 6,
	CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
	CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
	CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
	CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
	CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
	CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,
	CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
	CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20,
};

typedef struct {
	CUdevResourceType type;
	unsigned char padding[92];
	union {
		struct {
			unsigned int smCount, minSmPartitionSize, smCoscheduledAlignment;
		} sm;
		unsigned char oversize[48];
	};
} CUdevResource;

typedef struct {
	_Alignas(128) cuuint64_t opaque[16];
} CUtensorMap;

typedef struct {
	int srcAccessOrder;
	CUmemLocation srcLocHint, dstLocHint;
	unsigned int flags;
} CUmemcpyAttributes;

typedef struct {
	int type; /* 1: pointer, 2: array */
	union {
		struct {
			CUdeviceptr ptr;
			size_t rowLength, layerHeight;
			CUmemLocation locHint;
		} ptr;
		struct {
			CUarray array;
			size_t x, y, z;
		} array;
	} op;
} CUmemcpy3DOperand;

typedef struct {
	CUmemcpy3DOperand src, dst;
	struct {
		size_t width, height, depth;
	} extent;
	int srcAccessOrder;
	unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP;

#endif
