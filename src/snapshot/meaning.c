/* SPDX-License-Identifier: Apache-2.0 */
/* What a dict of a snapshot is, by the keys that it has, and what it says. */
#include "snapshot/pickle.h"

#include "base/array.h"

#include <stdlib.h>

/* Words that are values. Their numbers follow those of the keys. */
enum word {
	WORD_BEFORE = TARE_KEY_NR - 1,
#define X(NAME, TEXT) WORD_##NAME,
#include "snapshot/action.def"
#undef X
	WORD_ACTIVE_ALLOCATED,
	WORD_ACTIVE_PENDING_FREE,
	WORD_ACTIVE_AWAITING_FREE,
	WORD_SMALL,
	WORD_END,
};

static const char *const words[] = {
#define X(NAME, TEXT) TEXT,
#include "snapshot/key.def"
#include "snapshot/action.def"
#undef X
	"active_allocated", "active_pending_free", "active_awaiting_free", "small", "END",
};

void tare_pickle_know_words(struct tare_snapshot *s)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		tare_intern_text(&s->intern, words[i], strlen(words[i]));
}

/* The values of a dict by their keys. */
struct fields {
	uint64_t has; /* a bit for each key */
	struct tare_pickle_value of[TARE_KEY_NR];
};
_Static_assert(TARE_KEY_NR <= 64, "a bit for each key");

static bool has(const struct fields *f, enum tare_snapshot_key key)
{
	return f->has >> key & 1;
}

static int number(struct tare_snapshot *s, const struct fields *f, enum tare_snapshot_key key,
		  int64_t *value)
{
	if (!has(f, key))
		return tare_pickle_fail(s, TARE_E_CORRUPT, "a dict ends here that has no '%s'",
					words[key - 1]);
	if (f->of[key].kind != TARE_PICKLE_IS_INT && f->of[key].kind != TARE_PICKLE_IS_BOOL)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
					"'%s' of the dict that ends here is no number",
					words[key - 1]);
	*value = f->of[key].i;
	return 0;
}

/* A number that need not be there. */
static int64_t number_or(const struct fields *f, enum tare_snapshot_key key, int64_t otherwise)
{
	bool is_number = has(f, key) && (f->of[key].kind == TARE_PICKLE_IS_INT ||
					 f->of[key].kind == TARE_PICKLE_IS_BOOL);

	return is_number ? f->of[key].i : otherwise;
}

static uint32_t ref_or(const struct fields *f, enum tare_snapshot_key key,
		       enum tare_pickle_kind kind, uint32_t otherwise)
{
	return has(f, key) && f->of[key].kind == kind ? f->of[key].ref : otherwise;
}

static int count(struct tare_snapshot *s, const struct fields *f, enum tare_snapshot_key key,
		 uint64_t *value)
{
	int64_t n = 0;
	int rc = number(s, f, key, &n);

	if (!rc && (n < 0 || n >= 1ll << 50))
		return tare_pickle_fail(s, TARE_E_CORRUPT,
					"'%s' of the dict that ends here is %lld bytes",
					words[key - 1], (long long)n);
	*value = (uint64_t)n;
	return rc;
}

static bool pool_of(struct tare_snapshot *s, const struct fields *f, enum tare_snapshot_key key,
		    struct tare_snapshot_pool *pool)
{
	uint32_t at = ref_or(f, key, TARE_PICKLE_IS_PAIR, UINT32_MAX);

	if (at == UINT32_MAX)
		return false;
	*pool = s->pools[at];
	return true;
}

/* The text that stands before the value at `at`: the key of a dict that it will belong to. */
static uint32_t key_before(const struct tare_snapshot *s, size_t at)
{
	return at && s->stack[at - 1].kind == TARE_PICKLE_IS_TEXT ? s->stack[at - 1].ref : 0;
}

/* Where a list of trace entries stands among those of all devices. */
static int place_trace(struct tare_snapshot *s, size_t list_at, struct tare_pickle_container *list)
{
	size_t outer = list_at, between;

	if (!list_at)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
					"a trace entry is in no list of a device");
	if (s->stack[list_at - 1].kind == TARE_PICKLE_IS_LIST) {
		outer = list_at - 1;
	} else {
		while (outer && s->stack[outer - 1].kind != TARE_PICKLE_IS_MARK)
			outer--;
		outer = outer >= 2 ? outer - 2 : list_at;
	}
	if (outer == list_at || s->stack[outer].kind != TARE_PICKLE_IS_LIST)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
					"a trace entry is in no list of a device");
	between = list_at - outer - 1;
	list->device =
		s->containers[s->stack[outer].ref].items + (between ? (uint32_t)between - 1 : 0);
	list->is_host = key_before(s, outer) == TARE_KEY_HOST_TRACES;
	list->is_placed = true;
	return 0;
}

