/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for people, written here, and objects for scripts: of the log, by columns; of a record, by the fields that
 * record.def gives it.
 */
#include "cmd/dump_print.h"

#include "base/number.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_hex(struct tare_str *out, uint64_t value)
{
	tare_str_addf(out, "0x%" PRIx64, value);
}

static bool is_data(const struct tare_dump *d)
{
	return d->e->format != TARE_EMIT_TEXT;
}

/* ---- the log ---- */

struct log {
	const char *name;
	struct tare_str boot_id;
	struct tare_log_info info;
};

static const struct tare_column header_columns[] = {
	TARE_COLUMN(log, info.header.version, "version", NULL, COUNT),
	TARE_COLUMN(log, info.header.role, "role", NULL, TEXT, .name = tare_role_name),
	TARE_COLUMN(log, info.header.clock, "clock", NULL, TEXT, .name = tare_clock_name),
	TARE_COLUMN(log, info.header.pid, "pid", NULL, COUNT),
	TARE_COLUMN(log, info.header.ppid, "ppid", NULL, COUNT),
	TARE_COLUMN(log, info.header.generation, "generation", NULL, COUNT),
	TARE_COLUMN(log, info.header.pid_namespace, "pid_namespace", NULL, COUNT),
	TARE_COLUMN(log, info.header.start_ticks, "start_ticks", NULL, COUNT),
	TARE_COLUMN(log, info.header.ticks_per_s, "ticks_per_s", NULL, COUNT),
	TARE_COLUMN(log, info.header.first_stamp, "first_stamp", NULL, COUNT),
	TARE_COLUMN(log, info.header.first_monotonic_ns, "first_monotonic_ns", NULL, COUNT),
	TARE_COLUMN(log, info.header.first_realtime_ns, "first_realtime_ns", NULL, COUNT),
	TARE_COLUMN(log, info.header.base, "base", NULL, COUNT),
	TARE_COLUMN(log, info.header.chunk_bytes, "chunk_bytes", NULL, COUNT),
	TARE_COLUMN(log, boot_id, "boot_id", NULL, TEXT),
	TARE_COLUMN(log, info.header.tool, "tool", NULL, TEXT),
	TARE_COLUMN(log, info.header.host, "host", NULL, TEXT),
	TARE_COLUMN(log, info.header.program, "program", NULL, TEXT),
};

static void add_header(struct tare_emit *e, const char *key, const void *row)
{
	tare_emit_object(e, key, TARE_COLUMNS(header_columns), row);
}

static const struct tare_column log_columns[] = {
	TARE_COLUMN(log, name, "log", NULL, TEXT),
	TARE_NESTED("header", add_header),
	TARE_COLUMN(log, info.file_end, "file_end", NULL, COUNT),
	TARE_COLUMN(log, info.end, "end", NULL, COUNT),
	TARE_COLUMN(log, info.has_ring, "has_ring", NULL, FLAG),
	TARE_COLUMN(log, info.is_finished, "is_finished", NULL, FLAG),
	TARE_COLUMN(log, info.is_header_damaged, "is_header_damaged", NULL, FLAG),
	TARE_COLUMN(log, info.is_ring_damaged, "is_ring_damaged", NULL, FLAG),
};

static void header_data(const struct tare_dump *d)
{
	struct log row = { .name = d->name, .info = *d->info };

	for (size_t i = 0; i < sizeof(d->info->header.boot_id); i++)
		tare_str_addf(&row.boot_id, "%02x", d->info->header.boot_id[i]);
	tare_emit_object(d->e, NULL, TARE_COLUMNS(log_columns), &row);
	tare_str_free(&row.boot_id);
}

