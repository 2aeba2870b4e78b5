/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what PyTorch's pool would have needed with other settings. */
#include "cmd/whatif_print.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *settings;
	uint64_t allocated, reserved, peak_allocated, peak_reserved, unused;
	int64_t saved;
	bool is_to_end; /* the program would have gone on to the end of the file */
	uint64_t driver_allocs, driver_frees, ooms;
	const char *end; /* NULL: it did not run out */
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, settings, "settings", "SETTINGS", TEXT),
	TARE_COLUMN(row, allocated, "allocated_bytes", NULL, BYTES),
	TARE_COLUMN(row, reserved, "reserved_bytes", NULL, BYTES),
	TARE_COLUMN(row, peak_allocated, "peak_allocated_bytes", "PEAK ALLOCATED", BYTES),
	TARE_COLUMN(row, peak_reserved, "peak_reserved_bytes", "PEAK RESERVED", BYTES),
	TARE_COLUMN(row, unused, "unused_at_peak_bytes", "UNUSED THEN", BYTES),
	TARE_COLUMN(row, saved, "saved_bytes", "LESS", BYTES, .when = TARE_WHEN(row, is_to_end)),
	TARE_COLUMN(row, driver_allocs, "driver_allocs", "ALLOCS", COUNT),
	TARE_COLUMN(row, driver_frees, "driver_frees", "FREES", COUNT),
	TARE_COLUMN(row, ooms, "oom", NULL, COUNT),
	TARE_COLUMN(row, end, "runs_out", "RUNS OUT", TEXT, .is_blank = true, .is_whole = true),
};

static bool is_unsure(const struct tare_whatif_case *c)
{
	return c->orders_that_run_out && c->orders_that_run_out < TARE_REPLAY_ORDERS;
}

static struct row row_of(const struct tare_whatif *w, const struct tare_whatif_case *c, const char *name)
{
	const struct tare_replay_figures *f = &c->figures;

	return (struct row){
		.settings = name,
		.allocated = f->allocated,
		.reserved = f->reserved,
		.peak_allocated = f->peak_allocated,
		.peak_reserved = f->peak_reserved,
		.unused = f->peak_reserved - f->allocated_at_peak,
		.saved = (int64_t)(w->sum.figures.peak_reserved - f->peak_reserved),
		.is_to_end = !(c->oom.is_there && c->oom.was_served),
		.driver_allocs = f->driver_allocs,
		.driver_frees = f->driver_frees,
		.ooms = f->ooms,
		.end = is_unsure(c)        ? "maybe"
		       : !c->oom.is_there  ? NULL
		       : c->oom.was_served ? "yes"
		                           : "as then",
	};
}

static const char *name_of(const char *conf)
{
	return !conf ? "as recorded" : *conf ? conf : "(none)";
}

static bool has_setting(const struct tare_whatif_case *cases, size_t count, const char *setting)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(cases[i].conf, setting))
			return true;
	return false;
}

static void print_cases(struct tare_emit *e, const struct tare_whatif *w, const struct tare_whatif_ask *ask,
                        bool is_best)
{
	struct tare_whatif_case recorded = { .figures = w->sum.figures, .oom = w->sum.oom }, *best;
	struct row row = row_of(w, &recorded, "as recorded");
	size_t count;

	tare_emit_table(e, "cases", NULL, TARE_COLUMNS(columns));
	tare_emit_add(e, &row);
	if (w->is_changed) {
		row = row_of(w, &w->asked, ask->conf ? name_of(ask->conf) : "as recorded, other card");
		tare_emit_add(e, &row);
	}
	tare_emit_table_end(e);
	if (!is_best)
		return;
	best = tare_whatif_best(w, ask, &count);
	tare_emit_table(e, "best", "Best first", TARE_COLUMNS(columns));
	for (size_t i = 0; i < count; i++) {
		row = row_of(w, &best[i], name_of(best[i].conf));
		tare_emit_add(e, &row);
	}
	tare_emit_table_end(e);
	if (w->is_version_found && has_setting(best, count, "large_segment_size_mb"))
		tare_emit_note(
			e,
			"large_segment_size_mb is a setting of PyTorch 2.10 and later; earlier ones refuse to start with it (--torch VERSION leaves out what a version does not know).");
	free(best);
}

static void print_contract(struct tare_emit *e, const struct tare_whatif *w)
{
	const struct tare_replay_figures *f = &w->asked.figures;

	tare_emit_uint(e, "tare", 1);
	tare_emit_uint(e, "events", w->events);
	tare_emit_uint(e, "mismatches", w->sum.mismatches);
	tare_emit_flag(e, "complete", w->is_complete);
	tare_emit_uint(e, "allocated_bytes", f->allocated);
	tare_emit_uint(e, "reserved_bytes", f->reserved);
	tare_emit_uint(e, "peak_allocated_bytes", f->peak_allocated);
	tare_emit_uint(e, "peak_reserved_bytes", f->peak_reserved);
	tare_emit_uint(e, "driver_allocs", f->driver_allocs);
	tare_emit_uint(e, "driver_frees", f->driver_frees);
	tare_emit_uint(e, "oom", f->ooms);
}

