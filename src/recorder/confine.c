/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prctl() and syscall(), by which programs and libseccomp install filters. They are defined here by
 * their registers, not by <unistd.h>: a function with fixed arguments takes what a variadic one is given.
 */
#include "recorder/base/parts.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "recorder/base/environment.h"
#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/base/scratch.h"
#include "recorder/base/sys.h"
#include "recorder/elf/libdl.h"
#include "recorder/log/degraded.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"

typedef long syscall_fn(long n, long a, long b, long c, long d, long e, long f);
typedef int prctl_fn(int option, long a, long b, long c, long d);

TARE_EXPORT long tare_confine_syscall(long n, long a, long b, long c, long d, long e, long f) __asm__("syscall");
TARE_EXPORT int tare_confine_prctl(int option, long a, long b, long c, long d) __asm__("prctl");

/* NULL before our start: then the kernel is asked as libc would ask it. */
static struct {
	syscall_fn *syscall;
	prctl_fn *prctl;
} next;

static long call(long n, long a, long b, long c, long d, long e, long f)
{
	long answer;

	if (next.syscall)
		return next.syscall(n, a, b, c, d, e, f);
	answer = tare_sys_always(n, a, b, c, d, e, f);
	if (answer >= 0 || answer < -4095)
		return answer;
	errno = (int)-answer;
	return -1;
}

/* MUTE: the counter that gives every record its time may not be read any more, so there are none. */
enum change { NONE, CONFINE, MUTE };

/* Without a filter it only asks what the kernel knows. */
static enum change change_of_mode(long mode, long filter)
{
	if (mode == SECCOMP_MODE_STRICT)
		return MUTE;
	return mode == SECCOMP_MODE_FILTER && filter ? CONFINE : NONE;
}

static enum change change_of_prctl(long option, long a, long b)
{
	if (likely(option != PR_SET_SECCOMP && option != PR_SET_TSC))
		return NONE;
	if (option == PR_SET_TSC)
		return a == PR_TSC_SIGSEGV ? MUTE : NONE;
	return change_of_mode(a, b);
}

static enum change change_of_syscall(long n, long a, long b, long c)
{
	if (n == SYS_prctl)
		return change_of_prctl(a, b, c);
	/* SECCOMP_SET_MODE_STRICT is 0, SECCOMP_SET_MODE_FILTER 1: a mode less 1. */
	return n == SYS_seccomp ? change_of_mode(a + 1, c) : NONE;
}

static void say(const char *sentence)
{
	if (tare_ring_is_open())
		tare_degraded(sentence, NULL);
}

/* What there was before, to go back to where the kernel refuses it. */
struct before {
	bool is_confined, is_enabled, is_nop;
};

/* Before the kernel does it, for all threads may get it at once. */
static struct before begin(enum change change)
{
	struct before before = { .is_enabled = tare_config.enabled, .is_nop = tare_config.nop };

	tare_fork_tid();
	before.is_confined = __atomic_exchange_n(&tare_is_confined, 1, __ATOMIC_SEQ_CST);
	if (change == MUTE) {
		say("the program has forbidden itself to read the time; nothing is recorded since");
		tare_config.nop = true;
		tare_config.enabled = false;
	}
	return before;
}

static void end(const struct before *before, enum change change, bool is_refused)
{
	if (is_refused) {
		tare_config.enabled = before->is_enabled;
		tare_config.nop = before->is_nop;
		__atomic_store_n(&tare_is_confined, before->is_confined, __ATOMIC_SEQ_CST);
	} else if (change == CONFINE) {
		say("the program has restricted its system calls (seccomp); since then nothing is weighed, and "
		    "what does not fit into the log that was open is lost");
	}
}

long tare_confine_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	enum change change = change_of_syscall(n, a, b, c);
	struct before before;
	long answer;

	if (likely(change == NONE))
		return call(n, a, b, c, d, e, f);
	before = begin(change);
	answer = call(n, a, b, c, d, e, f);
	end(&before, change, answer < 0);
	return answer;
}

static int call_prctl(int option, long a, long b, long c, long d)
{
	return next.prctl ? next.prctl(option, a, b, c, d) : (int)call(SYS_prctl, option, a, b, c, d, 0);
}

int tare_confine_prctl(int option, long a, long b, long c, long d)
{
	enum change change = change_of_prctl(option, a, b);
	struct before before;
	int answer;

	if (likely(change == NONE))
		return call_prctl(option, a, b, c, d);
	before = begin(change);
	answer = call_prctl(option, a, b, c, d);
	end(&before, change, answer < 0);
	return answer;
}

/* How many filters there are, or since when the kernel does not count them, whether there are any. */
static uint64_t filters(const char *status)
{
	const char *at = status, *found = NULL;

	for (; at; at = tare_plib_first(at, '\n'))
		if (tare_plib_starts(at, "Seccomp_filters:") || (!found && tare_plib_starts(at, "Seccomp:")))
			found = tare_plib_first(at, ':');
	for (; found && (*found == '\t' || *found == ' '); found++)
		;
	return tare_plib_number(found);
}

/* Where `tare` has fewer filters, somebody between it and us has restricted what he started. */
static void find_filters(void)
{
	enum { STATUS = 3072 };
	const char *of_tare = tare_environment("TARE_FILTERS");
	char *status = tare_config.enabled && of_tare ? tare_scratch_take(STATUS) : NULL;

	if (!status)
		return;
	if (tare_plib_read_file("/proc/self/status", status, STATUS) && filters(status) > tare_plib_number(of_tare))
		__atomic_store_n(&tare_is_confined, 1, __ATOMIC_SEQ_CST);
	tare_scratch_give(status, STATUS);
}

/* Is the process restricted already? And finds the functions by which libc's users restrict themselves. */
void tare_confine_start(void)
{
	find_filters();
	next.syscall = (syscall_fn *)tare_resolve_next("syscall");
	next.prctl = (prctl_fn *)tare_resolve_next("prctl");
}
