/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes segments: reads the records of logs in order, gathers them into blocks, and writes the blocks and the tables
 * into segment files.
 */
#include "compact/make.h"

#include "base/array.h"
#include "base/str.h"
#include "compact/coarse.h"
#include "store/behind.h"
#include "store/store.h"
#include "trace/log.h"
#include "record/schema.h"
#include "record/schema_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SEGMENT_RECORDS = 1 << 20, /* a segment is closed after so many, unless another number is wanted, */
	SEGMENT_BYTES = 64 << 20,  /* or so many bytes of records */
};

struct log {
	const struct tare_process *process;
	struct tare_log_part part;
	const struct tare_schema *schema; /* of its events; NULL: of this version */
	struct tare_gathered events;
	uint64_t wanted; /* records of the log */
	uint64_t seen;   /* records of the log that were written so far, each once */
	bool is_told;    /* the segment that is being written has its LOG block */
	bool is_begun;   /* an earlier segment has its tables */
	struct tare_gathered repeated;
	struct tare_coarse coarse;
};

struct maker {
	const char *folder;
	struct tare_recording *recording;
	struct log *logs; /* by the index of the process; name NULL: not to be compacted */
	int log_nr;
	struct tare_segment_writer *writer; /* NULL: none is begun */
	struct tare_behind *behind;
	uint64_t records, bytes; /* of the segment that is being written */
	struct schema_text {
		uint32_t sum;
		char *text;
		bool is_told; /* as of a log */
	} * schemas;
	size_t schema_nr, schema_cap;
	struct tare_manifest *named;
	uint32_t number; /* of the next segment */
	uint64_t segment_records;
	bool is_begin, drops_events;
	struct tare_compacted *result;
	struct tare_err *err;
	int rc;
};

static void gather(struct tare_gathered *g, const struct tare_log_record *rec)
{
	tare_gathered_add(g, &(struct tare_block_record){ rec->raw, rec->position, (uint32_t)rec->bytes });
}

/* The final name, and the one that a segment has until it is whole. */
static char *segment_path(const struct maker *c, uint32_t number, bool is_whole)
{
	char *path = tare_manifest_path(c->folder, number), *fresh;

	if (is_whole)
		return path;
	fresh = tare_str_format("%s.new", path);
	free(path);
	return fresh;
}

static void begin_segment(struct maker *c)
{
	TARE_FREED_HERE char *path = segment_path(c, c->number, false);

	unlink(path); /* of a compaction that was interrupted */
	c->rc = tare_segment_create(&c->writer, path, c->number, c->err);
	c->records = c->bytes = 0;
	for (int i = 0; i < c->log_nr; i++)
		c->logs[i].is_told = false;
	for (size_t i = 0; i < c->schema_nr; i++)
		c->schemas[i].is_told = false;
}

static uint32_t keep_schema(struct maker *c, const struct tare_schema *schema)
{
	const char *text = tare_schema_text_of(schema);
	uint32_t sum = tare_schema_sum(text, strlen(text));

	for (size_t i = 0; i < c->schema_nr; i++)
		if (c->schemas[i].sum == sum)
			return sum;
	TARE_APPEND(c->schemas, c->schema_nr, c->schema_cap) =
		(struct schema_text){ .sum = sum, .text = tare_xstrdup(text) };
	return sum;
}

static void tell_schema(struct maker *c, uint32_t sum)
{
	for (size_t i = 0; i < c->schema_nr; i++)
		if (c->schemas[i].sum == sum && sum && !c->schemas[i].is_told) {
			tare_segment_add_schema(c->writer, sum, c->schemas[i].text);
			c->schemas[i].is_told = true;
		}
}

/* What is told once of a log is told by its first segment. */
static void forget_sums(struct tare_log_part *part)
{
	part->records = part->unknown = part->repaired = part->lost = 0;
	part->hole_nr = 0;
}

/*
 * What later segments have again, so that each can be read when those before it are gone: whatever other records name, and what
 * a process was.
 */
