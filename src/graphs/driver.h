/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_GRAPHS_DRIVER_H
#define TARE_GRAPHS_DRIVER_H

#include "record/cuda_abi_graph.h"

/* The driver's functions; a field of an optional row is NULL where the driver lacks it. */
struct tare_graphs_driver {
#define CU_CALL(SYMBOL, IS_NEEDED, PARAMS) CUresult(*SYMBOL) PARAMS;
#include "graphs/driver.def"
#undef CU_CALL
};
extern struct tare_graphs_driver tare_cu;

/* Loads libcuda.so.1, once per process, for good. 0 or NO_DRIVER. */
int tare_graphs_driver_load(void);

#endif
