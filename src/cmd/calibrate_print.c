/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calibrate_print.h"

#include "base/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static const char *const states[] = {
	[TARE_CALIBRATE_MEASURED] = "measured", [TARE_CALIBRATE_GIVEN] = "given",
	[TARE_CALIBRATE_LACKS] = "lacks",       [TARE_CALIBRATE_IN_USE] = "in use",
	[TARE_CALIBRATE_FAILED] = "failed",
};

static bool is_text(enum tare_profile_key key)
{
	return tare_profile_rows[key].kind == TARE_PROFILE_KIND_TEXT;
}

static bool is_measured(const struct tare_calibration *c, enum tare_profile_key key)
{
	return c->keys[key].state == TARE_CALIBRATE_MEASURED;
}

static bool is_range(const struct tare_calibration *c, enum tare_profile_key key)
{
	return is_measured(c, key) && c->keys[key].low != c->keys[key].high;
}

/* ---- the table ---- */
enum verdict { NONE, SAME, DIFFERS };

/* A value of the profile that the readings allow is the same. Names are not compared. */
static enum verdict compare(const struct tare_calibrate_shown *shown, enum tare_profile_key key)
{
	const struct tare_calibration *c = shown->calibration;
	uint64_t value;

	if (!shown->compared || !is_measured(c, key) ||
	    tare_profile_rows[key].how < TARE_PROFILE_HOW_ASKED)
		return NONE;
	value = tare_profile_number(shown->compared, key);
	return value >= c->keys[key].low && value <= c->keys[key].high ? SAME : DIFFERS;
}

static const struct tare_column columns[] = {
	TARE_LOOSE("constant", "CONSTANT", TEXT),
	TARE_LOOSE(NULL, "measured", TEXT),
	TARE_LOOSE("state", NULL, TEXT),
	TARE_LOOSE("value", NULL, COUNT),
	TARE_LOOSE("text", NULL, TEXT),
	TARE_LOOSE("low", NULL, COUNT),
	TARE_LOOSE("high", NULL, COUNT),
	TARE_LOOSE("readings", NULL, COUNT),
	TARE_LOOSE(NULL, "profile", TEXT),
	TARE_LOOSE("profile_value", NULL, COUNT),
	TARE_LOOSE("profile_text", NULL, TEXT),
	TARE_LOOSE("differs", NULL, FLAG),
	TARE_LOOSE(NULL, "", TEXT),
	TARE_LOOSE("why", "by", TEXT),
};

static void emit_value(struct tare_emit *e, const struct tare_profile *profile,
		       enum tare_profile_key key)
{
	char text[TARE_PROFILE_TEXT_MAX];

	if (is_text(key)) {
		tare_emit_cell_unknown(e);
		tare_emit_cell_text(e, tare_profile_format(profile, key, text));
		return;
	}
	tare_emit_cell_uint(e, tare_profile_number(profile, key));
	tare_emit_cell_unknown(e);
}

static void emit_measured(struct tare_emit *e, const struct tare_calibration *c,
			  enum tare_profile_key key)
{
	const struct tare_calibrate_key *about = &c->keys[key];
	char text[TARE_PROFILE_TEXT_MAX];

	tare_emit_cell_text(e, is_measured(c, key) ? tare_profile_format(&c->profile, key, text)
						   : NULL);
	tare_emit_cell_text(e, states[about->state]);
	if (!is_measured(c, key)) {
		for (int i = 0; i < 5; i++)
			tare_emit_cell_unknown(e);
		return;
	}
	emit_value(e, &c->profile, key);
	if (is_text(key)) {
		tare_emit_cell_unknown(e);
		tare_emit_cell_unknown(e);
	} else {
		tare_emit_cell_uint(e, about->low);
		tare_emit_cell_uint(e, about->high);
	}
	tare_emit_cell_int(e, about->readings);
}

static void emit_compared(struct tare_emit *e, const struct tare_calibrate_shown *shown,
			  enum tare_profile_key key)
{
	enum verdict verdict = compare(shown, key);
	char text[TARE_PROFILE_TEXT_MAX];

	if (!shown->compared || tare_profile_rows[key].how == TARE_PROFILE_HOW_GIVEN) {
		tare_emit_cell_unknown(e);
		tare_emit_cell_unknown(e);
		tare_emit_cell_unknown(e);
	} else {
		tare_emit_cell_text(e, tare_profile_format(shown->compared, key, text));
		emit_value(e, shown->compared, key);
	}
	if (verdict == NONE)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, verdict == DIFFERS);
	tare_emit_cell_text(e, verdict == SAME ? "same" : verdict == DIFFERS ? "DIFFERS" : "");
}

/* "2352 … 2367: 82 graphs …" */
static void emit_why(struct tare_emit *e, const struct tare_calibration *c,
		     enum tare_profile_key key)
{
	const struct tare_calibrate_key *about = &c->keys[key];
	char low[TARE_PROFILE_TEXT_MAX], high[TARE_PROFILE_TEXT_MAX];

