/* SPDX-License-Identifier: Apache-2.0 */
/* `--at phase:NAME[#N][:begin|peak|end]`: which moment that is. */
#include "ledger/build.h"

#include "base/args.h"
#include "base/extent.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 8 };

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(text + len - n, end, n);
}

/* "#12" at the end; a name may hold a '#' of its own. */
static size_t cut_number(const char *name, size_t len, uint64_t *nth)
{
	size_t at = len;
	uint64_t n = 0;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9' && len - at < 18)
		at--;
	if (at == len || at < 2 || name[at - 1] != '#')
		return len;
	for (size_t i = at; i < len; i++)
		n = n * 10 + (uint64_t)(name[i] - '0');
	*nth = n;
	return at - 1;
}

void tare_phase_instant_parse(const char *text, struct tare_instant *out)
{
	static const struct {
		const char *end;
		enum tare_phase_point point;
	} points[] = {
		{ ":begin", TARE_PHASE_AT_BEGIN },
		{ ":peak", TARE_PHASE_AT_PEAK },
		{ ":end", TARE_PHASE_AT_END },
	};
	size_t len = strlen(text);

	out->kind = TARE_INSTANT_PHASE;
	out->point = TARE_PHASE_AT_END;
	out->phase = text;
	out->nth = 1;
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		if (ends_with(text, len, points[i].end)) {
			out->point = points[i].point;
			len -= strlen(points[i].end);
			break;
		}
	out->phase_len = cut_number(text, len, &out->nth);
}

struct names {
	const struct tare_ledger *ledger;
};

static const char *next_name(void *arg, size_t i)
{
	const struct names *n = arg;

	return i < (size_t)n->ledger->phase_nr ? n->ledger->phases[i].name : NULL;
}

/* Names that hold what was asked for, or begin like it, or else the first ones. */
static void add_near(struct tare_str *out, const struct tare_ledger *l, const char *name)
{
	struct names names = { l };
	const char *near = tare_args_near_miss(name, next_name, &names);
	int shown = 0;

	if (near) {
		tare_str_addf(out, "; did you mean %s?", near);
		return;
	}
	for (int pass = 0; pass < 2 && !shown; pass++)
		for (int i = 0; i < l->phase_nr && shown < NAMES_SHOWN; i++) {
			const char *other = l->phases[i].name;
			bool is_listed = false;

			if (!pass && !strstr(other, name) && !strstr(name, other))
				continue;
			for (int k = 0; k < i; k++)
				is_listed |= !strcmp(l->phases[k].name, other);
			if (!is_listed)
				tare_str_addf(out, "%s%s", shown++ ? ", " : "; there is ", other);
		}
	if (l->phase_nr > shown)
		tare_str_add(out, "; tare report REC --by phase shows all");
}

static int not_found(const struct tare_instant *at, const struct tare_phase_watch *w, const struct tare_ledger *l,
                     struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (!l->phase_nr)
		tare_str_add(&text, "this recording has no phases; mark them with NVTX, tare.h or "
		                    "tare run --phase");
	else if (w->seen >= w->nth && w->nth)
		tare_str_addf(&text, "that one began in what was folded into totals to keep the recording "
		                     "under its cap; --at with a time, such as 1s, lists which long phases "
		                     "near it are known, or record again with a larger --cap");
	else if (w->seen)
		tare_str_addf(&text, "phase %s was there %llu time%s, counted from #1", w->name, (unsigned long long)w->seen,
		              w->seen == 1 ? "" : "s");
	else
		tare_str_addf(&text, "there is no phase %s", w->name);
	if (l->phase_nr && !w->seen)
		add_near(&text, l, w->name);
	tare_err_set(err, TARE_E_USAGE, "%s: %s", at->text, tare_str_text(&text));
	return TARE_E_USAGE;
}

/* ---- one whose events went: what is kept of long phases ---- */

static const char *const point_names[] = {
	[TARE_PHASE_AT_BEGIN] = "begin",
	[TARE_PHASE_AT_PEAK] = "peak",
	[TARE_PHASE_AT_END] = "end",
};

/* Each device has a time of its own; where nothing is known of one, that of the others. */
static void add_kept(struct tare_instant *at, const struct tare_extent *x, bool is_first)
{
	if (is_first) {
		at->kind = TARE_INSTANT_TIME;
		at->t_ns = x->from_ns;
		for (int i = 0; i < TARE_PHASE_DEVICES; i++)
			at->device_t_ns[i] = x->from_ns;
	}
	at->is_per_device |= x->from_ns != at->t_ns;
	if (x->device >= 0 && x->device < TARE_PHASE_DEVICES)
		at->device_t_ns[x->device] = x->from_ns;
}

static bool settle_kept(const struct tare_recording *recording, struct tare_instant *at)
{
	const struct tare_extent_list *list = tare_recording_extents(recording);
	TARE_FREED_HERE char *name = tare_xstrndup(at->phase, at->phase_len);
	TARE_FREED_BY(tare_str_free) struct tare_str what = { 0 };
	bool is_found = false;

	tare_str_addf(&what, TARE_EXTENT_PHASE, name, (unsigned long long)at->nth, point_names[at->point]);
	for (size_t i = 0; list && i < list->nr; i++)
		if (list->items[i].what && !strcmp(list->items[i].what, tare_str_text(&what))) {
			add_kept(at, &list->items[i], !is_found);
			is_found = true;
		}
	return is_found;
}

/* `is_cpu`: no GPU was opened, so the peak is that of the tensors on the CPU. */
static void settle(struct tare_instant *at, const struct tare_phase_watch *w, bool is_cpu)
{
	at->kind = TARE_INSTANT_TIME;
	at->t_ns = at->point == TARE_PHASE_AT_BEGIN ? w->begin_ns : w->end_ns;
	if (at->point != TARE_PHASE_AT_PEAK)
		return;
	if (is_cpu) {
		at->t_ns = w->host_peak_ns;
		return;
	}
	at->is_per_device = true;
	for (int i = 0; i < TARE_PHASE_DEVICES; i++) /* 0: there is no such device */
		at->device_t_ns[i] = w->peak_ns[i] ? w->peak_ns[i] : w->end_ns;
}

int tare_phase_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int nr,
                               struct tare_err *err)
{
	TARE_FREED_HERE struct tare_phase_watch *watches = tare_xcalloc((size_t)nr + 1, sizeof(*watches));
	struct tare_ledger_opts opts = { .watches = watches };
	const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	TARE_FREED_BY(tare_ledger_free) struct tare_ledger ledger = { 0 };
	int rc = 0, w = 0;

	for (int i = 0; i < nr; i++)
		if (instants[i].kind == TARE_INSTANT_PHASE)
			watches[opts.watch_nr++] = (struct tare_phase_watch){
				.name = tare_xstrndup(instants[i].phase, instants[i].phase_len),
				.nth = instants[i].nth,
			};
	if (opts.watch_nr)
		tare_ledger_of_recording(recording, &opts, &end, 1, &ledger);
	for (int i = 0; i < nr && !rc; i++) {
		if (instants[i].kind != TARE_INSTANT_PHASE)
			continue;
		if (watches[w].is_found)
			settle(&instants[i], &watches[w], !ledger.opened_gpu);
		else if (!settle_kept(recording, &instants[i]))
			rc = not_found(&instants[i], &watches[w], &ledger, err);
		w++;
	}
	for (int i = 0; i < opts.watch_nr; i++)
		free((char *)watches[i].name);
	return rc;
}
