/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a recording, closes it, and answers what it has: its processes, devices, snapshots, notes, and how a stamp is
 * a time.
 */
#include "trace/recording.h"

#include "base/array.h"
#include "store/store.h"
#include "trace/hold.h"
#include "trace/recording_private.h"
#include "trace/stream.h"

#include <stdlib.h>
#include <string.h>

void tare_recording_add_note(struct tare_recording *r, const char *fmt, ...)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	bool is_new;
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&text, fmt, ap);
	va_end(ap);
	tare_strmap_put(&r->noted, tare_str_text(&text), &is_new);
	if (is_new)
		TARE_APPEND(r->notes, r->note_nr, r->note_cap) = tare_arena_strdup(&r->arena, tare_str_text(&text));
}

void tare_recording_add_remark(struct tare_recording *r, const char *text)
{
	bool is_new;

	tare_strmap_put(&r->noted, text, &is_new);
	if (!is_new)
		return;
	TARE_APPEND(r->remarks, r->remark_nr, r->remark_cap) = tare_arena_strdup(&r->arena, text);
}

static uint64_t key_of(uint32_t pid, uint32_t generation)
{
	return (uint64_t)generation << 32 | pid;
}

struct tare_rprocess *tare_recording_find(const struct tare_rfolder *folder, uint32_t pid, uint32_t generation)
{
	uint64_t *slot = tare_map_get(&folder->processes, key_of(pid, generation));

	return slot ? (struct tare_rprocess *)(uintptr_t)*slot : NULL;
}

/* What there is already, as another log has named it, or a new one. No folder: always a new one. */
struct tare_rprocess *tare_recording_add_process(struct tare_recording *r, struct tare_rfolder *folder, uint32_t pid,
                                                 uint32_t generation)
{
	struct tare_rprocess *p = folder ? tare_recording_find(folder, pid, generation) : NULL;
	uint64_t *newest;

	if (p)
		return p;
	p = tare_arena_alloc(&r->arena, sizeof(*p));
	p->folder = folder;
	p->public.index = (int)r->process_nr;
	p->public.role = TARE_ROLE_PROGRAM;
	p->public.pid = pid;
	p->public.generation = generation;
	p->public.program = p->public.host = p->public.log = "";
	p->public.folder = folder ? folder->path : "";
	p->public.rank = TARE_RANK_NONE;
	p->public.oom_kills = -1;
	TARE_APPEND(r->processes, r->process_nr, r->process_cap) = p;
	if (folder) {
		*tare_map_put(&folder->processes, key_of(pid, generation), NULL) = (uint64_t)(uintptr_t)p;
		newest = tare_map_put(&folder->newest, pid, NULL);
		if (generation + 1ull > *newest)
			*newest = generation + 1ull;
	}
	return p;
}

int64_t tare_recording_monotonic_ns(const struct tare_recording *r, const struct tare_rprocess *p, uint64_t stamp)
{
	int64_t ns = tare_clockmap_ns(p->clock, stamp);

	/* Clocks of two machines meet in the time of day; those of one boot are one already. */
	if (memcmp(p->clock->boot_id, r->zero_clock->boot_id, sizeof(p->clock->boot_id)) != 0)
		ns += p->clock->realtime_offset_ns - r->zero_clock->realtime_offset_ns;
	return ns;
}

int64_t tare_recording_ns(const struct tare_recording *r, const struct tare_rprocess *p, uint64_t stamp)
{
	return tare_recording_monotonic_ns(r, p, stamp) - r->zero_ns;
}

static int nothing_found(const struct tare_recording *r, const char *path, struct tare_err *err)
{
	if (r->first_err.code) {
		if (err)
			*err = r->first_err;
		return r->first_err.code;
	}
	return tare_err_set(
		err, TARE_E_EMPTY,
		"%s holds no log: nothing in the command opened a GPU or made a tensor with "
		"PyTorch, or it was not the command that did (docker, ssh, ray, kubectl start programs elsewhere: "
		"see `tare env`)",
		path);
}

static const struct tare_log_reach whole = { .scope = TARE_LOG_WHOLE };

/* Then a scope may be empty. */
static bool has_segments(const struct tare_recording *r)
{
	for (size_t i = 0; i < r->folder_nr && r->reach.scope != TARE_LOG_WHOLE; i++)
		if ((r->folders[i]->store && r->folders[i]->store->log_nr) ||
		    (r->folders[i]->spool_store && r->folders[i]->spool_store->log_nr))
			return true;
	return false;
}

