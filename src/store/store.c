/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the segments of a recording, and hands out the blocks of a log in the order of its positions; damaged blocks
 * are told.
 */
#include "store/store.h"

#include "base/array.h"
#include "base/str.h"
#include "store/manifest.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEMA_MAX = 1 << 20 };

static void add_fault(struct tare_store *s, const char *text)
{
	TARE_APPEND(s->faults, s->fault_nr, s->fault_cap) = tare_xstrdup(text);
}

const struct tare_stored_log *tare_store_find(const struct tare_store *s, const char *name)
{
	for (size_t i = 0; i < s->log_nr; i++)
		if (!strcmp(s->logs[i].part.name, name))
			return &s->logs[i];
	return NULL;
}

const char *tare_store_schema(const struct tare_store *s, uint32_t sum)
{
	for (size_t i = 0; i < s->schema_nr; i++)
		if (s->schemas[i].sum == sum)
			return s->schemas[i].text;
	return NULL;
}

static void add_schema(struct tare_store *s, uint32_t sum, const struct tare_pack *text)
{
	TARE_APPEND(s->schemas, s->schema_nr, s->schema_cap) =
		(struct tare_stored_schema){ sum, tare_xstrndup((const char *)text->data, text->len) };
}

/* Each is there twice, too. */
static void find_schemas(struct tare_store *s, const struct tare_segment_file *segment, struct tare_pack *bytes)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack text = { 0 };

	for (size_t i = 0; i < segment->entry_nr; i++) {
		const struct tare_segment_block *head = &segment->entries[i].head;
		struct tare_unpack in;

		if (head->kind != TARE_SEGMENT_SCHEMA || tare_store_schema(s, head->log) ||
		    !tare_segment_read(segment, i, bytes))
			continue;
		in = (struct tare_unpack){ bytes->data, bytes->data + bytes->len, false };
		if (tare_unpack_zipped(&in, &text, SCHEMA_MAX))
			add_schema(s, head->log, &text);
	}
}

/* The number of the log that a part is of; the first part of a log makes it one. */
static size_t log_of(struct tare_store *s, struct tare_log_part *part)
{
	const struct tare_stored_log *known = tare_store_find(s, part->name);

	if (known) {
		tare_log_part_join(&s->logs[known - s->logs].part, part);
		tare_log_part_free(part);
		return (size_t)(known - s->logs);
	}
	TARE_APPEND(s->logs, s->log_nr, s->log_cap) =
		(struct tare_stored_log){ .part = *part, .first = (uint32_t)s->segment_nr };
	return s->log_nr - 1;
}

static void add_block(struct tare_stored_block **blocks, size_t *nr, size_t *cap, uint32_t segment, size_t entry)
{
	TARE_APPEND(*blocks, *nr, *cap) = (struct tare_stored_block){ segment, (uint32_t)entry };
}

/* Which of the logs a number of this segment stands for. */
struct numbers {
	uint32_t *number;
	size_t *log;
	size_t nr, number_cap, log_cap;
};

static bool find_number(const struct numbers *n, uint32_t number, size_t *log)
{
	for (size_t i = n->nr; i-- > 0;)
		if (n->number[i] == number) {
			*log = n->log[i];
			return true;
		}
	return false;
}

static void add_number(struct numbers *n, uint32_t number, size_t log)
{
	n->number = tare_array_reserve(n->number, &n->number_cap, n->nr + 1, sizeof(uint32_t));
	n->number[n->nr] = number;
	TARE_APPEND(n->log, n->nr, n->log_cap) = log;
}

/* A segment tells of each log twice, so that one damaged place does not cost a log. */
static void find_logs(struct tare_store *s, const struct tare_segment_file *segment, struct numbers *numbers,
                      struct tare_pack *bytes)
{
	for (size_t i = 0; i < segment->entry_nr; i++) {
		const struct tare_segment_block *head = &segment->entries[i].head;
		struct tare_log_part part;
		size_t log;

		if (head->kind == TARE_SEGMENT_LOG && !find_number(numbers, head->log, &log) &&
		    tare_segment_read(segment, i, bytes) && tare_log_part_decode(&part, bytes->data, bytes->len))
			add_number(numbers, head->log, log_of(s, &part));
	}
}

/* Repeated tables are read where those before them are gone. */
static bool is_read(const struct tare_stored_log *log, const struct tare_segment_block *head, uint32_t segment)
{
	switch (head->kind) {
	case TARE_SEGMENT_TABLES:
	case TARE_SEGMENT_EVENTS:
		return true;
	case TARE_SEGMENT_REPEATED:
		return log->first == segment;
	default:
		return false;
	}
}

static bool is_of_records(const struct tare_segment_block *head)
{
	return head->kind == TARE_SEGMENT_TABLES || head->kind == TARE_SEGMENT_EVENTS;
}

