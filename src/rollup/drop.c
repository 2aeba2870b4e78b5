/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops the oldest segments under a cap, and writes what they had besides events (names, stacks, losses) into a
 * segment that stands for them.
 */
#include "rollup/rollup.h"

#include "rollup/tables.h"
#include "base/disk.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "store/store.h"
#include "trace/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEPT_MOST = 32,
	KEPT_SHARE = 8,
};

struct drop {
	const char *folder;
	uint64_t cap;
	struct tare_recording *recording;
	struct tare_store *store;
	struct tare_manifest manifest;
	uint64_t *after; /* by log of the store: what has no later stamp the state knows */
};

/* NULL: it could not be read. */
static const struct tare_process *process_of(const struct drop *d, const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < tare_recording_process_nr(d->recording); i++) {
		const struct tare_process *p = tare_recording_process(d->recording, i);
		const char *slash = strrchr(p->log, '/'), *log = slash ? slash + 1 : p->log;

		if (strncmp(log, name, n) == 0 && strcmp(log + n, ".events") == 0)
			return p;
	}
	return NULL;
}

/* Up to which stamps a state knows the events. */
static void go_by(struct drop *d, const struct tare_manifest_state *state)
{
	for (size_t i = 0; i < d->store->log_nr; i++) {
		const struct tare_process *p = process_of(d, d->store->logs[i].part.name);

		d->after[i] = tare_recording_stamp(d->recording, p, state->until_ns + 1) - 1;
	}
}

static const struct tare_segment_block *head_of(const struct drop *d, const struct tare_stored_block *block)
{
	return &d->store->segments[block->segment].entries[block->entry].head;
}

/* Has a segment an event that the state does not know? */
static bool is_needed(const struct drop *d, uint32_t segment)
{
	for (size_t i = 0; i < d->store->log_nr; i++) {
		const struct tare_stored_log *log = &d->store->logs[i];

		for (size_t k = 0; k < log->event_nr; k++)
			if (log->events[k].segment == segment && head_of(d, &log->events[k])->last > d->after[i])
				return true;
	}
	return false;
}

/* How many of the first segments may go, if the folder goes on from that state. */
static size_t droppable(struct drop *d, const struct tare_manifest_state *state)
{
	size_t n = 0;

	go_by(d, state);
	while (
		n < d->store->segment_nr &&
		(d->store->segments[n].number <= state->number || d->store->segments[n].number == d->manifest.dropped.rest) &&
		!is_needed(d, (uint32_t)n))
		n++;
	return n;
}

static uint64_t bytes_of(const struct drop *d, size_t n)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += tare_disk_file(d->store->segments[i].path);
	return bytes;
}

static uint64_t events_of(const struct drop *d, size_t n)
{
	uint64_t events = 0;

	for (size_t i = 0; i < d->store->log_nr; i++)
		for (size_t k = 0; k < d->store->logs[i].event_nr; k++)
			if (d->store->logs[i].events[k].segment < n)
				events += head_of(d, &d->store->logs[i].events[k])->records;
	return events;
}

/* What the dropped segments said of each log, twice as ever, and its tables. */
static void write_logs(const struct drop *d, size_t n, struct tare_segment_writer *w)
{
	const struct tare_rollup_going going = { d->manifest.numbers, n };

	for (uint32_t i = 0; i < d->store->log_nr; i++) {
		const struct tare_process *process = process_of(d, d->store->logs[i].part.name);
		TARE_FREED_BY(tare_log_part_free) struct tare_log_part part = { 0 };

		if (!tare_store_part(d->store, &d->store->logs[i], n, &part))
			continue;
		tare_segment_add_log(w, i, &part);
		tare_rollup_write_tables(w, i, tare_recording_log(process), &going, d->after[i]);
		tare_segment_add_log(w, i, &part);
	}
}

/* The segment that stands for the first n, in a file under a name of its own. */
static int write_rest(const struct drop *d, size_t n, const struct tare_manifest *now, struct tare_err *err)
{
	uint32_t number = now->dropped.rest;
	TARE_FREED_HERE char *path = tare_manifest_path(d->folder, number);
	struct tare_segment_writer *w;
	TARE_FREED_BY(tare_str_free) struct tare_str fresh = { 0 }, said = { 0 };
	int rc;

	tare_manifest_describe(&said, now);
	tare_str_addf(&fresh, "%s.new", path);
	unlink(fresh.data);
	rc = tare_segment_create(&w, fresh.data, number, err);
	if (!rc) {
		for (size_t i = 0; i < d->store->schema_nr; i++)
			tare_segment_add_schema(w, d->store->schemas[i].sum, d->store->schemas[i].text);
		tare_segment_add_manifest(w, said.data, said.len);
		write_logs(d, n, w);
		tare_segment_add_manifest(w, said.data, said.len);
		rc = tare_segment_close(w, err);
	}
	if (!rc && rename(fresh.data, path) < 0)
		rc = tare_err_set(err, TARE_E_IO, "%s cannot be renamed", path);
	return rc;
}

/* The one whose neighbours are nearest to each other. */
static size_t least_needed(const struct tare_manifest *m)
{
	size_t found = 0;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < m->kept_nr; i++) {
		int64_t before = i ? m->kept[i - 1].until_ns : 0;
		int64_t after = i + 1 < m->kept_nr ? m->kept[i + 1].until_ns : m->dropped.until_ns;

		if (after - before < least) {
			least = after - before;
			found = i;
		}
	}
	return found;
}

