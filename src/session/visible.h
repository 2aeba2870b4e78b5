/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SESSION_VISIBLE_H
#define TARE_SESSION_VISIBLE_H

#include "witness/nvml.h"

#include <stdbool.h>

/*
 * False where CUDA_VISIBLE_DEVICES surely hides this GPU from programs that are started now. Numbers are
 * those of NVML only where CUDA cannot order GPUs in a way of its own: all alike, or CUDA_DEVICE_ORDER=PCI_BUS_ID.
 */
bool tare_visible(struct tare_nvml *nvml, const struct tare_nvml_device *device);

#endif
