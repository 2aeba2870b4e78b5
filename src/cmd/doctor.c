/* SPDX-License-Identifier: Apache-2.0 */
/* `tare doctor`: runs its checks and prints what they found. */
#include "cmd/doctor.h"

#include "base/array.h"
#include "base/emit.h"
#include "cmd/cmd.h"
#include "cmd/format.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_doctor = {
	.name = "doctor",
	.synopsis = "check whether this machine can record, and what it cannot tell",
	.description = "Looks at what a recording depends on: the recorder and whether the dynamic linker takes "
				   "it, the NVIDIA driver, NVML and what it answers here, namespaces, containers, and the "
				   "folders that recordings are written to. Every line is ok, warn or FAIL and says what to "
				   "do.\n\n"
				   "warn: a recording works, but something will be missing or different. FAIL: nothing can be "
				   "recorded; the exit code is then 125, else 0. A machine without a GPU is no failure, "
				   "because the simulated GPU works everywhere.",
	.examples = "tare doctor\n"
				"tare doctor --json",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.progress = "checking",
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

void tare_doctor_add(struct tare_doctor *d, enum tare_doctor_status status, const char *check, const char *fmt, ...)
{
	struct tare_str text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&text, fmt, ap);
	va_end(ap);
	TARE_APPEND(d->findings, d->count, d->cap) = (struct tare_doctor_finding){ status, check, tare_str_steal(&text) };
}

struct row {
	const char *status, *check, *text;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, status, "status", NULL, TEXT),
	TARE_COLUMN(row, check, "check", NULL, TEXT),
	TARE_COLUMN(row, text, "text", NULL, TEXT),
};

/* "warn  folders       …", in text wrapped under itself. */
static void write_people(struct tare_emit *e, const struct tare_doctor *d)
{
	size_t width = 0;

	tare_emit_page(e, "tare doctor");
	for (size_t i = 0; i < d->count; i++)
		if (strlen(d->findings[i].check) > width)
			width = strlen(d->findings[i].check);
	for (size_t i = 0; i < d->count; i++) {
		const struct tare_doctor_finding *f = &d->findings[i];
		TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 };

		tare_str_addf(&head, "%-6s%-*s  ", names[f->status], (int)width, f->check);
		tare_emit_term(e, f->status == TARE_DOCTOR_OK ? TARE_TONE_PLAIN : TARE_TONE_ALARM, tare_str_text(&head),
		               f->text);
	}
}

static void write_data(struct tare_emit *e, const struct tare_doctor *d)
{
	tare_emit_uint(e, "tare", 1);
	tare_emit_table(e, "checks", NULL, TARE_COLUMNS(columns));
	for (size_t i = 0; i < d->count; i++) {
		const struct tare_doctor_finding *f = &d->findings[i];

		tare_emit_add(e, &(struct row){ names[f->status], f->check, f->text });
	}
	tare_emit_table_end(e);
}

int tare_cmd_doctor(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	TARE_FREED_BY(tare_doctor_free) struct tare_doctor d = { 0 };
	struct tare_emit e;

	(void)options;
	(void)err;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&d);
	for (size_t i = 0; i < d.count; i++)
		if (d.findings[i].status == TARE_DOCTOR_FAIL)
			c->code = TARE_EXIT_FAILED;
	tare_cmd_begin(c, &e);
	(tare_emit_is_for_people(&e) ? write_people : write_data)(&e, &d);
	tare_emit_end(&e);
	return 0;
}
