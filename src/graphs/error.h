/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_GRAPHS_ERROR_H
#define TARE_GRAPHS_ERROR_H

#include "tare/tare_graphs.h"

/* Sets the thread's sentence and returns code, so that it can stand in a return statement. */
int tare_graphs_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 0 for CUDA_SUCCESS; else "what: CUDA_ERROR_…" with the code that the driver's maps to. */
int tare_graphs_cuda(int result, const char *what);

/* "CUDA_ERROR_OUT_OF_MEMORY" */
const char *tare_graphs_cuda_name(int result);

#endif