static int tell_event(struct tare_snapshot *s, size_t list_at, const struct fields *f)
{
	struct tare_snapshot_event event = { .stack = ref_or(f, TARE_KEY_FRAMES,
							     TARE_PICKLE_IS_STACK, 0) };
	uint32_t action = ref_or(f, TARE_KEY_ACTION, TARE_PICKLE_IS_TEXT, 0);
	struct tare_pickle_container *list;
	int64_t address = 0;
	int rc;

	if (list_at >= s->stack_count || s->stack[list_at].kind != TARE_PICKLE_IS_LIST)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
					"a trace entry is in no list of a device");
	list = &s->containers[s->stack[list_at].ref];
	if (!list->is_placed && (rc = place_trace(s, list_at, list)))
		return rc;
	event.device = list->device;
	event.is_host = list->is_host;
	event.action = action > WORD_BEFORE && action <= WORD_BEFORE + TARE_SNAPSHOT_ACTION_NR
			       ? (enum tare_snapshot_action)(action - WORD_BEFORE - 1)
			       : TARE_SNAPSHOT_ACTION_NR;
	rc = number(s, f, has(f, TARE_KEY_ADDR) ? TARE_KEY_ADDR : TARE_KEY_DEVICE_FREE, &address);
	if (!rc)
		rc = count(s, f, TARE_KEY_SIZE, &event.size);
	if (rc && event.action == TARE_SNAPSHOT_ACTION_NR)
		rc = 0; /* of a later PyTorch: it may have neither */
	if (rc)
		return rc;
	event.address = (uint64_t)address;
	event.stream = (uint64_t)number_or(f, TARE_KEY_STREAM, 0);
	event.time_us = number_or(f, TARE_KEY_TIME_US, 0);
	event.has_pool = pool_of(s, f, TARE_KEY_POOL_ID, &event.pool);
	event.has_stack = event.stack != 0;
	event.compile_context = ref_or(f, TARE_KEY_COMPILE_CONTEXT, TARE_PICKLE_IS_TEXT, 0);
	event.metadata = ref_or(f, TARE_KEY_USER_METADATA, TARE_PICKLE_IS_TEXT, 0);
	s->facts.events++;
	s->facts.has_traces = true;
	s->facts.has_times |= event.time_us != 0;
	s->facts.has_pools_of_events |= event.has_pool;
	s->facts.events_without_stack += !event.has_stack;
	return s->sink->event ? s->sink->event(s->sink->arg, &event, s->err) : 0;
}

/* history of a block, in PyTorch 2.0: its first entry is the last allocation. */
static const struct tare_pickle_container *history_of(const struct tare_snapshot *s,
						      const struct fields *f)
{
	return has(f, TARE_KEY_HISTORY) && f->of[TARE_KEY_HISTORY].kind == TARE_PICKLE_IS_LIST
		       ? &s->containers[f->of[TARE_KEY_HISTORY].ref]
		       : NULL;
}

static int keep_block(struct tare_snapshot *s, const struct fields *f,
		      struct tare_pickle_value *value)
{
	struct tare_snapshot_block block = { .stack = ref_or(f, TARE_KEY_FRAMES,
							     TARE_PICKLE_IS_STACK, 0) };
	const struct tare_pickle_container *history = history_of(s, f);
	uint32_t state = ref_or(f, TARE_KEY_STATE, TARE_PICKLE_IS_TEXT, 0);
	int rc = count(s, f, TARE_KEY_SIZE, &block.size);

