/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions that only a simulated driver has. */
#include "recorder/cuda/simulated.h"

void (*tare_simulated_forget)(uint64_t address, uint64_t bytes) TARE_HOT_DATA;

void tare_simulated_found(const struct tare_elf_object *driver, void (*read)(uint64_t bytes, int is_overflow),
                          int (*answer)(void *to, uint64_t size))
{
	void (*listen)(void (*read)(uint64_t bytes, int is_overflow)) =
		(void (*)(void (*)(uint64_t, int)))tare_elf_symbol(driver, "tareSimListen", NULL);
	void (*answer_with)(int (*answer)(void *to, uint64_t size)) =
		(void (*)(int (*)(void *, uint64_t)))tare_elf_symbol(driver, "tareSimAnswerWith", NULL);

	if (!tare_config.simulated || !listen)
		return;
	listen(read);
	if (answer_with)
		answer_with(answer);
	__atomic_store_n(&tare_simulated_forget,
	                 (void (*)(uint64_t, uint64_t))tare_elf_symbol(driver, "tareSimForget", NULL), __ATOMIC_RELAXED);
}
