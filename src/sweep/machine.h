/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_MACHINE_H
#define TARE_SWEEP_MACHINE_H

#include "base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The GPUs that runs may have: words of CUDA_VISIBLE_DEVICES, or what NVML counts. */
struct tare_gpus {
	TARE_OWNED_MANY(count) char **names; /* words for CUDA_VISIBLE_DEVICES */
	size_t count;
};
/* `is_simulated`: finds the GPUs of the simulated machine. No GPU is no error. */
void tare_gpus_find(struct tare_gpus *out, bool is_simulated);
TARE_FREES(tare_gpus_free, tare_gpus);

/* Tells this boot of the machine from others; "" where Linux does not say. */
void tare_machine_boot(char out[64]);

/*
 * Ends a process group if its leader still is the process that started at `start_ticks`: by SIGTERM, and by
 * SIGKILL if the leader is there after the time of grace. Nothing happens if that process is gone.
 */
void tare_machine_end_group(pid_t leader, uint64_t start_ticks);

/* How long a run has between SIGTERM and SIGKILL: 10 s, less in tests. */
int tare_machine_grace_ms(void);

/* Removes a folder with everything in it. Returns 0 or a negative errno. */
int tare_machine_remove(const char *folder);

#endif
