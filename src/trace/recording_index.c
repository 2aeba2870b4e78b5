/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first pass. A record may stand before the string, the stack or the clock reading that it
 * needs, because threads race; so all tables are filled before the first event is handed out.
 */
#include "trace/recording_private.h"

#include "base/array.h"
#include "base/number.h"
#include "record/bound.h"
#include "trace/gap.h"
#include "trace/log.h"
#include "trace/log_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 1 << 16, RECORD_FIELDS_MAX = 1024, HELD_MAX = 32 << 20 };

/* What the pass over one log keeps in mind. */
struct pass {
	struct tare_recording *r;
	struct tare_log *log;
	struct tare_rprocess *owner;  /* whose log it is */
	struct tare_rstream *stream;  /* where the records belong: a lane, or outside of all */
	struct tare_rstream *outside; /* what lies in no lane of the files */
	struct tare_rstream *stored;  /* what segments have; NULL: nothing */
	struct tare_map lanes;        /* number of a lane → its struct tare_rstream */
	uint64_t block_end;
	uint64_t fresh_gaps, fresh_bytes; /* in the ring of a process that may still be writing there */
};

/* Logs of one boot are of one machine. */
static int machine_of(const struct tare_recording *r, const struct tare_file_header *h)
{
	int next = 0;

	for (size_t i = 0; i < r->clock_nr; i++) {
		if (!memcmp(r->clocks[i]->boot_id, h->boot_id, sizeof(h->boot_id)))
			return r->clocks[i]->machine;
		next = r->clocks[i]->machine >= next ? r->clocks[i]->machine + 1 : next;
	}
	return next;
}

static struct tare_clockmap *clock_of(struct tare_recording *r, const struct tare_file_header *h)
{
	struct tare_clockmap *map;

	for (size_t i = 0; i < r->clock_nr; i++)
		if (r->clocks[i]->clock == h->clock && !memcmp(r->clocks[i]->boot_id, h->boot_id, sizeof(h->boot_id)))
			return r->clocks[i];
	map = tare_arena_alloc(&r->arena, sizeof(*map));
	map->clock = h->clock;
	map->number = (int)r->clock_nr;
	map->machine = machine_of(r, h);
	memcpy(map->boot_id, h->boot_id, sizeof(h->boot_id));
	TARE_APPEND(r->clocks, r->clock_nr, r->clock_cap) = map;
	return map;
}

static void take_header(struct tare_recording *r, struct tare_rprocess *p, const struct tare_file_header *h)
{
	struct tare_process *public = &p->public;

	p->header = *h;
	p->clock = clock_of(r, h);
	if (h->ticks_per_s > 0)
		p->clock->ticks_per_s = h->ticks_per_s;
	tare_clockmap_add(p->clock, h->first_stamp, h->first_monotonic_ns, h->first_realtime_ns);
	public->role =
		h->role >= TARE_ROLE_PROGRAM && h->role <= TARE_ROLE_TARE ? (enum tare_role)h->role : TARE_ROLE_PROGRAM;
	public->machine = p->clock->machine;
	public->ppid = h->ppid;
	public->pid_namespace = h->pid_namespace;
	public->start_ticks = h->start_ticks;
	public->program = tare_arena_strdup(&r->arena, h->program);
	public->host = tare_arena_strdup(&r->arena, h->host);
}

static struct tare_rstream *add_stream(struct tare_recording *r, struct tare_log *log, struct tare_rprocess *p)
{
	struct tare_rstream *s = tare_arena_alloc(&r->arena, sizeof(*s));

	s->log = log;
	s->process = p;
	s->number = (int)r->stream_nr;
	TARE_APPEND(r->streams, r->stream_nr, r->stream_cap) = s;
	return s;
}

static void add_range(struct tare_rstream *s, uint64_t begin, uint64_t end)
{
	if (s->range_nr > 0 && s->ranges[s->range_nr - 1].end == begin) {
		s->ranges[s->range_nr - 1].end = end;
		return;
	}
	TARE_APPEND(s->ranges, s->range_nr, s->range_cap) = (struct tare_range){ .begin = begin, .end = end };
}

