/* SPDX-License-Identifier: Apache-2.0 */
/* Two drainers of one ring, one of them slow: what it writes late must not be newer than its place. */
#include "trace/ringlog.h"

#include "test.h"
#include "trace/encode.h"

#include <stdlib.h>
#include <string.h>

enum { RING = 65536, FILE_BYTES = 16 * RING };

static struct world {
	struct tare_ring_header ring;
	uint8_t bytes[2 * RING]; /* the second half is what a mapping would mirror */
	uint8_t file[FILE_BYTES];
	uint8_t copy_slow[TARE_RINGLOG_COPY], copy_quick[TARE_RINGLOG_COPY];
	struct tare_ringlog slow, quick;
	int overtaken;
} *w;

static void fill(void)
{
	struct tare_rec_peer rec = { .head = { .kind = TARE_KIND_PEER, .stamp = 1 } };
	uint64_t size = tare_encode_size(sizeof(rec), 0);

	while (w->ring.head + size - w->ring.tail <= RING) {
		rec.used = w->ring.head * 3;
		tare_encode(w->bytes, RING, w->ring.head, (uint32_t)size, &rec, sizeof(rec), "", 0);
		memcpy(w->bytes + RING, w->bytes, RING);
		w->ring.head += size;
	}
}

static int write_file(void *arg, const void *bytes, uint64_t size, uint64_t offset)
{
	(void)arg;
	CHECK(offset - TARE_HEADER_BYTES + size <= FILE_BYTES);
	memcpy(w->file + offset - TARE_HEADER_BYTES, bytes, size);
	return 0;
}

/* Between its decision to write and its write, another drains everything and threads fill it anew. */
static int write_slowly(void *arg, const void *bytes, uint64_t size, uint64_t offset)
{
	if (w->overtaken++ < 3) {
		while (tare_ringlog_drain(&w->quick, 0, false) > 0)
			continue;
		fill();
	}
	return write_file(arg, bytes, size, offset);
}

TEST(ringlog_a_slow_drainer_writes_what_belongs_there)
{
	struct tare_rec_peer rec;
	uint64_t position, count = 0;

	w = calloc(1, sizeof(*w));
	w->ring.ring_bytes = RING;
	w->slow = (struct tare_ringlog){ &w->ring, w->bytes, write_slowly, NULL, w->copy_slow, 0, 0 };
	w->quick = (struct tare_ringlog){ &w->ring, w->bytes, write_file, NULL, w->copy_quick, 0, 0 };
	fill();
	for (int i = 0; i < 8; i++)
		tare_ringlog_drain(&w->slow, 0, false);
	CHECK(w->overtaken > 3);
	CHECK_INT(w->ring.tail, w->ring.head);
	for (position = 0; position < w->ring.tail; position += tare_encode_size(sizeof(rec), 0)) {
		memcpy(&rec, w->file + position, sizeof(rec));
		CHECK_INT(rec.head.seal, tare_seal(position));
		CHECK_INT(rec.used, position * 3);
		count++;
	}
	CHECK(count * sizeof(rec) > 3 * RING);
	free(w);
}