/* Returns how many records are of logs that the segment does not tell of, as both places that did are damaged. */
static uint64_t add_blocks(struct tare_store *s, uint32_t number, const struct numbers *numbers)
{
	const struct tare_segment_file *segment = &s->segments[number];
	uint64_t of_nobody = 0;

	for (size_t i = 0; i < segment->entry_nr; i++) {
		const struct tare_segment_block *head = &segment->entries[i].head;
		struct tare_stored_log *log;
		size_t n;

		if (!find_number(numbers, head->log, &n)) {
			of_nobody += is_of_records(head) ? head->records : 0;
			continue;
		}
		if (!is_read(&s->logs[n], head, number))
			continue;
		log = &s->logs[n];
		if (head->kind != TARE_SEGMENT_EVENTS)
			add_block(&log->tables, &log->table_nr, &log->table_cap, number, i);
		else
			add_block(&log->events, &log->event_nr, &log->event_cap, number, i);
	}
	return of_nobody;
}

static void note_hole(struct tare_store *s, size_t before, size_t behind)
{
	TARE_APPEND(s->holes, s->hole_nr, s->hole_cap) = (struct tare_store_hole){ before, behind };
}

static void note_lost_bytes(struct tare_store *s, const struct tare_segment_file *segment)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_str_addf(&text, "%s is damaged: in %llu of its bytes no records were found%s", segment->path,
	              (unsigned long long)segment->damaged_bytes, segment->is_cut ? ", and its end is missing" : "");
	add_fault(s, text.data);
}

static void note_records_of_nobody(struct tare_store *s, const struct tare_segment_file *segment, uint64_t records)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_str_addf(&text,
	              "%s is damaged: it does not say whose %llu of its records are, so they are "
	              "not read",
	              segment->path, (unsigned long long)records);
	add_fault(s, text.data);
}

static void add_segment(struct tare_store *s, const struct tare_segment_file *segment)
{
	struct numbers numbers = { 0 };
	TARE_FREED_BY(tare_pack_free) struct tare_pack bytes = { 0 };
	bool is_damaged = segment->damaged_bytes || segment->is_cut;
	uint64_t of_nobody;

	s->segments = tare_array_reserve(s->segments, &s->segment_cap, s->segment_nr + 1, sizeof(*s->segments));
	s->segments[s->segment_nr] = *segment;
	find_schemas(s, segment, &bytes);
	find_logs(s, segment, &numbers, &bytes);
	of_nobody = add_blocks(s, (uint32_t)s->segment_nr, &numbers);
	if (is_damaged)
		note_lost_bytes(s, segment);
	if (of_nobody)
		note_records_of_nobody(s, segment, of_nobody);
	if (is_damaged || of_nobody)
		note_hole(s, s->segment_nr, s->segment_nr + 1);
	s->segment_nr++;
	free(numbers.number);
	free(numbers.log);
}

static bool is_of_another_kind(int code)
{
	return code == TARE_E_NEWER || code == TARE_E_UNSUPPORTED;
}