static uint64_t bytes_of_kept(const struct drop *d, const struct tare_manifest *m)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->kept_nr; i++) {
		TARE_FREED_HERE char *path = tare_manifest_state_path(d->folder, m->kept[i].number);

		bytes += tare_disk_file(path);
	}
	return bytes;
}

/* Of states that speak for the time before `until`, as many as a small part of the cap has room for, spread over it. */
static void keep_states(const struct drop *d, int64_t until, struct tare_manifest *now)
{
	const struct tare_manifest *was = &d->manifest;
	size_t nr;

	for (size_t i = 0; i < was->kept_nr; i++)
		tare_manifest_add_kept(now, was->kept[i].number, was->kept[i].until_ns);
	for (size_t i = 0; i < was->state_nr; i++)
		if (was->states[i].until_ns < until)
			tare_manifest_add_kept(now, was->states[i].number, was->states[i].until_ns);
	while (now->kept_nr && (now->kept_nr > KEPT_MOST || bytes_of_kept(d, now) > d->cap / KEPT_SHARE)) {
		nr = least_needed(now);
		now->kept_nr--;
		for (; nr < now->kept_nr; nr++)
			now->kept[nr] = now->kept[nr + 1];
	}
}

static int drop(struct drop *d, size_t n, const struct tare_manifest_state *base, struct tare_rolled_up *out,
                struct tare_err *err)
{
	struct tare_manifest now = { .dropped = d->manifest.dropped };
	uint32_t number = 0;
	int rc;

	for (size_t i = 0; i < d->manifest.nr; i++)
		number = d->manifest.numbers[i] > number ? d->manifest.numbers[i] : number;
	tare_manifest_add(&now, ++number);
	now.dropped.rest = number;
	now.dropped.until_ns = base->until_ns;
	now.dropped.events += events_of(d, n);
	for (size_t i = n; i < d->store->segment_nr; i++)
		tare_manifest_add(&now, d->store->segments[i].number);
	for (size_t i = 0; i < d->manifest.state_nr; i++)
		if (d->manifest.states[i].until_ns >= base->until_ns)
			tare_manifest_add_state(&now, d->manifest.states[i].number, d->manifest.states[i].until_ns);
	keep_states(d, base->until_ns, &now);
	for (size_t i = 0; i < d->manifest.extents.nr; i++)
		tare_extent_add(&now.extents, &d->manifest.extents.items[i]);
	rc = write_rest(d, n, &now, err);
	if (!rc)
		rc = tare_manifest_write(&now, d->folder, err);
	out->dropped = rc ? 0 : (uint32_t)n;
	tare_manifest_free(&now);
	return rc;
}

/* The oldest state with which the folder is small enough, else the newest. */
static int choose(struct drop *d, uint64_t excess, struct tare_rolled_up *out, struct tare_err *err)
{
	const struct tare_manifest_state *base = NULL;
	size_t most = 0;

	for (size_t i = 0; i < d->manifest.state_nr; i++) {
		size_t n = droppable(d, &d->manifest.states[i]);

		if (n <= most)
			continue;
		most = n;
		base = &d->manifest.states[i];
		if (bytes_of(d, n) >= excess)
			break;
	}
	/* The segment that stands for those that went is not worth being written again alone. */
	if (!base || (most == 1 && d->manifest.dropped.rest == d->manifest.numbers[0]))
		return 0;
	go_by(d, base);
	return drop(d, most, base, out, err);
}

static bool has_all_logs(const struct drop *d)
{
	for (size_t i = 0; i < d->store->log_nr; i++)
		if (!process_of(d, d->store->logs[i].part.name))
			return false;
	return true;
}

static int drop_oldest(struct drop *d, uint64_t excess, struct tare_rolled_up *out, struct tare_err *err)
{
	struct tare_log_reach reach = { .scope = TARE_LOG_SEGMENTS, .is_unchecked = true };
	int rc = tare_recording_open_scope(&d->recording, d->folder, &reach, err);

	if (!rc)
		rc = tare_store_open(&d->store, d->folder, err);
	/* What is damaged is not what a state speaks for. */
	if (!rc && !d->store->fault_nr && d->store->segment_nr == d->manifest.nr && has_all_logs(d)) {
		d->after = tare_xcalloc(d->store->log_nr + 1, sizeof(*d->after));
		rc = choose(d, excess, out, err);
		free(d->after);
	}
	tare_store_close(d->store);
	tare_recording_close(d->recording);
	return rc;
}

int tare_rollup_drop(const char *folder, uint64_t cap, struct tare_rolled_up *out, struct tare_err *err)
{
	uint64_t use = tare_disk_most(folder);
	struct drop d = { .folder = folder, .cap = cap };
	int rc;

	if (use <= cap)
		return 0;
	rc = tare_manifest_read(&d.manifest, folder, err);
	if (rc)
		return rc == TARE_E_NOT_FOUND ? 0 : rc;
	if (!d.manifest.fault && d.manifest.state_nr) /* a quarter more, so that it is not done every time */
		rc = drop_oldest(&d, use - cap + cap / 4, out, err);
	tare_manifest_free(&d.manifest);
	return rc;
}
