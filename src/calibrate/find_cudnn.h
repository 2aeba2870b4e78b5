/* SPDX-License-Identifier: Apache-2.0 */
/* Where libcudnn.so.9 is. */
#ifndef TARE_CALIBRATE_FIND_CUDNN_H
#define TARE_CALIBRATE_FIND_CUDNN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `given`, if it is a path; the simulated one, if `sim` is a profile; else the newest beside PyTorch in the virtual environment
 * that is active or in the system's Python, and then what the loader finds. False: there is no room for its path.
 */
bool tare_find_cudnn(const char *given, const char *sim, char *path, size_t size);

#endif