int tare_store_open(struct tare_store **out, const char *folder, struct tare_err *err)
{
	struct tare_store *s = tare_xcalloc(1, sizeof(*s));
	struct tare_manifest manifest = { 0 };
	int rc = tare_manifest_read(&manifest, folder, err);

	s->folder = tare_xstrdup(folder);
	s->reader = tare_xcalloc(1, sizeof(*s->reader));
	if (manifest.fault)
		add_fault(s, manifest.fault);
	for (size_t i = 0; i < manifest.nr && !rc; i++) {
		TARE_FREED_HERE char *path = tare_manifest_path(folder, manifest.numbers[i]);
		struct tare_segment_file segment;
		struct tare_err fault = { 0 };
		int failed = tare_segment_open(&segment, path, &fault);

		segment.number = manifest.numbers[i];
		if (!failed)
			add_segment(s, &segment);
		else if (is_of_another_kind(failed))
			rc = tare_err_set(err, failed, "%s", fault.text);
		else
			add_fault(s, fault.text);
		if (failed)
			note_hole(s, s->segment_nr, s->segment_nr);
	}
	s->states = manifest.states;
	s->state_nr = manifest.state_nr;
	s->dropped = manifest.dropped;
	s->kept = manifest.kept;
	s->kept_nr = manifest.kept_nr;
	s->extents = manifest.extents;
	manifest.states = manifest.kept = NULL;
	manifest.extents = (struct tare_extent_list){ 0 };
	tare_manifest_free(&manifest);
	if (rc) {
		tare_store_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void tare_store_close(struct tare_store *s)
{
	if (!s)
		return;
	tare_segment_reader_close(s->reader);
	tare_store_forget(s);
	free(s);
}

/* Of one segment; false: it does not have the log. */
static bool read_part(const struct tare_segment_file *segment, const char *name, struct tare_log_part *out)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack bytes = { 0 };
	bool is_found = false;

	for (size_t i = 0; i < segment->entry_nr && !is_found; i++) {
		if (segment->entries[i].head.kind != TARE_SEGMENT_LOG || !tare_segment_read(segment, i, &bytes) ||
		    !tare_log_part_decode(out, bytes.data, bytes.len))
			continue;
		is_found = !strcmp(out->name, name);
		if (!is_found)
			tare_log_part_free(out);
	}
	return is_found;
}

bool tare_store_part(const struct tare_store *s, const struct tare_stored_log *log, size_t segments,
                     struct tare_log_part *out)
{
	bool is_found = false;

	for (size_t i = 0; i < segments && i < s->segment_nr; i++) {
		struct tare_log_part part;

		if (!read_part(&s->segments[i], log->part.name, &part))
			continue;
		if (is_found) {
			tare_log_part_join(out, &part);
			tare_log_part_free(&part);
		} else {
			*out = part;
		}
		is_found = true;
	}
	return is_found;
}

void tare_store_begin(struct tare_store_cursor *c, bool is_events, bool has_positions)
{
	c->is_events = is_events;
	c->has_positions = has_positions;
	c->is_outline = c->has_columns = false;
	c->next = is_events ? c->from : 0;
	c->at = c->block.n = 0;
}

static bool is_known(const struct tare_store_cursor *c, const struct tare_stored_block *block)
{
	uint64_t last = tare_store_head(c->store, block)->last;

	for (size_t i = 0; i < sizeof(c->known) / sizeof(c->known[0]); i++)
		if (c->segment <= c->known[i].number && last <= c->known[i].after)
			return true;
	return false;
}

static bool is_wanted(const struct tare_store_cursor *c, const struct tare_stored_block *block)
{
	const struct tare_segment_file *segment = &c->store->segments[block->segment];
	uint32_t log = segment->entries[block->entry].head.log;

	if (!c->wanted_nr || !segment->has_counts)
		return true;
	for (size_t i = 0; i < segment->count_nr; i++)
		for (size_t k = 0; k < c->wanted_nr && segment->counts[i].log == log; k++)
			if (segment->counts[i].kind == c->wanted[k])
				return true;
	return false;
}

const struct tare_record_block *tare_store_whole_block(struct tare_store_cursor *c)
{
	int wanted = (c->has_positions ? TARE_BLOCK_POSITIONS : 0) | (c->is_outline ? TARE_BLOCK_OUTLINE : 0) |
	             (c->has_columns ? TARE_BLOCK_COLUMNS : 0);

	return tare_block_decode(&c->block, &c->layouts, c->bytes.data, c->bytes.len, wanted) ? &c->block : NULL;
}

/* NULL: it is damaged. */
static const struct tare_record_block *read_block(struct tare_store_cursor *c, const struct tare_stored_block *block)
{
	const struct tare_segment_block *head = tare_store_head(c->store, block);

	if (!tare_segment_read_on(c->store->reader, &c->store->segments[block->segment], block->entry, &c->bytes))
		return NULL;
	if (c->is_outline &&
	    tare_block_read_ends(&c->ends, &c->layouts, c->bytes.data, c->bytes.len, head->first, head->last))
		return &c->ends.block;
	return tare_store_whole_block(c);
}

static void free_memory(struct tare_store_cursor *c)
{
	tare_block_free(&c->block);
	tare_block_ends_free(&c->ends);
	tare_pack_free(&c->bytes);
}

const struct tare_record_block *tare_store_next_block(struct tare_store_cursor *c)
{
	const struct tare_stored_block *blocks = c->is_events ? c->log->events : c->log->tables;
	size_t nr = c->is_events ? c->log->event_nr : c->log->table_nr;

	if (c->is_events && c->until)
		nr = c->until;
	while (c->next < nr) {
		const struct tare_stored_block *block = &blocks[c->next++];
		const struct tare_record_block *records;

		c->segment = c->store->segments[block->segment].number;
		if (c->is_events && (is_known(c, block) || !is_wanted(c, block)))
			continue;
		if (tare_store_head(c->store, block)->position_last < c->from_position)
			continue;
		records = read_block(c, block);
		if (records)
			return records;
		c->has_met_damage = true;
	}
	free_memory(c);
	return NULL;
}

const struct tare_block_record *tare_store_next(struct tare_store_cursor *c)
{
	if (c->at == c->block.n) {
		if (!tare_store_next_block(c))
			return NULL;
		c->at = 0;
	}
	return &c->block.records[c->at++];
}

void tare_store_cursor_free(struct tare_store_cursor *c)
{
	free_memory(c);
	*c = (struct tare_store_cursor){ 0 };
}
