/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's own format: a Trace of TracePackets (protos/perfetto/trace/trace_packet.proto). Counter tracks, one for each row; phases as
 * slices; what ran out of memory as instants; and the stacks of the moment that was asked for as the heap profile of a process.
 */
#include "base/xalloc.h"
#include "export/course.h"
#include "export/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_PROFILE = 37,
	PACKET_TRACK = 60
};
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME };
enum { CLOCK_MONOTONIC_COARSE_ID = 4, CLOCK_BOOTTIME_ID = 6 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_COUNTER = 30 };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { PROFILE_STRING = 1, PROFILE_FRAME, PROFILE_STACK, PROFILE_MAPPING, PROFILE_DUMP };
enum { INTERNED_ID = 1, INTERNED_TEXT };
enum { FRAME_ID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_PC };
enum { STACK_ID = 1, STACK_FRAME };
enum { MAPPING_ID = 1, MAPPING_END = 5, MAPPING_PATH = 7 };
enum { DUMP_PID = 1, DUMP_SAMPLE, DUMP_TIME = 9, DUMP_NAME = 11 };
enum { SAMPLE_STACK = 1, SAMPLE_ALLOCATED, SAMPLE_FREED, SAMPLE_TIME, SAMPLE_ALLOCS, SAMPLE_FREES };
/* Every packet is of one sequence. A time of 0 counts as none, so each is one later. */
enum { SEQUENCE = 1, FIRST_NS = 1 };

static void add_packet(struct tare_str *out, int64_t t_ns, uint32_t field, struct tare_str *part)
{
	struct tare_str packet = { 0 };

	if (t_ns >= 0)
		tare_protobuf_number(&packet, PACKET_TIME, (uint64_t)t_ns + FIRST_NS);
	tare_protobuf_number(&packet, PACKET_SEQUENCE, SEQUENCE);
	tare_protobuf_part(&packet, field, part);
	tare_protobuf_part(out, TRACE_PACKET, &packet);
}

/* A heap profile has the times of another clock than the packets: a reader that is not told how these two go together leaves it out. */
static void add_clocks(struct tare_str *out)
{
	static const int ids[] = { CLOCK_BOOTTIME_ID, CLOCK_MONOTONIC_COARSE_ID };
	struct tare_str clocks = { 0 };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct tare_str clock = { 0 };

		tare_protobuf_number(&clock, CLOCK_ID, (uint64_t)ids[i]);
		tare_protobuf_number(&clock, CLOCK_TIME, FIRST_NS);
		tare_protobuf_part(&clocks, CLOCKS_CLOCK, &clock);
	}
	add_packet(out, 0, PACKET_CLOCKS, &clocks);
}

/* ---- tracks ---- */

/* A process stands for a GPU: viewers put its tracks together. */
static void add_process(struct tare_str *out, uint64_t uuid, int64_t pid, const char *name)
{
	struct tare_str track = { 0 }, process = { 0 };

	tare_protobuf_number(&track, TRACK_UUID, uuid);
	tare_protobuf_int(&process, PROCESS_PID, pid);
	tare_protobuf_text(&process, PROCESS_NAME, name);
	tare_protobuf_part(&track, TRACK_PROCESS, &process);
	add_packet(out, -1, PACKET_TRACK, &track);
}

static void add_track(struct tare_str *out, uint64_t uuid, uint64_t parent, const char *name, bool is_counter)
{
	struct tare_str track = { 0 }, counter = { 0 };

	tare_protobuf_number(&track, TRACK_UUID, uuid);
	if (parent)
		tare_protobuf_number(&track, TRACK_PARENT, parent);
	tare_protobuf_text(&track, TRACK_NAME, name);
	if (is_counter) {
		tare_protobuf_number(&counter, COUNTER_UNIT, UNIT_BYTES);
		tare_protobuf_part(&track, TRACK_COUNTER, &counter);
	}
	add_packet(out, -1, PACKET_TRACK, &track);
}

