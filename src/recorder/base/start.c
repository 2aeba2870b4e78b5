/* SPDX-License-Identifier: Apache-2.0 */
/* Starts something once, whichever thread comes first. */
#include <unistd.h>

#include "recorder/base/parts.h"
#include "recorder/recorder.h"

static uint32_t started; /* 0, 1 while one thread does it, 2 */

void tare_start_with(char **envp)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&started, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	tare_parts_start(envp);
	__atomic_store_n(&started, 2, __ATOMIC_RELEASE);
}

void tare_start_once(void)
{
	if (unlikely(__atomic_load_n(&started, __ATOMIC_ACQUIRE) != 2))
		tare_start_with(environ);
}
