/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that help most often, each replayed; and what can be said of a file in words. */
#include "replay/whatif.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <string.h>

static const char *const settings[] = {
#define X(CONF) CONF,
#include "replay/best.def"
#undef X
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Of the same peak: the fewer settings the better. */
TARE_COMPARATOR(by_peak, struct tare_whatif_case,
                TARE_RISING(orders_that_run_out) TARE_RISING(figures.peak_reserved) TARE_RISING_BY(strlen(it->conf)))

struct tare_whatif_case *tare_whatif_best(const struct tare_whatif *w, const struct tare_whatif_ask *ask, size_t *count)
{
	struct tare_whatif_case *cases = tare_xcalloc(SETTINGS, sizeof(*cases));
	struct tare_err err;

	*count = 0;
	for (size_t i = 0; i < SETTINGS; i++)
		*count += !tare_whatif_case(w, settings[i], ask, &cases[*count], &err);
	TARE_SORT(cases, *count, by_peak);
	return cases;
}

bool tare_whatif_is_of_program(const char *file)
{
	size_t len = strlen(file);

	return len > 3 && !strcmp(file + len - 3, ".py") && !strstr(file, "/torch/") && *file != '<';
}

void tare_whatif_line(const struct tare_whatif *w, uint32_t stack, struct tare_str *out)
{
	const struct tare_snapshot *s = w->trace.snapshot;
	struct tare_snapshot_frame frame, found = { 0 };
	bool any = false;

	if (w->trace.is_recording) {
		tare_str_add(out, stack && stack <= w->trace.line_count ? w->trace.lines[stack - 1] : "");
		return;
	}
	for (size_t at = 0; tare_snapshot_frame(s, stack, at, &frame); at++) {
		bool is_program = tare_whatif_is_of_program(tare_snapshot_text(s, frame.file));

		if (!any || is_program)
			found = frame;
		any = true;
		if (is_program)
			break;
	}
	if (any)
		tare_str_addf(out, "%s:%lld %s", tare_snapshot_text(s, found.file), (long long)found.line,
		              tare_snapshot_text(s, found.name));
}

static bool has_waits(const struct tare_trace *t)
{
	for (size_t i = 0; i < t->device_count; i++)
		if (t->devices[i].wait_count)
			return true;
	return false;
}

static const char *recording_lacks(const struct tare_whatif *w, size_t at)
{
	const struct {
		bool is_so;
		const char *text;
	} lacks[] = {
		{ w->starts || w->contradictions, "Events are missing: it was paused, or older events went to keep it small." },
		{ !w->trace.conf,
		  "It does not say the settings of the allocator, which a program may set itself: the defaults were taken, and expandable segments where there are any." },
		{ w->trace.is_simulated, "It is of a simulated GPU: no kernel ran." },
		{ true, "It has the sizes of blocks, not of requests." },
		{ !has_waits(&w->trace),
		  "It does not have when other streams were done with a block: it is reused as soon as it was freed." },
		{ has_waits(&w->trace),
		  "It does not have when other streams were done with a block: how long blocks waited at least follows from its addresses." },
	};

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (lacks[i].is_so && !at--)
			return lacks[i].text;
	return NULL;
}

/* In the order of how much it matters. */
const char *tare_whatif_lacks(const struct tare_whatif *w, size_t at)
{
	const struct tare_snapshot_facts *f = tare_snapshot_facts(w->trace.snapshot);
	const struct {
		bool is_so;
		const char *text;
	} lacks[] = {
		{ !f->has_traces,
		  "It has no events: call torch.cuda.memory._record_memory_history() before what is to be replayed." },
		{ f->has_traces && w->starts,
		  "It begins in the middle of the run: what was there before follows from the rest, and peaks are those since." },
		{ w->contradictions, "Events are missing: what is there at the end does not follow from those that it has." },
		{ f->settings.overflowed > 0,
		  "More happened than was kept: max_entries of _record_memory_history() was reached." },
		{ !f->settings.is_there,
		  "It does not say the settings of the allocator (PyTorch writes them from 2.3 on): the defaults were taken." },
		{ f->has_traces && f->events_without_stack == f->events,
		  "It has no stacks: no line of the program can be named." },
		{ f->odd,
		  "It has values that cannot be what they are called: they were taken for missing. tare import says where." },
		{ f->unknown_actions, "It has events that this Tare does not know; tare import says which." },
		{ f->lost_texts || f->lost_stacks, "It has more different stacks than are kept: some lines are missing." },
	};

	if (w->trace.is_recording)
		return recording_lacks(w, at);
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (lacks[i].is_so && !at--)
			return lacks[i].text;
	return NULL;
}
