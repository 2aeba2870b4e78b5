/* SPDX-License-Identifier: Apache-2.0 */
/* Takes and gives back a lock in shared memory, whose holder may be killed. */
#include "sim_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS_BEFORE_SLEEP 100
#define SLEEP_NS           10000000 /* then the waiter looks whether the holder lives */

/* A thread that is killed leaves no trace at once, or a zombie when it is a process's first. */
static bool is_thread_alive(uint32_t tid)
{
	char path[64], text[512], *paren;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return n == 0 || errno != ESRCH;
	text[n] = 0;
	paren = strrchr(text, ')');
	return !paren || (paren[2] != 'Z' && paren[2] != 'X');
}

/* Sleeps until somebody gives the lock back, or for SLEEP_NS: true. */
static bool sleep_until_given(struct sim_lock *lock, uint32_t holder)
{
	struct timespec most = { 0, SLEEP_NS };
	long result;

	__atomic_add_fetch(&lock->waiters, 1, __ATOMIC_SEQ_CST);
	result = syscall(SYS_futex, &lock->holder, FUTEX_WAIT, holder, &most, NULL, 0);
	__atomic_sub_fetch(&lock->waiters, 1, __ATOMIC_SEQ_CST);
	return result < 0 && errno == ETIMEDOUT;
}

static bool try(struct sim_lock *lock, uint32_t *holder, uint32_t self)
{
	return __atomic_compare_exchange_n(&lock->holder, holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void sim_lock_take(struct sim_lock *lock)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid);
	unsigned spins = 0;

	for (;;) {
		uint32_t holder = 0;

		if (try(lock, &holder, self))
			return;
		if (++spins < SPINS_BEFORE_SLEEP || !sleep_until_given(lock, holder) || is_thread_alive(holder))
			continue;
		/* Whatever it was changing are single words: each slot is right by itself. */
		if (try(lock, &holder, self))
			return;
	}
}

void sim_lock_give(struct sim_lock *lock)
{
	__atomic_store_n(&lock->holder, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&lock->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &lock->holder, FUTEX_WAKE, 1, NULL, NULL, 0);
}
