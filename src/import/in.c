/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file that is imported, by bytes and lines, with a sentence on where it is wrong. */
#include "import/files.h"

#include "base/file.h"
#include "base/progress.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct tare_import_in {
	const char *path;
	struct tare_import_unpack *file;
	char head[TARE_IMPORT_HEAD]; /* what was read last: the begin of the file at first */
	size_t size, at;
	bool is_ended;
	int fd;        /* the file as it is packed, for how far it is read; -1: it has no end that is known */
	int64_t total; /* its bytes; 0: that is not known */
	uint64_t offset, line_nr;
	int64_t changed_ns;
	char line[TARE_IMPORT_LINE + 1];
};

static int fill(struct tare_import_in *in, struct tare_err *err)
{
	ssize_t n;

	if (in->at == in->size)
		in->at = in->size = 0;
	while (!in->is_ended && in->size < sizeof(in->head)) {
		n = tare_import_unpack_read(in->file, in->head + in->size, sizeof(in->head) - in->size, err);
		if (n < 0)
			return (int)n;
		in->is_ended = n == 0;
		tare_progress_at(in->total ? lseek(in->fd, 0, SEEK_CUR) : 0, in->total);
		in->size += (size_t)n;
	}
	return 0;
}

int tare_import_in_open(struct tare_import_in **out, const char *path, struct tare_err *err)
{
	struct tare_import_in *in;
	struct stat st;
	int fd = tare_file_open_input(path, err), rc;

	if (fd < 0)
		return fd;
	in = tare_xcalloc(1, sizeof(*in));
	in->path = strcmp(path, "-") ? path : "standard input";
	in->changed_ns = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
	                     ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec
	                     : (int64_t)time(NULL) * 1000000000;
	in->fd = -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (in->fd = dup(fd)) >= 0)
		in->total = st.st_size;
	rc = tare_import_unpack_open(&in->file, fd, in->path, err);
	if (!rc)
		rc = fill(in, err);
	if (rc) {
		tare_import_in_close(in);
		return rc;
	}
	*out = in;
	return 0;
}

void tare_import_in_close(struct tare_import_in *in)
{
	if (!in)
		return;
	if (in->file)
		tare_import_unpack_close(in->file);
	if (in->fd >= 0)
		close(in->fd);
	free(in);
}

const char *tare_import_in_head(const struct tare_import_in *in, size_t *size)
{
	*size = in->size;
	return in->head;
}

const char *tare_import_in_path(const struct tare_import_in *in)
{
	return in->path;
}

bool tare_import_in_is_cut(const struct tare_import_in *in)
{
	return tare_import_unpack_is_cut(in->file);
}

int64_t tare_import_in_changed_ns(const struct tare_import_in *in)
{
	return in->changed_ns;
}

uint64_t tare_import_in_line_nr(const struct tare_import_in *in)
{
	return in->line_nr;
}

uint64_t tare_import_in_offset(const struct tare_import_in *in)
{
	return in->offset;
}

int64_t tare_import_in_read(struct tare_import_in *in, void *bytes, size_t size, struct tare_err *err)
{
	size_t done = 0;

	while (done < size) {
		size_t part = in->size - in->at;
		int rc;

		if (!part) {
			rc = fill(in, err);
			if (rc)
				return rc;
			if (!in->size)
				break;
			continue;
		}
		if (part > size - done)
			part = size - done;
		memcpy((char *)bytes + done, in->head + in->at, part);
		in->at += part;
		done += part;
	}
	in->offset += done;
	return (int64_t)done;
}

int tare_import_in_line(struct tare_import_in *in, char **line, struct tare_err *err)
{
	size_t len = 0;
	bool has_end = false;

	*line = in->line;
	for (bool is_any = false; !has_end; is_any = true) {
		const char *from, *end;
		size_t part, kept;
		int rc = in->at == in->size ? fill(in, err) : 0;

		if (rc)
			return rc;
		if (in->at == in->size && !is_any)
			return 0;
		from = in->head + in->at;
		end = memchr(from, '\n', in->size - in->at);
		has_end = end || in->at == in->size;
		part = end ? (size_t)(end - from) : in->size - in->at;
		kept = part < TARE_IMPORT_LINE - len ? part : TARE_IMPORT_LINE - len;
		memcpy(in->line + len, from, kept);
		len += kept;
		part += end != NULL;
		in->at += part;
		in->offset += part;
	}
	in->line_nr++;
	if (len && in->line[len - 1] == '\r')
		len--;
	in->line[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!in->line[i])
			in->line[i] = ' ';
	return 1;
}
