/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the recording of an import: description, devices, records. */
#include "import/files.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "record/encode.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where time 0 is on the clock of the log: stamps are never 0. */
#define FIRST_STAMP 1000000000u
/* So long after the last figure the program ends; what a fold takes for a reading near its end would be cut off. */
#define END_NS   1000000
#define TEXT_MAX 4096 /* of a name: the rest is cut */

struct tare_import_out {
	char *folder;
	struct tare_import_about about;
	struct tare_writer *writer; /* NULL: nothing was added so far */
	struct tare_strmap strings;
	uint32_t string_nr;
	uint64_t *used; /* of each device, what was said last */
	size_t used_cap;
	int device_nr;
	int64_t last_ns;
	uint64_t most_resident;
	struct tare_err err; /* what went wrong first */
};

struct tare_import_out *tare_import_out_new(const char *folder, const char *name, int64_t started_realtime_ns)
{
	struct tare_import_out *out = tare_xcalloc(1, sizeof(*out));

	out->folder = tare_xstrdup(folder);
	out->about.program = tare_xstrdup(name);
	out->about.host = tare_xstrdup("");
	out->about.started_realtime_ns = started_realtime_ns;
	return out;
}

static void replace(const char **at, const char *with)
{
	if (!with)
		return;
	free((void *)*at);
	*at = tare_xstrdup(with);
}

void tare_import_about(struct tare_import_out *out, const struct tare_import_about *about)
{
	replace(&out->about.program, about->program);
	replace(&out->about.host, about->host);
	if (about->pid)
		out->about.pid = about->pid;
	if (about->started_realtime_ns)
		out->about.started_realtime_ns = about->started_realtime_ns;
}

static bool begin(struct tare_import_out *out)
{
	struct tare_file_header head;
	char name[32], *path;

	if (out->writer || out->err.code)
		return !out->err.code;
	tare_encode_header(&head, TARE_ROLE_PROGRAM, TARE_CLOCK_MONOTONIC_NS);
	head.pid = out->about.pid;
	head.ticks_per_s = 1000000000;
	head.first_stamp = head.first_monotonic_ns = FIRST_STAMP;
	head.first_realtime_ns = (uint64_t)out->about.started_realtime_ns;
	snprintf(head.host, sizeof(head.host), "%s", out->about.host);
	snprintf(head.program, sizeof(head.program), "%s", out->about.program);
	snprintf(name, sizeof(name), "%u-0.events", (unsigned)out->about.pid);
	path = tare_str_format("%s/%s", out->folder, name);
	tare_writer_open(&out->writer, path, &head, &out->err);
	free(path);
	return !out->err.code;
}

void tare_import_add(struct tare_import_out *out, int64_t t_ns, void *rec, size_t fixed, const void *tail,
                     size_t tail_size)
{
	struct tare_record *head = rec;
	int rc;

	if (!begin(out))
		return;
	if (t_ns > out->last_ns)
		out->last_ns = t_ns;
	head->stamp = FIRST_STAMP + (uint64_t)out->last_ns;
	rc = tare_writer_add(out->writer, rec, fixed, tail, tail_size);
	if (rc)
		tare_err_set(&out->err, rc, "%s: the recording cannot be written: %s", out->folder, tare_err_sentence(rc));
}

uint32_t tare_import_string(struct tare_import_out *out, const char *text)
{
	struct tare_rec_string rec = { .head = { .kind = TARE_KIND_STRING } };
	uint64_t *id;
	bool is_new;

	id = tare_strmap_put(&out->strings, text, &is_new);
	if (!is_new)
		return (uint32_t)*id;
	*id = rec.id = ++out->string_nr;
	rec.bytes = (uint32_t)strnlen(text, TEXT_MAX);
	tare_import_add(out, 0, &rec, sizeof(rec), text, rec.bytes);
	return rec.id;
}

static int add_device(struct tare_import_out *out, const char *name, int nvml_index, uint64_t total, uint32_t flags)
{
	struct tare_rec_device rec = { .head = { .kind = TARE_KIND_DEVICE },
		                           .ordinal = out->device_nr,
		                           .flags = TARE_DEVICE_IMPORTED | flags,
		                           .total = total,
		                           .reserved = TARE_NOT_KNOWN,
		                           .used = TARE_NOT_KNOWN,
		                           .nvml_index = nvml_index,
		                           .bytes = (uint32_t)strnlen(name, TEXT_MAX) };

	tare_import_add(out, 0, &rec, sizeof(rec), name, rec.bytes);
	TARE_APPEND(out->used, out->device_nr, out->used_cap) = 0;
	return out->device_nr - 1;
}

int tare_import_device(struct tare_import_out *out, const char *name, int nvml_index, uint64_t total)
{
	return add_device(out, name, nvml_index, total, 0);
}

int tare_import_board(struct tare_import_out *out, const char *name, uint64_t total)
{
	return add_device(out, name, -1, total, TARE_DEVICE_INTEGRATED);
}

