/* SPDX-License-Identifier: Apache-2.0 */
#include "seeds.h"

#include "../unit/make_log.h"
#include "record/chunk.h"

#include <stdlib.h>

static const char json[] = "{\"tare\": 1, \"state\": \"complete\", \"command\": [\"./program\"]}";

static size_t put(uint8_t *out, size_t at, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(out + at, bytes, size);
	return at + size;
}

/* Chunk 0 has the positions below `body`, chunk 1 the rest; the seals are made of that. */
static size_t put_chunk(uint8_t *out, size_t at, const struct make_log *m, size_t body)
{
	return put(out, at, m->bytes + body, m->size - body);
}

static size_t put_log(uint8_t *out, size_t at, const struct make_log *m, size_t body)
{
	at = put(out, at, &m->header, sizeof(m->header));
	return put(out, at, m->bytes, body);
}

/* Two lanes; the first has the end of the log. */
static size_t put_ring(uint8_t *out, size_t at, const struct make_log *m, uint64_t tail)
{
	static uint8_t head[FUZZ_RING_HEAD], bytes[MAKE_LANE_BYTES];
	struct tare_ring_header *h = (struct tare_ring_header *)(void *)head;
	struct tare_lane lanes[FUZZ_LANES] = { { .tid = 1, .head = m->size, .tail = tail },
		                                   { .tid = 2, .lost = 3, .lost_first = 1000000000, .lost_last = 1000000100 } };
	size_t from = m->size > sizeof(bytes) ? m->size - sizeof(bytes) : 0;

	_Static_assert(sizeof(*h) <= FUZZ_RING_HEAD, "the header fits");
	memcpy(h->magic, TARE_RING_MAGIC, sizeof(h->magic));
	h->lane_bytes = sizeof(bytes);
	h->lane_nr = FUZZ_LANES;
	h->file = m->header;
	tare_encode_copy(bytes, sizeof(bytes), from, m->bytes + from, m->size - from);
	at = put(out, at, head, sizeof(head));
	at = put(out, at, lanes, sizeof(lanes));
	return put(out, at, bytes, m->size < sizeof(bytes) ? m->size : sizeof(bytes));
}

static void fill_tare(struct make_log *t)
{
	t->header.role = TARE_ROLE_TARE;
	MAKE(t, clock, CLOCK, .ticks = 1000000000, .monotonic_ns = 1000000000, .realtime_ns = 1700000000000000000);
	MAKE_TEXT(t, device, DEVICE, "NVIDIA H200", .ordinal = 3, .nvml_index = 3, .total = 1ull << 37,
	          .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	for (uint32_t i = 0; i < 20; i++) {
		MAKE(t, reading, READING, .device = 3, .source = 1, .used = i << 20);
		MAKE_TEXT(t, peer, PEER, "python3", .device = 3, .pid = 431 + i % 2, .list = i);
		MAKE(t, host, HOST, .pid = 431, .anon = i << 12);
	}
	MAKE_TEXT(t, symbol, SYMBOL, "main", .pid = 431, .address = 0x401100);
	MAKE(t, exit, EXIT, .pid = 431, .status = 9);
	MAKE(t, clock, CLOCK, .ticks = 3000000000, .monotonic_ns = 3000000000, .realtime_ns = 1700000002000000000);
}

size_t fuzz_seed(int n, uint8_t *out)
{
	static struct make_log m, t;
	static const struct tare_control control = {
		.magic = TARE_CONTROL_MAGIC, .version = TARE_FORMAT_VERSION, .degraded = 2, .lost_records = 3
	};
	struct fuzz_head head = { .flags = n % 2 ? FUZZ_RESEAL : 0 };
	size_t at = sizeof(head), body;

	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	for (int i = 0; i < 1 + n; i++)
		make_log_program(&m);
	if (n >= 2)
		make_log_every_kind(&m);
	if (n == 4)
		m.header.clock = t.header.clock = TARE_CLOCK_TSC;
	fill_tare(&t);
	/* In two chunks; of the first all was given back, or nobody can tell how large they are. */
	if (n >= 7) {
		head.flags |= FUZZ_RESEAL;
		m.header.has_lanes = 1;
		m.header.chunk_bytes = TARE_CHUNK_BYTES_MIN + (n == 8 ? 16 : 0);
	}
	/* A ring holds what the file lacks, or a chunk. */
	body = n == 3 || n == 8 ? m.records[m.record_nr / 2].position : n == 7 ? 0 : m.size;
	at = put_log(out, at, &m, body);
	head.events = (uint32_t)(at - sizeof(head));
	if (n >= 7)
		at = put_chunk(out, at, &m, body);
	head.chunk = (uint32_t)(at - sizeof(head)) - head.events;
	if (n == 1 || n == 3)
		at = put_ring(out, at, &m, body);
	head.ring = (uint32_t)(at - sizeof(head)) - head.events - head.chunk;
	at = put_log(out, at, &t, t.size);
	head.tare = (uint32_t)(at - sizeof(head)) - head.events - head.chunk - head.ring;
	if (n == 6) {
		head.flags |= FUZZ_CONTROL;
		at = put(out, at, &control, sizeof(control));
	} else {
		at = put(out, at, json, sizeof(json) - 1);
	}
	memcpy(out, &head, sizeof(head));
	make_log_free(&m);
	make_log_free(&t);
	return at;
}

int fuzz_seed_nr(void)
{
	return 9;
}
