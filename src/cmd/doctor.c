/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/doctor.h"

#include "base/array.h"
#include "base/emit.h"
#include "cmd/cmd.h"
#include "cmd/terminal.h"
#include "cmd/write_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool json;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, json, "json", 0, FLAG, NULL, "print JSON, as docs/JSON.md describes it"),
	TARE_OPT_END,
};

const struct tare_command tare_command_doctor = {
	.name = "doctor",
	.synopsis = "check whether this machine can record, and what it cannot tell",
	.description =
		"Looks at what a recording depends on: the recorder and whether the dynamic linker takes "
		"it, the NVIDIA driver, NVML and what it answers here, namespaces, containers, and the "
		"folders that recordings are written to. Every line is ok, warn or FAIL and says what to "
		"do.\n\n"
		"warn: a recording works, but something will be missing or different. FAIL: nothing can be "
		"recorded; the exit code is then 125, else 0. A machine without a GPU is no failure, "
		"because the simulated GPU works everywhere.",
	.examples = "tare doctor\n"
		    "tare doctor --json",
	.opts = opts,
	.run = tare_cmd_doctor,
};

static void (*const checks[])(struct tare_doctor *) = {
	tare_doctor_recorder,    tare_doctor_driver,  tare_doctor_nvml,    tare_doctor_device_files,
	tare_doctor_environment, tare_doctor_folders, tare_doctor_machine,
};

static const char *const names[] = {
	[TARE_DOCTOR_OK] = "ok",
	[TARE_DOCTOR_WARN] = "warn",
	[TARE_DOCTOR_FAIL] = "FAIL",
};

void tare_doctor_add(struct tare_doctor *d, enum tare_doctor_status status, const char *check,
		     const char *fmt, ...)
{
	struct tare_str text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&text, fmt, ap);
	va_end(ap);
	d->findings = tare_array_reserve(d->findings, &d->cap, d->count + 1, sizeof(*d->findings));
	d->findings[d->count++] =
		(struct tare_doctor_finding){ status, check, tare_str_steal(&text) };
}

void tare_doctor_free(struct tare_doctor *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->findings[i].text);
	free(d->findings);
	*d = (struct tare_doctor){ 0 };
}

/* "warn  folders       …", wrapped under itself. */
static void write_text(struct tare_str *out, const struct tare_doctor *d,
		       const struct tare_text_style *style)
{
	static const enum tare_text_tone tones[] = {
		[TARE_DOCTOR_OK] = TARE_TONE_PLAIN,
		[TARE_DOCTOR_WARN] = TARE_TONE_ALARM,
		[TARE_DOCTOR_FAIL] = TARE_TONE_ALARM,
	};
	size_t width = 0, column;

	for (size_t i = 0; i < d->count; i++)
		if (strlen(d->findings[i].check) > width)
			width = strlen(d->findings[i].check);
	column = strlen("FAIL  ") + width + 2;
	for (size_t i = 0; i < d->count; i++) {
		const struct tare_doctor_finding *f = &d->findings[i];
		struct tare_str text = { 0 };

		tare_text_tone(out, names[f->status], tones[f->status], style);
		tare_str_addf(out, "%*s%-*s  ", 6 - (int)strlen(names[f->status]), "", (int)width,
			      f->check);
		tare_text_add_name(&text, f->text);
		tare_str_add_wrapped(out, tare_str_text(&text), column, column,
				     (size_t)style->width);
		tare_str_add_char(out, '\n');
		tare_str_free(&text);
	}
	if (!style->is_utf8)
		tare_text_to_ascii(out, 0);
}

struct row {
	const char *status, *check, *text;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, status, "status", NULL, TEXT),
	TARE_COLUMN(row, check, "check", NULL, TEXT),
	TARE_COLUMN(row, text, "text", NULL, TEXT),
};

static void write_json(struct tare_str *out, const struct tare_doctor *d)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, out);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_table(&e, "checks", NULL, TARE_COLUMNS(columns));
	for (size_t i = 0; i < d->count; i++) {
		const struct tare_doctor_finding *f = &d->findings[i];

		tare_emit_add(&e, &(struct row){ names[f->status], f->check, f->text });
	}
	tare_emit_table_end(&e);
	tare_emit_end(&e);
	tare_str_add_char(out, '\n');
}

int tare_cmd_doctor(int argc, char **argv)
{
	struct options o = { 0 };
	struct tare_operands rest;
	struct tare_doctor d = { 0 };
	struct tare_err err = { 0 };
	struct tare_str out = { 0 };
	int code = tare_cmd_parse(&tare_command_doctor, argc, argv, &o, &rest);

	if (code >= 0)
		return code;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&d);
	code = TARE_EXIT_OK;
	for (size_t i = 0; i < d.count; i++)
		if (d.findings[i].status == TARE_DOCTOR_FAIL)
			code = TARE_EXIT_FAILED;
	if (o.json) {
		write_json(&out, &d);
	} else {
		struct tare_text_style style = tare_terminal_style(stdout);

		write_text(&out, &d, &style);
	}
	if (tare_cmd_write_file("-", &out, &err))
		code = tare_cmd_fail(&err);
	tare_str_free(&out);
	tare_doctor_free(&d);
	tare_operands_free(&rest);
	return code;
}