static struct tare_rstream *stream_of_lane(struct pass *pass, uint32_t lane)
{
	bool is_new;
	uint64_t *slot = tare_map_put(&pass->lanes, lane, &is_new);

	if (is_new)
		*slot = (uint64_t)(uintptr_t)add_stream(pass->r, tare_log_share(pass->log), pass->owner);
	return (struct tare_rstream *)(uintptr_t)*slot;
}

/* A log without lanes is one part; in several, its begin can be passed over. */
static void part(struct pass *pass, const struct tare_log_record *rec)
{
	struct tare_rstream *s = pass->stream;
	struct tare_range *last = s->range_nr ? &s->ranges[s->range_nr - 1] : NULL;

	if (s != pass->outside || !last || !last->first || !rec->info || !rec->info->is_event ||
	    rec->position < last->begin + PART_BYTES)
		return;
	last->end = rec->position;
	TARE_APPEND(s->ranges, s->range_nr, s->range_cap) =
		(struct tare_range){ .begin = rec->position, .end = UINT64_MAX };
}

/* To which lane a record belongs, in a log that has them. */
static void choose_stream(struct pass *pass, const struct tare_log_record *rec)
{
	uint64_t begin = rec->position + rec->bytes, left = tare_log_info(pass->log)->end - begin;

	if (rec->is_stored) {
		pass->stream = pass->stored;
		return;
	}
	if (pass->stream == pass->stored)
		pass->stream = pass->outside;
	if (!tare_log_info(pass->log)->header.has_lanes) {
		part(pass, rec);
		return;
	}
	if (rec->info && rec->info->kind == TARE_KIND_LANE && rec->rec.lane->lane < TARE_LANES_MAX) {
		pass->stream = stream_of_lane(pass, rec->rec.lane->lane);
		pass->block_end = begin + (rec->rec.lane->bytes < left ? rec->rec.lane->bytes : left);
		add_range(pass->stream, begin, pass->block_end);
	} else if (rec->position >= pass->block_end) {
		pass->stream = pass->outside;
		add_range(pass->stream, rec->position, begin);
	}
}

static void add_string(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	uint64_t *slot = tare_map_put(&p->strings, rec->rec.string->id, NULL);

	if (!*slot)
		*slot = (uint64_t)(uintptr_t)tare_arena_strndup(&r->arena, rec->text, rec->text_len);
}

static void add_stack(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	uint64_t *slot = tare_map_put(&p->stacks, rec->rec.stack->id, NULL);
	struct tare_stack *stack;
	uint64_t *pcs;

	if (*slot)
		return;
	stack = tare_arena_alloc(&r->arena, sizeof(*stack));
	pcs = tare_arena_alloc(&r->arena, (rec->depth + 1u) * sizeof(*pcs));
	memcpy(pcs, rec->pcs, rec->depth * sizeof(*pcs));
	*stack = (struct tare_stack){ rec->rec.stack->id, rec->depth, pcs, rec->rec.head->stamp };
	*slot = (uint64_t)(uintptr_t)stack;
}

static void add_line(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	uint64_t *slot = tare_map_put(&p->lines, rec->rec.line->id, NULL);
	struct tare_rline *line;

	if (*slot)
		return;
	line = tare_arena_alloc(&r->arena, sizeof(*line));
	*line = (struct tare_rline){ rec->rec.line->file, rec->rec.line->function, rec->rec.line->line };
	*slot = (uint64_t)(uintptr_t)line;
}

static void add_line_stack(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	uint64_t *slot = tare_map_put(&p->line_stacks, rec->rec.line_stack->id, NULL);
	struct tare_rline_stack *stack;
	uint64_t *ids;

	if (*slot)
		return;
	stack = tare_arena_alloc(&r->arena, sizeof(*stack));
	ids = tare_arena_alloc(&r->arena, (rec->depth + 1u) * sizeof(*ids));
	memcpy(ids, rec->pcs, rec->depth * sizeof(*ids));
	*stack = (struct tare_rline_stack){ { rec->rec.line_stack->id, rec->depth, NULL }, ids };
	*slot = (uint64_t)(uintptr_t)stack;
}

