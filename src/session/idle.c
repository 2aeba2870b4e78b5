/* SPDX-License-Identifier: Apache-2.0 */
/* Is a processor idle, so that work that nobody waits for may be done now? */
#include "session/idle.h"

#include "base/file.h"
#include "base/str.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nine tenths of a processor. */
enum { NEEDED = 9, OF = 10 };
enum { QUOTA_MAX = 4096 /* bytes of cpu.max, which has two numbers */ };
#define LEAST_NS UINT64_C(150000000) /* a tick is 10 ms */

/* Ticks in which the processors that we may use did nothing; false: Linux does not say. */
static bool read_idle(uint64_t *out)
{
	FILE *stat = fopen("/proc/stat", "re");
	char line[512];
	cpu_set_t ours;
	bool is_any = false;

	*out = 0;
	if (!stat || sched_getaffinity(0, sizeof(ours), &ours) != 0) {
		if (stat)
			fclose(stat);
		return false;
	}
	while (fgets(line, sizeof(line), stat)) {
		unsigned long long idle, wait;
		int cpu;

		if (sscanf(line, "cpu%d %*u %*u %*u %llu %llu", &cpu, &idle, &wait) != 3 || cpu < 0 || cpu >= CPU_SETSIZE ||
		    !CPU_ISSET(cpu, &ours))
			continue;
		*out += idle + wait;
		is_any = true;
	}
	fclose(stat);
	return is_any;
}

/* "max 100000": no limit. */
static bool is_limited(const char *path)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_err err = { 0 };
	bool is = tare_file_read(&text, path, QUOTA_MAX, &err) == 0 && tare_str_text(&text)[0] &&
	          strncmp(tare_str_text(&text), "max", 3) != 0;

	return is;
}

/* Of our cgroup, or of all that a container sees. */
static bool has_quota(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[1024], path[1200];
	bool is = is_limited("/sys/fs/cgroup/cpu.max");

	while (file && !is && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::", 3) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", line + 3);
		is = is_limited(path);
	}
	if (file)
		fclose(file);
	return is;
}

bool tare_idle_is(struct tare_idle *idle, uint64_t now_ns)
{
	uint64_t now, before = idle->idle, passed = now_ns - idle->at_ns;
	uint64_t needed;

	if (idle->is_read && passed < LEAST_NS)
		return idle->was_idle;
	if (!read_idle(&now))
		return false;
	needed = passed / (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK)) * NEEDED / OF;
	idle->was_idle = idle->is_read && now - before >= needed && !has_quota();
	idle->idle = now;
	idle->at_ns = now_ns;
	idle->is_read = true;
	return idle->was_idle;
}
