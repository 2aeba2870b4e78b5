/* SPDX-License-Identifier: Apache-2.0 */
/* Prints several recordings each by itself, where they cannot be read as one. */
#include "cmd/report.h"

#include "base/print.h"
#include "view/by.h"

static bool has_dropped(const struct tare_recording *recording)
{
	return tare_recording_folder_nr(recording) > 1 && tare_recording_dropped_ns(recording) >= 0;
}

/* How ranks ended, and which failed first, needs all of them, and no memory of any. */
bool tare_report_is_of_each(const struct tare_recording *recording, const struct tare_report_options *options)
{
	return has_dropped(recording) && !options->is_time && options->by != TARE_BY_RANK;
}

static int print_alone(const char *path, const struct tare_str *head, const struct tare_report_options *options,
                       struct tare_err *err)
{
	struct tare_report_options own = *options;
	struct tare_recording *recording;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = tare_recording_open_all(&recording, &path, 1, NULL, err);

	if (rc)
		return rc;
	own.page = path;
	tare_str_add(&text, head->data);
	rc = tare_report_write(&text, stdout, recording, &own, err);
	if (!rc && (rc = tare_print(stdout, &text)) != 0)
		rc = tare_err_set_errno(err, -rc, "the report cannot be written");
	if (rc)
		tare_err_prefix(err, "%s", path);
	tare_recording_close(recording);
	return rc;
}

static int print_all(const struct tare_recording *recording, const struct tare_report_options *options,
                     struct tare_err *err)
{
	size_t nr = tare_recording_folder_nr(recording), shown = 0;
	bool is_elsewhere = false; /* the process that is asked for */
	int rc = 0;

	for (size_t i = 0; i < nr && (!rc || is_elsewhere); i++) {
		struct tare_str head = { 0 };
		const char *path;

		tare_recording_folder_dropped_ns(recording, i, &path);
		tare_str_addf(&head, "%s%s (%zu of %zu)\n\n", shown ? "\n" : "", path, i + 1, nr);
		rc = print_alone(path, &head, options, err);
		tare_str_free(&head);
		shown += !rc;
		is_elsewhere = rc == TARE_E_NOT_FOUND && options->pid >= 0;
	}
	return shown && is_elsewhere ? 0 : rc;
}

int tare_report_print_each(const struct tare_recording *recording, const struct tare_report_options *options,
                           struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str dropped = { 0 };
	int rc = 0;

	tare_recording_name_dropped(recording, &dropped);
	if (options->format == TARE_EMIT_TEXT)
		tare_say("%s: the oldest events went to keep these under their caps, so each recording is "
		         "reported alone, with times since it began",
		         tare_str_text(&dropped));
	else
		rc = tare_err_set(err, TARE_E_RANGE,
		                  "%s: the oldest events went to keep these under their caps, so there is no "
		                  "report of all in this form; ask for each recording alone, or for text",
		                  tare_str_text(&dropped));
	return rc ? rc : print_all(recording, options, err);
}

int tare_report_check_picture(const struct tare_recording *recording, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str dropped = { 0 };
	int rc;

	if (!has_dropped(recording))
		return 0;
	tare_recording_name_dropped(recording, &dropped);
	rc = tare_err_set(err, TARE_E_RANGE,
	                  "%s: the oldest events went to keep these under their caps, so there is no picture of "
	                  "all; draw each recording alone",
	                  tare_str_text(&dropped));
	return rc;
}