static void add_object(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	const struct tare_rec_object *object = rec->rec.object;
	struct tare_object *added;

	if (object->begin >= object->end)
		return;
	added = &TARE_APPEND(p->objects, p->public.object_nr, p->object_cap);
	*added = (struct tare_object){
		.base = object->base,
		.begin = object->begin,
		.end = object->end,
		.build_id = { object->build_id_0, object->build_id_1 },
		.path = tare_arena_strndup(&r->arena, rec->text, rec->text_len),
		.stamp = rec->rec.head->stamp,
	};
	added->identity = tare_object_identity(added->path, added->build_id);
}

static void add_symbol(struct tare_recording *r, const struct tare_rprocess *p, const struct tare_log_record *rec)
{
	const struct tare_rec_symbol *symbol = rec->rec.symbol;

	TARE_APPEND(r->symbols, r->symbol_nr, r->symbol_cap) = (struct tare_rsymbol){
		.folder = p->folder, .pid = symbol->pid, .generation = symbol->generation,
		.symbol = {
			.address = symbol->address, .offset = symbol->offset, .object = symbol->object,
			.name = tare_arena_strndup(&r->arena, rec->text, rec->text_len),
		},
	};
}

/* In its own log a process speaks of itself. */
static void add_status(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	TARE_APPEND(r->statuses, r->status_nr, r->status_cap) = (struct tare_rstatus){ p, *rec->rec.status };
}

static void add_mark(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec)
{
	if (rec->rec.control->what != TARE_ACT_SNAPSHOT)
		return;
	TARE_APPEND(r->marks, r->mark_nr, r->mark_cap) = (struct tare_rmark){
		.public = { .number = rec->rec.control->number,
		            .name = tare_arena_strndup(&r->arena, rec->text, rec->text_len) },
		.from = p,
		.stamp = rec->rec.head->stamp,
	};
}

static void add_degraded(struct tare_recording *r, const struct tare_log_record *rec)
{
	char *text = tare_xstrndup(rec->text, rec->text_len);

	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	if (*text && rec->rec.degraded->remark)
		tare_recording_add_remark(r, text);
	else if (*text)
		tare_recording_add_note(r, "%s", text);
	free(text);
}

/* A copy of its fields, for the log is read again. */
static void bound_fields(struct tare_log_record *rec, void *fields)
{
	memcpy(fields, rec->rec.head, rec->info->fixed);
	tare_bound_record(rec->info->kind, fields);
	rec->rec.head = fields;
}

void tare_recording_index(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *as_it_lies)
{
	uint64_t fields[RECORD_FIELDS_MAX / sizeof(uint64_t)], stamp = as_it_lies->rec.head->stamp;
	struct tare_log_record own;
	const struct tare_log_record *rec = as_it_lies;

	if (rec->info->class != TARE_RECORD_CLASS_EVENT) { /* of an event nothing is kept here that could not be */
		own = *rec;
		bound_fields(&own, fields);
		rec = &own;
	}
	switch (rec->info->kind) {
	case TARE_KIND_STRING:
		add_string(r, p, rec);
		break;
	case TARE_KIND_STACK:
		add_stack(r, p, rec);
		break;
	case TARE_KIND_LINE:
		add_line(r, p, rec);
		break;
	case TARE_KIND_LINE_STACK:
		add_line_stack(r, p, rec);
		break;
	case TARE_KIND_OBJECT:
		add_object(r, p, rec);
		break;
	case TARE_KIND_DEVICE:
		tare_recording_add_device(r, p, rec);
		break;
	case TARE_KIND_CLOCK:
		tare_clockmap_add(p->clock, rec->rec.clock->ticks, rec->rec.clock->monotonic_ns, rec->rec.clock->realtime_ns);
		break;
	case TARE_KIND_SYMBOL:
		add_symbol(r, p, rec);
		break;
	case TARE_KIND_DEGRADED:
		add_degraded(r, rec);
		break;
	case TARE_KIND_LAUNCH:
		tare_rank_of_text(&p->public.rank, rec->text, rec->text_len);
		break;
	case TARE_KIND_STATUS:
		add_status(r, p, rec);
		break;
	case TARE_KIND_CONTROL:
		add_mark(r, p, rec);
		break;
	case TARE_KIND_END:
		p->public.is_ended = true;
		break;
	case TARE_KIND_LOST:
		p->public.lost += rec->rec.lost->records;
		if (rec->rec.lost->records)
			p->lost_reason = rec->rec.lost->reason;
		break;
	default:
		break;
	}
	if (rec->info->is_event && (p->first_stamp == 0 || stamp < p->first_stamp))
		p->first_stamp = stamp;
}

