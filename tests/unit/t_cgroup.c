/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel counts what the OOM killer did, in both versions of cgroups. */
#include "witness/cgroup.h"
#include "make_log.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static void put(const char *path, const char *text)
{
	char name[512], *slash = name;
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", make_dir(), path);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_kills(uint64_t wanted)
{
	uint64_t kills = 77;

	CHECK_INT(tare_cgroup_oom_kills(make_dir(), &kills), 0);
	CHECK_INT((int64_t)kills, (int64_t)wanted);
}

TEST(version_2)
{
	put("/proc/vmstat", "nr_free_pages 7\noom_kill 9\n");
	put("/proc/self/cgroup", "0::/job/step\n");
	put("/sys/fs/cgroup/job/step/memory.events", "low 0\noom 2\noom_kill 3\noom_group_kill 1\n");
	check_kills(3);
}

TEST(version_1_beside_version_2)
{
	put("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/job:memory:/x\n0::/\n");
	put("/sys/fs/cgroup/memory/job:memory:/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	check_kills(5);
}

/* What a container sees: the host's path, and a file system that begins at its own cgroup. */
TEST(in_a_container)
{
	put("/proc/self/cgroup", "0::/kubepods/pod1/c2\n");
	put("/sys/fs/cgroup/memory.events", "oom_kill 1\n");
	check_kills(1);
}

static void check_memory(uint64_t wanted)
{
	uint64_t bytes = 77;

	CHECK_INT(tare_cgroup_room(make_dir(), &bytes), 0);
	CHECK_INT((int64_t)bytes, (int64_t)wanted);
}

TEST(memory_is_the_least_limit)
{
	uint64_t bytes;

	CHECK_INT(tare_cgroup_room(make_dir(), &bytes), -ENODATA);
	put("/proc/meminfo", "MemTotal:       16000 kB\nMemFree: 1 kB\n");
	check_memory(16000 * 1024);
	put("/proc/self/cgroup", "4:memory:/old\n0::/job/step\n");
	put("/sys/fs/cgroup/job/step/memory.max", "max\n");
	check_memory(16000 * 1024);
	put("/sys/fs/cgroup/job/memory.max", "5000000\n"); /* of one around it */
	check_memory(5000000);
	put("/sys/fs/cgroup/memory/old/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
	check_memory(5000000);
	put("/sys/fs/cgroup/memory/old/memory.limit_in_bytes", "4000000\n");
	check_memory(4000000);
	put("/sys/fs/cgroup/memory.max", "garbage\n");
	check_memory(4000000);
}

TEST(without_cgroups)
{
	uint64_t kills;

	CHECK_INT(tare_cgroup_oom_kills(make_dir(), &kills), -ENODATA);
	put("/proc/vmstat", "oom_killed 3\nthp_oom_kill 4\noom_kill 9\n");
	check_kills(9);
	put("/proc/self/cgroup", "garbage\n:::\n0:");
	check_kills(9);
	put("/proc/vmstat", "nr_free_pages 7\n"); /* before Linux 4.13 */
	CHECK_INT(tare_cgroup_oom_kills(make_dir(), &kills), -ENODATA);
}