/* "3 addresses and 1 block at the end" */
static void print_differences(struct tare_emit *e, const struct tare_replay_check *c, const char *what)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} parts[] = {
		{ c->addresses, "address", "addresses" },
		{ c->segments, "segment", "segments" },
		{ c->releases, "release", "releases" },
		{ c->blocks, "block at the end", "blocks at the end" },
	};
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	char n[TARE_UNITS_TEXT_MAX];
	int left = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		left += parts[i].count != 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].count)
			tare_str_addf(&text, "%s %s%s", tare_units_count(n, parts[i].count),
			              parts[i].count == 1 ? parts[i].one : parts[i].many,
			              --left > 1  ? ", "
			              : left == 1 ? " and "
			                          : "");
	tare_emit_alarm(e, "The replay does not reproduce the %s: %s %s.", what, tare_str_text(&text),
	                c->mismatches == 1 ? "differs" : "differ");
}

static void print_mismatches(struct tare_emit *e, const struct tare_whatif *w)
{
	const char *what = w->trace.is_recording ? "recording" : "file";
	const struct tare_replay_check *c = &w->sum;
	char text[TARE_UNITS_TEXT_MAX];

	tare_emit_open(e, "mismatches_of", '{');
	tare_emit_uint(e, "addresses", c->addresses);
	tare_emit_uint(e, "segments", c->segments);
	tare_emit_uint(e, "releases", c->releases);
	tare_emit_uint(e, "blocks", c->blocks);
	tare_emit_close(e);
	if (c->mismatches)
		print_differences(e, c, what);
	else if (w->events)
		tare_emit_note(
			e,
			"The replay reproduces the %s: every address, segment, release and block (%s event%s, as PyTorch %d.%d does it).",
			what, tare_units_count(text, w->events), w->events == 1 ? "" : "s", w->rules.version / 100,
			w->rules.version % 100);
}

static void print_orders(struct tare_emit *e, const struct tare_whatif_case *c)
{
	tare_emit_uint(e, "orders_that_run_out", c->orders_that_run_out);
	if (is_unsure(c))
		tare_emit_alarm(
			e,
			"Whether memory would run out depends on the addresses that the driver gives: of %d orders of addresses it runs out in %u.",
			TARE_REPLAY_ORDERS, c->orders_that_run_out);
}

static void print_oom(struct tare_emit *e, const struct tare_whatif *w)
{
	const struct tare_replay_oom *oom = &w->asked.oom;
	char size[TARE_UNITS_TEXT_MAX], reserved[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (!oom->is_there) {
		tare_emit_null(e, "first_oom");
		return;
	}
	tare_whatif_line(w, oom->stack, &line);
	tare_emit_open(e, "first_oom", '{');
	tare_emit_uint(e, "device", w->trace.is_recording ? oom->device % TARE_TRACE_DEVICES : oom->device);
	tare_emit_uint(e, "size", oom->size);
	tare_emit_uint(e, "reserved_bytes", oom->reserved);
	tare_emit_str(e, "line", line.len ? tare_str_text(&line) : NULL);
	tare_emit_flag(e, "was_served", oom->was_served);
	tare_emit_close(e);
	tare_emit_note(e, "Memory %s a request of %s, with %s reserved%s%s.",
	               oom->was_served ? "would run out at" : "ran out at", tare_units_human(size, oom->size),
	               tare_units_human(reserved, oom->reserved), line.len ? ", in " : "", tare_str_text(&line));
}

void tare_whatif_print(struct tare_emit *e, const struct tare_whatif *w, const struct tare_whatif_ask *ask,
                       bool is_best)
{
	char torch[16];
	const char *text;

	snprintf(torch, sizeof(torch), "%d.%d", w->rules.version / 100, w->rules.version % 100);
	print_contract(e, w);
	tare_emit_str(e, "torch", torch);
	print_cases(e, w, ask, is_best);
	print_mismatches(e, w);
	print_orders(e, &w->asked);
	print_oom(e, w);
	if (ask->vram && !ask->used)
		tare_emit_note(
			e,
			"All of the card is taken to be for PyTorch's allocator; --used says what is not: contexts (`tare calibrate` measures one), NCCL, other programs.");
	tare_emit_open(e, "lacks", '[');
	for (size_t i = 0; (text = tare_whatif_lacks(w, i)); i++) {
		tare_emit_str(e, NULL, text);
		tare_emit_note(e, "%s", text);
	}
	tare_emit_close(e);
}
