/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks the file `control` of a recording: readers share the lock, and a process that trims logs or removes segments
 * takes it alone.
 */
#include "trace/hold.h"

#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* A ms apart. Who trims takes some ms of a processor, which a busy machine may not give it: what is read meanwhile would lack what goes. */
enum { TRIES = 5000 };

static int open_page(const char *folder)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	tare_str_addf(&path, "%s/control", folder);
	return tare_file_open(path.data, NULL);
}

int tare_hold_to_read(const char *folder)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	int fd = open_page(folder);

	for (int i = 0; fd >= 0 && i < TRIES; i++) {
		if (flock(fd, LOCK_SH | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		nanosleep(&ms, NULL);
	}
	tare_hold_end(fd);
	return -1;
}

int tare_hold_to_change(const char *folder)
{
	int fd = open_page(folder), failure;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	failure = errno;
	if (fd < 0)
		return -2;
	close(fd);
	return failure == EWOULDBLOCK ? -1 : -2;
}

void tare_hold_end(int hold)
{
	if (hold >= 0)
		close(hold);
}
