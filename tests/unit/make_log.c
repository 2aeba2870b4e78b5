/* SPDX-License-Identifier: Apache-2.0 */
#include "make_log.h"

#include "record/chunk.h"
#include "record/decode.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

void make_log_init(struct make_log *m, uint32_t pid, uint32_t generation)
{
	memset(m, 0, sizeof(*m));
	tare_encode_header(&m->header, TARE_ROLE_PROGRAM, TARE_CLOCK_MONOTONIC_NS);
	/* Of this version's schema, which its sum says: the text may be missing. */
	m->header.header_bytes = TARE_HEADER_BYTES;
	m->header.pid = pid;
	m->header.generation = generation;
	m->header.ppid = 1;
	m->header.first_stamp = 1000000000;
	m->header.first_monotonic_ns = 1000000000;
	m->header.first_realtime_ns = 1700000000000000000;
	memset(m->header.boot_id, 7, sizeof(m->header.boot_id));
	strcpy(m->header.host, "testhost");
	strcpy(m->header.program, "program");
	m->stamp = m->header.first_stamp;
}

void make_log_free(struct make_log *m)
{
	free(m->bytes);
	free(m->records);
	m->bytes = NULL;
	m->records = NULL;
}

size_t make_log_add(struct make_log *m, const void *rec, size_t fixed, const void *tail, size_t tail_size)
{
	uint64_t size = tare_encode_size(fixed, tail_size);
	size_t position = m->size;
	struct tare_record *head;

	if (m->size + size > m->cap) {
		m->cap = (m->size + size) * 2;
		m->bytes = realloc(m->bytes, m->cap);
		if (!m->bytes)
			die("realloc");
	}
	memset(m->bytes + position, 0, size);
	/* A "ring" that is larger than any test's log. */
	tare_encode(m->bytes, 1ull << 40, position, size, rec, fixed, tail, tail_size);
	head = (struct tare_record *)(void *)(m->bytes + position);
	if (head->stamp == 0)
		head->stamp = m->stamp++;
	m->size += size;
	if (m->record_nr == m->record_cap) {
		m->record_cap = m->record_cap * 2 + 64;
		m->records = realloc(m->records, (size_t)m->record_cap * sizeof(*m->records));
		if (!m->records)
			die("realloc");
	}
	m->records[m->record_nr].position = position;
	m->records[m->record_nr++].size = size;
	return position;
}

void make_log_gpu(struct make_log *m)
{
	MAKE_TEXT(m, device, DEVICE, "NVIDIA H200", .ordinal = 0, .total = 150754820096, .uuid_high = 1, .uuid_low = 2);
}

void make_log_call(struct make_log *m, uint64_t at, uint64_t ns, uint64_t handle, uint64_t size, bool is_end)
{
	m->stamp = m->header.first_stamp + at;
	MAKE(m, event, EVENT, .tid = 10, .effect = is_end ? TARE_EFFECT_DEL : TARE_EFFECT_NEW, .class = TARE_CLASS_DEVICE,
	     .device = 0, .api = is_end ? 3 : 2, .handle = handle, .asked = size, .granted = size, .ticks = ns,
	     .before = TARE_NOT_KNOWN, .after = TARE_NOT_KNOWN);
}

void make_log_every_kind(struct make_log *m)
{
	static const char text[] = "a text of some length";
	static const uint64_t pcs[] = { 0x1000, 0x2000, 0x3000 };

	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);
		uint8_t rec[512] = { 0 };
		struct tare_record *head = (struct tare_record *)(void *)rec;
		uint32_t length = 0;

		if (!info || kind == TARE_KIND_PAD)
			continue; /* which no reader hands on */
		for (size_t i = sizeof(*head); i < info->fixed; i++)
			rec[i] = (uint8_t)(i * 7 + kind);
		head->kind = kind;
		if (info->tail == TARE_TAIL_TEXT)
			length = sizeof(text) - 1;
		else if (info->tail == TARE_TAIL_PCS)
			length = 3;
		if (length)
			memcpy(rec + info->fixed - 4, &length, 4);
		make_log_add(m, rec, info->fixed, info->tail == TARE_TAIL_PCS ? (const void *)pcs : text,
		             info->tail == TARE_TAIL_PCS ? sizeof(pcs) : length);
	}
}