static void index_record(struct pass *pass, const struct tare_log_record *rec)
{
	struct tare_rstream *s = pass->stream;
	uint64_t stamp = rec->rec.head->stamp;

	tare_recording_index(pass->r, s->process, rec);
	if (!rec->info->is_event)
		return;
	tare_lag_add(&s->lag, stamp);
	if (s->range_nr && !s->ranges[s->range_nr - 1].first)
		s->ranges[s->range_nr - 1].first = stamp;
}

struct tare_rline_stack *tare_recording_find_line_stack(const struct tare_rprocess *p, uint32_t id)
{
	return (struct tare_rline_stack *)(uintptr_t)*tare_map_get(&p->line_stacks, id);
}

static void note_damage(const struct pass *pass)
{
	const struct tare_log_info *info = tare_log_info(pass->log);
	const struct tare_log_counts *counts = tare_log_counts(pass->log);
	uint64_t gaps = counts->gaps - pass->fresh_gaps, lost = pass->owner->public.lost;
	const char *path = info->path;

	if (info->is_header_damaged)
		tare_recording_add_note(pass->r,
		                        "%s: its header is damaged; its records are read, its "
		                        "times may be wrong",
		                        path);
	if (info->is_ring_damaged)
		tare_recording_add_note(pass->r,
		                        "%s: its ring is damaged, or of another version of Tare; what "
		                        "could be found in it is read",
		                        path);
	if (gaps > 0)
		tare_recording_add_note(pass->r,
		                        "%s: %" PRIu64 " place%s (%" PRIu64 " bytes) without a whole "
		                        "record: unfinished when a thread was killed, or damaged; "
		                        "tare dump shows where",
		                        path, gaps, tare_plural(gaps), counts->gap_bytes - pass->fresh_bytes);
	if (counts->repaired > 0)
		tare_recording_add_note(pass->r, "%s: %" PRIu64 " damaged record%s cut where the next one begins", path,
		                        counts->repaired, tare_plural(counts->repaired));
	if (counts->unknown > 0)
		tare_recording_add_note(pass->r,
		                        "%s: %" PRIu64 " record%s of a kind that Tare %s does not know; "
		                        "open it with Tare %s, which wrote it",
		                        path, counts->unknown, tare_plural(counts->unknown), TARE_VERSION, info->header.tool);
	if (info->damaged_blocks > 0)
		tare_recording_add_note(pass->r,
		                        "%s: %" PRIu64 " record%s lost with %" PRIu64
		                        " damaged block%s of the segments beside it",
		                        path, info->damaged_records, tare_plural(info->damaged_records), info->damaged_blocks,
		                        tare_plural(info->damaged_blocks));
	if (lost > 0)
		tare_recording_add_note(pass->r, "%s: %" PRIu64 " record%s given up because %s", path, lost, tare_plural(lost),
		                        tare_lost_meaning(pass->owner->lost_reason));
}

static void read_log(struct pass *pass)
{
	struct tare_process *public = &pass->owner->public;
	const struct tare_log_info *info = tare_log_info(pass->log);
	struct tare_gaps gaps = { 0 };
	struct tare_log_record rec;
	enum tare_log_step step;

	while ((step = tare_log_next(pass->log, &rec)) != TARE_LOG_END) {
		if (step == TARE_LOG_RECORD)
			choose_stream(pass, &rec);
		if (step == TARE_LOG_RECORD && rec.info) {
			index_record(pass, &rec);
			pass->owner->read_to = rec.is_stored ? 0 : rec.position + rec.bytes;
		} else if (step == TARE_LOG_GAP && public->is_open && rec.position >= info->file_end) {
			pass->fresh_gaps++;
			pass->fresh_bytes += rec.bytes;
			continue;
		}
		tare_gaps_add(&gaps, info, step, &rec);
	}
	tare_gaps_end(&gaps, info);
	public->is_damaged = gaps.count > 0;
	public->damaged_records = gaps.records;
	pass->owner->damage_first = gaps.first;
	pass->owner->damage_last = gaps.last;
	public->unfinished = tare_log_counts(pass->log)->gaps - pass->fresh_gaps;
	public->skipped_bytes = tare_log_counts(pass->log)->gap_bytes - pass->fresh_bytes;
}

