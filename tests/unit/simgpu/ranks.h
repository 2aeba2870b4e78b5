/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL as programs get it, and ranks of a communicator: processes, threads. */
#ifndef TARE_TESTS_SIMGPU_RANKS_H
#define TARE_TESTS_SIMGPU_RANKS_H

#include "driver.h"

#include "simgpu/libs/nccl.h"

/* Name, what it returns, parameters. */
#define NCCL_MAP(X)                                                                                                    \
	X(ncclGetUniqueId, int, (struct nccl_id *))                                                                        \
	X(ncclGetVersion, int, (int *))                                                                                    \
	X(ncclCommInitRank, int, (struct nccl_comm **, int, struct nccl_id, int))                                          \
	X(ncclCommInitRankConfig, int, (struct nccl_comm **, int, struct nccl_id, int, struct nccl_config *))              \
	X(ncclCommInitRankScalable, int, (struct nccl_comm **, int, int, int, struct nccl_id *, struct nccl_config *))     \
	X(ncclCommInitAll, int, (struct nccl_comm **, int, const int *))                                                   \
	X(ncclCommSplit, int, (struct nccl_comm *, int, int, struct nccl_comm **, struct nccl_config *))                   \
	X(ncclCommShrink, int, (struct nccl_comm *, int *, int, struct nccl_comm **, struct nccl_config *, int))           \
	X(ncclCommGetUniqueId, int, (struct nccl_comm *, struct nccl_id *))                                                \
	X(ncclCommGrow, int,                                                                                               \
	  (struct nccl_comm *, int, const struct nccl_id *, int, struct nccl_comm **, struct nccl_config *))               \
	X(ncclCommFinalize, int, (struct nccl_comm *))                                                                     \
	X(ncclCommDestroy, int, (struct nccl_comm *))                                                                      \
	X(ncclCommAbort, int, (struct nccl_comm *))                                                                        \
	X(ncclCommRevoke, int, (struct nccl_comm *, int))                                                                  \
	X(ncclCommSuspend, int, (struct nccl_comm *, int))                                                                 \
	X(ncclCommResume, int, (struct nccl_comm *))                                                                       \
	X(ncclCommMemStats, int, (struct nccl_comm *, int, uint64_t *))                                                    \
	X(ncclCommGetAsyncError, int, (struct nccl_comm *, int *))                                                         \
	X(ncclCommCount, int, (const struct nccl_comm *, int *))                                                           \
	X(ncclCommUserRank, int, (const struct nccl_comm *, int *))                                                        \
	X(ncclCommCuDevice, int, (const struct nccl_comm *, int *))                                                        \
	X(ncclGetLastError, const char *, (struct nccl_comm *))                                                            \
	X(ncclGetErrorString, const char *, (int))                                                                         \
	X(ncclRedOpCreatePreMulSum, int, (int *, void *, int, int, struct nccl_comm *))                                    \
	X(ncclRedOpDestroy, int, (int, struct nccl_comm *))                                                                \
	X(ncclAllReduce, int, (const void *, void *, size_t, int, int, struct nccl_comm *, CUstream))                      \
	X(ncclReduce, int, (const void *, void *, size_t, int, int, int, struct nccl_comm *, CUstream))                    \
	X(ncclBroadcast, int, (const void *, void *, size_t, int, int, struct nccl_comm *, CUstream))                      \
	X(ncclBcast, int, (void *, size_t, int, int, struct nccl_comm *, CUstream))                                        \
	X(ncclAllGather, int, (const void *, void *, size_t, int, struct nccl_comm *, CUstream))                           \
	X(ncclReduceScatter, int, (const void *, void *, size_t, int, int, struct nccl_comm *, CUstream))                  \
	X(ncclAlltoAll, int, (const void *, void *, size_t, int, struct nccl_comm *, CUstream))                            \
	X(ncclGather, int, (const void *, void *, size_t, int, int, struct nccl_comm *, CUstream))                         \
	X(ncclScatter, int, (const void *, void *, size_t, int, int, struct nccl_comm *, CUstream))                        \
	X(ncclSend, int, (const void *, size_t, int, int, struct nccl_comm *, CUstream))                                   \
	X(ncclRecv, int, (void *, size_t, int, int, struct nccl_comm *, CUstream))                                         \
	X(ncclGroupStart, int, (void))                                                                                     \
	X(ncclGroupEnd, int, (void))                                                                                       \
	X(ncclMemAlloc, int, (void **, size_t))                                                                            \
	X(ncclMemFree, int, (void *))                                                                                      \
	X(ncclSignal, int, (int, int, int, unsigned, struct nccl_comm *, CUstream))

struct nccl {
	void *library;
#define FIELD(name, type, parameters) type(*name) parameters;
	NCCL_MAP(FIELD)
#undef FIELD
};
extern struct nccl nccl;

void nccl_open(void);

/* A machine of that many cards, 16 at most, and the id of a communicator for processes to come. */
struct nccl_id machine_of(int cards);
/* What a rank is: its card's context, and a communicator. */
struct rank {
	int rank, ranks_nr;
	struct nccl_id id;
	struct nccl_comm *comm;
	void *argument;
};
/* FN in as many processes at once; none must fail. */
void in_processes(int ranks_nr, void (*fn)(struct rank *), void *argument);
/* The same; returns when they run. */
void start_processes(int ranks_nr, void (*fn)(struct rank *), void *argument, int *pids);
/* … and in threads of this process. */
void in_threads(int ranks_nr, void (*fn)(struct rank *), void *argument);
/* Its communicator, with its context current. */
void join_all(struct rank *rank);
/* The context of its card alone. */
void take_card(int rank);

/* Device memory with these bytes in it, and back. */
CUdeviceptr on_device(const void *bytes, size_t size);
void from_device(void *bytes, CUdeviceptr address, size_t size);

#define FINE(CALL)                                                                                                     \
	do {                                                                                                               \
		int fine_got = (CALL);                                                                                         \
		if (fine_got)                                                                                                  \
			test_fail(__FILE__, __LINE__, "%s is %d: %s", #CALL, fine_got, nccl.ncclGetLastError(NULL));               \
	} while (0)

#endif