/* As a call between whose begin and end the driver's counter moved: what it moved by is a row of the ledger. */
void tare_import_change(struct tare_import_out *out, int64_t t_ns, int device, const struct tare_import_change *change)
{
	uint64_t *last = &out->used[device];
	bool is_print = change->class == TARE_CLASS_PRINTED;
	struct tare_rec_event rec = { .head = { .kind = TARE_KIND_EVENT },
		                          .effect = TARE_EFFECT_CHANGE,
		                          .class = (uint8_t)change->class,
		                          .device = (int16_t)device,
		                          .flags = TARE_EVENT_WEIGHED,
		                          .api = tare_import_string(out, is_print ? "print" : "malloc"),
		                          .python = change->place,
		                          .parent = change->from,
		                          .asked = change->moved,
		                          .before = *last,
		                          .after = *last + (uint64_t)change->bytes,
		                          .peers_before = TARE_NOT_KNOWN,
		                          .peers_after = TARE_NOT_KNOWN,
		                          .missing = TARE_NOT_KNOWN };

	*last = rec.after;
	tare_import_add(out, t_ns, &rec, sizeof(rec), NULL, 0);
}

void tare_import_used(struct tare_import_out *out, int64_t t_ns, int device, uint64_t used)
{
	tare_import_change(out, t_ns, device,
	                   &(struct tare_import_change){ .class = TARE_CLASS_PRINTED,
	                                                 .bytes = (int64_t)(used - out->used[device]) });
}

int64_t tare_import_now(const struct tare_import_out *out)
{
	return out->last_ns;
}

int64_t tare_import_later(const struct tare_import_out *out, int64_t t_ns)
{
	int64_t now = tare_import_now(out);

	return t_ns > now ? t_ns : now + 1;
}

void tare_import_resident(struct tare_import_out *out, int64_t t_ns, uint64_t bytes)
{
	struct tare_rec_host rec = { .head = { .kind = TARE_KIND_HOST },
		                         .pid = out->about.pid,
		                         .anon = bytes,
		                         .pss = TARE_NOT_KNOWN,
		                         .tables = TARE_NOT_KNOWN };

	if (bytes > out->most_resident)
		out->most_resident = bytes;
	rec.peak = out->most_resident;
	tare_import_add(out, t_ns, &rec, sizeof(rec), NULL, 0);
}

void tare_import_phase(struct tare_import_out *out, int64_t t_ns, enum tare_phase_what what, const char *name)
{
	struct tare_rec_phase rec = { .head = { .kind = TARE_KIND_PHASE },
		                          .what = (uint8_t)what,
		                          .source = TARE_PHASE_BY_PRINT,
		                          .name = name ? tare_import_string(out, name) : 0 };

	tare_import_add(out, t_ns, &rec, sizeof(rec), NULL, 0);
}

void tare_import_until(struct tare_import_out *out, int64_t t_ns)
{
	if (t_ns > out->last_ns)
		out->last_ns = t_ns;
}

static void add_sentence(struct tare_import_out *out, bool is_remark, const char *fmt, va_list ap)
{
	struct tare_rec_degraded rec = { .head = { .kind = TARE_KIND_DEGRADED }, .remark = is_remark };
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_str_vaddf(&text, fmt, ap);
	rec.bytes = (uint32_t)(text.len < TEXT_MAX ? text.len : TEXT_MAX);
	tare_import_add(out, 0, &rec, sizeof(rec), text.data, rec.bytes);
}

void tare_import_remark(struct tare_import_out *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_sentence(out, true, fmt, ap);
	va_end(ap);
}

void tare_import_left_out(struct tare_import_out *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_sentence(out, false, fmt, ap);
	va_end(ap);
}

static void describe(struct tare_import_out *out, const char *path)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_json j = { .out = &text, .is_pretty = true };
	TARE_FREED_HERE char *file = tare_str_format("%s/recording.json", out->folder);
	int rc;

	tare_json_open(&j, NULL, '{');
	tare_json_u64(&j, "tare", 1);
	tare_json_str(&j, "version", TARE_VERSION);
	tare_json_u64(&j, "format", TARE_FORMAT_VERSION);
	tare_json_str(&j, "state", "complete");
	tare_json_open(&j, "command", '[');
	tare_json_str(&j, NULL, out->about.program);
	tare_json_close(&j);
	tare_json_str(&j, "imported", path);
	tare_json_str(&j, "host", out->about.host);
	tare_json_i64(&j, "started_realtime_ns", out->about.started_realtime_ns);
	tare_json_i64(&j, "ran_ns", out->last_ns);
	tare_json_u64(&j, "lost_records", 0);
	tare_json_close(&j);
	tare_str_add_char(&text, '\n');
	rc = tare_file_write(file, &text, 0600);
	if (rc && !out->err.code)
		tare_err_set_errno(&out->err, -rc, "%s: cannot be written", file);
}

void tare_import_out_discard(struct tare_import_out *out)
{
	if (out->writer)
		tare_writer_close(out->writer);
	tare_strmap_free(&out->strings);
	free((void *)out->about.program);
	free((void *)out->about.host);
	free(out->used);
	free(out->folder);
	free(out);
}

int tare_import_out_close(struct tare_import_out *out, const char *path, struct tare_err *err)
{
	struct tare_rec_end rec = { .head = { .kind = TARE_KIND_END }, .how = TARE_HOW_EXIT };
	int rc;

	tare_import_add(out, out->last_ns + END_NS, &rec, sizeof(rec), NULL, 0);
	rc = out->writer ? tare_writer_close(out->writer) : 0;
	out->writer = NULL;
	if (rc && !out->err.code)
		tare_err_set(&out->err, rc, "%s: the recording cannot be written: %s", out->folder, tare_err_sentence(rc));
	if (!out->err.code)
		describe(out, path);
	rc = out->err.code;
	if (rc && err)
		*err = out->err;
	tare_import_out_discard(out);
	return rc;
}