void make_log_program(struct make_log *m)
{
	static const uint64_t pcs[] = { 0x401100, 0x401200 };
	struct tare_rec_stack stack = {
		.head = { .kind = TARE_KIND_STACK },
		.id = 1,
		.depth = 2,
	};

	MAKE_TEXT(m, string, STRING, "cuInit", .id = 1);
	MAKE_TEXT(m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(m, string, STRING, "cuMemFree_v2", .id = 3);
	MAKE_TEXT(m, device, DEVICE, "NVIDIA H200", .ordinal = 0, .flags = TARE_DEVICE_NVML, .total = 150754820096,
	          .reserved = 644874240, .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00, .nvml_index = 3,
	          .driver_version = 13000);
	MAKE_TEXT(m, object, OBJECT, "/usr/bin/program", .base = 0x400000, .begin = 0x401000, .end = 0x402000);
	make_log_add(m, &stack, sizeof(stack), pcs, sizeof(pcs));
	MAKE(m, event, EVENT, .tid = 10, .effect = TARE_EFFECT_NEW, .class = TARE_CLASS_DRIVER, .device = -1,
	     .flags = TARE_EVENT_WEIGHED, .api = 1, .before = 100, .after = 200, .ticks = 50);
	MAKE(m, event, EVENT, .tid = 10, .effect = TARE_EFFECT_NEW, .class = TARE_CLASS_DEVICE, .api = 2, .stack = 1,
	     .handle = 0x7f0000000000, .asked = 1 << 20, .granted = 2 << 20, .ticks = 20);
	MAKE(m, event, EVENT, .tid = 11, .effect = TARE_EFFECT_DEL, .class = TARE_CLASS_DEVICE, .api = 3,
	     .handle = 0x7f0000000000, .ticks = 10);
	MAKE(m, end, END, .tid = 10, .how = TARE_HOW_EXIT);
}

void make_log_write(const struct make_log *m, const char *path, size_t size)
{
	FILE *f = fopen(path, "wb");
	size_t head = size < sizeof(m->header) ? size : sizeof(m->header);
	size_t body = size - head < m->size ? size - head : m->size;

	if (!f || fwrite(&m->header, 1, head, f) != head || (body > 0 && fwrite(m->bytes, 1, body, f) != body) || fclose(f))
		die(path);
}

static void write_part(const char *path, const struct tare_chunk_part *part, const void *bytes)
{
	char name[600];
	FILE *f;

	snprintf(name, sizeof(name), part->chunk ? "%s.%u" : "%s", path, (unsigned)part->chunk);
	f = fopen(name, part->chunk ? "wb" : "ab");
	if (!f || fwrite(bytes, 1, part->size, f) != part->size || fclose(f))
		die(name);
}

void make_log_write_chunks(const struct make_log *m, const char *path)
{
	const struct tare_chunks chunks = { m->header.header_bytes, m->header.chunk_bytes };
	struct tare_chunk_part part;

	make_log_write(m, path, sizeof(m->header));
	for (uint64_t at = 0; at < m->size; at += part.size) {
		part = tare_chunk_part(&chunks, at, m->size - at);
		write_part(path, &part, m->bytes + at);
	}
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		die(path);
}

void make_log_write_schema(const struct make_log *m, const char *path, const char *text)
{
	size_t room = (strlen(text) + TARE_CELL) / TARE_CELL * TARE_CELL;
	struct tare_file_header header = m->header;
	FILE *f = fopen(path, "wb");
	char *padded = calloc(1, room);

	if (!f || !padded)
		die(path);
	memcpy(padded, text, strlen(text));
	header.header_bytes = (uint32_t)(TARE_HEADER_BYTES + room);
	if (header.schema == tare_schema_sum(tare_schema_text, sizeof(tare_schema_text) - 1))
		header.schema = tare_schema_sum(text, strlen(text));
	if (fwrite(&header, 1, sizeof(header), f) != sizeof(header) || fwrite(padded, 1, room, f) != room ||
	    fwrite(m->bytes, 1, m->size, f) != m->size || fclose(f))
		die(path);
	free(padded);
}

void make_log_write_ring(const struct make_log *m, const char *path, uint64_t tail, bool is_finished)
{
	size_t from = m->size > MAKE_LANE_BYTES ? m->size - MAKE_LANE_BYTES : 0;
	uint8_t *file = calloc(1, TARE_RING_LANES_AT + MAKE_LANE_BYTES);
	struct tare_ring_header *h = (struct tare_ring_header *)(void *)file;
	struct tare_lane *lane = (struct tare_lane *)(void *)(file + TARE_RING_HEADER_BYTES);

	if (!file)
		die(path);
	memcpy(h->magic, TARE_RING_MAGIC, sizeof(h->magic));
	h->version = TARE_FORMAT_VERSION;
	h->lane_bytes = MAKE_LANE_BYTES;
	h->lane_nr = 1;
	h->log_end = tail;
	h->finished = is_finished;
	h->file = m->header;
	lane->head = m->size;
	lane->tail = tail;
	if (m->size > from)
		tare_encode_copy(file + TARE_RING_LANES_AT, MAKE_LANE_BYTES, from, m->bytes + from, m->size - from);
	write_file(path, file, TARE_RING_LANES_AT + MAKE_LANE_BYTES);
	free(file);
}

void make_log_write_block(const struct make_log *m, const char *path, uint64_t drained, size_t size)
{
	size_t whole = sizeof(m->header) + sizeof(struct tare_rec_lane) + drained;
	struct tare_file_header header = m->header;
	struct tare_rec_lane lane = {
		.head = { .seal = tare_seal(0), .kind = TARE_KIND_LANE, .cells = sizeof(lane) / TARE_CELL },
		.bytes = (uint32_t)drained
	};
	uint8_t *file = calloc(1, whole);

	if (!file)
		die(path);
	header.has_lanes = 1;
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &lane, sizeof(lane));
	if (drained)
		memcpy(file + sizeof(header) + sizeof(lane), m->bytes, drained);
	for (int i = 0; i < m->record_nr && m->records[i].position < drained; i++) {
		uint64_t position = sizeof(lane) + m->records[i].position;
		uint32_t seal = tare_seal(position);

		memcpy(file + sizeof(header) + position, &seal, sizeof(seal));
	}
	write_file(path, file, size < whole ? size : whole);
	free(file);
}

static char dir[256];
static bool has_dir;
static pid_t owner;

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void drop_dir(void)
{
	if (getpid() == owner)
		nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	if (!has_dir) {
		snprintf(dir, sizeof(dir), "%.200s/tare-log-XXXXXX", tmp ? tmp : "/tmp");
		if (!mkdtemp(dir))
			die(dir);
		atexit(drop_dir);
	}
	has_dir = true;
	owner = getpid();
	return dir;
}

const char *make_path(const char *folder, const char *name)
{
	static char paths[4][512];
	static unsigned n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}
