/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cuFile does beyond its table: what a program reads of a file into memory of the device is there afterwards, and
 * what it writes of it is in the file, through a buffer on the host.
 */
#include "simgpu/libs/cufile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPAQUE_FD = 1, BUFFER = 1 << 20 };
enum { FD = 0 }; /* the slot that keeps it */

/* CUfileDescr_t. */
struct description {
	int type;
	union {
		int fd;
		void *handle;
	} handle;
	const void *file_system;
};

/* CUfileError_t, which is returned by value. */
struct error {
	int error, cuda;
};

/* The file once more, without O_DIRECT, under which a buffer, an offset and a size would have to be aligned. */
static int open_again(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	char path[64];

	if (flags < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, (flags & O_ACCMODE) | O_CLOEXEC);
}

SIM_EXPORT struct error cuFileHandleRegister(struct sim_handle **handle, const struct description *description);
struct error cuFileHandleRegister(struct sim_handle **handle, const struct description *description)
{
	int fd;

	SIM_CALLED("makes");
	if (!handle || !description || description->type != OPAQUE_FD)
		return (struct error){ CU_FILE_INVALID_VALUE, 0 };
	fd = open_again(description->handle.fd);
	*handle = fd < 0 ? NULL : sim_handle_new();
	if (!*handle) {
		if (fd >= 0)
			close(fd);
		return (struct error){ CU_FILE_INVALID_VALUE, 0 };
	}
	(*handle)->kept[FD] = (uint64_t)fd;
	return (struct error){ CU_FILE_SUCCESS, 0 };
}

SIM_EXPORT void cuFileHandleDeregister(struct sim_handle *handle);
void cuFileHandleDeregister(struct sim_handle *handle)
{
	SIM_CALLED("ends");
	if (handle)
		close((int)handle->kept[FD]);
	sim_handle_end(handle);
}

/* Properties of the driver: none is known, and the struct is of 56 bytes. */
SIM_EXPORT struct error cuFileDriverGetProperties(void *properties);
struct error cuFileDriverGetProperties(void *properties)
{
	SIM_CALLED("answers");
	if (!properties)
		return (struct error){ CU_FILE_INVALID_VALUE, 0 };
	memset(properties, 0, 56);
	return (struct error){ CU_FILE_SUCCESS, 0 };
}

static ssize_t read_part(int fd, char *buffer, uint64_t address, size_t bytes, off_t at)
{
	ssize_t got = pread(fd, buffer, bytes, at);

	return got > 0 && SIM_DRIVER("cuMemcpy", address, buffer, got) ? -CU_FILE_INVALID_VALUE : got;
}

static ssize_t write_part(int fd, char *buffer, uint64_t address, size_t bytes, off_t at)
{
	if (SIM_DRIVER("cuMemcpy", buffer, address, bytes))
		return -CU_FILE_INVALID_VALUE;
	return pwrite(fd, buffer, bytes, at);
}

typedef ssize_t (*part_call)(int, char *, uint64_t, size_t, off_t);

/* All of it, or as much as there is; negative: an error of cuFile, or -1 and errno. */
static ssize_t move(const struct sim_handle *handle, uint64_t address, size_t bytes, off_t at, part_call part)
{
	char *buffer;
	size_t done = 0;

	if (!handle)
		return -CU_FILE_HANDLE_NOT_REGISTERED;
	if (!address || at < 0)
		return -CU_FILE_INVALID_VALUE;
	buffer = malloc(BUFFER);
	if (!buffer)
		return -1;
	while (done < bytes) {
		size_t left = bytes - done;
		ssize_t got =
			part((int)handle->kept[FD], buffer, address + done, left < BUFFER ? left : BUFFER, at + (off_t)done);

		if (got < 0 && errno == EINTR && got == -1)
			continue;
		if (got < 0 && !done) {
			free(buffer);
			return got;
		}
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	free(buffer);
	return (ssize_t)done;
}

SIM_EXPORT ssize_t cuFileRead(struct sim_handle *handle, uint64_t base, size_t bytes, off_t at, off_t offset);
ssize_t cuFileRead(struct sim_handle *handle, uint64_t base, size_t bytes, off_t at, off_t offset)
{
	SIM_CALLED("driver");
	return move(handle, base ? base + (uint64_t)offset : 0, bytes, at, read_part);
}

SIM_EXPORT ssize_t cuFileWrite(struct sim_handle *handle, uint64_t base, size_t bytes, off_t at, off_t offset);
ssize_t cuFileWrite(struct sim_handle *handle, uint64_t base, size_t bytes, off_t at, off_t offset)
{
	SIM_CALLED("driver");
	return move(handle, base ? base + (uint64_t)offset : 0, bytes, at, write_part);
}

/* What the pointers point to is read when the stream would come to it; here, at once. */
#define IN_ORDER(name, part)                                                                                           \
	SIM_EXPORT struct error name(struct sim_handle *handle, uint64_t base, const size_t *bytes, const off_t *at,       \
	                             const off_t *offset, ssize_t *moved, long stream);                                    \
	struct error name(struct sim_handle *handle, uint64_t base, const size_t *bytes, const off_t *at,                  \
	                  const off_t *offset, ssize_t *moved, long stream)                                                \
	{                                                                                                                  \
		(void)stream;                                                                                                  \
		SIM_CALLED("driver");                                                                                          \
		if (!handle || !base || !bytes || !at || !offset || !moved)                                                    \
			return (struct error){ CU_FILE_INVALID_VALUE, 0 };                                                         \
		*moved = move(handle, base + (uint64_t)*offset, *bytes, *at, part);                                            \
		return (struct error){ CU_FILE_SUCCESS, 0 };                                                                   \
	}
IN_ORDER(cuFileReadAsync, read_part)
IN_ORDER(cuFileWriteAsync, write_part)

/* Several buffers at once. */
struct piece {
	uint64_t base;
	size_t bytes;
};

static ssize_t move_pieces(const struct sim_handle *handle, const struct piece *pieces, size_t count, off_t at,
                           part_call part)
{
	ssize_t all = 0, got;
	size_t i;

	if (!pieces)
		return -CU_FILE_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		got = move(handle, pieces[i].base, pieces[i].bytes, at + all, part);
		if (got < 0)
			return all ? all : got;
		all += got;
		if ((size_t)got < pieces[i].bytes)
			break;
	}
	return all;
}

#define PIECES(name, part)                                                                                             \
	SIM_EXPORT ssize_t name(struct sim_handle *handle, const struct piece *pieces, size_t count, off_t at,             \
	                        unsigned flags);                                                                           \
	ssize_t name(struct sim_handle *handle, const struct piece *pieces, size_t count, off_t at, unsigned flags)        \
	{                                                                                                                  \
		(void)flags;                                                                                                   \
		SIM_CALLED("driver");                                                                                          \
		return move_pieces(handle, pieces, count, at, part);                                                           \
	}
PIECES(cuFileReadv, read_part)
PIECES(cuFileWritev, write_part)
