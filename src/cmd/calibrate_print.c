/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a measured profile: a row a key, and how it compares. */
#include "cmd/calibrate_print.h"

#include "base/emit.h"
#include "base/simulated.h"
#include "cmd/output.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static const char *const states[] = {
	[TARE_CALIBRATE_MEASURED] = "measured", [TARE_CALIBRATE_GIVEN] = "given",   [TARE_CALIBRATE_LACKS] = "lacks",
	[TARE_CALIBRATE_IN_USE] = "in use",     [TARE_CALIBRATE_FAILED] = "failed",
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

	if (!shown->compared || !is_measured(c, key) || tare_profile_rows[key].how < TARE_PROFILE_HOW_ASKED)
		return NONE;
	value = tare_profile_number(shown->compared, key);
	return value >= c->keys[key].low && value <= c->keys[key].high ? SAME : DIFFERS;
}

struct row {
	const char *constant, *state;
	const char *measured, *text; /* as people read it; for scripts, where it is a text */
	bool has_value, has_range, is_measured;
	uint64_t value, low, high;
	int readings;
	const char *profile, *profile_text;
	bool has_profile_value, has_verdict, differs;
	uint64_t profile_value;
	const char *verdict;
	struct tare_str why;
};

#define RANGE .when = TARE_WHEN(row, has_range)

static const struct tare_column columns[] = {
	TARE_COLUMN(row, constant, "constant", "CONSTANT", TEXT),
	TARE_COLUMN(row, measured, NULL, "measured", TEXT, .is_whole = true),
	TARE_COLUMN(row, state, "state", NULL, TEXT),
	TARE_COLUMN(row, value, "value", NULL, COUNT, .when = TARE_WHEN(row, has_value)),
	TARE_COLUMN(row, text, "text", NULL, TEXT),
	TARE_COLUMN(row, low, "low", NULL, COUNT, RANGE),
	TARE_COLUMN(row, high, "high", NULL, COUNT, RANGE),
	TARE_COLUMN(row, readings, "readings", NULL, COUNT, .when = TARE_WHEN(row, is_measured)),
	TARE_COLUMN(row, profile, NULL, "profile", TEXT, .is_whole = true),
	TARE_COLUMN(row, profile_value, "profile_value", NULL, COUNT, .when = TARE_WHEN(row, has_profile_value)),
	TARE_COLUMN(row, profile_text, "profile_text", NULL, TEXT),
	TARE_COLUMN(row, differs, "differs", NULL, FLAG, .when = TARE_WHEN(row, has_verdict)),
	TARE_COLUMN(row, verdict, NULL, "", TEXT),
	TARE_COLUMN(row, why, "why", "by", TEXT),
};

static void set_measured(struct row *row, const struct tare_calibration *c, enum tare_profile_key key,
                         char text[static TARE_PROFILE_TEXT_MAX])
{
	const struct tare_calibrate_key *about = &c->keys[key];

	row->state = states[about->state];
	row->is_measured = is_measured(c, key);
	if (!row->is_measured)
		return;
	row->measured = tare_profile_format(&c->profile, key, text);
	row->readings = about->readings;
	if (is_text(key)) {
		row->text = row->measured;
		return;
	}
	row->has_value = row->has_range = true;
	row->value = tare_profile_number(&c->profile, key);
	row->low = about->low;
	row->high = about->high;
}

static void set_compared(struct row *row, const struct tare_calibrate_shown *shown, enum tare_profile_key key,
                         char text[static TARE_PROFILE_TEXT_MAX])
{
	enum verdict verdict = compare(shown, key);

	row->has_verdict = verdict != NONE;
	row->differs = verdict == DIFFERS;
	row->verdict = verdict == SAME ? "same" : verdict == DIFFERS ? "DIFFERS" : "";
	if (!shown->compared || tare_profile_rows[key].how == TARE_PROFILE_HOW_GIVEN)
		return;
	row->profile = tare_profile_format(shown->compared, key, text);
	row->has_profile_value = !is_text(key);
	if (row->has_profile_value)
		row->profile_value = tare_profile_number(shown->compared, key);
	else
		row->profile_text = row->profile;
}

