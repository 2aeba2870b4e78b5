/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on differences between ranks that are easily overlooked in the table. */
#include "view/rank.h"

#include "base/units.h"
#include "view/ledger_view.h"

#include <string.h>

#define MIB INT64_C(1048576)

static const int64_t small_spread = 2 * MIB; /* one page of the driver more or less */

static const char *const part_names[] = {
	[TARE_RANK_PART_CONTEXT] = "contexts",       [TARE_RANK_PART_CODE] = "kernel code",
	[TARE_RANK_PART_ALLOCATION] = "allocations", [TARE_RANK_PART_POOL] = "pools",
	[TARE_RANK_PART_GRAPH] = "graphs",           [TARE_RANK_PART_REST] = "the rest",
};

static void add_sentence(struct tare_emit *e, struct tare_str *s)
{
	tare_emit_indented(e, 0, 2, tare_str_text(s));
	tare_str_free(s);
}

static bool is_peer(const struct tare_rank_ledger *a, const struct tare_rank_ledger *b)
{
	return a->attempt == b->attempt && !strcmp(a->job, b->job);
}

/* Each job once, and of a job that was started again each attempt. */
static bool is_first_of_job(const struct tare_ledger *l, int r)
{
	return !r || !is_peer(&l->ranks[r - 1], &l->ranks[r]);
}

static void note_spread(struct tare_emit *e, const struct tare_rank_ledger *job, const struct tare_rank_rows *rows)
{
	char most[TARE_UNITS_TEXT_MAX], least[TARE_UNITS_TEXT_MAX], median[TARE_UNITS_TEXT_MAX];
	struct tare_rank_spread s;
	struct tare_str text = { 0 };

	tare_rank_spread(&s, rows, job);
	if (!s.most)
		return;
	if (s.most_bytes - s.least_bytes <= small_spread) {
		tare_str_addf(&text, "balanced: every rank holds %s to %s MiB", tare_units_mib(least, s.least_bytes),
		              tare_units_mib(most, s.most_bytes));
	} else {
		tare_str_addf(&text, "rank %d holds most, %s MiB; rank %d least, %s; median %s", s.most->rank,
		              tare_units_mib(most, s.most_bytes), s.least->rank, tare_units_mib(least, s.least_bytes),
		              tare_units_mib(median, s.median_bytes));
		tare_str_addf(&text, "; they differ most in %s, by %s", part_names[s.part],
		              tare_units_mib(median, s.part_bytes));
	}
	add_sentence(e, &text);
}

/* cuInit takes a little on every GPU that a process can see; such rows are not worth a line each. */
static void note_hidden(struct tare_emit *e, const struct tare_rank_rows *rows)
{
	char mib[TARE_UNITS_TEXT_MAX];
	struct tare_str text = { 0 };
	int64_t bytes = 0;

	for (size_t i = 0; i < rows->count; i++)
		bytes += tare_rank_is_elsewhere(rows, i) ? rows->rows[i].bytes : 0;
	if (!bytes)
		return;
	tare_str_addf(&text,
	              "not shown: %s MiB that the driver took for ranks on GPUs where they have no "
	              "context; CUDA_VISIBLE_DEVICES hides them",
	              tare_units_mib(mib, bytes));
	add_sentence(e, &text);
}

/* The classic: every rank first touches GPU 0 and leaves a context there. */
static void note_strays(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_rank_rows *rows)
{
	for (int d = 0; d < ledger->device_nr; d++) {
		const struct tare_device_ledger *device = &ledger->devices[d];
		char mib[TARE_UNITS_TEXT_MAX];
		struct tare_str who = { 0 }, text = { 0 };
		int64_t bytes = 0;
		int count = 0;

		for (size_t i = 0; i < rows->count; i++) {
			const struct tare_rank_row *row = &rows->rows[i];

			if (row->device != device || !row->part[TARE_RANK_PART_CONTEXT] || tare_rank_home(rows, row->rank) == row)
				continue;
			tare_str_addf(&who, "%s%d", count++ ? ", " : "", row->rank->rank);
			bytes += row->bytes;
		}
		if (count) {
			tare_str_addf(&text,
			              "rank%s %s hold%s %s MiB on GPU %d and work%s on another: choose "
			              "the device before the first CUDA call (torch.cuda.set_device), "
			              "or show each rank its own with CUDA_VISIBLE_DEVICES",
			              count > 1 ? "s" : "", tare_str_text(&who), count > 1 ? "" : "s", tare_units_mib(mib, bytes),
			              device->index, count > 1 ? "" : "s");
			add_sentence(e, &text);
		}
		tare_str_free(&who);
	}
}