void tare_recording_add_unread(struct tare_recording *r, const struct tare_err *err)
{
	tare_recording_add_note(r, "%s", err->text);
	TARE_APPEND(r->unread, r->unread_nr, r->unread_cap) = tare_arena_strdup(&r->arena, err->text);
	if (!r->first_err.code)
		r->first_err = *err;
}

/* In segments it is in order, and they say of the whole log what a pass over its records finds out. */
static void take_stored(struct pass *pass)
{
	const struct tare_log_info *info = tare_log_info(pass->log);
	struct tare_rprocess *p = pass->owner;

	pass->stored->lag = (struct tare_lag){ .high = info->last_stamp, .lag = info->lag };
	if (info->first_stamp && (p->first_stamp == 0 || info->first_stamp < p->first_stamp))
		p->first_stamp = info->first_stamp;
}

/* One for each run of what segments have: they may overlap in time. Without runs, one for all of it. */
static void add_stored(struct pass *pass)
{
	struct tare_store_cursor run = { 0 };
	struct tare_rstream *s = add_stream(pass->r, pass->log, pass->owner);

	pass->stored = s;
	add_range(s, tare_log_info(pass->log)->begin, UINT64_MAX);
	while (tare_log_next_run(pass->log, &run)) {
		if (s->is_run) {
			s = add_stream(pass->r, pass->log, pass->owner);
			s->is_log_shared = true;
		}
		s->is_run = true;
		s->run = run;
	}
}

/* For what segments have, and one for what lies in no lane of the files. */
static void add_streams(struct pass *pass)
{
	struct tare_log *rest = tare_log_rest(pass->log);
	const struct tare_log_info *info = tare_log_info(pass->log);

	if (info->is_stored)
		add_stored(pass);
	if (!info->is_stored || rest)
		pass->outside = add_stream(pass->r, rest ? tare_log_share(rest) : pass->log, pass->owner);
	if (pass->outside && !info->header.has_lanes)
		add_range(pass->outside, tare_log_info(rest ? rest : pass->log)->begin, UINT64_MAX);
	pass->stream = pass->stored ? pass->stored : pass->outside;
}

void tare_recording_add_log(struct tare_recording *r, struct tare_rfolder *folder, const struct tare_store *store,
                            const char *path)
{
	struct pass pass = { .r = r };
	const struct tare_log_info *info;
	struct tare_err err = { 0 };
	int rc;

	rc = tare_log_open_in(&pass.log, store, &r->reach, path, &err);
	if (rc == TARE_E_NOT_FOUND && r->reach.scope != TARE_LOG_WHOLE)
		return;
	if (rc) {
		if (tare_log_files_are_short())
			r->short_err = err;
		tare_recording_add_unread(r, &err);
		return;
	}
	if (r->reach.scope != TARE_LOG_WHOLE) /* it is read to be compacted: several times */
		r->held += tare_log_hold(pass.log, HELD_MAX - r->held);
	info = tare_log_info(pass.log);
	pass.owner = tare_recording_add_process(r, folder, info->header.pid, info->header.generation);
	pass.owner->public.folder = folder->path;
	pass.owner->public.log = tare_arena_strdup(&r->arena, info->path);
	pass.owner->folder = folder;
	pass.owner->log = pass.log;
	take_header(r, pass.owner, &info->header);
	pass.owner->public.is_ended = info->is_finished;
	pass.owner->public.is_open = info->has_ring && !info->is_finished;
	add_streams(&pass);
	tare_log_read_tables(pass.log);
	read_log(&pass);
	if (pass.stored)
		take_stored(&pass);
	if (pass.owner->public.is_ended)
		pass.owner->public.is_open = false;
	note_damage(&pass);
	tare_map_free(&pass.lanes);
}
