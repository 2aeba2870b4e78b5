/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells forked and vforked children from the process that was recorded first. A forked child has a copy of everything
 * but must not write into its parent's log; a vfork child shares the parent's memory until it execs and must touch
 * nothing at all. Neither need pass through a function of ours (raw clone), so the kernel is asked: a page that it
 * wipes on fork tells a copy, and the kernel's own getpid tells a vfork child.
 */
#include "recorder/base/fork.h"

#include <signal.h>
#include <string.h>

#include "recorder/base/parts.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "record/clock.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

#define NOT_KNOWN UINT32_MAX /* it may not be asked; such a child gets no log */

/* The page; where the kernel is too old for it, a word that fork copies, and getpid decides. */
static uint32_t fallback_owner;
struct tare_fork tare_fork TARE_HOT_DATA = { .owner = &fallback_owner };

/* Where it is too old: a page that is not there in a copy, so that who finds it has the owner's own memory. */
#define KEPT_MARK 0x6e6f742063706965u
static volatile uint64_t *kept;

static void keep_page(void)
{
	uint64_t *page = tare_sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page && tare_sys6(SYS_madvise, (long)page, 4096, MADV_DONTFORK, 0, 0, 0) == 0)
		*page = KEPT_MARK;
	kept = page;
}

/* In a copy something else may have come to lie there. */
static bool has_kept_page(void)
{
	return kept && tare_sys_is_readable((uintptr_t)kept) && *kept == KEPT_MARK;
}

void tare_fork_start(void)
{
	uint32_t *page = tare_sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page && tare_sys6(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK, 0, 0, 0) == 0) {
		tare_fork.owner = page;
		tare_fork.is_wiped = true;
	} else {
		keep_page();
	}
	tare_fork_now.born = tare_clock_ticks();
	*tare_fork.owner = tare_sys_getpid();
}

bool tare_is_vfork_child(void)
{
	uint32_t pid = __atomic_load_n(tare_fork.owner, __ATOMIC_RELAXED);

	return pid != 0 && tare_may_syscall() && tare_sys_getpid() != pid && (tare_fork.is_wiped || has_kept_page());
}

uint32_t tare_fork_owner(void)
{
	return __atomic_load_n(tare_fork.owner, __ATOMIC_RELAXED);
}

uint32_t tare_fork_ask_tid(void)
{
	return tare_thread.tid = tare_sys_gettid();
}

struct tare_fork_now tare_fork_now;

/* Whoever has such memory, all of it is in one section, and fork.c needs to know nobody. */
extern const struct tare_of_process __start_tare_of_process[] __attribute__((visibility("hidden")));
extern const struct tare_of_process __stop_tare_of_process[] __attribute__((visibility("hidden")));

static void wipe(void)
{
	const struct tare_of_process *row;

	for (row = __start_tare_of_process; row < __stop_tare_of_process; row++)
		memset(row->at, 0, row->size);
}

static bool is_child(void)
{
	uint32_t pid = __atomic_load_n(tare_fork.owner, __ATOMIC_RELAXED);

	return tare_fork.is_wiped ? pid == 0 : pid != tare_sys_getpid() && !has_kept_page();
}

static void become_own(void)
{
	uint32_t pid = tare_sys_getpid();

	if (!tare_fork.is_wiped)
		keep_page();
	__atomic_store_n(tare_fork.owner, pid || !tare_fork.is_wiped ? pid : NOT_KNOWN, __ATOMIC_RELAXED);
	tare_thread.depth = 0;
	tare_thread.tid = 0;
	tare_parts_forked();
	wipe();
	tare_fork_now.generation++;
	tare_fork_now.born = tare_clock_ticks();
}

/* A signal handler in the middle of it would find the parent's ring half left. */
void tare_fork_look(void)
{
	uint64_t all = ~UINT64_C(0), before = 0;

	if (likely(!is_child()))
		return;
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
	if (is_child())
		become_own();
	tare_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before), 0, 0);
}

/* The child has one thread still. It goes on where its parent was, perhaps inside of a hook. */
void tare_fork_in_child(void)
{
	int depth = tare_thread.depth;

	tare_fork_look();
	tare_thread.depth = depth;
}