static void header_text(struct tare_str *out, const struct tare_dump *d)
{
	const struct tare_log_info *info = d->info;
	const struct tare_file_header *h = &info->header;

	tare_str_add(out, "# ");
	tare_text_add_name(out, d->name);
	tare_str_addf(out, ": %s", tare_role_name(h->role));
	if (h->role == TARE_ROLE_PROGRAM) {
		tare_str_add_char(out, ' ');
		tare_text_add_name(out, h->program);
		tare_str_addf(out, ", pid %" PRIu32 ", generation %" PRIu32 ", started by %" PRIu32, h->pid, h->generation,
		              h->ppid);
	}
	tare_str_add(out, "; on ");
	tare_text_add_name(out, h->host);
	tare_str_addf(out, ", clock %s, format %" PRIu32 ", Tare ", tare_clock_name(h->clock), h->version);
	tare_text_add_name(out, h->tool);
	tare_str_add_char(out, '\n');
	tare_str_addf(out, "# %" PRIu64 " bytes in the file", info->file_end - info->begin);
	if (info->has_ring)
		tare_str_addf(out, ", %" PRIu64 " more in the ring%s",
		              info->end > info->file_end ? info->end - info->file_end : 0,
		              info->is_finished ? ", finished in order" : ", not finished");
	if (info->begin > 0)
		tare_str_addf(out, "; what was before %" PRIu64 " was folded", info->begin);
	if (info->is_header_damaged)
		tare_str_add(out, "; the header is damaged");
	if (info->is_ring_damaged)
		tare_str_add(out, "; the head of the ring is damaged");
	tare_str_add_char(out, '\n');
}

void tare_dump_header(const struct tare_dump *d)
{
	if (is_data(d))
		header_data(d);
	else
		header_text(d->e->out, d);
}

/* ---- records ---- */

struct record {
	const struct tare_dump *dump;
	const struct tare_log_record *of;
	const char *log, *kind;
	uint64_t position, stamp;
};

/* A word of two words ("driver start") is quoted, so that blanks part fields only. */
static void add_words(struct tare_str *out, const struct tare_field *field, uint64_t value)
{
	TARE_FREED_BY(tare_str_free) struct tare_str words = { 0 };
	const char *quote;

	tare_decode_words(field, value, &words);
	quote = strchr(tare_str_text(&words), ' ') ? "\"" : "";
	tare_str_addf(out, "%s%s%s", quote, tare_str_text(&words), quote);
}

static void field_text(struct tare_str *out, const struct tare_field *field, const void *rec)
{
	uint64_t value = tare_decode_value(field, rec);

	tare_str_addf(out, " %s=", field->name);
	switch (tare_decode_look(field)) {
	case TARE_LOOK_WORD:
	case TARE_LOOK_FLAGS:
		add_words(out, field, value);
		break;
	case TARE_LOOK_HEX:
		add_hex(out, value);
		break;
	case TARE_LOOK_BYTES:
		if (value == TARE_NOT_KNOWN) {
			tare_str_add(out, "not-known");
			break;
		}
		/* fall through */
	default:
		if (field->is_signed)
			tare_str_addf(out, "%" PRId64, (int64_t)value);
		else
			tare_str_addf(out, "%" PRIu64, value);
	}
}

static void field_data(struct tare_emit *e, const struct tare_field *field, const void *rec)
{
	uint64_t value = tare_decode_value(field, rec);
	enum tare_look look = tare_decode_look(field);
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (look == TARE_LOOK_WORD || look == TARE_LOOK_FLAGS)
		tare_decode_words(field, value, &text);
	else if (look == TARE_LOOK_HEX)
		add_hex(&text, value);
	if (text.len > 0)
		tare_emit_str(e, field->name, tare_str_text(&text));
	else if (look == TARE_LOOK_BYTES && value == TARE_NOT_KNOWN)
		tare_emit_null(e, field->name);
	else if (field->is_signed)
		tare_emit_int(e, field->name, (int64_t)value);
	else
		tare_emit_uint(e, field->name, value);
}

/* How a record is shown: as this version has it; of a kind that only its writer knows, as the log's schema says. */
static const struct tare_kind_info *shown(const struct tare_log_record *rec)
{
	return rec->info ? rec->info : rec->said;
}

