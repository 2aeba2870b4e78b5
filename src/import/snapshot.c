/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory snapshot of PyTorch. What it says of the allocator becomes what tare run would have recorded of it; sizes of
 * blocks, which the file has only of those at its end, come from replaying it.
 */
#include "base/str.h"
#include "base/units.h"
#include "import/import_reader.h"
#include "import/files.h"
#include "import/snapshot_records.h"
#include "replay/whatif.h"

#include <errno.h>
#include <string.h>

/* The file as the reader of snapshots takes it. */
struct source {
	struct tare_import_in *in;
	struct tare_err err;
};

static int64_t read_on(void *arg, void *bytes, size_t size)
{
	struct source *source = arg;
	int64_t n = tare_import_in_read(source->in, bytes, size, &source->err);

	return n < 0 ? -EIO : n;
}

static int load_trace(struct tare_trace *trace, struct tare_import_in *in, enum tare_trace_keep keep,
                      struct tare_err *err)
{
	struct source source = { .in = in };
	int rc = tare_trace_load_from(trace, &(struct tare_snapshot_source){ .arg = &source, .read = read_on }, keep, err);

	if (source.err.code)
		*err = source.err;
	else if (rc)
		tare_err_prefix(err, "%s%s", tare_import_in_path(in),
		                tare_import_in_is_cut(in) ? ": what is packed in it, by gzip or zstd, is cut off or damaged"
		                                          : "");
	return rc;
}

static int load(struct tare_import_job *job, struct tare_whatif *w, struct tare_err *err)
{
	struct tare_trace trace;
	int rc = load_trace(&trace, job->in, TARE_TRACE_KEEP_ALL, err);

	if (rc)
		return rc;
	rc = tare_whatif_of(w, &trace, &(struct tare_whatif_ask){ 0 }, err);
	if (rc)
		tare_err_prefix(err, "%s", tare_import_in_path(job->in));
	return rc;
}

int tare_import_trace(struct tare_trace *trace, const char *path, struct tare_err *err)
{
	struct tare_import_in *in;
	const char *head;
	size_t size;
	int rc = tare_import_in_open(&in, path, err);

	if (rc)
		return rc;
	head = tare_import_in_head(in, &size);
	if (tare_import_is_kineto(head, size) || tare_import_is_memory_timeline(head, size))
		rc = tare_err_set(err, TARE_E_UNSUPPORTED,
		                  "%s: is of torch.profiler, which does not say what the allocator asked of the driver: "
		                  "torch.cuda.memory._dump_snapshot() writes what can be replayed",
		                  tare_import_in_path(in));
	else
		rc = load_trace(trace, in, TARE_TRACE_KEEP_ORDER, err);
	tare_import_in_close(in);
	return rc;
}

/* ---- what the file does not have ---- */

static int64_t first_time_us(const struct tare_trace *t)
{
	int64_t first = 0;

	for (size_t i = 0; i < t->device_count; i++) {
		const struct tare_times *times = &t->devices[i].times;
		int64_t us = times->count ? tare_times_at(times, 0) : 0;

		if (us > 0 && (!first || us < first))
			first = us;
	}
	return first < INT64_MAX / 1000 ? first : 0;
}

static void note_start(struct tare_import_out *out, const struct tare_whatif *w)
{
	uint64_t segments = 0, blocks = 0, guesses = 0;
	char n[3][TARE_UNITS_TEXT_MAX];

	for (size_t i = 0; i < w->trace.device_count; i++) {
		const struct tare_trace_device *d = &w->trace.devices[i];

		segments += d->start_segment_count;
		blocks += d->start_count;
		for (size_t k = 0; k < d->start_count; k++)
			guesses += d->starts[k].is_guess;
	}
	if (!w->events)
		tare_import_remark(out, "it has no events, so only what there was at its end is known: call "
		                        "torch.cuda.memory._record_memory_history() at the begin of the program");
	else if (segments + blocks)
		tare_import_remark(out,
		                   "it begins in the middle of the run: segments %s and blocks %s "
		                   "were there before, as follows from those at the end",
		                   tare_units_count(n[0], segments), tare_units_count(n[1], blocks));
	if (guesses)
		tare_import_remark(out,
		                   "blocks that were there before and went since: %s; their sizes are what was asked for, "
		                   "rounded as PyTorch does",
		                   tare_units_count(n[2], guesses));
}