	if (rc)
		return rc;
	if (s->block_count >= TARE_PICKLE_ITEMS)
		return tare_pickle_fail(s, TARE_E_LIMIT, "a segment has more than %u blocks",
					TARE_PICKLE_ITEMS);
	if (state == WORD_ACTIVE_ALLOCATED)
		block.state = TARE_SNAPSHOT_ALLOCATED;
	else if (state == WORD_ACTIVE_PENDING_FREE || state == WORD_ACTIVE_AWAITING_FREE)
		block.state = TARE_SNAPSHOT_PENDING;
	block.address = (uint64_t)number_or(f, TARE_KEY_ADDRESS, 0);
	block.asked = (uint64_t)number_or(f, TARE_KEY_REQUESTED_SIZE, history ? history->asked : 0);
	if (history && !block.stack)
		block.stack = history->stack;
	s->blocks = tare_array_reserve(s->blocks, &s->block_cap, s->block_count + 1,
				       sizeof(*s->blocks));
	s->blocks[s->block_count] = block;
	*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_BLOCK,
					     .ref = (uint32_t)s->block_count++ };
	return 0;
}

/* Blocks of PyTorch 2.0 have no address: they lie one behind the other. */
static void address_blocks(const struct tare_snapshot_segment *segment,
			   struct tare_snapshot_block *blocks, size_t block_count)
{
	uint64_t at = segment->address;

	for (size_t i = 0; i < block_count; i++) {
		if (!blocks[i].address)
			blocks[i].address = at;
		at += blocks[i].size;
	}
}

static int tell_segment(struct tare_snapshot *s, size_t list_at, const struct fields *f)
{
	struct tare_snapshot_segment segment = {
		.device = (uint32_t)number_or(f, TARE_KEY_DEVICE, 0),
		.is_small = ref_or(f, TARE_KEY_SEGMENT_TYPE, TARE_PICKLE_IS_TEXT, 0) == WORD_SMALL,
		.is_expandable = number_or(f, TARE_KEY_IS_EXPANDABLE, 0) != 0,
		.stream = (uint64_t)number_or(f, TARE_KEY_STREAM, 0),
		.stack = ref_or(f, TARE_KEY_FRAMES, TARE_PICKLE_IS_STACK, 0),
		.serial = number_or(f, TARE_KEY_REGISTRATION_COUNTER, -1),
	};
	struct tare_snapshot_block *blocks = NULL;
	size_t block_count = 0;
	int64_t address = 0;
	int rc = number(s, f, TARE_KEY_ADDRESS, &address);

	if (!rc)
		rc = count(s, f, TARE_KEY_TOTAL_SIZE, &segment.size);
	if (rc)
		return rc;
	segment.address = (uint64_t)address;
	segment.is_host =
		list_at < s->stack_count && key_before(s, list_at) == TARE_KEY_HOST_SEGMENTS;
	pool_of(s, f, TARE_KEY_SEGMENT_POOL_ID, &segment.pool);
	if (has(f, TARE_KEY_BLOCKS) && f->of[TARE_KEY_BLOCKS].kind == TARE_PICKLE_IS_LIST) {
		const struct tare_pickle_container *list =
			&s->containers[f->of[TARE_KEY_BLOCKS].ref];

		block_count = list->of == TARE_LIST_OF_BLOCKS ? list->count : 0;
		if (block_count)
			blocks = s->blocks + list->first;
	}
	address_blocks(&segment, blocks, block_count);
	s->facts.segments++;
	s->is_snapshot = true;
	return s->sink->segment
		       ? s->sink->segment(s->sink->arg, &segment, blocks, block_count, s->err)
		       : 0;
}

static int tell_annotation(struct tare_snapshot *s, const struct fields *f)
{
	struct tare_snapshot_annotation a = {
		.name = ref_or(f, TARE_KEY_NAME, TARE_PICKLE_IS_TEXT, 0),
		.is_end = ref_or(f, TARE_KEY_STAGE, TARE_PICKLE_IS_TEXT, 0) == WORD_END,
		.device = (uint32_t)number_or(f, TARE_KEY_DEVICE, 0),
		.time_us = number_or(f, TARE_KEY_TIME_US, 0),
	};

	s->facts.annotations++;
	return s->sink->annotation ? s->sink->annotation(s->sink->arg, &a, s->err) : 0;
}

