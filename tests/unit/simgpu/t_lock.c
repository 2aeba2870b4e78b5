/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"
#include "simgpu/sim_lock.h"

static struct shared {
	struct sim_lock lock;
	uint64_t count;
	int ready;
} * shared;

static void map_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
}

static void await_ready(int count)
{
	while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < count)
		usleep(1000);
}

static void reap(int count)
{
	int status;

	while (count--) {
		CHECK(wait(&status) > 0);
		CHECK_INT(status, 0);
	}
}

TEST(sim_lock_lets_one_in_at_a_time)
{
	enum { PROCESSES = 16, TURNS = 5000 };

	map_shared();
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() > 0)
			continue;
		for (int turn = 0; turn < TURNS; turn++) {
			sim_lock_take(&shared->lock);
			shared->count++;
			sim_lock_give(&shared->lock);
		}
		_exit(0);
	}
	reap(PROCESSES);
	CHECK_INT(shared->count, PROCESSES * TURNS);
	CHECK_INT(shared->lock.holder, 0);
	CHECK_INT(shared->lock.waiters, 0);
}

/* 200 processes that poll take all there is of two processors, and the holder gets nothing. */
TEST(sim_lock_waiting_costs_no_cpu)
{
	enum { PROCESSES = 200 };
	struct rusage usage;

	map_shared();
	sim_lock_take(&shared->lock);
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() > 0)
			continue;
		__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
		sim_lock_take(&shared->lock);
		sim_lock_give(&shared->lock);
		_exit(0);
	}
	await_ready(PROCESSES);
	sleep(1);
	sim_lock_give(&shared->lock);
	reap(PROCESSES);
	CHECK_INT(getrusage(RUSAGE_CHILDREN, &usage), 0);
	CHECK((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec <
	      PROCESSES * 20000); /* an emulator takes some for each */
}

TEST(sim_lock_is_free_again_when_its_holder_is_killed)
{
	pid_t child;

	map_shared();
	child = fork();
	if (child == 0) {
		sim_lock_take(&shared->lock);
		shared->ready = 1;
		pause();
	}
	await_ready(1);
	kill(child, SIGKILL); /* and not reaped: it is a zombie */
	sim_lock_take(&shared->lock);
	CHECK_INT(shared->lock.holder, getpid());
	sim_lock_give(&shared->lock);
	waitpid(child, NULL, 0);
}
