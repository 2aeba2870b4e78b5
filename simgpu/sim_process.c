/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the memory that libcuda and libnvidia-ml have in common in one process. */
#include "sim_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIGH_FD 500

int sim_process_find_fd(const char *target)
{
	char link[64], found[PATH_MAX];
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd = -1;

	if (!folder)
		return -1;
	while (fd < 0 && (entry = readdir(folder))) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%.16s", entry->d_name);
		n = readlink(link, found, sizeof(found) - 1);
		found[n > 0 ? n : 0] = 0;
		if (n > 0 && strcmp(found, target) == 0)
			fd = atoi(entry->d_name);
	}
	closedir(folder);
	return fd;
}

int sim_process_memfd(const char *purpose)
{
	char name[64];

	snprintf(name, sizeof(name), "simgpu-%s-%ld", purpose, (long)getpid());
	return memfd_create(name, MFD_CLOEXEC);
}

int sim_process_memfd_unique(void)
{
	static unsigned long count;
	char purpose[32];

	snprintf(purpose, sizeof(purpose), "physical-%lu", __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
	return sim_process_memfd(purpose);
}

static ssize_t name_of(int fd, char name[PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, name, PATH_MAX);
}

bool sim_process_is_memory(int fd)
{
	static const char begin[] = "/memfd:simgpu-";
	char name[PATH_MAX];
	ssize_t length = sizeof(begin) - 1;

	return name_of(fd, name) >= length && memcmp(name, begin, sizeof(begin) - 1) == 0;
}

/* A hash of the name, which has the maker's pid and a number in it. */
uint64_t sim_process_file_id(int fd)
{
	char name[PATH_MAX];
	uint64_t hash = 0xcbf29ce484222325ull;
	ssize_t i, n = name_of(fd, name);

	for (i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ull;
	return n > 0 ? hash : 0;
}

int sim_process_high_fd(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

uint64_t sim_process_cookie(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, fresh for each exec */
	uint64_t cookie = 0;

	if (random)
		memcpy(&cookie, random, sizeof(cookie));
	return cookie;
}

uint64_t sim_process_anonymous(uint32_t pid)
{
	char path[32], text[4096], *line;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	line = strstr(text, "RssAnon:");
	return line ? strtoull(line + strlen("RssAnon:"), NULL, 10) << 10 : 0;
}