/* The other ranks that ended in the same way; when the earliest and the latest of them did, after the first failure (-: before it). */
struct others {
	struct tare_str who;
	int count;
	int64_t from, to;
};

enum { NAMED_RANKS = 12 };

static bool ends_alike(const struct tare_rank_ledger *a, const struct tare_rank_ledger *b)
{
	return a->end == b->end && a->code == b->code && a->is_oom == b->is_oom;
}

static struct others collect(const struct tare_ledger *ledger, const struct tare_rank_ledger *first,
                             const struct tare_rank_ledger *like)
{
	struct others o = { .from = INT64_MAX, .to = INT64_MIN };

	for (int i = 0; i < ledger->rank_nr; i++) {
		const struct tare_rank_ledger *r = &ledger->ranks[i];
		int64_t by = r->end_ns - first->end_ns;

		if (r == first || !is_peer(r, first) || !ends_alike(r, like))
			continue;
		tare_str_addf(&o.who, "%s%d", o.count++ ? ", " : "", r->rank);
		o.from = by < o.from ? by : o.from;
		o.to = by > o.to ? by : o.to;
	}
	if (o.count > NAMED_RANKS) {
		tare_str_cut(&o.who, 0);
		tare_str_addf(&o.who, "%d of them", o.count);
	}
	return o;
}

static void add_time(struct tare_str *text, int64_t by)
{
	char buf[TARE_UNITS_TEXT_MAX];

	tare_str_addf(text, " %s %s", tare_units_duration(buf, by < 0 ? -by : by), by < 0 ? "before" : "after");
}

static void add_others(struct tare_str *text, const struct tare_ledger *ledger, const struct tare_rank_ledger *first,
                       const struct tare_rank_ledger *like)
{
	struct others o = collect(ledger, first, like);

	tare_str_addf(text, "; rank%s %s: ", o.count > 1 ? "s" : "", tare_str_text(&o.who));
	tare_rank_end_text(text, like);
	tare_str_free(&o.who);
	if (like->end == TARE_RANK_RUNS)
		return;
	/* Of one that was killed unseen only its last record has a time. */
	if (like->end == TARE_RANK_KILLED)
		tare_str_add(text, ", last heard of");
	add_time(text, o.from);
	if (o.count > 1) {
		tare_str_add(text, " to");
		add_time(text, o.to);
	}
}

/* Is the rank the first of all ranks that ended in the same way? One sentence is about all of these. */
static bool is_first_alike(const struct tare_ledger *ledger, const struct tare_rank_ledger *first, int i)
{
	const struct tare_rank_ledger *r = &ledger->ranks[i];

	if (r == first || !is_peer(r, first))
		return false;
	for (int k = 0; k < i; k++)
		if (&ledger->ranks[k] != first && is_peer(&ledger->ranks[k], first) && ends_alike(&ledger->ranks[k], r))
			return false;
	return true;
}

static void note_failure(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_rank_ledger *first)
{
	char at[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_str_addf(&text, "rank %d on %s failed first: ", first->rank, first->host);
	tare_rank_end_text(&text, first);
	tare_str_addf(&text, " at %s", tare_units_duration(at, first->end_ns));
	for (int i = 0; i < ledger->rank_nr; i++)
		if (is_first_alike(ledger, first, i))
			add_others(&text, ledger, first, &ledger->ranks[i]);
	tare_emit_alarm(e, "%s", tare_str_text(&text));
}

void tare_rank_notes(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_rank_rows *rows)
{
	for (int i = 0; i < ledger->rank_nr; i++)
		if (is_first_of_job(ledger, i))
			note_spread(e, &ledger->ranks[i], rows);
	note_strays(e, ledger, rows);
	note_hidden(e, rows);
	for (int i = 0; i < ledger->rank_nr; i++)
		if (ledger->ranks[i].is_first)
			note_failure(e, ledger, &ledger->ranks[i]);
	tare_degraded_text(e, ledger);
}
