/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as a segment of a recording, which is opened and read in both orders; and any bytes as records,
 * which must come back from a block byte for byte. The first byte says which, and whether checksums are made right first,
 * so that damage gets past them.
 */
#include "seeds.h"

#include "../unit/make_log.h"
#include "cmd/dump_print.h"
#include "compact/compact.h"
#include "store/manifest.h"
#include "store/store.h"
#include "trace/log.h"
#include "trace/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AS_RECORDS = 2 }; /* a flag beside FUZZ_RESEAL */

static const struct tare_kind_info *own_kind(const void *arg, uint16_t kind)
{
	(void)arg;
	return tare_decode_kind(kind);
}

static const struct tare_layouts layouts = { own_kind, NULL };

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		abort();
}

/* Every block where its predecessor's length says, while that makes sense, and the trailer. */
static void reseal(uint8_t *bytes, size_t size)
{
	size_t at = sizeof(struct tare_segment_header);
	struct tare_segment_block head;
	struct tare_segment_trailer t;

	while (at + sizeof(head) <= size) {
		size_t left = size - at - sizeof(head);

		memcpy(&head, bytes + at, sizeof(head));
		if (head.magic != TARE_SEGMENT_BLOCK || head.bytes > left)
			break;
		head.sum = tare_checksum(bytes + at + sizeof(head), head.bytes);
		head.head_sum = tare_checksum(&head, offsetof(struct tare_segment_block, head_sum));
		memcpy(bytes + at, &head, sizeof(head));
		at = (at + sizeof(head) + head.bytes + 15) / 16 * 16;
	}
	if (size < sizeof(t))
		return;
	memcpy(&t, bytes + size - sizeof(t), sizeof(t));
	t.sum = tare_checksum(&t, offsetof(struct tare_segment_trailer, sum));
	memcpy(bytes + size - sizeof(t), &t, sizeof(t));
}

static void print(const char *path)
{
	struct tare_emit e;
	struct tare_dump d = { .e = &e, .name = "log" };
	struct tare_log_record rec;
	struct tare_str out = { 0 };
	enum tare_log_step step;
	struct tare_log *log;

	if (!path[0] || tare_log_open(&log, path, NULL))
		return;
	tare_emit_begin(&e, TARE_EMIT_JSON_LINES, &out);
	d.info = tare_log_info(log);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		(step == TARE_LOG_GAP ? tare_dump_gap : tare_dump_record)(&d, &rec);
		tare_str_cut(&out, 0);
	}
	tare_log_close(log);
	tare_str_free(&out);
}

static void read_segment(const uint8_t *bytes, size_t size, bool is_resealed)
{
	static const char manifest[] = "{\"segments\": [{\"file\": \"000001.segment\"}]}";
	static uint8_t copy[FUZZ_MAX];
	struct tare_recording *r;
	struct tare_event e;

	memcpy(copy, bytes, size);
	if (is_resealed)
		reseal(copy, size);
	write_file(make_path(make_dir(), "000001.segment"), copy, size);
	write_file(make_path(make_dir(), TARE_STORE_MANIFEST), (const uint8_t *)manifest, sizeof(manifest) - 1);
	if (tare_recording_open(&r, make_dir(), NULL))
		return;
	while (tare_recording_next(r, &e))
		if (strlen(e.text) > e.text_len)
			abort();
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		print(tare_recording_process(r, i)->log);
	tare_recording_close(r);
}

static void check_comes_back(const uint8_t *bytes, size_t size)
{
	static uint8_t copy[FUZZ_MAX] __attribute__((aligned(16)));
	static struct tare_block_record records[FUZZ_MAX / TARE_CELL];
	struct tare_pack pack = { 0 };
	struct tare_record_block block = { 0 };
	size_t n = 0, at = 0;

	memcpy(copy, bytes, size);
	while (at + sizeof(struct tare_record) <= size && n < TARE_BLOCK_RECORDS) {
		struct tare_record *head = (struct tare_record *)(void *)(copy + at);
		size_t length = (size_t)(head->cells ? head->cells : 1) * TARE_CELL;

		if (at + length > size)
			break;
		head->seal = tare_seal(at);
		records[n++] = (struct tare_block_record){ copy + at, at, (uint32_t)length };
		at += length;
	}
	if (n == 0)
		return;
	tare_block_encode(&pack, &layouts, records, n);
	if (!tare_block_decode(&block, &layouts, pack.data, pack.len, TARE_BLOCK_POSITIONS) || block.n != n)
		abort();
	for (size_t i = 0; i < n; i++)
		if (block.records[i].position != records[i].position || block.records[i].bytes != records[i].bytes ||
		    memcmp(block.records[i].data, records[i].data, records[i].bytes) != 0)
			abort();
	tare_block_free(&block);
	tare_pack_free(&pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > FUZZ_MAX)
		return 0;
	if (data[0] & AS_RECORDS)
		check_comes_back(data + 1, size - 1);
	else
		read_segment(data + 1, size - 1, data[0] & FUZZ_RESEAL);
	return 0;
}

static void make(struct make_log *m, int n)
{
	make_log_init(m, 431, 0);
	if (n & 1)
		make_log_program(m);
	for (int i = 0; n & 2 && i < 5; i++)
		make_log_every_kind(m);
	for (uint64_t i = 0; n & 4 && i < 400; i++)
		MAKE(m, tensor, TENSOR, .block = 4096 * (i / 2 % 60),
		     .bytes = i % 2 ? -512 * (int64_t)(i % 60) : 512 * (int64_t)(i % 60), .tid = (uint32_t)(431 + i % 3),
		     .python = (uint32_t)(i % 9));
}

static size_t seed_segment(struct make_log *m, uint8_t *out)
{
	const char *folder = make_dir();
	struct tare_compact_options o = { 0 };
	struct tare_compacted done;
	char *segment = tare_manifest_path(folder, 1);
	ssize_t n;
	int fd;

	unlink(make_path(folder, TARE_STORE_MANIFEST));
	unlink(segment);
	make_log_write(m, make_path(folder, "431-0.events"), SIZE_MAX);
	if (tare_compact(folder, &o, &done, NULL))
		abort();
	fd = open(segment, O_RDONLY | O_CLOEXEC);
	n = read(fd, out, FUZZ_MAX - 1);
	close(fd);
	free(segment);
	return n > 0 ? (size_t)n : 0;
}

/* Segments of one or several of three kinds of logs, then those logs as they are. */
size_t fuzz_seed(int n, uint8_t *out)
{
	struct make_log m;
	size_t size;

	make(&m, n / 2 + 1);
	if (n % 2) {
		out[0] = AS_RECORDS;
		size = m.size < FUZZ_MAX - 1 ? m.size : FUZZ_MAX - 1;
		memcpy(out + 1, m.bytes, size);
	} else {
		out[0] = FUZZ_RESEAL;
		size = seed_segment(&m, out + 1);
	}
	make_log_free(&m);
	return 1 + size;
}

int fuzz_seed_nr(void)
{
	return 14;
}
