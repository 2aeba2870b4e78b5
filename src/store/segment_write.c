/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a segment file: blocks one behind the other, then the footer that says where each block is and what logs it
 * has.
 */
#include "store/segment.h"

#include "base/array.h"
#include "base/file.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tare_segment_writer {
	char *path;
	int fd;
	int error; /* errno of the first that failed */
	uint64_t size;
	struct tare_pack block, footer;
	size_t block_nr;
	struct tare_segment_count *counts;
	size_t count_nr, count_cap;
};

static void write_all(struct tare_segment_writer *w, const void *bytes, size_t size)
{
	if (!w->error)
		w->error = tare_file_write_all(w->fd, bytes, size);
	if (!w->error)
		w->size += size;
}

int tare_segment_create(struct tare_segment_writer **out, const char *path, uint32_t number, struct tare_err *err)
{
	struct tare_segment_header h = { .magic = TARE_SEGMENT_MAGIC,
		                             .endian = TARE_ENDIAN_MARK,
		                             .version = TARE_SEGMENT_VERSION,
		                             .header_bytes = sizeof(h),
		                             .number = number };
	struct tare_segment_writer *w;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return tare_err_set_errno(err, errno, "%s", path);
	w = tare_xcalloc(1, sizeof(*w));
	w->path = tare_xstrdup(path);
	w->fd = fd;
	memcpy(h.tool, TARE_VERSION, sizeof(TARE_VERSION) < sizeof(h.tool) ? sizeof(TARE_VERSION) : sizeof(h.tool) - 1);
	write_all(w, &h, sizeof(h));
	*out = w;
	return 0;
}

/* The head, what w->block has, and zeros. */
static void write_block(struct tare_segment_writer *w, struct tare_segment_block *head)
{
	static const uint8_t zero[16];

	head->magic = TARE_SEGMENT_BLOCK;
	head->bytes = w->block.len;
	head->sum = tare_checksum(w->block.data, w->block.len);
	head->head_sum = tare_checksum(head, offsetof(struct tare_segment_block, head_sum));
	write_all(w, head, sizeof(*head));
	if (head->kind != TARE_SEGMENT_FOOTER) {
		tare_pack_number(&w->footer, w->size);
		tare_pack_bytes(&w->footer, head, sizeof(*head));
		w->block_nr++;
	}
	write_all(w, w->block.data, w->block.len);
	write_all(w, zero, (16 - w->size % 16) % 16);
	w->block.len = 0;
}

void tare_segment_add_log(struct tare_segment_writer *w, uint32_t log, const struct tare_log_part *part)
{
	struct tare_segment_block head = {
		.kind = TARE_SEGMENT_LOG, .log = log, .first = part->first_stamp, .last = part->last_stamp
	};

	tare_log_part_encode(&w->block, part);
	write_block(w, &head);
}

void tare_segment_add_schema(struct tare_segment_writer *w, uint32_t sum, const char *text)
{
	struct tare_segment_block head = { .kind = TARE_SEGMENT_SCHEMA, .log = sum };

	tare_pack_zipped(&w->block, text, strlen(text));
	write_block(w, &head);
}

void tare_segment_add_manifest(struct tare_segment_writer *w, const char *text, size_t size)
{
	struct tare_segment_block head = { .kind = TARE_SEGMENT_MANIFEST };

	tare_pack_zipped(&w->block, text, size);
	write_block(w, &head);
}

static void count(struct tare_segment_writer *w, uint32_t log, uint32_t kind)
{
	struct tare_segment_count *c = NULL;

	for (size_t i = w->count_nr; i-- > 0 && !c;)
		if (w->counts[i].log == log && w->counts[i].kind == kind)
			c = &w->counts[i];
	if (!c) {
		c = &TARE_APPEND(w->counts, w->count_nr, w->count_cap);
		*c = (struct tare_segment_count){ .log = log, .kind = kind };
	}
	c->records++;
}

void tare_segment_add(struct tare_segment_writer *w, enum tare_segment_kind kind, uint32_t log,
                      const struct tare_layouts *layouts, const struct tare_block_record *records, size_t n)
{
	struct tare_segment_block head = {
		.kind = kind, .log = log, .records = (uint32_t)n, .first = UINT64_MAX, .position_first = UINT64_MAX
	};

	if (n == 0 || w->error)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct tare_record *record = (const void *)records[i].data;
		uint64_t stamp = record->stamp;
		uint64_t position = records[i].position;

		head.first = stamp < head.first ? stamp : head.first;
		head.last = stamp > head.last ? stamp : head.last;
		if (position < head.position_first)
			head.position_first = position;
		if (position > head.position_last)
			head.position_last = position;
		if (kind == TARE_SEGMENT_EVENTS)
			count(w, log, record->kind);
	}
	tare_block_encode(&w->block, layouts, records, n);
	write_block(w, &head);
}

void tare_segment_copy(struct tare_segment_writer *w, const struct tare_segment_block *head, uint32_t log,
                       const struct tare_pack *bytes)
{
	struct tare_segment_block own = *head;

	own.log = log;
	tare_pack_bytes(&w->block, bytes->data, bytes->len);
	write_block(w, &own);
}

static void write_footer(struct tare_segment_writer *w)
{
	struct tare_segment_trailer t = { .magic = TARE_SEGMENT_END, .footer = w->size };
	struct tare_segment_block head = { .kind = TARE_SEGMENT_FOOTER };

	tare_pack_number(&w->block, w->block_nr);
	tare_pack_zipped(&w->block, w->footer.data, w->footer.len);
	tare_pack_number(&w->block, w->count_nr);
	for (size_t i = 0; i < w->count_nr; i++) {
		tare_pack_number(&w->block, w->counts[i].log);
		tare_pack_number(&w->block, w->counts[i].kind);
		tare_pack_number(&w->block, w->counts[i].records);
	}
	write_block(w, &head);
	t.sum = tare_checksum(&t, offsetof(struct tare_segment_trailer, sum));
	write_all(w, &t, sizeof(t));
}

int tare_segment_close(struct tare_segment_writer *w, struct tare_err *err)
{
	int rc = 0;

	write_footer(w);
	w->error = tare_file_close_synced(w->fd, w->error);
	if (w->error) {
		rc = tare_err_set_errno(err, w->error, "%s", w->path);
		unlink(w->path);
	}
	tare_pack_free(&w->block);
	tare_pack_free(&w->footer);
	free(w->counts);
	free(w->path);
	free(w);
	return rc;
}
