/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a segment file: its footer, or, where the footer is damaged, every block that its checksum fits; and single
 * blocks.
 */
#include "store/segment.h"

#include "base/array.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BLOCK_MAX = 256 << 20, /* no block has more bytes */
	BLOCKS_MAX = 1 << 22,
	STEP = 16, /* blocks begin at multiples of it, from the header on */
};

struct file {
	int fd;
	uint64_t size;
};

static bool read_at(const struct file *f, void *to, size_t size, uint64_t at)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(f->fd, (uint8_t *)to + got, size - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* A head that its checksum fits, of a block that ends where the file does or before. */
static bool is_head(const struct file *f, const struct tare_segment_block *head, uint64_t behind)
{
	return head->magic == TARE_SEGMENT_BLOCK &&
	       head->head_sum == tare_checksum(head, offsetof(struct tare_segment_block, head_sum)) &&
	       head->kind >= TARE_SEGMENT_LOG && head->bytes <= BLOCK_MAX && behind <= f->size &&
	       head->bytes <= f->size - behind;
}

static bool read_head(const struct file *f, struct tare_segment_block *head, uint64_t at)
{
	return at <= f->size && f->size - at >= sizeof(*head) && read_at(f, head, sizeof(*head), at) &&
	       is_head(f, head, at + sizeof(*head));
}

static void add_entry(struct tare_segment_file *s, const struct tare_segment_block *head, uint64_t at)
{
	TARE_APPEND(s->entries, s->entry_nr, s->entry_cap) = (struct tare_segment_entry){ *head, at };
}

static bool read_bytes(const struct file *f, const struct tare_segment_block *head, uint64_t at, struct tare_pack *to)
{
	to->len = 0;
	if (!read_at(f, tare_pack_room(to, head->bytes), head->bytes, at) ||
	    tare_checksum(to->data, head->bytes) != head->sum)
		return false;
	to->len = head->bytes;
	return true;
}

/* Footers of earlier versions end before them. */
static void unpack_counts(struct tare_segment_file *s, struct tare_unpack *in)
{
	uint64_t n = in->at < in->end ? tare_unpack_number(in) : 0;

	s->has_counts = n > 0;
	for (uint64_t i = 0; i < n && !in->is_bad; i++) {
		struct tare_segment_count c = { .log = (uint32_t)tare_unpack_number(in) };

		c.kind = (uint32_t)tare_unpack_number(in);
		c.records = tare_unpack_number(in);
		TARE_APPEND(s->counts, s->count_nr, s->count_cap) = c;
	}
	if (in->is_bad)
		s->has_counts = false;
}

static bool unpack_footer(struct tare_segment_file *s, const struct file *f, const struct tare_pack *bytes)
{
	struct tare_unpack in = { bytes->data, bytes->data + bytes->len, false };
	uint64_t n = tare_unpack_number(&in);
	TARE_FREED_BY(tare_pack_free) struct tare_pack list = { 0 };
	struct tare_segment_block head;

	if (n <= BLOCKS_MAX && tare_unpack_zipped(&in, &list, n * (sizeof(head) + TARE_VARINT_MAX))) {
		unpack_counts(s, &in);
		in = (struct tare_unpack){ list.data, list.data + list.len, false };
	} else {
		in.is_bad = true;
	}
	for (uint64_t i = 0; i < n && !in.is_bad; i++) {
		uint64_t at = tare_unpack_number(&in);
		const uint8_t *from = tare_unpack_bytes(&in, sizeof(head));

		if (from)
			memcpy(&head, from, sizeof(head));
		if (from && is_head(f, &head, at))
			add_entry(s, &head, at);
		else
			in.is_bad = true;
	}
	return !in.is_bad;
}

static bool read_footer(struct tare_segment_file *s, const struct file *f)
{
	struct tare_segment_trailer t;
	struct tare_segment_block head;
	struct tare_pack bytes = { 0 };
	bool is_read;

	if (f->size < sizeof(t) || !read_at(f, &t, sizeof(t), f->size - sizeof(t)) ||
	    memcmp(t.magic, TARE_SEGMENT_END, sizeof(t.magic)) != 0 ||
	    t.sum != tare_checksum(&t, offsetof(struct tare_segment_trailer, sum)) || !read_head(f, &head, t.footer) ||
	    head.kind != TARE_SEGMENT_FOOTER)
		return false;
	is_read = read_bytes(f, &head, t.footer + sizeof(head), &bytes) && unpack_footer(s, f, &bytes);
	tare_pack_free(&bytes);
	if (!is_read) {
		s->entry_nr = s->count_nr = 0;
		s->has_counts = false;
	}
	return is_read;
}

/* Every block that there is, where the footer does not tell. */
static void scan(struct tare_segment_file *s, const struct file *f)
{
	uint64_t at = sizeof(struct tare_segment_header);
	struct tare_segment_block head;

	s->is_scanned = s->is_cut = true;
	while (at + sizeof(head) <= f->size) {
		if (!read_head(f, &head, at)) {
			s->damaged_bytes += STEP;
			at += STEP;
			continue;
		}
		at += sizeof(head);
		if (head.kind != TARE_SEGMENT_FOOTER)
			add_entry(s, &head, at);
		else
			s->is_cut = false;
		at += head.bytes;
		at = (at + STEP - 1) / STEP * STEP;
	}
}

static int read_header(const struct file *f, const char *path, struct tare_err *err)
{
	struct tare_segment_header h;

	if (f->size < sizeof(h) || !read_at(f, &h, sizeof(h), 0) ||
	    memcmp(h.magic, TARE_SEGMENT_MAGIC, sizeof(h.magic)) != 0)
		return 0; /* damaged; the blocks tell what they are themselves */
	if (h.endian != TARE_ENDIAN_MARK)
		return tare_err_set(err, TARE_E_UNSUPPORTED,
		                    "%s was made on a machine with the other byte order; open it "
		                    "on a machine of that kind",
		                    path);
	h.tool[sizeof(h.tool) - 1] = '\0';
	if (h.version > TARE_SEGMENT_VERSION)
		return tare_err_set(err, TARE_E_NEWER,
		                    "%s is in format %u, written by Tare %s, and this is Tare %s, "
		                    "which reads formats up to %u; open it with Tare %s or newer",
		                    path, h.version, h.tool, TARE_VERSION, TARE_SEGMENT_VERSION, h.tool);
	return 0;
}

int tare_segment_open(struct tare_segment_file *out, const char *path, struct tare_err *err)
{
	struct file f = { .fd = tare_file_open(path, err) };
	struct stat st;
	int rc;

	if (f.fd < 0)
		return f.fd;
	f.size = fstat(f.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	rc = read_header(&f, path, err);
	if (!rc) {
		*out = (struct tare_segment_file){ .path = tare_xstrdup(path) };
		if (!read_footer(out, &f))
			scan(out, &f);
	}
	close(f.fd);
	return rc;
}

void tare_segment_reader_close(struct tare_segment_reader *r)
{
	if (r->of)
		close(r->fd);
	r->of = NULL;
}

bool tare_segment_read_on(struct tare_segment_reader *r, const struct tare_segment_file *s, size_t entry,
                          struct tare_pack *to)
{
	const struct tare_segment_entry *e = &s->entries[entry];

	if (r->of != s) {
		tare_segment_reader_close(r);
		r->fd = tare_file_open(s->path, NULL);
		if (r->fd < 0)
			return false;
		r->of = s;
	}
	return read_bytes(&(struct file){ .fd = r->fd }, &e->head, e->at, to);
}

bool tare_segment_read(const struct tare_segment_file *s, size_t entry, struct tare_pack *to)
{
	TARE_FREED_BY(tare_segment_reader_close) struct tare_segment_reader r = { 0 };
	bool is_read = tare_segment_read_on(&r, s, entry, to);

	return is_read;
}
