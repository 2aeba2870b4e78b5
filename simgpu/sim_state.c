/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the file that all processes of a simulated machine share, and takes back what dead ones had. */
#include "sim_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_process.h"

#define FILE_NAME "simgpu-3.state" /* the number changes with struct sim_shared */

static struct sim_shared *shared_state;
static int shared_fd = -1;

static int open_file(const char *directory)
{
	char folder[PATH_MAX], path[PATH_MAX + 32];
	int fd = -1;

	if (realpath(directory, folder)) {
		snprintf(path, sizeof(path), "%s/" FILE_NAME, folder);
		fd = sim_process_find_fd(path);
		if (fd >= 0)
			return fd;
		fd = sim_process_high_fd(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	}
	if (fd < 0)
		fprintf(stderr,
		        "simulated GPU: cannot open the state of the machine in TARE_SIM_DIR=%s: %s; name a folder "
		        "that can be written\n",
		        directory, strerror(errno));
	return fd;
}

static int open_private(void)
{
	char target[64];
	int fd;

	snprintf(target, sizeof(target), "/memfd:simgpu-state-%ld (deleted)", (long)getpid());
	fd = sim_process_find_fd(target);
	return fd >= 0 ? fd : sim_process_high_fd(sim_process_memfd("state"));
}

/*
 * One descriptor for both libraries of a process, never closed again: closing any descriptor of
 * this file drops the process's lock on its slot. Hence also the high number: programs close low
 * ones that they did not open.
 */
static int open_shared(void)
{
	const char *directory = getenv("TARE_SIM_DIR");

	return directory && *directory ? open_file(directory) : open_private();
}

/* With room on the disk for all of it: a page that has none would end the program when it is written. False: errno says why. */
static bool make_room(int fd, off_t size)
{
	if (lseek(fd, 0, SEEK_END) >= size || fallocate(fd, 0, 0, size) == 0)
		return true;
	return (errno == EOPNOTSUPP || errno == ENOSYS) && ftruncate(fd, size) == 0;
}

struct sim_shared *sim_state_open(void)
{
	void *at;

	if (shared_state)
		return shared_state;
	shared_fd = open_shared();
	if (shared_fd < 0)
		return NULL;
	if (!make_room(shared_fd, sizeof(struct sim_shared))) {
		fprintf(stderr, "simulated GPU: the state of the machine, %zu KiB, has no room: %s\n",
		        sizeof(struct sim_shared) >> 10, strerror(errno));
		return NULL;
	}
	at = mmap(NULL, sizeof(struct sim_shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
	if (at == MAP_FAILED) {
		fprintf(stderr, "simulated GPU: cannot map the state of the machine: %s\n", strerror(errno));
		return NULL;
	}
	shared_state = at; /* all zero is a machine without processes */
	return shared_state;
}

void sim_state_lock(struct sim_shared *shared)
{
	sim_lock_take(&shared->lock);
}

void sim_state_unlock(struct sim_shared *shared)
{
	sim_lock_give(&shared->lock);
}

static bool is_own(const struct sim_slot *slot)
{
	return slot->pid == (uint32_t)getpid() && slot->cookie == sim_process_cookie();
}

static int slot_lock(int command, uint32_t index, short type)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = index, .l_len = 1 };

	if (fcntl(shared_fd, command, &range) < 0)
		return -1;
	return range.l_type;
}

static void read_name(char name[32])
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, name, 31);

	if (fd >= 0)
		close(fd);
	name[n > 0 ? n : 0] = 0;
	name[strcspn(name, "\n")] = 0;
}

struct sim_slot *sim_state_self(struct sim_shared *shared)
{
	uint32_t i, high = __atomic_load_n(&shared->slots_high, __ATOMIC_ACQUIRE);

	for (i = 0; i < high; i++)
		if (is_own(&shared->slots[i]))
			return &shared->slots[i];
	return NULL;
}

struct sim_slot *sim_state_join(struct sim_shared *shared)
{
	struct sim_slot *slot = NULL;
	uint32_t i;

	sim_state_lock(shared);
	sim_state_reclaim(shared);
	for (i = 0; !slot && i < SIM_SLOTS; i++)
		if (!shared->slots[i].pid)
			slot = &shared->slots[i];
	if (slot && slot_lock(F_SETLK, (uint32_t)(slot - shared->slots), F_WRLCK) >= 0) {
		memset(slot, 0, sizeof(*slot));
		read_name(slot->name);
		slot->cookie = sim_process_cookie();
		slot->pid = (uint32_t)getpid();
		if (slot - shared->slots >= (ptrdiff_t)shared->slots_high)
			shared->slots_high = (uint32_t)(slot - shared->slots) + 1;
	} else {
		slot = NULL;
	}
	sim_state_unlock(shared);
	return slot;
}

void sim_state_reclaim(struct sim_shared *shared)
{
	uint32_t i, pid = (uint32_t)getpid();

	for (i = 0; i < shared->slots_high; i++) {
		struct sim_slot *slot = &shared->slots[i];

		if (!slot->pid || is_own(slot))
			continue;
		/* Nobody's lock is in our way where the program before our exec had it, too. */
		if (slot->pid != pid && slot_lock(F_GETLK, i, F_WRLCK) != F_UNLCK)
			continue;
		sim_share_forget(shared, i);
		memset(slot, 0, sizeof(*slot));
	}
}

uint64_t sim_state_used(const struct sim_shared *shared, int device, const struct tare_profile *profile)
{
	uint64_t used = 0;
	bool is_open = false;
	uint32_t i;

	for (i = 0; i < shared->slots_high; i++) {
		const struct sim_slot *slot = &shared->slots[i];

		if (!slot->pid)
			continue;
		used += slot->used[device];
		is_open |= slot->opened >> device & 1;
	}
	for (i = 0; i < SIM_SHARES; i++)
		if (shared->shares[i].id && shared->shares[i].device == (uint32_t)device)
			used += shared->shares[i].bytes;
	return used + profile->others + (is_open ? profile->init : 0) + (uint64_t)shared->drift[device];
}

uint64_t sim_state_used_by(const struct sim_shared *shared, const struct sim_slot *slot, int device)
{
	uint64_t used = slot->used[device];
	uint32_t i;

	for (i = 0; i < SIM_SHARES; i++) {
		const struct sim_share *share = &shared->shares[i];

		if (share->id && share->device == (uint32_t)device && share->holders[0].slot == slot - shared->slots + 1)
			used += share->bytes;
	}
	return used;
}