	if (e->format == TARE_EMIT_TEXT && is_range(c, key))
		tare_emit_cell_textf(e, "%s to %s: %s",
				     tare_profile_format_number(key, about->low, low),
				     tare_profile_format_number(key, about->high, high),
				     about->why);
	else if (e->format == TARE_EMIT_TEXT && about->state > TARE_CALIBRATE_GIVEN)
		tare_emit_cell_textf(e, "not measured: %s", about->why);
	else
		tare_emit_cell_text(e, about->why);
}

static size_t count_state(const struct tare_calibration *c, enum tare_calibrate_state state)
{
	size_t n = 0;

	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		n += c->keys[key].state == state;
	return n;
}

static void emit_notes(struct tare_emit *e, const struct tare_calibrate_shown *shown)
{
	const struct tare_calibration *c = shown->calibration;
	size_t lost = count_state(c, TARE_CALIBRATE_IN_USE) + count_state(c, TARE_CALIBRATE_FAILED);
	size_t lacks = count_state(c, TARE_CALIBRATE_LACKS);

	tare_emit_note(e, "%zu constants measured in %.1f s, weighed with %s",
		       count_state(c, TARE_CALIBRATE_MEASURED), (double)c->ns / 1e9, c->scale);
	if (lost)
		tare_emit_note(
			e,
			"! %zu could not be measured; end other programs on this GPU and repeat it",
			lost);
	if (lacks)
		tare_emit_note(
			e, "%zu are not to be had from this driver: a profile gets usual values",
			lacks);
	if (shown->compared)
		tare_emit_note(e, "%zu differ from %s", shown->differences, shown->compared_path);
}

void tare_calibrate_show(struct tare_str *out, struct tare_calibrate_shown *shown)
{
	const struct tare_calibration *c = shown->calibration;
	struct tare_emit e;

	tare_emit_begin(&e, shown->is_json ? TARE_EMIT_JSON : TARE_EMIT_TEXT, out);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_str(&e, "weighed_with", c->scale);
	tare_emit_int(&e, "duration_ns", c->ns);
	tare_emit_str(&e, "compared_with", shown->compared ? shown->compared_path : NULL);
	tare_emit_table(&e, "constants", c->profile.name, columns,
			sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < TARE_PROFILE_KEYS; i++) {
		enum tare_profile_key key = (enum tare_profile_key)i;

		tare_emit_cell_text(&e, tare_profile_rows[key].name);
		emit_measured(&e, c, key);
		emit_compared(&e, shown, key);
		emit_why(&e, c, key);
		tare_emit_row(&e);
		shown->differences += compare(shown, key) == DIFFERS;
	}
	tare_emit_table_end(&e);
	emit_notes(&e, shown);
	tare_emit_end(&e);
	if (shown->is_json)
		tare_str_add_char(out, '\n');
}

/* ---- the profile ---- */
static void write_head(struct tare_str *out, const struct tare_calibration *c, const char *command)
{
	struct utsname machine = { .sysname = "" };
	char date[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	uname(&machine);
	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	tare_str_addf(out,
		      "# SPDX-License-Identifier: Apache-2.0\n"
		      "# %s, driver %s, CUDA %d.%d, on %s %s (%s).\n",
		      c->profile.name, c->profile.driver_version,
		      (int)(c->profile.cuda_version / 1000),
		      (int)(c->profile.cuda_version % 1000 / 10), machine.sysname, machine.release,
		      machine.machine);
	tare_str_addf(
		out,
		"# Measured on %s by Tare %s: %s\n"
		"# It took %.1f s and weighed with %s. docs/PROFILE.md says what each key means.\n",
		date, TARE_VERSION, command, (double)c->ns / 1e9, c->scale);
}

static void write_key(struct tare_str *out, const struct tare_calibration *c,
		      enum tare_profile_key key)
{
	const struct tare_calibrate_key *about = &c->keys[key];
	char value[TARE_PROFILE_TEXT_MAX], low[TARE_PROFILE_TEXT_MAX], high[TARE_PROFILE_TEXT_MAX];

	if (about->state > TARE_CALIBRATE_GIVEN)
		tare_str_addf(out, "# not measured: %s; a usual value:\n", about->why);
	else if (is_range(c, key))
		tare_str_addf(out, "# %s to %s: %s\n",
			      tare_profile_format_number(key, about->low, low),
			      tare_profile_format_number(key, about->high, high), about->why);
	tare_str_addf(out, "%s = %s\n", tare_profile_rows[key].name,
		      tare_profile_format(&c->profile, key, value));
}

void tare_calibrate_write(struct tare_str *out, const struct tare_calibration *c,
			  const char *command)
{
	write_head(out, c, command);
	for (size_t i = 0; i < tare_profile_lines_nr; i++)
		if (tare_profile_lines[i].title)
			tare_str_addf(out, "\n# %s\n", tare_profile_lines[i].title);
		else
			write_key(out, c, tare_profile_lines[i].key);
}
