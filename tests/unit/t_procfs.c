/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "witness/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char status[] =
	"Name:\tpython3\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t431\nPid:\t431\nNSpid:\t90431\t431\n"
	"VmPeak:\t  999 kB\nVmHWM:\t  400 kB\nVmRSS:\t  300 kB\nRssAnon:\t  100 kB\nRssFile:\t  150 kB\n"
	"RssShmem:\t  50 kB\nVmPTE:\t  12 kB\nVmSwap:\t  7 kB\n";

TEST(memory_is_in_bytes)
{
	struct tare_procfs_memory m;

	CHECK_INT(tare_procfs_parse_memory(status, &m), 0);
	CHECK_INT(m.rss, 300 * 1024);
	CHECK_INT(m.anon, 100 * 1024);
	CHECK_INT(m.file, 150 * 1024);
	CHECK_INT(m.shmem, 50 * 1024);
	CHECK_INT(m.swap, 7 * 1024);
	CHECK_INT(m.tables, 12 * 1024);
	CHECK_INT(m.peak_rss, 400 * 1024);
}

TEST(what_an_old_kernel_does_not_say_is_not_known)
{
	struct tare_procfs_memory m;

	CHECK_INT(tare_procfs_parse_memory("Name:\tx\nPid:\t1\nVmRSS:\t4 kB\n", &m), 0);
	CHECK_INT(m.rss, 4096);
	CHECK(m.anon == TARE_NOT_KNOWN && m.swap == TARE_NOT_KNOWN && m.tables == TARE_NOT_KNOWN);
	CHECK_INT(tare_procfs_parse_memory("Pid:\t1\nVmRSS:\t18014398509481983 kB\nVmHWM:\t-3 kB\n", &m), 0);
	CHECK(m.rss == TARE_NOT_KNOWN && m.peak_rss == TARE_NOT_KNOWN);
	CHECK_INT(tare_procfs_parse_memory("", &m), -EINVAL);
}

TEST(a_name_may_hold_blanks_and_parentheses)
{
	struct tare_procfs_stat s;

	CHECK_INT(tare_procfs_parse_stat("7 (a) S (b)) R 3 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 "
	                                 "123456 10 20\n",
	                                 &s),
	          0);
	CHECK_STR(s.comm, "a) S (b)");
	CHECK_INT(s.state, 'R');
	CHECK_INT(s.ppid, 3);
	CHECK_INT(s.start_ticks, 123456);
	CHECK_INT(s.status, -1); /* not a zombie */
	CHECK_INT(s.threads, 1);
	CHECK_INT(s.stack, 0); /* not told */
	CHECK_INT(tare_procfs_parse_stat("7 (x) R 3 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 10 20 "
	                                 "18446744073709551615 1 2 140724603453440 0 0",
	                                 &s),
	          0);
	CHECK_INT(s.stack, 140724603453440);
	CHECK_INT(tare_procfs_parse_stat("7 (x) R 3 7 7", &s), -EINVAL);
	CHECK_INT(tare_procfs_parse_stat("7 (x", &s), -EINVAL);
	CHECK_INT(tare_procfs_parse_stat("", &s), -EINVAL);
}

TEST(a_zombie_tells_how_it_ended)
{
	struct tare_procfs_stat s;

	CHECK_INT(tare_procfs_parse_stat("7 (x) Z 3 7 7 0 -1 4227084 1 2 3 4 5 6 7 8 20 0 1 0 123456 0 0 "
	                                 "18446744073709551615 0 0 0 0 0 0 0 16781312 0 0 0 0 17 1 0 0 "
	                                 "0 0 0 0 0 0 0 0 0 0 256\n",
	                                 &s),
	          0);
	CHECK_INT(s.start_ticks, 123456);
	CHECK_INT(s.status, 256);
	CHECK_INT(tare_procfs_parse_stat("7 (x) Z 3 7 7 0 -1 4227084 1 2 3 4 5 6 7 8 20 0 1 0 123456 0 0", &s), 0);
	CHECK_INT(s.status, -1); /* an older kernel says no more */
}

TEST(pids_go_from_the_outermost_namespace_inwards)
{
	struct tare_procfs_pids p;

	CHECK_INT(tare_procfs_parse_pids(status, &p), 0);
	CHECK_INT(p.count, 2);
	CHECK_INT(p.pids[0], 90431);
	CHECK_INT(p.pids[1], 431);
	CHECK_INT(tare_procfs_parse_pids("Pid:\t5\n", &p), 0);
	CHECK_INT(p.count, 1);
	CHECK_INT(tare_procfs_parse_pids("NSpid:\t\n", &p), -EINVAL);
}

TEST(filters_are_counted)
{
	int count = 7;

	CHECK_INT(tare_procfs_parse_filters("Pid:\t5\nSeccomp:\t2\nSeccomp_filters:\t3\n", &count), 0);
	CHECK_INT(count, 3);
	CHECK_INT(tare_procfs_parse_filters("Pid:\t5\nSeccomp:\t2\n", &count), 0); /* before Linux 5.9 */
	CHECK_INT(count, 2);
	CHECK_INT(tare_procfs_parse_filters("Pid:\t5\n", &count), -EINVAL);
}

TEST(this_process_can_be_read)
{
	enum { SIZE = 8 << 20 };
	struct tare_procfs_memory before, after;
	struct tare_procfs_stat stat;
	struct tare_procfs_pids pids;
	uint64_t inode;
	char *block;

	CHECK_INT(tare_procfs_memory(0, &before), 0);
	if (before.anon == TARE_NOT_KNOWN)
		SKIP("this kernel does not split resident memory");
	block = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(block != MAP_FAILED);
	memset(block, 1, SIZE);
	CHECK_INT(tare_procfs_memory(getpid(), &after), 0);
	CHECK(after.anon >= before.anon + SIZE / 2);
	CHECK_INT(tare_procfs_stat(0, &stat), 0);
	CHECK_INT(stat.ppid, getppid());
	CHECK(stat.start_ticks > 0);
	CHECK_INT(tare_procfs_pids(0, &pids), 0);
	CHECK_INT(pids.pids[pids.count - 1], getpid());
	CHECK_INT(tare_procfs_pid_namespace(0, &inode), 0);
	CHECK(inode != 0);
}

/* The kernel takes a process's memory away long before its parent takes the process off the list. */
TEST(a_process_without_memory_has_not_read_as_0)
{
	struct tare_procfs_memory m = { .rss = 7 };
	siginfo_t how;
	pid_t pid = fork();

	CHECK_INT(tare_procfs_parse_memory("Name:\tx\nState:\tZ (zombie)\nPid:\t1\n", &m), -ESRCH);
	if (pid == 0)
		_exit(0);
	CHECK(pid > 0 && waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT) == 0);
	CHECK_INT(tare_procfs_memory(pid, &m), -ESRCH);
	CHECK_INT(m.rss, 7);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

TEST(a_process_that_is_gone_is_esrch)
{
	struct tare_procfs_memory m;
	struct tare_procfs_stat s;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	CHECK_INT(tare_procfs_memory(pid, &m), -ESRCH);
	CHECK_INT(tare_procfs_stat(pid, &s), -ESRCH);
}