static bool is_repeated(const struct tare_log_record *rec)
{
	switch (rec->info ? rec->info->kind : 0) {
	case TARE_KIND_STRING:
	case TARE_KIND_STACK:
	case TARE_KIND_LINE:
	case TARE_KIND_LINE_STACK:
	case TARE_KIND_OBJECT:
	case TARE_KIND_DEVICE:
	case TARE_KIND_CLOCK:
	case TARE_KIND_SYMBOL:
	case TARE_KIND_LAUNCH:
	case TARE_KIND_STATUS:
	case TARE_KIND_DEGRADED:
		return true;
	default:
		return false;
	}
}

static void write_gathered(struct maker *c, enum tare_segment_kind kind, int index, const struct tare_schema *schema,
                           const struct tare_gathered *g)
{
	struct tare_layouts layouts;

	tare_schema_layouts(schema, &layouts);
	tare_gathered_write(g, c->writer, kind, (uint32_t)index, &layouts);
}

/* Before the first block of a log in a segment. */
static void tell_log(struct maker *c, int index)
{
	struct log *log = &c->logs[index];

	if (!c->writer)
		begin_segment(c);
	if (c->rc || log->is_told)
		return;
	tare_behind_wait(c->behind);
	tell_schema(c, log->part.header.schema);
	tare_segment_add_log(c->writer, (uint32_t)index, &log->part);
	log->is_told = true;
	if (log->is_begun)
		write_gathered(c, TARE_SEGMENT_REPEATED, index, log->schema, &log->repeated);
	log->is_begun = true;
}

/* While the next one is gathered. */
static void write_full_block(struct maker *c, int index)
{
	struct log *log = &c->logs[index];
	struct tare_layouts layouts;

	tell_log(c, index);
	tare_schema_layouts(log->schema, &layouts);
	if (!c->rc)
		tare_behind_write(c->behind, c->writer, (uint32_t)index, &layouts, &log->events);
}

/* Of each log the last one of this segment. */
static void write_last_blocks(struct maker *c)
{
	tare_behind_wait(c->behind);
	for (int i = 0; i < c->log_nr && !c->rc; i++) {
		struct log *log = &c->logs[i];

		if (log->events.n)
			tell_log(c, i);
		if (log->events.n && !c->rc)
			write_gathered(c, TARE_SEGMENT_EVENTS, i, log->schema, &log->events);
		tare_gathered_clear(&log->events);
	}
}

static void end_segment(struct maker *c)
{
	char *fresh = segment_path(c, c->number, false), *path = segment_path(c, c->number, true);

	write_last_blocks(c);
	/* Once more, so that no damaged place costs a log. */
	for (size_t i = 0; i < c->schema_nr && !c->rc; i++)
		if (c->schemas[i].is_told)
			tare_segment_add_schema(c->writer, c->schemas[i].sum, c->schemas[i].text);
	for (int i = 0; i < c->log_nr && !c->rc; i++)
		if (c->logs[i].is_told) {
			tare_segment_add_log(c->writer, (uint32_t)i, &c->logs[i].part);
			forget_sums(&c->logs[i].part);
		}
	c->rc = tare_segment_close(c->writer, c->err);
	c->writer = NULL;
	if (!c->rc && rename(fresh, path) < 0)
		c->rc = tare_err_set_errno(c->err, errno, "%s", path);
	if (c->rc)
		unlink(fresh);
	if (!c->rc) {
		tare_manifest_add(c->named, c->number++);
	}
	free(fresh);
	free(path);
}

/* Events that are not kept. */
struct dropped {
	uint64_t records, first, last, position;
};

static void drop(struct dropped *d, const struct tare_log_record *rec)
{
	uint64_t stamp = rec->rec.head->stamp;

	if (!d->records++ || stamp < d->first)
		d->first = stamp;
	d->last = stamp > d->last ? stamp : d->last;
	d->position = rec->position;
}

