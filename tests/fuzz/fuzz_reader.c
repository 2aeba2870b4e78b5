/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as a recording. It is opened, every record is read in both orders, named
 * and printed; its ledgers are made and shown in every way. Whatever the bytes are, nothing may
 * crash, hang, leak or compute with what does not fit.
 */
#include "seeds.h"

#include "../unit/make_log.h"
#include "cmd/dump_print.h"
#include "ledger/build.h"
#include "record/chunk.h"
#include "trace/recording.h"
#include "view/by.h"
#include "view/ledger_view.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
	const char *path = make_path(make_dir(), name);
	int fd;

	unlink(path);
	if (size == 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		abort();
}

/* Its parts, each where it belongs; between them the file has a hole. */
static void write_ring(const uint8_t *bytes, size_t size)
{
	static const off_t at[] = { 0, TARE_RING_HEADER_BYTES, TARE_RING_LANES_AT };
	static const size_t most[] = { FUZZ_RING_HEAD, FUZZ_LANES * sizeof(struct tare_lane), SIZE_MAX };
	const char *path = make_path(make_dir(), "431-0.ring");
	int fd;

	unlink(path);
	if (size == 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	for (int i = 0; i < 3 && size > 0; i++) {
		size_t n = size < most[i] ? size : most[i];

		if (pwrite(fd, bytes, n, at[i]) != (ssize_t)n)
			abort();
		bytes += n;
		size -= n;
	}
	close(fd);
}

/* Every record as its predecessor's length says where it begins, while that makes sense; the first at `position`. */
static void reseal(uint8_t *log, size_t size, size_t header_bytes, uint64_t position)
{
	for (size_t at = header_bytes; at + sizeof(struct tare_record) <= size;) {
		uint32_t seal = tare_seal(position + at - header_bytes);
		uint16_t cells;

		memcpy(log + at, &seal, sizeof(seal));
		memcpy(&cells, log + at + offsetof(struct tare_record, cells), sizeof(cells));
		at += cells > 0 ? (size_t)cells * TARE_CELL : TARE_CELL;
	}
}

static uint64_t read_events(struct tare_recording *r)
{
	int64_t last = INT64_MIN;
	uint64_t sum = 0;
	struct tare_event e;

	while (tare_recording_next(r, &e)) {
		const struct tare_kind_info *info = tare_decode_kind((uint16_t)e.kind);

		if (e.at_ns < last || !info || strlen(e.text) > e.text_len)
			abort();
		last = e.at_ns;
		for (int i = 0; i < info->field_nr; i++)
			sum += tare_decode_value(&info->fields[i], e.rec.head);
		sum += e.api ? strlen(e.api) : 0;
		sum += e.name ? strlen(e.name) : 0;
		sum += e.device ? strlen(e.device->name) : 0;
		sum += e.about ? strlen(e.about->program) : 0;
		for (uint32_t i = 0; e.stack && i < e.stack->depth; i++) {
			const struct tare_object *o = tare_process_object(e.process, e.stack, e.stack->pcs[i]);
			const struct tare_symbol *s = tare_process_symbol(e.process, e.stack, e.stack->pcs[i]);

			sum += (o ? strlen(o->path) : 0) + (s ? strlen(s->name) : 0);
		}
	}
	return sum;
}

static void print(const char *path)
{
	static const enum tare_emit_format formats[] = { TARE_EMIT_JSON_LINES, TARE_EMIT_TEXT };
	struct tare_emit e;
	struct tare_dump d = { .e = &e, .name = "log" };
	struct tare_log_record rec;
	struct tare_str out = { 0 };
	enum tare_log_step step;
	struct tare_log *log;

	if (!path[0] || tare_log_open(&log, path, NULL))
		return;
	for (int i = 0; i < 2; i++, tare_log_rewind(log, 0)) {
		tare_emit_begin(&e, formats[i], &out);
		d.info = tare_log_info(log);
		d.has_offsets = !i;
		tare_dump_header(&d);
		while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
			(step == TARE_LOG_GAP ? tare_dump_gap : tare_dump_record)(&d, &rec);
			tare_str_cut(&out, 0);
		}
	}
	tare_log_close(log);
	tare_str_free(&out);
}

