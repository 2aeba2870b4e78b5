/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptors of logs. A job may have more logs than a process may open files: then the file that was read
 * longest ago is closed, and opened again when it is needed.
 */
#include "trace/log_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

static bool is_linked(const struct tare_log *log)
{
	return log->newer || log == files.first;
}

static void unlink_log(struct tare_log *log)
{
	*(log->newer ? &log->newer->older : &files.first) = log->older;
	*(log->older ? &log->older->newer : &files.last) = log->newer;
	log->newer = log->older = NULL;
}

/* The file was read just now. */
static void link_first(struct tare_log *log)
{
	if (log == files.first)
		return;
	if (is_linked(log))
		unlink_log(log);
	log->older = files.first;
	*(files.first ? &files.first->newer : &files.last) = log;
	files.first = log;
}

static void close_one(int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	files.count--;
}

static void close_files(struct tare_log *log)
{
	unlink_log(log);
	close_one(&log->fd);
	close_one(&log->chunk_fd);
}

static bool close_last(void)
{
	if (!files.last)
		return false;
	close_files(files.last);
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
	files.count++;
}

/* The log's first file is the one that was opened, and not one that took its name. */
static bool is_same(const struct tare_log *log, int rc, const struct stat *st)
{
	return rc == 0 && (uint64_t)st->st_dev == log->device && (uint64_t)st->st_ino == log->inode;
}

static int open_again(const struct tare_log *log)
{
	int fd = tare_log_file_open(log->path);
	struct stat st;

	if (fd < 0 || is_same(log, fstat(fd, &st), &st))
		return fd;
	close(fd);
	return -1;
}

int tare_log_file(struct tare_log *log)
{
	if (log->whole)
		log = log->whole;
	if (log->fd < 0 && log->inode) {
		log->fd = open_again(log);
		files.count += log->fd >= 0;
	}
	if (log->fd >= 0 && log->inode)
		link_first(log);
	return log->fd;
}

/* A chunk beside it then is of this log, too. */
static int open_chunk(const struct tare_log *log, uint32_t number)
{
	char *path = tare_chunk_path(log->path, number);
	int fd = tare_log_file_open(path);
	struct stat st;

	free(path);
	if (fd < 0 || !log->inode || is_same(log, stat(log->path, &st), &st))
		return fd;
	close(fd);
	return -1;
}

int tare_log_chunk_file(struct tare_log *log, uint32_t number)
{
	if (log->whole)
		log = log->whole;
	if (log->chunk_fd < 0 || log->chunk != number) {
		close_one(&log->chunk_fd);
		if (log->fd < 0 && is_linked(log))
			unlink_log(log);
		log->chunk_fd = open_chunk(log, number);
		log->chunk = number;
		files.count += log->chunk_fd >= 0;
	}
	if (log->chunk_fd >= 0)
		link_first(log);
	return log->chunk_fd;
}

void tare_log_file_drop(struct tare_log *log)
{
	if (is_linked(log)) {
		close_files(log);
	} else if (log->fd >= 0) { /* it could not be opened as a log */
		close(log->fd);
		log->fd = -1;
	}
}
