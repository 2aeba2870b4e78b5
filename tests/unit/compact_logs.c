/* SPDX-License-Identifier: Apache-2.0 */
#include "compact_logs.h"

#include "base/str.h"
#include "test.h"
#include "trace/log.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct make_log compact_program, compact_tare;

void compact_init(void)
{
	make_log_init(&compact_program, 431, 0);
	make_log_init(&compact_tare, 400, 0);
	compact_tare.header.role = TARE_ROLE_TARE;
	MAKE(&compact_tare, clock, CLOCK, .ticks = 1000000000, .monotonic_ns = 1000000000,
	     .realtime_ns = 1700000000000000000);
	MAKE(&compact_tare, reading, READING, .used = 77, .total = 99);
}

void compact_write(void)
{
	make_log_write(&compact_program, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&compact_tare, make_path(make_dir(), "tare.events"), SIZE_MAX);
}

static void add_names(struct tare_str *out, const struct tare_event *e)
{
	tare_str_addf(out, " api=%s name=%s domain=%s text=%s about=%d device=%d", e->api ? e->api : "-",
	              e->name ? e->name : "-", e->domain ? e->domain : "-", e->text, e->about ? e->about->index : -1,
	              e->device ? e->device->index : -1);
	for (uint32_t i = 0; e->stack && i < e->stack->depth; i++)
		tare_str_addf(out, " %llx", (unsigned long long)e->stack->pcs[i]);
	for (uint32_t i = 0; e->python && i < e->python->depth; i++)
		tare_str_addf(out, " %s:%u", e->python->lines[i].file, e->python->lines[i].line);
}

static void add_process(struct tare_str *out, const struct tare_process *p)
{
	tare_str_addf(out, "process %d %d %u %u %s %s %s %lld %lld %d%d%d %u %lld %llu %llu %llu\n", p->index, p->role,
	              p->pid, p->generation, p->program, p->host, p->log, (long long)p->first_ns, (long long)p->last_ns,
	              p->is_ended, p->is_open, p->is_status_known, p->status, (long long)p->status_ns,
	              (unsigned long long)p->lost, (unsigned long long)p->unfinished, (unsigned long long)p->skipped_bytes);
	for (int i = 0; i < p->device_nr; i++)
		tare_str_addf(out, " device %d %d\n", p->devices[i].ordinal, p->devices[i].device->index);
	for (int i = 0; i < p->object_nr; i++)
		tare_str_addf(out, " object %llx %s\n", (unsigned long long)p->objects[i].begin, p->objects[i].path);
	for (int i = 0; i < p->symbol_nr; i++)
		tare_str_addf(out, " symbol %llx %s\n", (unsigned long long)p->symbols[i].address, p->symbols[i].name);
}

/* The texts that a test compares, until it ends. */
static char *texts[4096];
static size_t text_nr;

/* All that a reader of the recording gets. */
char *compact_all_of(const char *folder)
{
	struct tare_recording *r;
	struct tare_str out = { 0 };
	struct tare_event e;

	CHECK_INT(tare_recording_open(&r, folder, NULL), 0);
	tare_str_addf(&out, "%d %lld %lld\n", tare_recording_is_open(r), (long long)tare_recording_last_ns(r),
	              (long long)tare_recording_started_realtime_ns(r));
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		add_process(&out, tare_recording_process(r, i));
	for (int i = 0; i < tare_recording_device_nr(r); i++)
		tare_str_addf(&out, "device %s\n", tare_recording_device(r, i)->name);
	for (int i = 0; i < tare_recording_note_nr(r); i++)
		tare_str_addf(&out, "note %s\n", tare_recording_note(r, i));
	for (int i = 0; i < tare_recording_snapshot_nr(r); i++)
		tare_str_addf(&out, "snapshot %s\n", tare_recording_snapshot(r, i)->name);
	for (int pass = 0; pass < 2; pass++, tare_recording_rewind(r))
		while (tare_recording_next(r, &e)) {
			const struct tare_kind_info *info = tare_decode_kind((uint16_t)e.kind);

			tare_str_addf(&out, "%lld %lld %lld %d %s", (long long)e.at_ns, (long long)e.begin_ns, (long long)e.end_ns,
			              e.process->index, info->name);
			for (int i = 0; i < info->field_nr; i++)
				tare_str_addf(&out, " %llx", (unsigned long long)tare_decode_value(&info->fields[i], e.rec.head));
			add_names(&out, &e);
			tare_str_add_char(&out, '\n');
		}
	tare_recording_close(r);
	CHECK(text_nr < sizeof(texts) / sizeof(texts[0]));
	texts[text_nr] = tare_str_steal(&out);
	return texts[text_nr++];
}

