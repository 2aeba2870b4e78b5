/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the driver's binary interface that graphs have; sim_abi.h includes it. */
#ifndef SIM_ABI_GRAPH_H
#define SIM_ABI_GRAPH_H

#include "recorder/cuda/cuda_abi.h"

typedef struct CUuserObject_st *CUuserObject;
typedef uint32_t cuuint32_t;
typedef cuuint64_t CUgraphConditionalHandle;

typedef void (*CUhostFn)(void *data);

enum {
	CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
	CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,

	CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
	CU_GRAPH_EXEC_UPDATE_ERROR = 1,
	CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
	CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
	CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
	CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,

	CU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0,
	CU_STREAM_SET_CAPTURE_DEPENDENCIES = 1,
	CU_GRAPH_COND_ASSIGN_DEFAULT = 1,
	CU_GRAPH_COND_TYPE_IF = 0,
	CU_GRAPH_COND_TYPE_WHILE = 1,
	CU_GRAPH_COND_TYPE_SWITCH = 2,
	CU_GRAPH_USER_OBJECT_MOVE = 1,
	CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1,
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_STREAM_WAIT_VALUE_NOR = 3,
	CU_STREAM_WAIT_VALUE_FLUSH = 1 << 30,
	CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
	CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
	CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
	CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
	CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
	CU_STREAM_MEM_OP_BARRIER = 6,
	CU_EVENT_RECORD_EXTERNAL = 1,
	CU_EVENT_WAIT_EXTERNAL = 1,
	CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
};

struct CUgraphEdgeData_st {
	unsigned char from_port, to_port, type, reserved[5];
};

typedef union {
	char pad[64];
	int cooperative;
	struct {
		unsigned int x, y, z;
	} clusterDim;
	int priority;
} CUkernelNodeAttrValue;
typedef CUkernelNodeAttrValue CUstreamAttrValue;
typedef int CUstreamAttrID;

typedef struct {
	int id;
	char pad[4];
	CUkernelNodeAttrValue value;
} CUlaunchAttribute;

struct CUDA_KERNEL_NODE_PARAMS_st {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
};

struct CUDA_KERNEL_NODE_PARAMS_v2_st {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUkernel kern;
	CUcontext ctx;
};

struct CUDA_HOST_NODE_PARAMS_st {
	CUhostFn fn;
	void *userData;
};

struct CUDA_MEMSET_NODE_PARAMS_st {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value, elementSize;
	size_t width, height;
};

struct CUDA_MEMCPY3D_st {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	int srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *reserved0;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	int dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
};

typedef struct {
	CUmemPoolProps poolProps;
	const CUmemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct {
	CUgraphConditionalHandle handle;
	int type;
	unsigned int size;
	CUgraph *phGraph_out;
	CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

typedef union {
	int operation;
	struct {
		int operation;
		CUdeviceptr address;
		cuuint64_t value; /* of 32 bits: the lower ones */
		unsigned int flags;
		CUdeviceptr alias;
	} value;
	cuuint64_t pad[6];
} CUstreamBatchMemOpParams;

typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS_st {
	CUcontext ctx;
	unsigned int count;
	CUstreamBatchMemOpParams *paramArray;
	unsigned int flags;
} CUDA_BATCH_MEM_OP_NODE_PARAMS;

struct CUgraphNodeParams_st {
	CUgraphNodeType type;
	int reserved0[3];
	union {
		long long reserved1[29];
		CUDA_KERNEL_NODE_PARAMS_v2 kernel;
		struct {
			int flags, reserved;
			CUcontext copyCtx;
			CUDA_MEMCPY3D copyParams;
		} memcpy;
		struct {
			CUDA_MEMSET_NODE_PARAMS of;
			CUcontext ctx;
		} memset;
		CUDA_HOST_NODE_PARAMS host;
		struct {
			CUgraph graph;
			int ownership;
		} graph;
		struct {
			CUevent event;
		} eventRecord, eventWait;
		CUDA_MEM_ALLOC_NODE_PARAMS alloc;
		struct {
			CUdeviceptr dptr;
		} free;
		CUDA_BATCH_MEM_OP_NODE_PARAMS memOp;
		CUDA_CONDITIONAL_NODE_PARAMS conditional;
	};
	long long reserved2;
};

struct CUlaunchConfig_st {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
};

struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
	cuuint64_t flags;
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;
	int result_out;
};

struct CUgraphExecUpdateResultInfo_st {
	CUgraphExecUpdateResult result;
	CUgraphNode errorNode;
	CUgraphNode errorFromNode;
};

#endif