/* As the thread would have told it, had it given them up itself. */
static void tell_dropped(struct log *log, const struct dropped *d, struct tare_gathered *tables)
{
	struct tare_rec_lost lost = { .head = { .seal = tare_seal(d->position),
		                                    .kind = TARE_KIND_LOST,
		                                    .cells = sizeof(lost) / TARE_CELL,
		                                    .stamp = d->last },
		                          .records = d->records,
		                          .first = d->first,
		                          .last = d->last,
		                          .reason = TARE_LOST_CAP };
	struct tare_log_record rec = { .position = d->position, .bytes = sizeof(lost), .raw = (const uint8_t *)&lost };

	_Static_assert(sizeof(lost) % TARE_CELL == 0, "a LOST record fills its cells");
	if (!d->records)
		return;
	gather(tables, &rec);
	gather(&log->events, &rec);
	log->part.lost += d->records;
}

static void describe(struct log *log, const struct tare_log_info *info, const struct tare_log_counts *counts,
                     uint64_t begin, bool is_begun)
{
	struct tare_log_part *part = &log->part;

	part->is_begun = is_begun;
	part->header = info->header;
	part->has_file = info->has_file;
	part->has_ring = info->has_ring;
	part->is_finished = info->is_finished;
	part->is_header_damaged = info->is_header_damaged;
	part->is_ring_damaged = info->is_ring_damaged;
	part->begin = begin;
	part->file_end = info->file_end;
	part->end = info->end;
	part->records = counts->records;
	part->unknown = counts->unknown;
	part->repaired = counts->repaired;
	part->lost = counts->lost;
	tare_recording_stamps(log->process, &part->first_stamp, &part->last_stamp);
}

/* What the log ends with and is no record is one that is being written. */
static void leave_last_hole(struct tare_log_part *part)
{
	const struct tare_log_hole *last = part->hole_nr ? &part->holes[part->hole_nr - 1] : NULL;

	if (last && last->position + last->bytes >= part->end) {
		part->end = part->file_end = last->position;
		part->hole_nr--;
	}
}

/* Tables, places without a record and counts: what a reader's first pass takes. */
static void write_tables(struct maker *c, int index)
{
	struct log *log = &c->logs[index];
	struct tare_gathered tables = { 0 };
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *reader = tare_recording_log(log->process);
	struct dropped dropped = { 0 };
	uint64_t begin;

	tare_log_rewind(reader, 0);
	begin = tare_log_info(reader)->begin;
	while ((step = tare_log_next(reader, &rec)) != TARE_LOG_END) {
		if (step == TARE_LOG_GAP)
			tare_log_part_add_hole(&log->part, rec.position, rec.bytes, rec.gap);
		else if (!rec.info || tare_log_is_table(rec.info->kind))
			gather(&tables, &rec);
		if (step == TARE_LOG_RECORD && (!rec.info || !rec.info->is_event))
			log->seen++;
		if (c->drops_events && step == TARE_LOG_RECORD && rec.info && rec.info->is_event) {
			if (tare_log_is_table(rec.info->kind))
				gather(&log->events, &rec);
			else
				drop(&dropped, &rec);
		}
		if (step == TARE_LOG_RECORD && is_repeated(&rec))
			gather(&log->repeated, &rec);
		if (step == TARE_LOG_RECORD && rec.info && rec.info->kind == TARE_KIND_LANE)
			tare_log_part_add_lane(&log->part, rec.rec.lane->lane, rec.rec.lane->from + rec.rec.lane->bytes);
	}
	describe(log, tare_log_info(reader), tare_log_counts(reader), begin, c->is_begin);
	if (c->is_begin)
		leave_last_hole(&log->part);
	log->schema = tare_log_schema(reader);
	tell_dropped(log, &dropped, &tables);
	log->wanted = log->part.records;
	log->part.header.schema = keep_schema(c, tare_log_schema(reader));
	c->result->records += log->part.records;
	c->result->raw_bytes += log->part.end - begin;
	tell_log(c, index);
	if (!c->rc)
		write_gathered(c, TARE_SEGMENT_TABLES, index, tare_log_schema(reader), &tables);
	tare_gathered_free(&tables);
}

