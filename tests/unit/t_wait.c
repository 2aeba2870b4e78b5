/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that waits for room in its log: for whom, and how long at most. `tare` is a thread here, or nobody. */
#include "recorder/ring/wait.h"

#include "recorder/base/sys.h"
#include "recorder/ring/control.h"
#include "recorder/ring/file.h"
#include "recorder/recorder.h"
#include "test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS         UINT64_C(1000000)
#define S          (1000 * MS)
#define AT_ONCE_MS 400 /* on a busy machine; who waits does so for more than a second */
#define MIB        (UINT64_C(1) << 20)

struct tare_config tare_config;
TARE_TLS struct tare_thread tare_thread;
struct tare_ring tare_ring;

static struct tare_control page = { .makes_room = 1, .log_written = 100 * MIB, .log_limit = 100 * MIB };
static uint64_t room_after_ms; /* `tare` makes room then; 0: never */
static uint32_t is_stopped;

static uint64_t now_ns(void)
{
	return tare_sys_now_ns(CLOCK_MONOTONIC);
}

static void *live(void *arg)
{
	uint64_t begun = now_ns();

	while (!__atomic_load_n(&is_stopped, __ATOMIC_RELAXED)) {
		__atomic_store_n(&page.heartbeat_ns, now_ns(), __ATOMIC_RELAXED);
		if (room_after_ms && now_ns() - begun > room_after_ms * MS)
			__atomic_store_n(&page.log_limit, 120 * MIB, __ATOMIC_RELAXED);
		usleep(5000);
	}
	return arg;
}

/* The log is that old, and `tare` lives. */
static void begin(uint64_t age)
{
	pthread_t thread;

	tare_control = &page;
	page.heartbeat_ns = now_ns();
	tare_ring.opened_ns = now_ns() - age;
	CHECK_INT(pthread_create(&thread, NULL, live, NULL), 0);
	CHECK_INT(pthread_detach(thread), 0);
}

/* How many ms the wait took; it ended in vain. */
static uint64_t ms_in_vain(void)
{
	uint64_t begun = now_ns();

	CHECK(!tare_wait_for_room(MIB));
	return (now_ns() - begun) / MS;
}

TEST(half_of_the_time_at_most_and_an_eighth_where_no_room_comes)
{
	CHECK(tare_wait_may(0, 249 * MS, 249 * MS));
	CHECK(!tare_wait_may(0, 250 * MS, 0));
	CHECK(!tare_wait_may(0, 0, 250 * MS));
	CHECK(tare_wait_may(10 * S, 5249 * MS, 1499 * MS));
	CHECK(!tare_wait_may(10 * S, 5250 * MS, 0));
	CHECK(!tare_wait_may(10 * S, 0, 1500 * MS));
	CHECK(tare_wait_may(3600 * S, 0, 9999 * MS));
	CHECK(!tare_wait_may(3600 * S, 0, 10000 * MS));
}

TEST(it_ends_when_there_is_room)
{
	room_after_ms = 60;
	begin(10 * S);
	CHECK(tare_wait_for_room(MIB));
	CHECK(now_ns() - tare_ring.opened_ns > 10 * S + 50 * MS);
}

TEST(nobody_waits_for_a_tare_that_makes_no_room)
{
	begin(10 * S);
	page.makes_room = 0;
	CHECK(!tare_wait_is_possible());
	CHECK(ms_in_vain() < AT_ONCE_MS);
}

/* And not again and again: an eighth of the time that went by. */
TEST(who_makes_no_progress_is_waited_for_once)
{
	uint64_t sum = 0;

	begin(2 * S);
	CHECK(ms_in_vain() >= 450);
	for (int i = 0; i < 20; i++) {
		usleep(10000);
		sum += ms_in_vain();
	}
	CHECK(sum < 400);
}

static void stop(int number)
{
	(void)number;
	__atomic_store_n(&is_stopped, 1, __ATOMIC_RELAXED);
}

/* A signal handler runs while its thread waits. */
TEST(it_ends_soon_after_tare_was_stopped)
{
	struct itimerval timer = { .it_value = { .tv_usec = 50000 } };
	uint64_t ms;

	begin(100 * S);
	signal(SIGALRM, stop);
	setitimer(ITIMER_REAL, &timer, NULL);
	ms = ms_in_vain();
	CHECK(ms >= 450 && ms < 3000);
	CHECK(ms_in_vain() < AT_ONCE_MS); /* the next does not even begin */
}

TEST(a_clock_that_is_not_that_of_tare_is_no_reason_to_wait)
{
	begin(10 * S);
	stop(0);
	usleep(20000);
	__atomic_store_n(&page.heartbeat_ns, now_ns() + 5 * S, __ATOMIC_RELAXED);
	CHECK(ms_in_vain() < AT_ONCE_MS);
	__atomic_store_n(&page.heartbeat_ns, now_ns() - 5 * S, __ATOMIC_RELAXED);
	CHECK(ms_in_vain() < AT_ONCE_MS);
}

TEST(a_forked_child_without_a_log_does_not_wait)
{
	begin(10 * S);
	tare_ring.opened_ns = 0;
	CHECK(ms_in_vain() < AT_ONCE_MS);
}

TEST(a_program_that_has_restricted_itself_does_not_sleep)
{
	tare_is_confined = 1;
	begin(10 * S);
	CHECK(ms_in_vain() < AT_ONCE_MS);
}

/* Which the recorder was not told of. */
TEST(a_filter_that_refuses_to_sleep_ends_it)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_nanosleep, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(rules) / sizeof(rules[0]), rules };

	begin(10 * S);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		SKIP("no filters here");
	CHECK(ms_in_vain() < AT_ONCE_MS);
}

static void *wait_in_vain(void *arg)
{
	tare_wait_for_room(MIB);
	return arg;
}

/* What eight threads wait at the same time is what the program waits. */
TEST(threads_that_wait_together_count_once)
{
	pthread_t threads[8];
	uint64_t begun;

	begin(2 * S);
	begun = now_ns();
	for (int i = 0; i < 8; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, wait_in_vain, NULL), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	CHECK(now_ns() - begun >= 450 * MS && now_ns() - begun < 3 * S);
}
