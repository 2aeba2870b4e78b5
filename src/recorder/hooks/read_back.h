/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_HOOKS_READ_BACK_H
#define TARE_RECORDER_HOOKS_READ_BACK_H

#include <stdint.h>

/*
 * On a simulated device: the calling thread's program has just read so many bytes that a kernel would have computed;
 * `is_overflow`: what a loss scale's check found.
 */
void tare_read_back(uint64_t bytes, int is_overflow);

#endif
