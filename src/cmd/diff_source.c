/* SPDX-License-Identifier: Apache-2.0 */
/* Parses, finds and reads one operand of `tare diff`: REC, REC@INSTANT, or a report in JSON. */
#include "cmd/diff_source.h"

#include "base/file.h"
#include "cmd/report.h"
#include "db/db.h"
#include "trace/recording.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JSON_MAX = 1 << 30 };

/* A name may hold an '@', and so may the name of a phase: the instant follows the first behind which nothing of the name is left. */
static struct tare_diff_source split(struct tare_arena *arena, const char *operand, const char *at)
{
	struct tare_diff_source whole = { .path = operand, .at = at };

	if (access(operand, F_OK) == 0)
		return whole;
	for (const char *p = strchr(operand, '@'); p; p = strchr(p + 1, '@')) {
		const char *path = tare_arena_strndup(arena, operand, (size_t)(p - operand));

		if (p > operand && p[1] && access(path, F_OK) == 0)
			return (struct tare_diff_source){ .path = path, .at = p + 1 };
	}
	return whole;
}

/* A log of a recording is a file, too. */
static bool is_json_file(const char *path)
{
	struct stat st;
	size_t len = strlen(path);

	if (!strcmp(path, "-"))
		return true;
	if (stat(path, &st) || S_ISDIR(st.st_mode))
		return false;
	return len < 7 || strcmp(path + len - 7, ".events") != 0;
}

static int write_json(struct tare_str *out, const struct tare_diff_source *s, int by, struct tare_err *err)
{
	struct tare_report_options o = TARE_REPORT_DEFAULTS;
	struct tare_recording *recording;
	struct tare_instant instant;
	int rc = tare_instant_parse(s->at ? s->at : "peak", &instant, err);

	if (rc)
		return rc;
	o.instants = &instant;
	o.instant_nr = 1;
	o.by = by;
	o.format = TARE_EMIT_JSON;
	rc = tare_recording_open(&recording, s->path, err);
	if (rc)
		return rc;
	rc = tare_report_write(out, stdout, recording, &o, err);
	if (rc)
		tare_err_prefix(err, "%s", s->path);
	tare_recording_close(recording);
	return rc;
}

int tare_diff_source_parse(const struct tare_diff_source *s, struct tare_diff_side *side, const struct tare_str *json,
                           int by, struct tare_err *err)
{
	const struct tare_json_value *report;
	int rc = tare_json_parse(&side->arena, tare_str_text(json), json->len, &report, err);

	side->source = s->path;
	if (rc)
		tare_err_prefix(err, "neither a recording nor what tare report --json prints");
	if (!rc)
		rc = tare_diff_read(side, report, by, s->is_file ? s->at : NULL, err);
	if (rc)
		tare_err_prefix(err, "%s", s->path);
	return rc;
}

int tare_diff_source_find(struct tare_diff_source *out, struct tare_arena *arena, const char *operand, const char *at,
                          struct tare_err *err)
{
	*out = split(arena, operand, at);
	if (tare_db_is(out->path))
		return tare_err_set(err, TARE_E_USAGE,
		                    "diff: %s is a sweep; compare two recordings of its runs, or "
		                    "see tare report %s",
		                    out->path, out->path);
	out->is_file = is_json_file(out->path);
	return 0;
}

int tare_diff_source_load(const struct tare_diff_source *s, struct tare_str *out, struct tare_err *err)
{
	return tare_file_read_input(out, s->path, JSON_MAX, err);
}

int tare_diff_source_read(struct tare_diff_side *side, const char *operand, const char *at, int by,
                          struct tare_err *err)
{
	struct tare_diff_source s;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = tare_diff_source_find(&s, &side->arena, operand, at, err);

	if (rc)
		return rc;
	rc = s.is_file ? tare_diff_source_load(&s, &text, err) : write_json(&text, &s, by, err);
	if (!rc)
		rc = tare_diff_source_parse(&s, side, &text, by, err);
	return rc;
}