static void add_event(struct tare_str *out, int64_t t_ns, int type, uint64_t track, const char *name, int64_t value)
{
	struct tare_str event = { 0 };

	tare_protobuf_number(&event, EVENT_TYPE, (uint64_t)type);
	tare_protobuf_number(&event, EVENT_TRACK, track);
	if (name)
		tare_protobuf_text(&event, EVENT_NAME, name);
	if (type == TYPE_COUNTER)
		tare_protobuf_int(&event, EVENT_COUNTER, value);
	add_packet(out, t_ns > 0 ? t_ns : 0, PACKET_EVENT, &event); /* or before the recording */
}

/* Returns the number of the next track. A value that stays is not written again. */
static uint64_t add_course(struct tare_str *out, const struct tare_export_course *c, uint64_t uuid, uint64_t parent)
{
	int64_t *last = tare_xcalloc((size_t)c->panel->band_nr + 1, sizeof(*last));
	struct tare_memory_history_point point;
	size_t nr = 0;

	for (int b = 0; b < c->panel->band_nr; b++) {
		struct tare_str name = { 0 };

		tare_str_addf(&name, "%s: %s", c->by, c->panel->bands[b].label);
		add_track(out, uuid + (uint64_t)b, parent, tare_str_text(&name), true);
		tare_str_free(&name);
	}
	for (size_t at = 0; tare_export_course_next(c, &at, &point); nr++)
		for (int b = 0; b < c->panel->band_nr; b++) {
			if (!nr || last[b] != point.bytes[b])
				add_event(out, point.t_ns, TYPE_COUNTER, uuid + (uint64_t)b, NULL, point.bytes[b]);
			last[b] = point.bytes[b];
		}
	free(last);
	return uuid + (uint64_t)c->panel->band_nr;
}

/* ---- phases ---- */

/* Ends stand where they are in time: viewers sort packets, and of one time the first is the first. */
static void add_spans(struct tare_str *out, const struct tare_export *x, uint64_t uuid)
{
	const struct tare_memory_history *h = x->by_account;
	int nr, *lanes = tare_export_lanes(h, &nr);

	add_track(out, uuid, 0, "marks", false);
	for (int i = 0; i < nr; i++)
		add_track(out, uuid + 1 + (uint64_t)i, 0, "phases", false);
	for (size_t i = 0; i < h->span_nr; i++) {
		const struct tare_memory_history_span *s = &h->spans[i];
		uint64_t track = s->is_mark ? uuid : uuid + 1 + (uint64_t)lanes[i];

		add_event(out, s->begin_ns, s->is_mark ? TYPE_INSTANT : TYPE_BEGIN, track, s->name, 0);
		if (!s->is_mark)
			add_event(out, s->end_ns, TYPE_END, track, NULL, 0);
	}
	for (int i = 0; i < x->ledger->oom_nr; i++)
		add_event(out, x->ledger->ooms[i].t_ns, TYPE_INSTANT, uuid, "out of memory", 0);
	free(lanes);
}

/* ---- the heap ---- */

static void add_string(struct tare_str *profile, uint64_t id, const char *text)
{
	struct tare_str string = { 0 };

	tare_protobuf_number(&string, INTERNED_ID, id);
	tare_protobuf_text(&string, INTERNED_TEXT, text);
	tare_protobuf_part(profile, PROFILE_STRING, &string);
}

/* One mapping, in which each frame has an address of its own. Strings: 1 is the mapping's, 2 + n that of frame n. */
static void add_frames(struct tare_str *profile, const struct tare_export_stacks *s, const char *program)
{
	struct tare_str mapping = { 0 };

	add_string(profile, 1, program);
	tare_protobuf_number(&mapping, MAPPING_ID, 1);
	tare_protobuf_number(&mapping, MAPPING_END, s->frame_nr + 1);
	tare_protobuf_number(&mapping, MAPPING_PATH, 1);
	tare_protobuf_part(profile, PROFILE_MAPPING, &mapping);
	for (size_t i = 0; i < s->frame_nr; i++) {
		struct tare_str frame = { 0 };

		add_string(profile, 2 + i, s->frames[i].text);
		tare_protobuf_number(&frame, FRAME_ID, 1 + i);
		tare_protobuf_number(&frame, FRAME_FUNCTION, 2 + i);
		tare_protobuf_number(&frame, FRAME_MAPPING, 1);
		tare_protobuf_number(&frame, FRAME_PC, 1 + i);
		tare_protobuf_part(profile, PROFILE_FRAME, &frame);
	}
}

