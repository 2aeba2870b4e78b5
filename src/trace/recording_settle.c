/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two passes: what could only be said once every log had been read. */
#include "trace/recording_private.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "trace/stream.h"

TARE_COMPARATOR(by_address, struct tare_symbol, TARE_RISING(address) TARE_RISING(object))

static void give_symbols(struct tare_recording *r)
{
	for (size_t i = 0; i < r->symbol_nr; i++) {
		const struct tare_rsymbol *from = &r->symbols[i];
		struct tare_rprocess *p = tare_recording_find(from->folder, from->pid, from->generation);

		if (!p)
			continue;
		TARE_APPEND(p->symbols, p->public.symbol_nr, p->symbol_cap) = from->symbol;
	}
	for (size_t i = 0; i < r->process_nr; i++) {
		struct tare_rprocess *p = r->processes[i];

		TARE_SORT(p->symbols, p->public.symbol_nr, by_address);
		p->public.symbols = p->symbols;
	}
}

/* Whose status it is: the newest generation of that pid, or the command of the `tare` that tells it. */
static struct tare_rprocess *whose(const struct tare_rstatus *s)
{
	uint64_t *newest;
	uint32_t generation = s->rec.generation;
	struct tare_rprocess *p;

	if (s->from->public.role == TARE_ROLE_PROGRAM)
		return s->from;
	newest = tare_map_get(&s->from->folder->newest, s->rec.pid);
	if (generation == TARE_LAST_GENERATION && newest)
		generation = (uint32_t)(*newest - 1);
	p = tare_recording_find(s->from->folder, s->rec.pid, generation);
	return p ? p : s->from;
}

static void set_status(struct tare_recording *r, struct tare_process *p, const struct tare_rstatus *s)
{
	p->is_status_known = true;
	p->status = s->rec.status;
	p->oom_kills = (int)s->rec.oom_kills - 1;
	p->status_ns = tare_recording_ns(r, s->from, s->rec.head.stamp);
}

/* What the kernel told `tare` of its child counts more than what the child said of itself. */
static void give_statuses(struct tare_recording *r)
{
	for (int by_tare = 0; by_tare < 2; by_tare++)
		for (size_t i = 0; i < r->status_nr; i++) {
			const struct tare_rstatus *s = &r->statuses[i];

			if ((s->from->public.role == TARE_ROLE_TARE) != by_tare)
				continue;
			set_status(r, &whose(s)->public, s);
			if (by_tare && s->rec.generation == TARE_LAST_GENERATION)
				set_status(r, &s->from->public, s);
		}
}

TARE_COMPARATOR(by_time, struct tare_rmark, TARE_RISING(public.at_ns) TARE_RISING(public.number))

static void settle_marks(struct tare_recording *r)
{
	for (size_t i = 0; i < r->mark_nr; i++)
		r->marks[i].public.at_ns = tare_recording_ns(r, r->marks[i].from, r->marks[i].stamp);
	TARE_SORT(r->marks, r->mark_nr, by_time);
}

static const char *string_of(const struct tare_rprocess *p, uint32_t id)
{
	uint64_t *slot = id ? tare_map_get(&p->strings, id) : NULL;

	return slot ? (const char *)(uintptr_t)*slot : "";
}

/* A line that is missing, because its record was damaged, is one of which nothing is known. */
bool tare_recording_settle_lines(struct tare_recording *r, const struct tare_rprocess *p, struct tare_rline_stack *s)
{
	struct tare_line *lines = (struct tare_line *)(uintptr_t)s->public.lines;
	bool has_all = true;

	if (!lines)
		lines = tare_arena_alloc(&r->arena, (s->public.depth + 1u) * sizeof(*lines));
	for (uint32_t i = 0; i < s->public.depth; i++) {
		uint64_t *known = tare_map_get(&p->lines, s->ids[i]);
		const struct tare_rline *l = known ? (const struct tare_rline *)(uintptr_t)*known : NULL;

		lines[i] =
			(struct tare_line){ string_of(p, l ? l->file : 0), string_of(p, l ? l->function : 0), l ? l->line : 0 };
		has_all &= l && (!l->file || *lines[i].file) && (!l->function || *lines[i].function);
	}
	s->public.lines = lines;
	return has_all;
}

static void settle_lines(struct tare_recording *r, struct tare_rprocess *p)
{
	const struct tare_map_slot *slot;
	size_t at = 0;

	while ((slot = tare_map_next(&p->line_stacks, &at)))
		tare_recording_settle_lines(r, p, (struct tare_rline_stack *)(uintptr_t)slot->value);
}

int64_t tare_recording_begin_ns(const struct tare_recording *r, const struct tare_rfolder *folder)
{
	bool has_tare = false;
	int64_t begin = 0;

	for (size_t i = 0; i < r->process_nr; i++) {
		const struct tare_rprocess *p = r->processes[i];
		bool is_tare = p->public.role == TARE_ROLE_TARE;
		int64_t ns;

		if (!p->header.first_stamp || is_tare < has_tare || (folder && p->folder != folder))
			continue;
		ns = tare_recording_monotonic_ns(r, p, p->header.first_stamp);
		if (is_tare > has_tare || begin == 0 || ns < begin)
			begin = ns;
		has_tare = is_tare;
	}
	return begin;
}

