/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 for the tests of libtare_graphs: the functions of src/graphs/driver.def and a few
 * with which a test plays the program. simgpu/ keeps the books of memory; this one runs graphs:
 *
 * - Kernels are C functions that read and write real memory behind aliased addresses.
 * - Work waits in streams. fake_run() executes it a node at a time, from any stream that may go on,
 *   in an order that a seed decides: replays that are not ordered do corrupt each other.
 * - An update checks topology as the driver does, silently drops cluster dimensions as the driver
 *   does, and changes nothing about launches that were made before.
 * - Every call can be made to fail, and every object that is left over is counted.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "record/cuda_abi_graph.h"

#include <stdbool.h>

#define FAKE_PARAMS 8

/* What a kernel is: a CUfunction points to one of these. */
struct fake_kernel {
	void (*run)(unsigned grid, unsigned cluster, void **params);
	size_t params_nr;
	size_t sizes[FAKE_PARAMS];
};

struct fake_world {
	uint64_t total;                                              /* bytes of the device */
	uint64_t used, high;                                         /* bytes of physical memory */
	uint64_t handles, maps, reservations, graphs, execs, events; /* living objects */
	uint64_t pinned, modules;                                    /* the same */
	bool refuses_updatable; /* nodes cannot be made such that the card updates them */
	uint64_t calls;         /* since fake_reset() */
	uint64_t fail_at;       /* this call fails; 0: none */
	int fail_with;
	bool is_lost; /* every call fails, for good */
	uint64_t exec_bytes_per_node;
	uint64_t creates;   /* calls of cuMemCreate, cuMemMap and cuGraphInstantiate */
	int params_unknown; /* cuFuncGetParamInfo fails, as before CUDA 12.4 */
};
extern struct fake_world fake;

/* For tests that capture by themselves. */
#define CU_CALL(SYMBOL, IS_NEEDED, PARAMS) CUresult SYMBOL PARAMS;
#include "graphs/driver.def"
#undef CU_CALL

void fake_reset(void);
/* Runs until nothing can go on; seed 0: streams one after the other. */
void fake_run(unsigned seed);
/* At most so many nodes. */
void fake_run_some(unsigned seed, unsigned nodes);
bool fake_is_idle(void);

/* The program's side. */
CUstream fake_stream_new(void);
void fake_stream_delete(CUstream stream);
CUresult fake_launch(const struct fake_kernel *kernel, unsigned grid, unsigned cluster, CUstream stream, void **params);
CUresult fake_memset(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);
CUresult fake_memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
/* A call that cannot be captured: spoils the capture of this stream. */
CUresult fake_synchronous_call(CUstream stream);
/* A node of any type without a body. */
CUresult fake_node(int type, CUstream stream);
/* The next node of the stream's capture depends on all nodes so far, not only on the last. */
void fake_fan_in(CUstream stream);

#endif