static void note_missing(struct tare_import_out *out, const struct tare_whatif *w,
                         const struct tare_snapshot_told *told)
{
	const struct tare_snapshot_facts *f = tare_snapshot_facts(w->trace.snapshot);
	char n[2][TARE_UNITS_TEXT_MAX];

	if (f->settings.overflowed > 0)
		tare_import_left_out(out, "more happened than it has: max_entries of _record_memory_history() was reached");
	if (w->sum.mismatches)
		tare_import_left_out(out,
		                     "replaying it gives something else in %s places, so events are missing, or settings "
		                     "were changed: sizes of blocks that are gone may be a little too small",
		                     tare_units_count(n[0], w->sum.mismatches));
	if (told->corrected)
		tare_import_left_out(out,
		                     "what there is at its end does not follow from its events: %s segments and blocks came "
		                     "or went at the very end here, when they did is not known",
		                     tare_units_count(n[0], told->corrected));
	if (w->events && !f->has_times)
		tare_import_remark(out, "it has no times, only an order: each event is a millisecond after the one before");
	if (told->lineless)
		tare_import_remark(out,
		                   "of %s blocks it has no line, so what these are for is guessed only by when they were there",
		                   tare_units_count(n[0], told->lineless));
	if (f->lost_texts || f->lost_stacks)
		tare_import_left_out(out, "it has more different stacks than are kept: some lines are missing");
	if (f->odd)
		tare_import_left_out(
			out,
			"%s values cannot be what they are called, and were taken for missing: the first is '%s' of "
			"the dict that ends at byte %s",
			tare_units_count(n[0], f->odd), f->odd_key, tare_units_count(n[1], f->odd_at));
	if (f->unknown_actions)
		tare_import_left_out(out, "it has %s events that this Tare does not know: the first is called '%s'",
		                     tare_units_count(n[0], f->unknown_actions),
		                     tare_snapshot_text(w->trace.snapshot, f->unknown_action));
	if (w->trace.host_events + w->trace.host_segments)
		tare_import_left_out(out, "pinned memory of the host was left out: %s segments, %s events",
		                     tare_units_count(n[0], w->trace.host_segments),
		                     tare_units_count(n[1], w->trace.host_events));
}

static void add_notes(struct tare_import_job *job, const struct tare_whatif *w, const struct tare_snapshot_told *told)
{
	char n[TARE_UNITS_TEXT_MAX];

	tare_import_remark(job->out,
	                   "read from %s, a memory snapshot of PyTorch: what PyTorch's allocator has of each GPU, and "
	                   "nothing else; contexts, code, libraries and other programs are not in it",
	                   tare_import_in_path(job->in));
	note_start(job->out, w);
	note_missing(job->out, w, told);
	if (told->graphs)
		tare_import_remark(job->out,
		                   "it does not name graphs: each of the %s here is a run of requests for the private "
		                   "pool of a graph",
		                   tare_units_count(n, told->graphs));
}

static void say(struct tare_import_job *job, const struct tare_whatif *w)
{
	char events[TARE_UNITS_TEXT_MAX], segments[TARE_UNITS_TEXT_MAX];
	struct tare_str text = { 0 };
	uint64_t count = 0;

	for (size_t i = 0; i < w->trace.device_count; i++)
		count += w->trace.devices[i].segment_count;
	tare_str_addf(&text, "%s events, %s segments at the end", tare_units_count(events, w->events),
	              tare_units_count(segments, count));
	job->result->said = tare_str_steal(&text);
	job->result->taken = w->events + count;
}

int tare_import_read_snapshot(struct tare_import_job *job, struct tare_err *err)
{
	struct tare_snapshot_told told;
	struct tare_whatif w;
	int rc = load(job, &w, err);

	if (rc)
		return rc;
	if (w.trace.device_count) {
		tare_import_about(job->out,
		                  &(struct tare_import_about){ .started_realtime_ns = first_time_us(&w.trace) * 1000 });
		tare_snapshot_tell(&w.trace, job->out, &told);
		add_notes(job, &w, &told);
		say(job, &w);
	} else {
		rc = tare_err_set(err, TARE_E_EMPTY, "%s: the snapshot has no memory of any GPU", tare_import_in_path(job->in));
	}
	tare_whatif_close(&w);
	return rc;
}

/* A pickle, binary or of texts, with the keys of a snapshot. */
bool tare_import_is_snapshot(const char *head, size_t size)
{
	bool is_pickle = size > 2 && (((unsigned char)head[0] == 0x80 && head[1] <= 5) || strchr("(}]", head[0]));

	return is_pickle && (memmem(head, size, "segments", 8) || memmem(head, size, "total_size", 10) ||
	                     memmem(head, size, "device_traces", 13));
}
