/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the hooks off and on at run time, for measurements of their cost. */
#include "recorder/recorder.h"

/*
 * For tests of what recording costs (tests/gpu/overhead.sh): with TARE_TEST_NOP=switch, hooks forward at once
 * while it is on, and record nothing, ends of objects neither: the books of such a recording are wrong.
 */
TARE_EXPORT int tare_test_nop(int is_on);

int tare_test_nop(int is_on)
{
	if (!tare_config.may_switch)
		return -1;
	__atomic_store_n(&tare_config.nop, is_on != 0, __ATOMIC_RELAXED);
	return 0;
}
