/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_CUDA_DEVICES_H
#define TARE_RECORDER_CUDA_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

/* Writes a device record per GPU this process sees, once the driver can be asked for them. */
void tare_devices_start(void);
int tare_devices_count(void);
void tare_devices_uuid(int ordinal, unsigned char uuid[16]); /* zeros where the driver does not tell */
/* Bytes in use on a device, TARE_NOT_KNOWN if nobody can say. `by_cuda`: the driver said it, and not NVML. */
uint64_t tare_devices_used(int ordinal, bool *by_cuda);
int tare_devices_nvml_index(int ordinal); /* -1: NVML does not know it */

/* Bytes in use on each NVML device right now, for a call that touches all of them (cuInit). */
void tare_devices_read_all(unsigned long long used[64]);

#endif
