/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/dump_print.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_hex(struct tare_str *out, uint64_t value)
{
	tare_str_addf(out, "0x%" PRIx64, value);
}

/* A word of two words ("driver start") is quoted, so that blanks part fields only. */
static void add_words(struct tare_str *out, const struct tare_field *field, uint64_t value)
{
	struct tare_str words = { 0 };
	const char *quote;

	tare_decode_words(field, value, &words);
	quote = strchr(tare_str_text(&words), ' ') ? "\"" : "";
	tare_str_addf(out, "%s%s%s", quote, tare_str_text(&words), quote);
	tare_str_free(&words);
}

/* In quotes, with everything escaped that could move a terminal's cursor: as JSON does it. */
static void add_quoted(struct tare_str *out, const char *text, size_t len)
{
	struct tare_json j = { .out = out };

	tare_json_str_n(&j, NULL, text, len);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void begin_line(struct tare_json *j, const char *name)
{
	tare_json_open(j, NULL, '{');
	tare_json_str(j, "log", name);
}

static void header_json(struct tare_json *j, const struct tare_log_info *info)
{
	const struct tare_file_header *h = &info->header;
	struct tare_str boot = { 0 };

	for (size_t i = 0; i < sizeof(h->boot_id); i++)
		tare_str_addf(&boot, "%02x", h->boot_id[i]);
	tare_json_open(j, "header", '{');
	tare_json_u64(j, "version", h->version);
	tare_json_str(j, "role", tare_role_name(h->role));
	tare_json_str(j, "clock", tare_clock_name(h->clock));
	tare_json_u64(j, "pid", h->pid);
	tare_json_u64(j, "ppid", h->ppid);
	tare_json_u64(j, "generation", h->generation);
	tare_json_u64(j, "pid_namespace", h->pid_namespace);
	tare_json_u64(j, "start_ticks", h->start_ticks);
	tare_json_u64(j, "ticks_per_s", h->ticks_per_s);
	tare_json_u64(j, "first_stamp", h->first_stamp);
	tare_json_u64(j, "first_monotonic_ns", h->first_monotonic_ns);
	tare_json_u64(j, "first_realtime_ns", h->first_realtime_ns);
	tare_json_u64(j, "base", h->base);
	tare_json_str(j, "boot_id", tare_str_text(&boot));
	tare_json_str(j, "tool", h->tool);
	tare_json_str(j, "host", h->host);
	tare_json_str(j, "program", h->program);
	tare_json_close(j);
	tare_json_u64(j, "file_end", info->file_end);
	tare_json_u64(j, "end", info->end);
	tare_json_bool(j, "has_ring", info->has_ring);
	tare_json_bool(j, "is_finished", info->is_finished);
	tare_json_bool(j, "is_header_damaged", info->is_header_damaged);
	tare_json_bool(j, "is_ring_damaged", info->is_ring_damaged);
	tare_str_free(&boot);
}

void tare_dump_header(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		      const struct tare_log_info *info)
{
	const struct tare_file_header *h = &info->header;

	if (style->json) {
		struct tare_json j = { .out = out };

		begin_line(&j, name);
		header_json(&j, info);
		tare_json_close(&j);
		return;
	}
	tare_str_add(out, "# ");
	tare_text_add_name(out, name);
	tare_str_addf(out, ": %s", tare_role_name(h->role));
	if (h->role == TARE_ROLE_PROGRAM) {
		tare_str_add_char(out, ' ');
		tare_text_add_name(out, h->program);
		tare_str_addf(out, ", pid %" PRIu32 ", generation %" PRIu32 ", started by %" PRIu32,
			      h->pid, h->generation, h->ppid);
	}
	tare_str_add(out, "; on ");
	tare_text_add_name(out, h->host);
	tare_str_addf(out, ", clock %s, format %" PRIu32 ", Tare ", tare_clock_name(h->clock),
		      h->version);
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

static void field_json(struct tare_json *j, const struct tare_field *field, const void *rec)
{
	uint64_t value = tare_decode_value(field, rec);
	enum tare_look look = tare_decode_look(field);
	struct tare_str text = { 0 };

	if (look == TARE_LOOK_WORD || look == TARE_LOOK_FLAGS)
		tare_decode_words(field, value, &text);
	else if (look == TARE_LOOK_HEX)
		add_hex(&text, value);
	if (text.len > 0)
		tare_json_str(j, field->name, tare_str_text(&text));
	else if (look == TARE_LOOK_BYTES && value == TARE_NOT_KNOWN)
		tare_json_null(j, field->name);
	else if (field->is_signed)
		tare_json_i64(j, field->name, (int64_t)value);
	else
		tare_json_u64(j, field->name, value);
	tare_str_free(&text);
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

static void record_json(struct tare_json *j, const struct tare_dump_style *style,
			const struct tare_log_info *info, const struct tare_log_record *rec)
{
	const struct tare_kind_info *kind = shown(rec);

	tare_json_u64(j, "position", rec->position);
	if (style->offsets) {
		tare_json_u64(j, "offset", tare_log_offset(info, rec->position));
		tare_json_u64(j, "size", rec->bytes);
		tare_json_bool(j, "is_in_ring", rec->is_in_ring);
	}
	tare_json_u64(j, "stamp", rec->rec.head->stamp);
	tare_json_str(j, "kind", name_of(rec));
	if (!rec->info)
		tare_json_u64(j, "kind_id", rec->rec.head->kind);
	if (rec->is_repaired)
		tare_json_bool(j, "is_repaired", true);
	for (int i = 0; kind && i < kind->field_nr; i++)
		field_json(j, &kind->fields[i], rec->rec.head);
	if (rec->text)
		tare_json_str_n(j, "text", rec->text, rec->text_len);
	if (!rec->pcs)
		return;
	tare_json_open(j, "pcs", '[');
	for (uint32_t i = 0; i < rec->depth; i++) {
		char pc[24];

		snprintf(pc, sizeof(pc), "0x%" PRIx64, rec->pcs[i]);
		tare_json_str(j, NULL, pc);
	}
	tare_json_close(j);
}

void tare_dump_record(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		      const struct tare_log_info *info, const struct tare_log_record *rec)
{
	const struct tare_kind_info *kind = shown(rec);

	if (style->json) {
		struct tare_json j = { .out = out };

		begin_line(&j, name);
		record_json(&j, style, info, rec);
		tare_json_close(&j);
		return;
	}
	tare_str_addf(out, "%" PRIu64, rec->position);
	if (style->offsets)
		tare_str_addf(out, " @%s%" PRIu64 "+%" PRIu64, rec->is_in_ring ? "ring:" : "",
			      rec->is_in_ring ? rec->position
					      : tare_log_offset(info, rec->position),
			      rec->bytes);
	tare_str_addf(out, " %" PRIu64 " %s", rec->rec.head->stamp, name_of(rec));
	if (!rec->info)
		tare_str_addf(out, " kind=%u", rec->rec.head->kind);
	for (int i = 0; kind && i < kind->field_nr; i++)
		field_text(out, &kind->fields[i], rec->rec.head);
	if (rec->text) {
		tare_str_add_char(out, ' ');
		add_quoted(out, rec->text, rec->text_len);
	}
	for (uint32_t i = 0; rec->pcs && i < rec->depth; i++) {
		tare_str_add_char(out, ' ');
		add_hex(out, rec->pcs[i]);
	}
	if (rec->is_repaired)
		tare_str_add(out, " (damaged: its length was wrong)");
	tare_str_add_char(out, '\n');
}

void tare_dump_gap(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		   const struct tare_log_info *info, const struct tare_log_record *gap)
{
	if (style->json) {
		struct tare_json j = { .out = out };

		begin_line(&j, name);
		tare_json_u64(&j, "position", gap->position);
		tare_json_u64(&j, "size", gap->bytes);
		tare_json_str(&j, "gap", tare_log_gap_name(gap->gap));
		tare_json_close(&j);
		return;
	}
	tare_str_addf(out, "%" PRIu64, gap->position);
	if (style->offsets)
		tare_str_addf(out, " @%" PRIu64 "+%" PRIu64, tare_log_offset(info, gap->position),
			      gap->bytes);
	tare_str_addf(out, " ! %" PRIu64 " bytes %s\n", gap->bytes, tare_log_gap_name(gap->gap));
}

void tare_dump_counts(struct tare_str *out, const struct tare_dump_style *style, const char *name,
		      const struct tare_log_counts *counts)
{
	if (style->json) {
		struct tare_json j = { .out = out };

		begin_line(&j, name);
		tare_json_u64(&j, "records", counts->records);
		tare_json_u64(&j, "unknown", counts->unknown);
		tare_json_u64(&j, "repaired", counts->repaired);
		tare_json_u64(&j, "gaps", counts->gaps);
		tare_json_u64(&j, "gap_bytes", counts->gap_bytes);
		tare_json_u64(&j, "lost", counts->lost);
		tare_json_close(&j);
		return;
	}
	tare_str_addf(out, "# %" PRIu64 " record%s", counts->records, plural(counts->records));
	if (counts->unknown > 0)
		tare_str_addf(out, ", %" PRIu64 " of unknown kind", counts->unknown);
	if (counts->repaired > 0)
		tare_str_addf(out, ", %" PRIu64 " with a damaged length", counts->repaired);
	if (counts->gaps > 0)
		tare_str_addf(out, ", %" PRIu64 " place%s (%" PRIu64 " bytes) without a record",
			      counts->gaps, plural(counts->gaps), counts->gap_bytes);
	if (counts->lost > 0)
		tare_str_addf(out, ", %" PRIu64 " lost", counts->lost);
	tare_str_add_char(out, '\n');
}