static void add_sample(struct tare_str *dump, const struct tare_export_sample *s, uint64_t stack, int64_t t_ns)
{
	struct tare_str sample = { 0 };

	tare_protobuf_number(&sample, SAMPLE_STACK, stack);
	tare_protobuf_int(&sample, SAMPLE_ALLOCATED, s->ever_bytes);
	tare_protobuf_int(&sample, SAMPLE_FREED, s->ever_bytes - s->bytes);
	tare_protobuf_int(&sample, SAMPLE_TIME, t_ns + FIRST_NS);
	tare_protobuf_number(&sample, SAMPLE_ALLOCS, s->ever);
	tare_protobuf_number(&sample, SAMPLE_FREES, s->ever - s->count);
	tare_protobuf_part(dump, DUMP_SAMPLE, &sample);
}

static void add_heap(struct tare_str *out, struct tare_export *x, const size_t *pids)
{
	const struct tare_export_stacks *s = x->stacks;
	struct tare_str profile = { 0 }, dump = { 0 };
	int64_t t_ns = 0;

	add_frames(&profile, s, x->title);
	for (size_t i = 0; i < s->nr; i++) {
		struct tare_str stack = { 0 };

		tare_protobuf_number(&stack, STACK_ID, 1 + i);
		for (uint32_t f = 0; f < s->samples[i].frame_nr; f++)
			tare_protobuf_number(&stack, STACK_FRAME, 1 + s->samples[i].frames[f]);
		tare_protobuf_part(&profile, PROFILE_STACK, &stack);
	}
	for (size_t i = 0; i < s->nr; i++) {
		bool is_last = i + 1 == s->nr || s->samples[i + 1].device != s->samples[i].device;

		t_ns = s->samples[i].device ? s->samples[i].device->t_ns : x->ledger->t_ns;
		t_ns = t_ns > 0 ? t_ns : 0;
		if (s->samples[i].bytes >= 0)
			add_sample(&dump, &s->samples[i], 1 + i, t_ns);
		else
			tare_export_note(x,
			                 "%lld bytes that are explained beyond what is in use "
			                 "are not in the heap profile",
			                 (long long)-s->samples[i].bytes);
		if (!is_last)
			continue;
		tare_protobuf_number(&dump, DUMP_PID, pids[i]);
		tare_protobuf_text(&dump, DUMP_NAME, s->frames[s->samples[i].frames[0]].text);
		tare_protobuf_int(&dump, DUMP_TIME, t_ns + FIRST_NS);
		tare_protobuf_part(&profile, PROFILE_DUMP, &dump);
	}
	add_packet(out, t_ns, PACKET_PROFILE, &profile);
}

/* The process that stands for the device of each sample. */
static size_t *pids_of(const struct tare_export *x)
{
	size_t *pids = tare_xcalloc(x->stacks->nr + 1, sizeof(*pids));

	for (size_t i = 0; i < x->stacks->nr; i++) {
		const struct tare_device_ledger *d = x->stacks->samples[i].device;

		pids[i] = d ? 2 + (size_t)(d - x->ledger->devices) : 1;
	}
	return pids;
}

int tare_export_perfetto(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	struct tare_export_courses courses;
	uint64_t uuid = UINT64_C(1) << 32; /* beyond those of processes, which are their pids */
	size_t *pids = pids_of(x);

	(void)err;
	tare_export_courses_make(&courses, x);
	add_clocks(out);
	for (size_t i = 0; i < courses.nr; i++) {
		uint64_t parent = (uint64_t)(courses.items[i].panel->device + 2);

		if (!strcmp(courses.items[i].by, "account"))
			add_process(out, parent, (int64_t)parent, tare_str_text(&courses.items[i].name));
		uuid = add_course(out, &courses.items[i], uuid, parent);
	}
	add_spans(out, x, uuid);
	if (x->stacks->nr)
		add_heap(out, x, pids);
	tare_export_courses_free(&courses);
	free(pids);
	tare_export_note_course(x);
	tare_export_note_stacks(x);
	return 0;
}