static void show(const struct tare_ledger *const *ledgers, int n)
{
	struct tare_str out = { 0 };
	struct tare_emit e;

	for (int format = TARE_EMIT_TEXT; format < TARE_EMIT_FORMAT_NR; format++) {
		tare_emit_begin(&e, (enum tare_emit_format)format, &out);
		if (tare_emit_is_for_people(&e))
			tare_ledger_text(&e, ledgers, n);
		else if (tare_emit_has_members(&e))
			tare_ledger_json(&e, ledgers[0]);
		else
			tare_ledger_csv(&e, ledgers, n);
		for (int by = 0; by < TARE_BY_NR; by++)
			tare_by_show(&e, &(struct tare_by_ask){ (enum tare_by)by, ledgers, n, -1, 0 });
		tare_emit_end(&e);
	}
	tare_str_free(&out);
}

static void make_ledgers(struct tare_recording *r)
{
	static const struct tare_instant at[] = { { .moment = TARE_MOMENT_PEAK, .text = "peak" },
		                                      { .moment = TARE_MOMENT_END, .text = "end" },
		                                      { .kind = TARE_INSTANT_TIME, .t_ns = 1000000, .text = "1ms" } };
	enum { NR = sizeof(at) / sizeof(at[0]) };
	const struct tare_ledger *shown[NR];
	struct tare_ledger ledgers[NR];

	tare_ledger_of_recording(r, NULL, at, NR, ledgers);
	for (int i = 0; i < NR; i++)
		shown[i] = &ledgers[i];
	show(shown, NR);
	for (int i = 0; i < NR; i++)
		tare_ledger_free(&ledgers[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[FUZZ_MAX];
	uint8_t *at = bytes;
	struct tare_recording *r;
	struct fuzz_head head;
	size_t left;

	if (size < sizeof(head) || size > FUZZ_MAX)
		return 0;
	memcpy(&head, data, sizeof(head));
	left = size - sizeof(head);
	memcpy(bytes, data + sizeof(head), left);
	head.events = head.events < left ? head.events : (uint32_t)left;
	left -= head.events;
	head.chunk = head.chunk < left ? head.chunk : (uint32_t)left;
	left -= head.chunk;
	head.ring = head.ring < left ? head.ring : (uint32_t)left;
	left -= head.ring;
	head.tare = head.tare < left ? head.tare : (uint32_t)left;
	left -= head.tare;
	if (head.flags & FUZZ_RESEAL) {
		reseal(at, head.events, TARE_HEADER_BYTES, 0);
		reseal(at + head.events, head.chunk, 0, TARE_CHUNK_BYTES_MIN);
		reseal(at + head.events + head.chunk, head.ring, FUZZ_RING_HEAD + FUZZ_LANES * sizeof(struct tare_lane), 0);
		reseal(at + head.events + head.chunk + head.ring, head.tare, TARE_HEADER_BYTES, 0);
	}
	write_file("431-0.events", at, head.events);
	at += head.events;
	write_file("431-0.events.1", at, head.chunk);
	at += head.chunk;
	write_ring(at, head.ring);
	at += head.ring;
	write_file("tare.events", at, head.tare);
	at += head.tare;
	write_file("recording.json", at, head.flags & FUZZ_CONTROL ? 0 : left);
	write_file("control", at, head.flags & FUZZ_CONTROL ? left : 0);
	if (tare_recording_open(&r, make_dir(), NULL))
		return 0;
	read_events(r);
	make_ledgers(r);
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		print(tare_recording_process(r, i)->log);
	tare_recording_close(r);
	return 0;
}
