/* SPDX-License-Identifier: Apache-2.0 */
/* Records that a test of the ring writes as the recorder does, and what must have become of each in the log of its process. */
#include "ring_records.h"

#include "make_log.h"
#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/base/scratch.h"
#include "recorder/elf/objects.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "test.h"
#include "record/clock.h"
#include "trace/log.h"

#include <string.h>
#include <unistd.h>

enum { TEXT = 300 };

/* ---- the rest of the recorder, of which the ring needs little ---- */
struct tare_config tare_config;
TARE_TLS struct tare_thread tare_thread;
static uint32_t wiped;
TARE_OF_PROCESS(wiped);

static void fork_parts(void)
{
	tare_ring_forked();
	tare_objects_forked();
	tare_scratch_forked();
}

static void open_parts(void)
{
}

static const struct tare_part_table parts TARE_PARTS_SECTION = { .forked = fork_parts, .opened = open_parts };

/* ---- records ---- */
/* What happened to a record. */
enum fate { NOTHING, BEGUN, ENDED };
struct ring_book book;

/* One record, as the recorder writes one. */
void put(void)
{
	uint32_t number = book.next++, process = book.process;
	struct tare_rec_peer *rec;
	struct tare_put put;

	tare_fork_check();
	CHECK(number < NUMBERS);
	book.fate[number] = BEGUN;
	rec = (struct tare_rec_peer *)(void *)tare_ring_begin(&put, TARE_KIND_PEER, sizeof(*rec) + TEXT);
	/* A child gets none for what its parent began. */
	CHECK(rec || process != book.process);
	if (!rec)
		return;
	rec->head.stamp = tare_clock_ticks();
	rec->pid = process;
	rec->used = number;
	rec->bytes = TEXT;
	memset(rec + 1, 'a' + (int)(number % 26), TEXT);
	tare_ring_end(&put);
	if (process == book.process)
		book.fate[number] = ENDED;
}

static void check_record(const struct tare_log_record *rec, uint8_t *seen)
{
	CHECK_INT(rec->rec.peer->pid, book.process);
	CHECK(rec->rec.peer->used < book.next);
	CHECK_INT(seen[rec->rec.peer->used]++, 0);
	CHECK_INT(rec->text_len, TEXT);
	for (int i = 0; i < TEXT; i++)
		CHECK_INT(rec->text[i], 'a' + (int)(rec->rec.peer->used % 26));
}

/* All that was ended is in this process's log once, whole, and nothing else is. */
void check_log(void)
{
	static uint8_t seen[NUMBERS];
	struct tare_log_record rec;
	enum tare_log_step got;
	struct tare_log *log;
	char name[40];

	memset(seen, 0, sizeof(seen));
	snprintf(name, sizeof(name), "%d-0.events", getpid());
	CHECK_INT(tare_log_open(&log, make_path(tare_config.folder, name), NULL), 0);
	while ((got = tare_log_next(log, &rec)) != TARE_LOG_END) {
		CHECK_INT(got, TARE_LOG_RECORD);
		if (rec.info->kind == TARE_KIND_PEER)
			check_record(&rec, seen);
	}
	CHECK(!tare_log_info(log)->is_ring_damaged);
	CHECK_INT(tare_log_counts(log)->gaps + tare_log_counts(log)->repaired, 0);
	CHECK_INT(tare_log_counts(log)->lost, 0);
	tare_log_close(log);
	for (uint32_t i = 0; i < book.next; i++)
		CHECK(book.fate[i] != ENDED || seen[i]);
}