static void settle_zero(struct tare_recording *r)
{
	r->zero_clock = r->streams[0]->process->clock;
	r->zero_ns = tare_recording_begin_ns(r, NULL);
	if (r->zero_clock->realtime_offset_ns)
		r->zero_realtime_ns = r->zero_ns + r->zero_clock->realtime_offset_ns;
}

/* The log begins when there is something to write: what that is has its stamp already. */
static uint64_t first_stamp_of(const struct tare_rprocess *p)
{
	uint64_t begun = p->header.first_stamp, first = p->first_stamp;

	return !begun || (first && first < begun) ? first : begun;
}

/* A ring that an exec left lies there like one of a process that was killed. */
static void settle_exec(struct tare_rprocess *p)
{
	struct tare_process *public = &p->public;
	const struct tare_rprocess *next = tare_recording_find(p->folder, public->pid, public->generation + 1);

	public->is_replaced = !public->is_ended && next && next->public.pid_namespace == public->pid_namespace &&
	                      next->public.start_ticks == public->start_ticks;
	public->is_open &= !public->is_replaced;
}

static void settle_process(struct tare_recording *r, struct tare_rprocess *p)
{
	struct tare_process *public = &p->public;

	tare_recording_settle_objects(p);
	settle_lines(r, p);
	settle_exec(p);
	public->first_ns = tare_recording_ns(r, p, first_stamp_of(p));
	public->last_ns = p->last_stamp ? tare_recording_ns(r, p, p->last_stamp) : public->first_ns;
	public->damage_from_ns = p->damage_first ? tare_recording_ns(r, p, p->damage_first) : public->first_ns;
	public->damage_to_ns = tare_recording_ns(r, p, p->damage_last);
	if (public->last_ns > r->last_ns)
		r->last_ns = public->last_ns;
	r->is_open |= public->is_open;
}

/* Stamps of two machines meet in the time of day, and nobody knows how well that was set. */
static void note_machines(struct tare_recording *r)
{
	int64_t moved = 0;
	int machines = 0;

	for (size_t i = 0; i < r->clock_nr; i++) {
		if (r->clocks[i]->machine >= machines)
			machines = r->clocks[i]->machine + 1;
		if (moved < r->clocks[i]->realtime_moved_ns)
			moved = r->clocks[i]->realtime_moved_ns;
	}
	if (machines > 1)
		tare_recording_add_note(r,
		                        "these recordings are of %d hosts, which are put in one order by their clocks "
		                        "of the day: times of different hosts are as far apart as those were (NTP: "
		                        "some milliseconds; while recording they moved by up to %.1f ms)",
		                        machines, (double)moved / 1e6);
}

/* What went with a ring that had no file may be of any process. */
static void spread_lost(struct tare_recording *r)
{
	for (size_t i = 0; i < r->process_nr; i++) {
		struct tare_process *p = &r->processes[i]->public;

		if (p->role != TARE_ROLE_PROGRAM || !r->processes[i]->folder || !r->processes[i]->folder->lost_in_memory)
			continue;
		p->is_damaged = true;
		p->damaged_records = 0;
		p->damage_from_ns = p->first_ns;
		p->damage_to_ns = p->last_ns;
	}
}

TARE_COMPARATOR_OF_POINTERS(by_first, struct tare_rprocess, TARE_RISING(public.first_ns) TARE_RISING(public.index))

void tare_recording_settle(struct tare_recording *r)
{
	for (size_t i = 0; i < r->clock_nr; i++) {
		tare_clockmap_settle(r->clocks[i]);
		if (!r->clocks[i]->is_rate_known)
			tare_recording_add_note(r, "the rate of the clock is not known, because Tare was "
			                           "killed too early: times are in ticks");
	}
	for (size_t i = 0; i < r->stream_nr; i++)
		if (r->streams[i]->lag.high > r->streams[i]->process->last_stamp)
			r->streams[i]->process->last_stamp = r->streams[i]->lag.high;
	note_machines(r);
	settle_zero(r);
	give_symbols(r);
	give_statuses(r);
	settle_marks(r);
	for (size_t i = 0; i < r->process_nr; i++)
		settle_process(r, r->processes[i]);
	spread_lost(r);
	TARE_SORT(r->processes, r->process_nr, by_first);
	for (size_t i = 0; i < r->process_nr; i++)
		r->processes[i]->public.index = (int)i;
	tare_recording_name_processes(r);
	tare_recording_note_killed(r);
	for (size_t i = 0; i < r->stream_nr; i++)
		tare_stream_open(r->streams[i]);
}

int64_t tare_recording_time_ns(const struct tare_recording *r, const struct tare_process *process, uint64_t stamp)
{
	return tare_recording_ns(r, (const struct tare_rprocess *)process, stamp); /* its first member */
}

/* Times only grow with stamps, so the stamp is found by halving. */
uint64_t tare_recording_stamp(const struct tare_recording *r, const struct tare_process *process, int64_t ns)
{
	const struct tare_rprocess *p = (const struct tare_rprocess *)process; /* its first member */
	uint64_t low = 0;

	TARE_BISECT(low, UINT64_MAX >> 1, i, tare_recording_ns(r, p, i) < ns);
	return low;
}