static const char *name_of(const struct tare_log_record *rec)
{
	return shown(rec) ? shown(rec)->name : "unknown";
}

struct place {
	uint64_t chunk, offset, size;
	bool is_in_ring;
};

static const struct tare_column place_columns[] = {
	TARE_COLUMN(place, chunk, "chunk", NULL, COUNT),
	TARE_COLUMN(place, offset, "offset", NULL, COUNT),
	TARE_COLUMN(place, size, "size", NULL, COUNT),
	TARE_COLUMN(place, is_in_ring, "is_in_ring", NULL, FLAG),
};

static void add_place(struct tare_emit *e, const char *key, const void *row)
{
	const struct record *r = row;
	const struct tare_chunk_part at = tare_log_place(r->dump->info, r->position);
	const struct place place = { at.chunk, at.offset, r->of->bytes, r->of->is_in_ring };

	(void)key; /* members of the record */
	if (r->dump->has_offsets)
		tare_emit_members(e, TARE_COLUMNS(place_columns), &place);
}

static void add_pcs(struct tare_emit *e, const struct tare_log_record *rec)
{
	tare_emit_open(e, "pcs", '[');
	for (uint32_t i = 0; i < rec->depth; i++) {
		char pc[24];

		snprintf(pc, sizeof(pc), "0x%" PRIx64, rec->pcs[i]);
		tare_emit_str(e, NULL, pc);
	}
	tare_emit_close(e);
}

/* What this version does not know of it, its fields, and what stands behind them. */
static void add_fields(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_log_record *rec = ((const struct record *)row)->of;
	const struct tare_kind_info *kind = shown(rec);

	(void)key; /* members of the record */
	if (!rec->info)
		tare_emit_uint(e, "kind_id", rec->rec.head->kind);
	if (rec->is_repaired)
		tare_emit_flag(e, "is_repaired", true);
	for (int i = 0; kind && i < kind->field_nr; i++)
		field_data(e, &kind->fields[i], rec->rec.head);
	if (rec->text)
		tare_emit_str_n(e, "text", rec->text, rec->text_len);
	if (rec->pcs)
		add_pcs(e, rec);
}

static const struct tare_column record_columns[] = {
	TARE_COLUMN(record, log, "log", NULL, TEXT),
	TARE_COLUMN(record, position, "position", NULL, COUNT),
	TARE_NESTED("place", add_place),
	TARE_COLUMN(record, stamp, "stamp", NULL, COUNT),
	TARE_COLUMN(record, kind, "kind", NULL, TEXT),
	TARE_NESTED("fields", add_fields),
};

/* " @OFFSET+SIZE", in P-G.events.K " @K:OFFSET+SIZE". */
static void place_text(struct tare_str *out, const struct tare_log_info *info, const struct tare_log_record *rec)
{
	struct tare_chunk_part place = tare_log_place(info, rec->position);

	tare_str_add(out, " @");
	if (rec->is_in_ring)
		tare_str_addf(out, "ring:%" PRIu64, rec->position);
	else if (place.chunk)
		tare_str_addf(out, "%" PRIu64 ":%" PRIu64, place.chunk, place.offset);
	else
		tare_str_addf(out, "%" PRIu64, place.offset);
	tare_str_addf(out, "+%" PRIu64, rec->bytes);
}