static void keep_settings(struct tare_snapshot *s, const struct fields *f)
{
	struct tare_snapshot_settings *to = &s->facts.settings;

	to->is_there = true;
	to->conf = ref_or(f, TARE_KEY_ALLOC_CONF, TARE_PICKLE_IS_TEXT, 0);
	to->max_split = number_or(f, TARE_KEY_MAX_SPLIT_SIZE, -1);
	to->expandable = number_or(f, TARE_KEY_EXPANDABLE_SEGMENTS, -1);
	to->gc_threshold = has(f, TARE_KEY_GC_THRESHOLD) &&
					   f->of[TARE_KEY_GC_THRESHOLD].kind == TARE_PICKLE_IS_FLOAT
				   ? f->of[TARE_KEY_GC_THRESHOLD].d
				   : 0;
	to->has_divisions = has(f, TARE_KEY_DIVISIONS) &&
			    f->of[TARE_KEY_DIVISIONS].kind == TARE_PICKLE_IS_DIVISIONS;
	to->overflowed = number_or(f, TARE_KEY_OVERFLOWED, -1);
	to->max_entries = number_or(f, TARE_KEY_MAX_ENTRIES, -1);
}

/* {"1": 0, "2": 0, …, "32768": 0} */
static bool is_divisions(struct tare_snapshot *s, const struct tare_pickle_value *pairs,
			 size_t pair_count)
{
	int64_t found[16] = { 0 };

	for (size_t i = 0; i < pair_count; i++) {
		const char *text;
		char *end;
		unsigned long mb;

		if (pairs[2 * i].kind != TARE_PICKLE_IS_TEXT ||
		    pairs[2 * i + 1].kind != TARE_PICKLE_IS_INT)
			return false;
		text = tare_snapshot_text(s, pairs[2 * i].ref);
		mb = strtoul(text, &end, 10);
		if (*end || !mb || mb > 32768 || mb & (mb - 1))
			return false;
		found[__builtin_ctzl(mb)] = pairs[2 * i + 1].i;
	}
	memcpy(s->facts.settings.divisions, found, sizeof(found));
	return pair_count > 0;
}

static uint32_t frame_of(struct tare_snapshot *s, const struct fields *f)
{
	return tare_intern_frame(&s->intern,
				 &(struct tare_snapshot_frame){
					 ref_or(f, TARE_KEY_NAME, TARE_PICKLE_IS_TEXT, 0),
					 ref_or(f, TARE_KEY_FILENAME, TARE_PICKLE_IS_TEXT, 0),
					 number_or(f, TARE_KEY_LINE, 0) });
}

int tare_pickle_meaning(struct tare_snapshot *s, size_t list_at,
			const struct tare_pickle_value *pairs, size_t pair_count,
			struct tare_pickle_value *value)
{
	struct fields f;
	int rc = 0;

	f.has = 0;
	for (size_t i = 0; i < pair_count; i++)
		if (pairs[2 * i].kind == TARE_PICKLE_IS_TEXT && pairs[2 * i].ref < TARE_KEY_NR) {
			f.has |= 1ull << pairs[2 * i].ref;
			f.of[pairs[2 * i].ref] = pairs[2 * i + 1];
		}
	if (has(&f, TARE_KEY_ACTION)) {
		rc = tell_event(s, list_at, &f);
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TOLD, .ref = 1 };
	} else if (has(&f, TARE_KEY_FILENAME) && has(&f, TARE_KEY_LINE)) {
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_FRAME,
						     .ref = frame_of(s, &f) };
	} else if (has(&f, TARE_KEY_STATE) && has(&f, TARE_KEY_SIZE)) {
		rc = keep_block(s, &f, value);
	} else if (has(&f, TARE_KEY_TOTAL_SIZE)) {
		rc = tell_segment(s, list_at, &f);
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TOLD, .ref = 1 };
	} else if (has(&f, TARE_KEY_STAGE)) {
		rc = tell_annotation(s, &f);
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TOLD, .ref = 1 };
	} else if (has(&f, TARE_KEY_REAL_SIZE)) {
		value->i = number_or(&f, TARE_KEY_REAL_SIZE, 0);
		value->ref = ref_or(&f, TARE_KEY_FRAMES, TARE_PICKLE_IS_STACK, 0);
	} else if (has(&f, TARE_KEY_SEGMENTS) || has(&f, TARE_KEY_DEVICE_TRACES)) {
		s->is_snapshot = true;
		s->facts.has_annotations = has(&f, TARE_KEY_EXTERNAL_ANNOTATIONS);
	} else if (has(&f, TARE_KEY_ALLOC_CONF) || has(&f, TARE_KEY_MAX_SPLIT_SIZE)) {
		keep_settings(s, &f);
	} else if (is_divisions(s, pairs, pair_count)) {
		value->kind = TARE_PICKLE_IS_DIVISIONS;
	}
	return rc;
}
