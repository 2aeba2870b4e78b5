/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of one program: its log and that of `tare`, made by hand. */
#ifndef TARE_TESTS_UNIT_TWO_LOGS_H
#define TARE_TESTS_UNIT_TWO_LOGS_H

#include "make_log.h"
#include "test.h"
#include "trace/recording.h"

static struct make_log m, t; /* a program's log, and that of `tare` */

static inline struct tare_recording *open_ok(const char *path)
{
	struct tare_recording *r = NULL;
	struct tare_err err = { 0 };

	if (tare_recording_open(&r, path, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return r;
}

static inline void init_both(void)
{
	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
}

static inline void free_both(void)
{
	make_log_free(&m);
	make_log_free(&t);
}

static inline void write_both(void)
{
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
}

static inline const struct tare_process *process_of(const struct tare_recording *r, uint32_t pid)
{
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		if (tare_recording_process(r, i)->pid == pid)
			return tare_recording_process(r, i);
	return NULL;
}

static inline void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static inline bool has_note(const struct tare_recording *r, const char *part)
{
	for (int i = 0; i < tare_recording_note_nr(r); i++)
		if (strstr(tare_recording_note(r, i), part))
			return true;
	return false;
}

#endif
