/* SPDX-License-Identifier: Apache-2.0 */
/* Trace entries: what the allocator did, and of which device. */
#include "snapshot/fields.h"

/* The text that stands before the value at `at`: the key of a dict that it will belong to. */
uint32_t tare_pickle_key_before(const struct tare_snapshot *s, size_t at)
{
	return at && s->stack[at - 1].kind == TARE_PICKLE_IS_TEXT ? s->stack[at - 1].ref : 0;
}

/* Whether the values behind a mark may be items of a list, not keys and values of a dict. */
static bool are_items(const struct tare_snapshot *s, size_t mark, size_t to)
{
	for (size_t at = mark + 1; at < to && at - mark <= TARE_SNAPSHOT_DEVICES; at++)
		if (s->stack[at].kind == TARE_PICKLE_IS_DICT || s->stack[at].kind == TARE_PICKLE_IS_TEXT)
			return false;
	return true;
}

/* Where the list is that the value at `at` will be an item of; SIZE_MAX: there is none. Its other items may lie between. */
static size_t list_around(const struct tare_snapshot *s, size_t at)
{
	size_t marks = s->mark_count, mark;

	while (marks && s->marks[marks - 1] > at)
		marks--;
	mark = marks ? s->marks[marks - 1] : 0;
	if (mark && s->stack[mark - 1].kind == TARE_PICKLE_IS_LIST && are_items(s, mark, at))
		return mark - 1;
	return at && s->stack[at - 1].kind == TARE_PICKLE_IS_LIST ? at - 1 : SIZE_MAX;
}

/* A list of trace entries is that of a device by its place among those of all devices. */
static int place_trace(struct tare_snapshot *s, size_t list_at, struct tare_pickle_container *list)
{
	size_t outer = list_around(s, list_at), before;

	if (outer == SIZE_MAX)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "a trace entry is in no list of a device");
	/* Between the two lie a mark and other items, or nothing. */
	before = list_at == outer + 1 ? 0 : list_at - outer - 2;
	before += s->containers[s->stack[outer].ref].items;
	if (before >= TARE_SNAPSHOT_DEVICES)
		return tare_pickle_fail(s, TARE_E_LIMIT, "there are traces of more than %d devices", TARE_SNAPSHOT_DEVICES);
	list->device = (uint32_t)before;
	list->is_host = tare_pickle_key_before(s, outer) == TARE_KEY_HOST_TRACES;
	list->is_placed = true;
	return 0;
}

/* An action that is not known is one of a later PyTorch. */
static enum tare_snapshot_action action_of(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	uint32_t action = tare_field_ref(s, f, TARE_KEY_ACTION, TARE_PICKLE_IS_TEXT, 0);

	if (action > TARE_WORD_BEFORE && action <= TARE_WORD_BEFORE + TARE_SNAPSHOT_ACTION_NR)
		return (enum tare_snapshot_action)(action - TARE_WORD_BEFORE - 1);
	if (!s->facts.unknown_actions++)
		s->facts.unknown_action = action;
	return TARE_SNAPSHOT_ACTION_NR;
}

/* Where memory ran out, the bytes that the device had free stand in place of an address. */
static enum tare_snapshot_key address_key(const struct tare_pickle_fields *f, enum tare_snapshot_action action)
{
	return action == TARE_SNAPSHOT_OOM && !tare_field_is_there(f, TARE_KEY_ADDR) ? TARE_KEY_DEVICE_FREE : TARE_KEY_ADDR;
}

/* What user_metadata is a program decides: a text or something else. */
static uint32_t metadata_of(const struct tare_pickle_fields *f)
{
	bool is_text =
		tare_field_is_there(f, TARE_KEY_USER_METADATA) && f->of[TARE_KEY_USER_METADATA].kind == TARE_PICKLE_IS_TEXT;

	return is_text ? f->of[TARE_KEY_USER_METADATA].ref : 0;
}

/* What a later PyTorch says of an action of its own may be anything. */
static int read_place(struct tare_snapshot *s, const struct tare_pickle_fields *f, struct tare_snapshot_event *event)
{
	int64_t address = 0;
	int rc;

	if (event->action == TARE_SNAPSHOT_ACTION_NR)
		return 0;
	rc = tare_field_number(s, f, address_key(f, event->action), &address);
	if (!rc)
		rc = tare_field_size(s, f, TARE_KEY_SIZE, &event->size);
	event->address = (uint64_t)address;
	return rc;
}

static int read_event(struct tare_snapshot *s, const struct tare_pickle_fields *f, struct tare_snapshot_event *event)
{
	int rc;

	event->action = action_of(s, f);
	rc = read_place(s, f, event);
	if (rc)
		return rc;
	event->stream = (uint64_t)tare_field_or(s, f, TARE_KEY_STREAM, 0);
	event->time_us = tare_field_time(s, f);
	event->has_pool = tare_field_pool(s, f, TARE_KEY_POOL_ID, &event->pool);
	event->stack = tare_field_ref(s, f, TARE_KEY_FRAMES, TARE_PICKLE_IS_STACK, 0);
	event->has_stack = event->stack != 0;
	event->compile_context = tare_field_ref(s, f, TARE_KEY_COMPILE_CONTEXT, TARE_PICKLE_IS_TEXT, 0);
	event->metadata = metadata_of(f);
	return 0;
}

int tare_pickle_tell_event(struct tare_snapshot *s, size_t list_at, const struct tare_pickle_fields *f)
{
	struct tare_snapshot_event event = { 0 };
	struct tare_pickle_container *list;
	int rc;

	if (list_at >= s->stack_count || s->stack[list_at].kind != TARE_PICKLE_IS_LIST)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "a trace entry is in no list of a device");
	list = &s->containers[s->stack[list_at].ref];
	if (!list->is_placed && (rc = place_trace(s, list_at, list)))
		return rc;
	event.device = list->device;
	event.is_host = list->is_host;
	rc = read_event(s, f, &event);
	if (rc)
		return rc;
	s->facts.events++;
	s->facts.has_traces = true;
	s->facts.has_times |= event.time_us != 0;
	s->facts.has_pools_of_events |= event.has_pool;
	s->facts.events_without_stack += !event.has_stack;
	return s->sink->event ? s->sink->event(s->sink->arg, &event, s->err) : 0;
}
