/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ERROR_H
#define SIM_ERROR_H

/* "CUDA_ERROR_OUT_OF_MEMORY" or "2"; -1: no result of the driver. */
int sim_error_parse(const char *text);

#endif