struct raw {
	uint64_t position, bytes;
	uint8_t *data;
};

static int by_position(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

/* Every record of a log with its bytes, in the order of the log; ends with one of no bytes. */
static struct raw *records_of(const char *path)
{
	struct raw *all = calloc(100000, sizeof(*all));
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *log;
	size_t n = 0;

	CHECK_INT(tare_log_open(&log, path, NULL), 0);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		all[n] = (struct raw){ rec.position, rec.bytes, NULL };
		if (step == TARE_LOG_RECORD) {
			all[n].data = malloc(rec.bytes);
			memcpy(all[n].data, rec.raw, rec.bytes);
		}
		n++;
	}
	tare_log_close(log);
	qsort(all, n, sizeof(*all), by_position);
	return all;
}

static void free_records(struct raw *all)
{
	for (struct raw *r = all; r->bytes; r++)
		free(r->data);
	free(all);
}

static void check_same_records(const struct raw *a, const struct raw *b)
{
	for (; a->bytes || b->bytes; a++, b++) {
		CHECK_INT(b->position, a->position);
		CHECK_INT(b->bytes, a->bytes);
		CHECK(!a->data == !b->data);
		CHECK(!a->data || !memcmp(a->data, b->data, a->bytes));
	}
}

bool compact_is_there(const char *name)
{
	return access(make_path(make_dir(), name), F_OK) == 0;
}

struct tare_compacted compact_run(bool is_forced)
{
	struct tare_compact_options o = { .is_forced = is_forced };
	struct tare_compacted done;
	struct tare_err err = { 0 };

	if (tare_compact(make_dir(), &o, &done, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return done;
}

/* The reader says the same, every record has the same bytes, and the logs are gone. */
void compact_check(bool is_forced)
{
	char *before = compact_all_of(make_dir()), *after;
	struct raw *own = records_of(make_path(make_dir(), "431-0.events"));
	struct raw *tares = records_of(make_path(make_dir(), "tare.events"));
	struct raw *own_after, *tares_after;

	CHECK(!compact_run(is_forced).was_done);
	CHECK(!compact_is_there("431-0.events"));
	CHECK(!compact_is_there("431-0.ring"));
	CHECK(!compact_is_there("tare.events"));
	CHECK(compact_is_there("000001.segment"));
	after = compact_all_of(make_dir());
	CHECK_STR(after, before);
	own_after = records_of(make_path(make_dir(), "431-0.events"));
	tares_after = records_of(make_path(make_dir(), "tare.events"));
	check_same_records(own, own_after);
	check_same_records(tares, tares_after);
	free_records(own);
	free_records(own_after);
	free_records(tares);
	free_records(tares_after);
	CHECK(compact_run(is_forced).was_done);
	make_log_free(&compact_program);
	make_log_free(&compact_tare);
}

void compact_make_threads(void)
{
	for (uint64_t i = 0; i < 12; i++) {
		MAKE(&compact_program, lane, LANE, .lane = i % 3, .bytes = 40 * 48, .from = i / 3 * 40 * 48);
		for (uint64_t k = 0; k < 40; k++) {
			compact_program.stamp = 2000000000 + i / 3 * 4000 + k * 100 + i % 3 * (k % 2);
			MAKE(&compact_program, tensor, TENSOR, .block = 4096 + i, .bytes = 512, .tid = (uint32_t)(431 + i % 3));
		}
	}
}

void compact_make_backwards(bool has_damage)
{
	for (uint64_t i = 0; i < 40000; i++) { /* more than one block */
		compact_program.stamp = 2000000000 + i * 50 - i % 7 * 120;
		if (has_damage && (i == 100 || i == 30000))
			compact_program.stamp = UINT64_MAX / 2; /* damage */
		MAKE(&compact_program, event, EVENT, .tid = 431, .ticks = i, .handle = i);
	}
}
