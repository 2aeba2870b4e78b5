/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated driver has beside the functions of a driver (simgpu/sim_answer.c). A real one has none of it. */
#ifndef TARE_RECORDER_CUDA_SIMULATED_H
#define TARE_RECORDER_CUDA_SIMULATED_H

#include <stdint.h>

#include "recorder/elf/elfsym.h"
#include "recorder/recorder.h"

/*
 * Once the driver is found. `read`: is called after each call that brought the program what a kernel would have computed;
 * `is_overflow`: that is what a loss scale's check found. `answer` is asked before what that is, and fills it in, or returns 0.
 */
void tare_simulated_found(const struct tare_elf_object *driver, void (*read)(uint64_t bytes, int is_overflow),
                          int (*answer)(void *to, uint64_t size));

/* An allocator hands out memory of a device: what was there before is nobody's. */
extern void (*tare_simulated_forget)(uint64_t address, uint64_t bytes);
static inline void tare_simulated_handed_out(const void *block, int64_t bytes)
{
	void (*forget)(uint64_t address, uint64_t bytes) = __atomic_load_n(&tare_simulated_forget, __ATOMIC_RELAXED);

	if (unlikely(forget != NULL))
		forget((uint64_t)(uintptr_t)block, (uint64_t)bytes);
}

#endif
