/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the GPUs that runs may have, and ends processes that a run left. */
#include "sweep/machine.h"

#include "base/xalloc.h"
#include "witness/nvml.h"
#include "witness/procfs.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void add(struct tare_gpus *g, const char *name, size_t len)
{
	g->names = tare_xrealloc(g->names, g->count + 1, sizeof(*g->names));
	g->names[g->count++] = tare_xstrndup(name, len);
}

static void add_numbers(struct tare_gpus *g, long count)
{
	char name[24];

	for (long i = 0; i < count; i++)
		add(g, name, (size_t)snprintf(name, sizeof(name), "%ld", i));
}

static void count_by_nvml(struct tare_gpus *g)
{
	struct tare_nvml *nvml;
	long gpus = 0;

	if (tare_nvml_open(NULL, &nvml, NULL) != 0)
		return;
	for (int i = 0; i < tare_nvml_device_count(nvml); i++) {
		const struct tare_nvml_device *d = tare_nvml_device(nvml, i);

		if (d->mig >= 0)
			add(g, d->uuid, strlen(d->uuid)); /* MIG devices have no number in NVML */
		else if (!d->is_sliced)
			gpus++;
	}
	if (!g->count)
		add_numbers(g, gpus);
	tare_nvml_close(nvml);
}

void tare_gpus_find(struct tare_gpus *out, bool is_simulated)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *simulated = getenv("TARE_SIM_DEVICES");

	*out = (struct tare_gpus){ 0 };
	while (visible && *visible) {
		size_t len = strcspn(visible, ",");

		/* CUDA sees no device from the first word on that names none. */
		if (!len || *visible == '-')
			return;
		add(out, visible, len);
		visible += len + (visible[len] == ',');
	}
	if (out->count || visible)
		return;
	if (is_simulated)
		add_numbers(out, simulated ? strtol(simulated, NULL, 10) : 1);
	else
		count_by_nvml(out);
}

void tare_machine_boot(char out[64])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	out[0] = '\0';
	if (file && fgets(out, 64, file))
		out[strcspn(out, "\n")] = '\0';
	if (file)
		fclose(file);
}

static bool is_alive(pid_t pid, uint64_t start_ticks)
{
	struct tare_procfs_stat stat;

	return tare_procfs_stat(pid, &stat) == 0 && stat.start_ticks == start_ticks && stat.state != 'Z';
}

static void wait_for_end(pid_t pid, uint64_t start_ticks, int ms)
{
	static const struct timespec step = { .tv_nsec = 20000000 };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = { .fd = fd, .events = POLLIN };

	if (fd >= 0) {
		poll(&end, 1, ms);
		close(fd);
		return;
	}
	for (; ms > 0 && is_alive(pid, start_ticks); ms -= 20) /* Linux before 5.3 */
		nanosleep(&step, NULL);
}

int tare_machine_grace_ms(void)
{
	const char *text = getenv("TARE_TEST_GRACE_MS");

	return text ? atoi(text) : 10000;
}

void tare_machine_end_group(pid_t leader, uint64_t start_ticks)
{
	if (leader <= 1 || !is_alive(leader, start_ticks))
		return;
	kill(-leader, SIGTERM);
	kill(leader, SIGTERM);
	wait_for_end(leader, start_ticks, tare_machine_grace_ms());
	if (!is_alive(leader, start_ticks))
		return;
	kill(-leader, SIGKILL);
	kill(leader, SIGKILL);
	wait_for_end(leader, start_ticks, tare_machine_grace_ms());
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path) == 0 ? 0 : -errno;
}

int tare_machine_remove(const char *folder)
{
	int rc = nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

	return rc == -1 && errno == ENOENT ? 0 : rc == -1 ? -errno : rc;
}