static void write_events(struct maker *c)
{
	const struct tare_process *process;
	const struct tare_log *from;
	struct tare_log_record rec;

	tare_recording_rewind(c->recording);
	while (!c->rc && tare_recording_next_record(c->recording, &process, &from, &rec)) {
		struct log *log = &c->logs[process->index];

		if (!log->part.name)
			continue;
		if (!c->writer)
			begin_segment(c);
		log->schema = tare_log_schema(from);
		gather(&log->events, &rec);
		tare_gathered_record(&log->events, log->events.n - 1)->stamp =
			tare_coarse_stamp(&log->coarse, c->recording, process, rec.rec.head);
		log->seen++;
		c->records++;
		c->bytes += rec.bytes;
		if (tare_gathered_is_full(&log->events))
			write_full_block(c, process->index);
		if (!c->rc && (c->records >= c->segment_records || c->bytes >= SEGMENT_BYTES))
			end_segment(c);
	}
}

/* A file that could not be read a second time would have cost records. */
static void check_is_whole(struct maker *c)
{
	for (int i = 0; i < c->log_nr && !c->rc; i++) {
		const struct log *log = &c->logs[i];

		if (log->part.name && log->seen != log->wanted)
			c->rc = tare_err_set(c->err, TARE_E_IO,
			                     "%s: of its %llu records %llu were read again, so the "
			                     "recording stays as it was; check the disk",
			                     log->process->log, (unsigned long long)log->wanted, (unsigned long long)log->seen);
	}
}

static void sync_names(struct maker *c)
{
	int rc = tare_manifest_sync_folder(c->folder);

	if (rc < 0)
		c->rc = tare_err_set_errno(c->err, -rc, "%s", c->folder);
}

static void remove_begun(struct maker *c)
{
	TARE_FREED_HERE char *fresh = segment_path(c, c->number, false);

	tare_behind_wait(c->behind);
	if (c->writer)
		tare_segment_close(c->writer, NULL);
	unlink(fresh);
}

static void write_segments(struct maker *c)
{
	for (int i = 0; i < c->log_nr && !c->rc; i++)
		if (c->logs[i].part.name)
			write_tables(c, i);
	if (!c->rc && !c->drops_events)
		write_events(c);
	if (!c->rc && c->writer)
		end_segment(c);
	if (!c->rc && !c->drops_events)
		check_is_whole(c);
	if (!c->rc)
		sync_names(c);
	if (c->rc)
		remove_begun(c);
}

/* Stamps may move where neither earlier segments nor later ones have any. */
static struct tare_coarse coarse_between(const struct tare_segment_plan *plan, const struct tare_process *process)
{
	const struct tare_log_info *info = tare_log_info(tare_recording_log(process));
	uint64_t whole = plan->whole ? plan->whole(plan->arg, process->log) : UINT64_MAX;

	return (struct tare_coarse){ .last = info->stored_until,
		                         .until = whole < info->beyond_from ? whole : info->beyond_from };
}

int tare_make_segments(const struct tare_segment_plan *plan, struct tare_manifest *named, struct tare_compacted *out,
                       struct tare_err *err)
{
	struct maker c = { .folder = plan->folder,
		               .recording = plan->recording,
		               .number = plan->number,
		               .segment_records = plan->segment_records ? plan->segment_records : SEGMENT_RECORDS,
		               .is_begin = plan->is_begin,
		               .drops_events = plan->drops_events,
		               .named = named,
		               .result = out,
		               .err = err };

	c.log_nr = tare_recording_process_nr(c.recording);
	c.logs = tare_xcalloc((size_t)c.log_nr, sizeof(*c.logs));
	for (int i = 0; i < c.log_nr; i++) {
		c.logs[i].process = tare_recording_process(c.recording, i);
		if (!plan->names[i])
			continue;
		c.logs[i].part.name = tare_xstrdup(plan->names[i]);
		c.logs[i].coarse = coarse_between(plan, c.logs[i].process);
	}
	c.behind = tare_behind_new();
	write_segments(&c);
	tare_behind_free(c.behind);
	for (int i = 0; i < c.log_nr; i++) {
		tare_log_part_free(&c.logs[i].part);
		tare_gathered_free(&c.logs[i].events);
		tare_gathered_free(&c.logs[i].repeated);
	}
	for (size_t i = 0; i < c.schema_nr; i++)
		free(c.schemas[i].text);
	free(c.schemas);
	free(c.logs);
	return c.rc;
}
