/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a snapshot with the allocator's rules as they were and as they could be. */
#include "replay/whatif.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Versions whose allocators differ in what a replay shows, the most frequent first. */
static const char *const versions[] = { "2.11", "2.13", "2.4", "2.0" };

static void add_figures(struct tare_replay_figures *sum, const struct tare_replay_figures *f)
{
	sum->allocated += f->allocated;
	sum->reserved += f->reserved;
	sum->peak_allocated += f->peak_allocated;
	sum->peak_reserved += f->peak_reserved;
	sum->allocated_at_peak += f->allocated_at_peak;
	sum->driver_allocs += f->driver_allocs;
	sum->driver_frees += f->driver_frees;
	sum->retries += f->retries;
	sum->ooms += f->ooms;
}

static void add_check(struct tare_replay_check *sum, const struct tare_replay_check *c)
{
	add_figures(&sum->figures, &c->figures);
	sum->mismatches += c->mismatches;
	sum->addresses += c->addresses;
	sum->segments += c->segments;
	sum->releases += c->releases;
	sum->blocks += c->blocks;
	sum->guesses_mended += c->guesses_mended;
	if (c->oom.is_there && !sum->oom.is_there)
		sum->oom = c->oom;
}

static int check_all(struct tare_whatif *w, const struct tare_alloc_rules *rules, struct tare_err *err)
{
	struct tare_replay_ask ask = { .rules = *rules, .capacity = UINT64_MAX, .limit = UINT64_MAX };
	int rc = tare_replay_recorded(&w->trace, rules, &ask.settings, err);

	if (rc)
		return rc;
	w->rules = *rules;
	w->recorded = ask.settings;
	w->sum = (struct tare_replay_check){ .refused_from = UINT64_MAX };
	for (size_t i = 0; i < w->trace.device_count; i++) {
		tare_replay_check(&w->trace, &w->trace.devices[i], &ask, &w->checks[i]);
		add_check(&w->sum, &w->checks[i]);
	}
	return 0;
}

/* The version that reproduces the file, or comes nearest. */
static int find_version(struct tare_whatif *w, struct tare_err *err)
{
	struct tare_alloc_rules rules, best = { 0 };
	uint64_t least = UINT64_MAX;
	int rc = 0;

	w->is_version_found = true;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]) && !rc; i++) {
		/* Only 2.13 and later say the pools of events. */
		const char *version =
			w->trace.has_events_of_pools && !w->trace.is_recording ? versions[i < 2 ? 1 - i : i] : versions[i];
		struct tare_err own;

		rc = tare_alloc_rules_of(version, &rules, err);
		/* What one version cannot read as its settings it did not write. */
		if (rc || check_all(w, &rules, least == UINT64_MAX ? err : &own))
			continue;
		if (w->sum.mismatches < least) {
			least = w->sum.mismatches;
			best = rules;
		}
		if (!least)
			return 0;
	}
	if (!rc && least == UINT64_MAX)
		return err->code;
	return rc ? rc : check_all(w, &best, err);
}

/* What the device had for the allocator: from where it refused, if it did. */
static void room_of(const struct tare_replay_check *c, struct tare_replay_ask *ask)
{
	if (c->refused_from == UINT64_MAX)
		return;
	ask->limit = c->refused_from - 1 > c->given ? c->refused_from - 1 : c->given;
}

/* Other addresses from the driver come to other peaks, so they matter where the first peak is near the end of memory. */
static bool is_scarce(const struct tare_replay_ask *ask, const struct tare_replay_figures *f)
{
	uint64_t room = ask->capacity < ask->limit ? ask->capacity : ask->limit;

	return f->ooms || f->retries || f->peak_reserved > room - room / 4;
}

/* In how many orders of addresses what was served in the file would not be; the first has been replayed. */
static unsigned orders_that_run_out(const struct tare_whatif *w, const struct tare_trace_device *d,
                                    struct tare_replay_ask ask, const struct tare_replay_oom *first)
{
	struct tare_replay_figures f;
	struct tare_replay_oom oom = *first;
	unsigned count = oom.is_there && oom.was_served;

	for (ask.order = 1; ask.order < TARE_REPLAY_ORDERS; ask.order++) {
		tare_replay_run(&w->trace, d, &ask, &f, &oom);
		count += oom.is_there && oom.was_served;
	}
	return count;
}

