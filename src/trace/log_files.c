/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptors of logs. A job may have more logs than a process may open files: then the file that was read
 * longest ago is closed, and opened again when it is needed.
 */
#include "trace/log_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPARE_FILES = 8, FILES_MIN = 2 }; /* spare: for whatever else is opened meanwhile */

/* The log that was read last is the first. */
static struct {
	struct tare_log *first, *last;
	size_t count;
	bool is_short; /* the last one could not be opened for want of descriptors */
} files;

static size_t files_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 2 * SPARE_FILES)
		return FILES_MIN;
	return limit.rlim_cur - SPARE_FILES;
}

static void unlink_log(struct tare_log *log)
{
	*(log->newer ? &log->newer->older : &files.first) = log->older;
	*(log->older ? &log->older->newer : &files.last) = log->newer;
	log->newer = log->older = NULL;
	files.count--;
}

static void link_first(struct tare_log *log)
{
	log->older = files.first;
	*(files.first ? &files.first->newer : &files.last) = log;
	files.first = log;
	files.count++;
}

static bool close_last(void)
{
	struct tare_log *log = files.last;

	if (!log)
		return false;
	unlink_log(log);
	close(log->fd);
	log->fd = -1;
	return true;
}

int tare_log_file_open(const char *path)
{
	int fd;

	while (files.count >= files_max() && close_last())
		;
	do {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		files.is_short = fd < 0 && (errno == EMFILE || errno == ENFILE);
	} while (files.is_short && close_last());
	return fd;
}

bool tare_log_files_are_short(void)
{
	return files.is_short;
}

void tare_log_file_keep(struct tare_log *log)
{
	struct stat st;

	if (log->fd < 0 || fstat(log->fd, &st) != 0)
		return;
	log->device = (uint64_t)st.st_dev;
	log->inode = (uint64_t)st.st_ino;
	link_first(log);
}

/* The same file as before, not one that took its name. */
static int open_again(const struct tare_log *log)
{
	int fd = tare_log_file_open(log->path);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_dev == log->device &&
	    (uint64_t)st.st_ino == log->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int tare_log_file(struct tare_log *log)
{
	if (log->whole)
		log = log->whole;
	if (log->fd >= 0 && log != files.first) {
		unlink_log(log);
		link_first(log);
	} else if (log->fd < 0 && log->inode) {
		log->fd = open_again(log);
		if (log->fd >= 0)
			link_first(log);
	}
	return log->fd;
}

void tare_log_file_drop(struct tare_log *log)
{
	if (log->fd < 0)
		return;
	if (log->inode)
		unlink_log(log);
	close(log->fd);
	log->fd = -1;
}
