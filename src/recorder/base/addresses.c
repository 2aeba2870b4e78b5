/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how many addresses the process may still map under its limit (ulimit -v). */
#include "recorder/base/addresses.h"

#include <sys/resource.h>

#include "recorder/base/plib.h"
#include "recorder/base/scratch.h"
#include "recorder/base/sys.h"
#include "record/format.h"

#define WANTED (96ull << 20) /* the ring spans all its lanes; docs/HEAP.md has this number */

uint64_t tare_addresses_left(void)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	enum { TEXT = 2048 };
	uint64_t kib = TARE_NOT_KNOWN;
	char *text;

	if (tare_sys6(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return TARE_NOT_KNOWN;
	text = tare_scratch_take(TEXT);
	if (text && tare_plib_read_file("/proc/self/status", text, TEXT))
		tare_plib_value(text, "VmSize:", &kib);
	tare_scratch_give(text, TEXT);
	if (kib == TARE_NOT_KNOWN)
		return TARE_NOT_KNOWN;
	return kib < limit.rlim_cur / 1024 ? limit.rlim_cur - kib * 1024 : 0;
}

bool tare_addresses_suffice(void)
{
	uint64_t left = tare_addresses_left();

	return left == TARE_NOT_KNOWN || left / 8 >= WANTED;
}