static void case_of(const struct tare_whatif *w, const struct tare_alloc_settings *settings,
                    const struct tare_whatif_ask *ask, struct tare_whatif_case *out)
{
	for (size_t i = 0; i < w->trace.device_count; i++) {
		const struct tare_trace_device *d = &w->trace.devices[i];
		struct tare_replay_ask replay = {
			.settings = *settings, .rules = w->rules, .capacity = UINT64_MAX, .limit = UINT64_MAX
		};
		struct tare_replay_figures f;
		struct tare_replay_oom oom;
		unsigned count = 0;

		if (ask->vram) {
			replay.capacity = ask->vram - ask->used;
			if (settings->fraction < 1)
				replay.limit = (uint64_t)(settings->fraction * (double)ask->vram);
		} else {
			room_of(&w->checks[i], &replay);
		}
		tare_replay_run(&w->trace, d, &replay, &f, &oom);
		if (is_scarce(&replay, &f))
			count = orders_that_run_out(w, d, replay, &oom);
		if (count > out->orders_that_run_out)
			out->orders_that_run_out = count;
		add_figures(&out->figures, &f);
		if (oom.is_there && !out->oom.is_there)
			out->oom = oom;
	}
}

static bool is_same(const struct tare_alloc_settings *a, const struct tare_alloc_settings *b)
{
	return a->max_split == b->max_split && a->max_non_split_rounding == b->max_non_split_rounding &&
	       a->large_segment == b->large_segment && a->gc_threshold == b->gc_threshold && a->fraction == b->fraction &&
	       a->is_expandable == b->is_expandable && a->is_async == b->is_async &&
	       !memcmp(a->divisions, b->divisions, sizeof(a->divisions));
}

int tare_whatif_case(const struct tare_whatif *w, const char *conf, const struct tare_whatif_ask *ask,
                     struct tare_whatif_case *out, struct tare_err *err)
{
	struct tare_alloc_settings settings = w->recorded;
	int rc = 0;

	*out = (struct tare_whatif_case){ .conf = conf };
	if (conf) {
		tare_alloc_settings_init(&settings);
		rc = tare_alloc_settings_parse(&settings, conf, &w->rules, err);
	}
	if (!rc && settings.is_async)
		rc = tare_err_set(err, TARE_E_UNSUPPORTED,
		                  "backend:cudaMallocAsync is the driver's own allocator, which Tare cannot replay");
	if (rc)
		return rc;
	/* What happened is known, and need not be replayed with addresses that are made up. */
	if (!ask->vram && is_same(&settings, &w->recorded)) {
		out->figures = w->sum.figures;
		out->oom = w->sum.oom;
		return 0;
	}
	case_of(w, &settings, ask, out);
	return 0;
}

int tare_whatif_of(struct tare_whatif *w, struct tare_trace *trace, const struct tare_whatif_ask *ask,
                   struct tare_err *err)
{
	struct tare_alloc_rules rules;
	int rc;

	*w = (struct tare_whatif){ .trace = *trace };
	w->checks = tare_xcalloc(w->trace.device_count + 1, sizeof(*w->checks));
	for (size_t i = 0; i < w->trace.device_count; i++) {
		w->events += w->trace.devices[i].file_events;
		w->contradictions += w->trace.devices[i].contradictions;
		w->starts += w->trace.devices[i].start_segment_count + w->trace.devices[i].start_count;
	}
	w->is_complete = w->events && !w->starts && !w->contradictions;
	if (ask->version) {
		rc = tare_alloc_rules_of(ask->version, &rules, err);
		if (!rc)
			rc = check_all(w, &rules, err);
	} else {
		rc = find_version(w, err);
	}
	w->is_changed = ask->conf || ask->vram;
	w->asked.figures = w->sum.figures;
	w->asked.oom = w->sum.oom;
	if (!rc && w->is_changed)
		rc = tare_whatif_case(w, ask->conf, ask, &w->asked, err);
	if (rc)
		tare_whatif_close(w);
	return rc;
}

void tare_whatif_close(struct tare_whatif *w)
{
	tare_trace_free(&w->trace);
	free(w->checks);
	w->checks = NULL;
}