/* "2352 … 2367: 82 graphs …" */
static void add_why(struct tare_str *out, const struct tare_calibration *c, enum tare_profile_key key,
                    bool is_for_people)
{
	const struct tare_calibrate_key *about = &c->keys[key];
	char low[TARE_PROFILE_TEXT_MAX], high[TARE_PROFILE_TEXT_MAX];

	if (is_for_people && is_range(c, key))
		tare_str_addf(out, "%s to %s: ", tare_profile_format_number(key, about->low, low),
		              tare_profile_format_number(key, about->high, high));
	else if (is_for_people && about->state > TARE_CALIBRATE_GIVEN)
		tare_str_add(out, "not measured: ");
	tare_str_add(out, about->why);
}

static void add_row(struct tare_emit *e, const struct tare_calibrate_shown *shown, enum tare_profile_key key)
{
	char measured[TARE_PROFILE_TEXT_MAX], profile[TARE_PROFILE_TEXT_MAX];
	struct row row = { .constant = tare_profile_rows[key].name };

	set_measured(&row, shown->calibration, key, measured);
	set_compared(&row, shown, key, profile);
	add_why(&row.why, shown->calibration, key, tare_emit_is_for_people(e));
	tare_emit_add(e, &row);
	tare_str_free(&row.why);
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

	tare_emit_note(e, "%zu constants measured in %.1f s, weighed with %s", count_state(c, TARE_CALIBRATE_MEASURED),
	               (double)c->ns / 1e9, c->scale);
	if (lost)
		tare_emit_note(e, "! %zu could not be measured; end other programs on this GPU and repeat it", lost);
	if (lacks)
		tare_emit_note(e, "%zu are not to be had from this driver: a profile gets usual values", lacks);
	if (shown->compared)
		tare_emit_note(e, "%zu differ from %s", shown->differences, shown->compared_path);
}

void tare_calibrate_show(struct tare_str *out, struct tare_calibrate_shown *shown)
{
	const struct tare_calibration *c = shown->calibration;
	struct tare_emit e;

	tare_emit_begin(&e, shown->format, out);
	e.style = tare_terminal_style(stdout);
	tare_emit_simulated(&e, shown->is_simulated);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_str(&e, "weighed_with", c->scale);
	tare_emit_int(&e, "duration_ns", c->ns);
	tare_emit_str(&e, "compared_with", shown->compared ? shown->compared_path : NULL);
	tare_emit_table(&e, "constants", c->profile.name, TARE_COLUMNS(columns));
	for (int i = 0; i < TARE_PROFILE_KEYS; i++) {
		enum tare_profile_key key = (enum tare_profile_key)i;

		add_row(&e, shown, key);
		shown->differences += compare(shown, key) == DIFFERS;
	}
	tare_emit_table_end(&e);
	emit_notes(&e, shown);
	tare_emit_end(&e);
}

/* ---- the profile ---- */
static void write_head(struct tare_str *out, const struct tare_calibration *c, bool is_simulated, const char *command)
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
	              c->profile.name, c->profile.driver_version, (int)(c->profile.cuda_version / 1000),
	              (int)(c->profile.cuda_version % 1000 / 10), machine.sysname, machine.release, machine.machine);
	tare_str_addf(out,
	              "# %s on %s by Tare %s: %s\n"
	              "# It took %.1f s and weighed with %s. docs/PROFILE.md says what each key means.\n",
	              is_simulated ? "Asked of " TARE_SIMULATED_WORDS ", so nothing was measured," : "Measured", date,
	              TARE_VERSION, command, (double)c->ns / 1e9, c->scale);
}

static void write_key(struct tare_str *out, const struct tare_calibration *c, enum tare_profile_key key)
{
	const struct tare_calibrate_key *about = &c->keys[key];
	char value[TARE_PROFILE_TEXT_MAX], low[TARE_PROFILE_TEXT_MAX], high[TARE_PROFILE_TEXT_MAX];

	if (about->state > TARE_CALIBRATE_GIVEN)
		tare_str_addf(out, "# not measured: %s; a usual value:\n", about->why);
	else if (is_range(c, key))
		tare_str_addf(out, "# %s to %s: %s\n", tare_profile_format_number(key, about->low, low),
		              tare_profile_format_number(key, about->high, high), about->why);
	tare_str_addf(out, "%s = %s\n", tare_profile_rows[key].name, tare_profile_format(&c->profile, key, value));
}

void tare_calibrate_write(struct tare_str *out, const struct tare_calibration *c, bool is_simulated,
                          const char *command)
{
	write_head(out, c, is_simulated, command);
	for (size_t i = 0; i < tare_profile_lines_nr; i++)
		if (tare_profile_lines[i].title)
			tare_str_addf(out, "\n# %s\n", tare_profile_lines[i].title);
		else
			write_key(out, c, tare_profile_lines[i].key);
}
