/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the page by which `tare` tells recorded processes what to do. */
#include "recorder/ring/control.h"

#include <string.h>

#include "recorder/recorder.h"
#include "recorder/base/sys.h"
#include "record/allowance.h"
#include "record/clock.h"

#define HEARTBEAT_LIMIT_NS 1000000000u /* `tare` drains every few milliseconds; then it is gone */
/* … or has no processor meanwhile. It alone makes room under the cap: so long the cap is kept without it. */
#define STARVED_LIMIT_NS UINT64_C(10000000000)

static struct tare_control nobody;
struct tare_control *tare_control TARE_HOT_DATA;

/* By the folder, not by a path: a path has no room on a small stack. */
int tare_control_open(const char *name, int flags, int mode)
{
	int folder = tare_sys_open(tare_config.folder, O_PATH | O_DIRECTORY, 0), fd;

	if (folder < 0)
		return folder;
	fd = (int)tare_sys6(SYS_openat, folder, (long)name, flags | O_CLOEXEC, mode, 0, 0);
	tare_sys_close(folder);
	return fd;
}

/* Maps `control`, which exists when a `tare` started this recording. */
static struct tare_control *map_control(void)
{
	struct tare_control *control;
	int fd = tare_control_open("control", O_RDWR, 0);

	if (fd < 0)
		return &nobody;
	control = tare_sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	tare_sys_close(fd);
	if (!control)
		return &nobody;
	if (memcmp(control->magic, TARE_CONTROL_MAGIC, sizeof(control->magic)) == 0)
		return control;
	tare_sys_munmap(control, 4096);
	return &nobody;
}

/* Its first caller maps it; a forked child has the parent's mapping, which is as good. */
struct tare_control *tare_control_page(void)
{
	struct tare_control *control = __atomic_load_n(&tare_control, __ATOMIC_ACQUIRE), *none = NULL;

	if (likely(control))
		return control;
	control = map_control();
	if (__atomic_compare_exchange_n(&tare_control, &none, control, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return control;
	if (control != &nobody)
		tare_sys_munmap(control, 4096);
	return none;
}

/* In a time namespace of its own the program has another clock: then `tare` is as good as gone. */
bool tare_control_has_beaten_within(const struct tare_control *control, uint64_t ns)
{
	return tare_sys_now_ns(CLOCK_MONOTONIC) - __atomic_load_n(&control->heartbeat_ns, __ATOMIC_RELAXED) < ns;
}

bool tare_control_has_drainer(void)
{
	const struct tare_control *control = tare_control_page();

	return control != &nobody && tare_control_has_beaten_within(control, HEARTBEAT_LIMIT_NS);
}

/* Asked for every record that is given up, so the clock, which is a system call, is read now and then only. */
static bool is_gone(const struct tare_control *control)
{
	static uint64_t asked;
	uint64_t now = tare_clock_ticks();

	if (now - __atomic_load_n(&asked, __ATOMIC_RELAXED) < TARE_SOME_TICKS)
		return false;
	if (!tare_control_has_beaten_within(control, STARVED_LIMIT_NS))
		return true;
	__atomic_store_n(&asked, now, __ATOMIC_RELAXED);
	return false;
}

bool tare_control_allows(uint64_t size, bool is_last_resort)
{
	const struct tare_control *control = tare_control_page();

	return tare_allowance_is_below(control, size, tare_allowance_limit(control, is_last_resort)) || is_gone(control);
}

bool tare_control_take(uint64_t size, bool is_last_resort)
{
	struct tare_control *control = tare_control_page();

	return tare_allowance_take_below(control, size, tare_allowance_limit(control, is_last_resort)) || is_gone(control);
}
