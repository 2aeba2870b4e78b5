/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report --html`: what the page of a recording is made of. */
#include "cmd/report_page.h"

#include "base/xalloc.h"
#include "cmd/report.h"
#include "cmd/report_explain.h"
#include "cmd/report_settings.h"
#include "cmd/report_source.h"
#include "cmd/output.h"
#include "ledger/build.h"
#include "ledger/driver_time.h"
#include "trace/recording.h"
#include "view/by.h"
#include "view/page.h"

#include <stdlib.h>

enum { PEAK, END, HOST_PEAK, NR };
enum { TENSORS_IN_ALL = 1000000, MOMENTS_LEAST = 12 };

/* What the page needs, as long as it is written. */
struct source {
	struct tare_ledger ledgers[NR], *moments;
	struct tare_line_names names, moment_names; /* of these */
	struct tare_step_curves step_curves;
	struct tare_memory_history by_account, by_category;
	struct tare_block_courses blocks;
	struct tare_page_setting *settings;
	struct tare_time_rows calls;
	size_t setting_nr;
	int ledger_nr, moment_nr;
	bool has_tensors;
	struct tare_str title;
};

/* What a moment costs until the recording is read to its end grows with the tensors that live then: of many there are fewer moments. */
static int moments_of(const struct tare_ledger *peak)
{
	int64_t tensors = 1;
	int most;

	for (int i = 0; i < peak->device_nr; i++)
		tensors += peak->devices[i].tensors.count;
	for (int i = 0; i < peak->host_nr; i++)
		tensors += peak->hosts[i].blocks.count;
	most = (int)(TENSORS_IN_ALL / tensors);
	return most < MOMENTS_LEAST ? MOMENTS_LEAST : most > TARE_PAGE_MOMENTS ? TARE_PAGE_MOMENTS : most;
}

static void read_moments(struct source *s, struct tare_recording *recording)
{
	struct tare_ledger_opts opts = { .without_tensors = true, .line_names = &s->moment_names };
	struct tare_instant at[TARE_PAGE_MOMENTS];
	int64_t t_ns[TARE_PAGE_MOMENTS];

	s->moment_nr = tare_page_choose(&s->by_account, moments_of(&s->ledgers[PEAK]), t_ns);
	s->moments = tare_xcalloc((size_t)s->moment_nr + 1, sizeof(*s->moments));
	for (int i = 0; i < s->moment_nr; i++)
		at[i] = (struct tare_instant){ .kind = TARE_INSTANT_TIME, .t_ns = t_ns[i], .text = "moment" };
	tare_step_curves_begin(&s->step_curves, &s->ledgers[PEAK]);
	if (s->step_curves.nr)
		opts.step_curves = &s->step_curves;
	if (s->moment_nr)
		tare_ledger_of_recording(recording, &opts, at, s->moment_nr, s->moments);
}

/* Tensors on the CPU beside a GPU have a peak of their own. */
static bool has_host_peak(const struct tare_ledger *l)
{
	for (int i = 0; i < l->host_nr; i++)
		if (l->opened_gpu && l->hosts[i].tensors.is_known && l->hosts[i].tensors.bytes)
			return true;
	return false;
}

static bool has_tensors(const struct tare_ledger *l)
{
	const struct tare_by_ask ask = { .by = TARE_BY_CATEGORY, .ledgers = &l, .ledger_nr = 1, .pid = -1 };

	return tare_by_is_any(&ask);
}

/*
 * Three folds. The first has the course of time by account, says at which moments to look and counts the blocks; the second tells tensors
 * apart in it, has single blocks and the ledgers with all that is in them, and says when steps were; the third has the moments and the
 * courses of the steps.
 */
static void read_all(struct source *s, struct tare_recording *recording, const struct tare_instant *instants)
{
	struct tare_ledger_opts first = {
		.history = &s->by_account, .block_courses = &s->blocks, .without_tensors = true, .without_heap_lines = true
	};
	struct tare_ledger_opts second = { .history = &s->by_category,
		                               .history_by_category = &s->by_account,
		                               .block_courses = &s->blocks,
		                               .line_names = &s->names };
	struct tare_ledger peak;

	tare_ledger_of_recording(recording, &first, instants, 1, &peak);
	tare_ledger_free(&peak);
	tare_ledger_of_recording(recording, &second, instants, NR, s->ledgers);
	tare_report_replay(&s->ledgers[PEAK], recording);
	s->ledger_nr = has_host_peak(&s->ledgers[HOST_PEAK]) ? NR : HOST_PEAK;
	s->has_tensors = has_tensors(&s->ledgers[PEAK]) || has_tensors(&s->ledgers[END]);
	s->settings = tare_report_settings(recording, &s->setting_nr);
	read_moments(s, recording);
	tare_driver_time_of_recording(recording, &(struct tare_time_opts){ .pid = -1, .until_ns = INT64_MAX }, &s->calls);
}

static void discard(struct source *s)
{
	for (int i = 0; i < NR; i++)
		tare_ledger_free(&s->ledgers[i]);
	for (int i = 0; i < s->moment_nr; i++)
		tare_ledger_free(&s->moments[i]);
	free(s->moments);
	tare_line_names_free(&s->names);
	tare_line_names_free(&s->moment_names);
	free(s->settings);
	tare_step_curves_free(&s->step_curves);
	tare_memory_history_free(&s->by_account);
	tare_memory_history_free(&s->by_category);
	tare_block_courses_free(&s->blocks);
	tare_driver_time_free(&s->calls);
	tare_str_free(&s->title);
}

static int write_page(const char *file, const struct source *s, const struct tare_recording *recording,
                      const struct tare_report_page_options *o, struct tare_err *err)
{
	bool is_wanted = !o->is_confidential && !o->without_source;
	struct tare_report_sources sources;
	struct tare_page page = {
		.title = tare_str_text(&s->title),
		.ledgers = s->ledgers,
		.ledger_nr = s->ledger_nr,
		.moments = s->moments,
		.moment_nr = s->moment_nr,
		.is_confidential = o->is_confidential,
		.by_account = &s->by_account,
		.by_category = s->has_tensors ? &s->by_category : NULL,
		.blocks = s->has_tensors ? &s->blocks : NULL,
		.step_curves = &s->step_curves,
		.settings = s->settings,
		.setting_nr = s->setting_nr,
		.of_source = &sources,
		.calls = &s->calls,
		.explain = tare_report_explain,
		.of_explain = &s->ledgers[PEAK],
	};
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc;

	tare_report_sources_of(&sources, recording, o->with_any_source);
	if (is_wanted && sources.refused.len)
		page.source_why = tare_str_text(&sources.refused);
	else if (is_wanted)
		page.read_source = tare_report_read_source;
	tare_page(&text, &page);
	rc = tare_cmd_write_file(file, &text, err);
	tare_str_free(&sources.refused);
	return rc;
}

int tare_report_page(const char *file, struct tare_recording *recording, const char *const *paths, size_t path_nr,
                     const struct tare_report_page_options *options, struct tare_err *err)
{
	struct tare_instant instants[NR] = {
		[PEAK] = { .moment = TARE_MOMENT_PEAK, .text = "peak" },
		[END] = { .moment = TARE_MOMENT_END, .text = "end" },
		[HOST_PEAK] = { .moment = TARE_MOMENT_HOST, .text = "peak:host" },
	};
	struct source s = { 0 };
	int rc = tare_report_check_picture(recording, err);

	if (!rc)
		rc = tare_instants_settle(recording, instants, NR, err);
	if (rc)
		return rc;
	read_all(&s, recording, instants);
	tare_report_title(&s.title, &s.ledgers[PEAK], paths, path_nr);
	rc = write_page(file, &s, recording, options, err);
	discard(&s);
	return rc;
}