static int open_all(struct tare_recording **out, const char *const *paths, size_t path_nr, const char *job,
                    const struct tare_log_reach *reach, bool is_of_any, struct tare_err *err)
{
	struct tare_recording *r = tare_xcalloc(1, sizeof(*r));
	int rc;

	r->reach = *reach;
	r->is_of_any = is_of_any;
	rc = tare_recording_find_logs(r, paths, path_nr, job, err);

	if (!rc && r->short_err.code)
		rc = tare_err_set(err, r->short_err.code,
		                  "%s; without it the ledger would be wrong: raise the limit (ulimit -n)", r->short_err.text);
	if (!rc && r->stream_nr == 0 && !has_segments(r))
		rc = nothing_found(r, paths[0], err);
	if (rc) {
		tare_recording_close(r);
		return rc;
	}
	if (r->stream_nr > 0)
		tare_recording_settle(r);
	*out = r;
	return 0;
}

int tare_recording_open(struct tare_recording **out, const char *path, struct tare_err *err)
{
	return open_all(out, &path, 1, NULL, &whole, false, err);
}

int tare_recording_open_all(struct tare_recording **out, const char *const *paths, size_t path_nr, const char *job,
                            struct tare_err *err)
{
	return open_all(out, paths, path_nr, job, &whole, false, err);
}

int tare_recording_open_any(struct tare_recording **out, const char *const *paths, size_t path_nr, struct tare_err *err)
{
	return open_all(out, paths, path_nr, NULL, &whole, true, err);
}

int tare_recording_open_scope(struct tare_recording **out, const char *path, const struct tare_log_reach *reach,
                              struct tare_err *err)
{
	return open_all(out, &path, 1, NULL, reach, true, err);
}

struct tare_log *tare_recording_log(const struct tare_process *process)
{
	return ((const struct tare_rprocess *)process)->log; /* its first member */
}

void tare_recording_close(struct tare_recording *r)
{
	if (!r)
		return;
	tare_recording_forget(r);
	free(r);
}

int tare_recording_process_nr(const struct tare_recording *r)
{
	return (int)r->process_nr;
}

const struct tare_process *tare_recording_process(const struct tare_recording *r, int index)
{
	return &r->processes[index]->public;
}

int tare_recording_device_nr(const struct tare_recording *r)
{
	return (int)r->device_nr;
}

bool tare_recording_is_simulated(const struct tare_recording *r)
{
	for (int i = 0; i < tare_recording_device_nr(r); i++)
		if (tare_recording_device(r, i)->flags & TARE_DEVICE_SIMULATED)
			return true;
	return false;
}

const struct tare_device *tare_recording_device(const struct tare_recording *r, int index)
{
	return &r->devices[index]->public;
}

int tare_recording_snapshot_nr(const struct tare_recording *r)
{
	return (int)r->mark_nr;
}

const struct tare_snapshot_mark *tare_recording_snapshot(const struct tare_recording *r, int index)
{
	return &r->marks[index].public;
}

int tare_recording_note_nr(const struct tare_recording *r)
{
	return (int)r->note_nr;
}

const char *tare_recording_note(const struct tare_recording *r, int index)
{
	return r->notes[index];
}

int tare_recording_remark_nr(const struct tare_recording *r)
{
	return (int)r->remark_nr;
}

const char *tare_recording_remark(const struct tare_recording *r, int index)
{
	return r->remarks[index];
}

int tare_recording_unread_nr(const struct tare_recording *r)
{
	return (int)r->unread_nr;
}

const char *tare_recording_unread(const struct tare_recording *r, int index)
{
	return r->unread[index];
}

int64_t tare_recording_started_realtime_ns(const struct tare_recording *r)
{
	return r->zero_realtime_ns;
}

int64_t tare_recording_last_ns(const struct tare_recording *r)
{
	return r->last_ns;
}

void tare_recording_stamps(const struct tare_process *process, uint64_t *first, uint64_t *last)
{
	const struct tare_rprocess *p = (const struct tare_rprocess *)process; /* its first member */

	*first = p->first_stamp;
	*last = p->last_stamp;
}

bool tare_recording_is_open(const struct tare_recording *r)
{
	return r->is_open;
}

const char *tare_recording_phases(const struct tare_recording *r)
{
	for (size_t i = 0; i < r->folder_nr; i++)
		if (r->folders[i]->json)
			return tare_json_get_str(r->folders[i]->json, "phases");
	return NULL;
}
