/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timeline.h"

#include "base/units.h"

#include <math.h>

enum { LEVELS = 8, LEAST = 16, MOST = 64 };

static const char *const blocks[LEVELS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

/* -1: nothing is known of it */
static int64_t most_in(const struct tare_timeline *t, size_t cell, size_t cells)
{
	size_t first = cell * (size_t)t->nr / cells, end = (cell + 1) * (size_t)t->nr / cells;
	int64_t most = t->used[first];

	for (size_t i = first + 1; i < end; i++)
		most = t->used[i] > most ? t->used[i] : most;
	return most;
}

static int level_of(int64_t bytes, int64_t most)
{
	double level = most > 0 ? ceil((double)bytes * LEVELS / (double)most) - 1 : 0;

	return level < 0 ? 0 : level < LEVELS ? (int)level : LEVELS - 1;
}

static void add_peak(struct tare_str *out, const struct tare_timeline_peak *peak)
{
	char mib[TARE_UNITS_TEXT_MAX], time[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, " · peak %s at %s", tare_units_mib(mib, peak->bytes),
		      tare_units_duration(time, peak->t_ns));
}

void tare_timeline_text(struct tare_str *out, const struct tare_timeline *timeline,
			const struct tare_timeline_peak *peak, size_t width)
{
	char from[TARE_UNITS_TEXT_MAX], to[TARE_UNITS_TEXT_MAX];
	struct tare_str tail = { 0 };
	size_t cells = MOST, beside;
	int64_t most = 0;
	bool is_varied = false;

	if (timeline->nr < 2)
		return;
	tare_units_duration(from, timeline->from_ns);
	tare_str_addf(&tail, " %s", tare_units_duration(to, timeline->to_ns));
	if (peak)
		add_peak(&tail, peak);
	beside = tare_str_columns(timeline->from_ns ? from : "0 s") + 1 +
		 tare_str_columns(tare_str_text(&tail));
	if (beside + cells > width)
		cells = beside + LEAST < width ? width - beside : LEAST;
	for (int i = 0; i < timeline->nr; i++)
		most = timeline->used[i] > most ? timeline->used[i] : most;
	for (int i = 1; i < timeline->nr; i++)
		is_varied |= level_of(timeline->used[i], most) != level_of(timeline->used[0], most);
	if (is_varied) {
		tare_str_addf(out, "%s ", timeline->from_ns ? from : "0 s");
		for (size_t i = 0; i < cells; i++)
			tare_str_add(out, blocks[level_of(most_in(timeline, i, cells), most)]);
		tare_str_addf(out, "%s\n", tare_str_text(&tail));
	}
	tare_str_free(&tail);
}