static void record_text(struct tare_str *out, const struct tare_dump *d, const struct tare_log_record *rec)
{
	const struct tare_kind_info *kind = shown(rec);

	tare_str_addf(out, "%" PRIu64, rec->position);
	if (d->has_offsets)
		place_text(out, d->info, rec);
	tare_str_addf(out, " %" PRIu64 " %s", rec->rec.head->stamp, name_of(rec));
	if (!rec->info)
		tare_str_addf(out, " kind=%u", rec->rec.head->kind);
	for (int i = 0; kind && i < kind->field_nr; i++)
		field_text(out, &kind->fields[i], rec->rec.head);
	if (rec->text) {
		tare_str_add_char(out, ' ');
		tare_text_add_quoted(out, rec->text, rec->text_len);
	}
	for (uint32_t i = 0; rec->pcs && i < rec->depth; i++) {
		tare_str_add_char(out, ' ');
		add_hex(out, rec->pcs[i]);
	}
	if (rec->is_repaired)
		tare_str_add(out, " (damaged: its length was wrong)");
	tare_str_add_char(out, '\n');
}

void tare_dump_record(const struct tare_dump *d, const struct tare_log_record *rec)
{
	if (is_data(d))
		tare_emit_object(d->e, NULL, TARE_COLUMNS(record_columns),
		                 &(struct record){ d, rec, d->name, name_of(rec), rec->position, rec->rec.head->stamp });
	else
		record_text(d->e->out, d, rec);
}

/* ---- what is no record ---- */

struct gap {
	const char *log, *gap;
	uint64_t position, size;
};

static const struct tare_column gap_columns[] = {
	TARE_COLUMN(gap, log, "log", NULL, TEXT),
	TARE_COLUMN(gap, position, "position", NULL, COUNT),
	TARE_COLUMN(gap, size, "size", NULL, COUNT),
	TARE_COLUMN(gap, gap, "gap", NULL, TEXT),
};

void tare_dump_gap(const struct tare_dump *d, const struct tare_log_record *gap)
{
	const struct gap row = { d->name, tare_log_gap_name(gap->gap), gap->position, gap->bytes };
	struct tare_str *out = d->e->out;

	if (is_data(d)) {
		tare_emit_object(d->e, NULL, TARE_COLUMNS(gap_columns), &row);
		return;
	}
	tare_str_addf(out, "%" PRIu64, gap->position);
	if (d->has_offsets)
		place_text(out, d->info, gap);
	tare_str_addf(out, " ! %" PRIu64 " bytes %s\n", gap->bytes, row.gap);
}

struct counts {
	const char *log;
	struct tare_log_counts of;
};

static const struct tare_column count_columns[] = {
	TARE_COLUMN(counts, log, "log", NULL, TEXT),
	TARE_COLUMN(counts, of.records, "records", NULL, COUNT),
	TARE_COLUMN(counts, of.unknown, "unknown", NULL, COUNT),
	TARE_COLUMN(counts, of.repaired, "repaired", NULL, COUNT),
	TARE_COLUMN(counts, of.gaps, "gaps", NULL, COUNT),
	TARE_COLUMN(counts, of.gap_bytes, "gap_bytes", NULL, COUNT),
	TARE_COLUMN(counts, of.lost, "lost", NULL, COUNT),
};

static void counts_text(struct tare_str *out, const struct tare_log_counts *counts)
{
	tare_str_addf(out, "# %" PRIu64 " record%s", counts->records, tare_plural(counts->records));
	if (counts->unknown > 0)
		tare_str_addf(out, ", %" PRIu64 " of unknown kind", counts->unknown);
	if (counts->repaired > 0)
		tare_str_addf(out, ", %" PRIu64 " with a damaged length", counts->repaired);
	if (counts->gaps > 0)
		tare_str_addf(out, ", %" PRIu64 " place%s (%" PRIu64 " bytes) without a record", counts->gaps,
		              tare_plural(counts->gaps), counts->gap_bytes);
	if (counts->lost > 0)
		tare_str_addf(out, ", %" PRIu64 " lost", counts->lost);
	tare_str_add_char(out, '\n');
}

void tare_dump_counts(const struct tare_dump *d, const struct tare_log_counts *counts)
{
	const struct counts row = { d->name, *counts };

	if (is_data(d))
		tare_emit_object(d->e, NULL, TARE_COLUMNS(count_columns), &row);
	else
		counts_text(d->e->out, counts);
}
