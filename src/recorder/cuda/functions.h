/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_CUDA_FUNCTIONS_H
#define TARE_RECORDER_CUDA_FUNCTIONS_H

#include <stdint.h>

/* What a function handle is called and belongs to, for handles seen at their making. */
enum tare_function_kind { TARE_FUNCTION_UNKNOWN, TARE_FUNCTION_FUNCTION, TARE_FUNCTION_KERNEL };
void tare_function_add(const void *handle, enum tare_function_kind kind, uint32_t name, const void *owner);
enum tare_function_kind tare_function_find(const void *handle, uint32_t *name, const void **owner);
void tare_functions_unload(const void *owner); /* its handles may be reused: their next launch is a first */

#endif
