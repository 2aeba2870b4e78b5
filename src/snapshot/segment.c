/* SPDX-License-Identifier: Apache-2.0 */
/* Segments and their blocks, as they were when the snapshot was taken. */
#include "snapshot/fields.h"

#include "base/array.h"

/* history of a block, in PyTorch 2.0: its first entry is the last allocation. */
static const struct tare_pickle_container *history_of(const struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	return tare_field_is_there(f, TARE_KEY_HISTORY) && f->of[TARE_KEY_HISTORY].kind == TARE_PICKLE_IS_LIST
	           ? &s->containers[f->of[TARE_KEY_HISTORY].ref]
	           : NULL;
}

static enum tare_snapshot_state state_of(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	switch (tare_field_ref(s, f, TARE_KEY_STATE, TARE_PICKLE_IS_TEXT, TARE_WORD_INACTIVE)) {
	case TARE_WORD_ACTIVE_ALLOCATED:
		return TARE_SNAPSHOT_ALLOCATED;
	case TARE_WORD_ACTIVE_PENDING_FREE:
	case TARE_WORD_ACTIVE_AWAITING_FREE:
		return TARE_SNAPSHOT_PENDING;
	case TARE_WORD_INACTIVE:
		return TARE_SNAPSHOT_INACTIVE;
	default:
		tare_field_note_odd(s, TARE_KEY_STATE);
		return TARE_SNAPSHOT_INACTIVE;
	}
}

/* Of a block that is not in use, it is what an earlier one asked for, and means nothing. */
static uint64_t asked_of(struct tare_snapshot *s, const struct tare_pickle_fields *f,
                         const struct tare_snapshot_block *block, int64_t asked)
{
	asked = tare_field_or(s, f, TARE_KEY_REQUESTED_SIZE, asked);
	if (block->state == TARE_SNAPSHOT_INACTIVE)
		return 0;
	if (asked >= 0 && (uint64_t)asked <= block->size)
		return (uint64_t)asked;
	tare_field_note_odd(s, TARE_KEY_REQUESTED_SIZE);
	return 0;
}

int tare_pickle_keep_block(struct tare_snapshot *s, const struct tare_pickle_fields *f, struct tare_pickle_value *value)
{
	const struct tare_pickle_container *history = history_of(s, f);
	struct tare_snapshot_block block = { 0 };
	int rc = tare_field_size(s, f, TARE_KEY_SIZE, &block.size);

	if (rc)
		return rc;
	if (s->block_count >= TARE_PICKLE_ITEMS)
		return tare_pickle_fail(s, TARE_E_LIMIT, "a segment has more than %u blocks", TARE_PICKLE_ITEMS);
	block.state = state_of(s, f);
	block.address = (uint64_t)tare_field_or(s, f, TARE_KEY_ADDRESS, 0);
	block.asked = asked_of(s, f, &block, history ? history->asked : 0);
	block.stack = tare_field_ref(s, f, TARE_KEY_FRAMES, TARE_PICKLE_IS_STACK, 0);
	if (history && !block.stack)
		block.stack = history->stack;
	TARE_APPEND(s->blocks, s->block_count, s->block_cap) = block;
	*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_BLOCK, .ref = (uint32_t)s->block_count - 1 };
	return 0;
}

/* Blocks of PyTorch 2.0 have no address: they lie one behind the other. */
static void address_blocks(const struct tare_snapshot_segment *segment, struct tare_snapshot_block *blocks,
                           size_t block_count)
{
	uint64_t at = segment->address;

	for (size_t i = 0; i < block_count; i++) {
		if (!blocks[i].address)
			blocks[i].address = at;
		at += blocks[i].size;
	}
}

static int device_of(struct tare_snapshot *s, const struct tare_pickle_fields *f, uint32_t *device)
{
	int64_t n = tare_field_or(s, f, TARE_KEY_DEVICE, 0);

	if (n < 0 || n >= TARE_SNAPSHOT_DEVICES)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
		                        "'device' of the segment that ends here is none of the numbers from 0 to %d",
		                        TARE_SNAPSHOT_DEVICES - 1);
	*device = (uint32_t)n;
	return 0;
}

/* The list of blocks of a segment; NULL: it has none. */
static const struct tare_pickle_container *blocks_of(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	const struct tare_pickle_value *value = &f->of[TARE_KEY_BLOCKS];

	if (!tare_field_is_there(f, TARE_KEY_BLOCKS) || value->kind == TARE_PICKLE_IS_STACK)
		return NULL; /* a list of nothing is a stack of nothing */
	if (value->kind == TARE_PICKLE_IS_LIST && s->containers[value->ref].of == TARE_LIST_OF_BLOCKS)
		return &s->containers[value->ref];
	tare_field_note_odd(s, TARE_KEY_BLOCKS);
	return NULL;
}

int tare_pickle_tell_segment(struct tare_snapshot *s, size_t list_at, const struct tare_pickle_fields *f)
{
	const struct tare_pickle_container *list = blocks_of(s, f);
	struct tare_snapshot_block *blocks = list ? s->blocks + list->first : NULL;
	struct tare_snapshot_segment segment = {
		.is_small = tare_field_is(s, f, TARE_KEY_SEGMENT_TYPE, TARE_WORD_SMALL, TARE_WORD_LARGE),
		.is_expandable = tare_field_flag(s, f, TARE_KEY_IS_EXPANDABLE, 0) != 0,
		.stream = (uint64_t)tare_field_or(s, f, TARE_KEY_STREAM, 0),
		.stack = tare_field_ref(s, f, TARE_KEY_FRAMES, TARE_PICKLE_IS_STACK, 0),
		.serial = tare_field_or(s, f, TARE_KEY_REGISTRATION_COUNTER, -1),
	};
	int64_t address = 0;
	int rc = tare_field_number(s, f, TARE_KEY_ADDRESS, &address);

	if (!rc)
		rc = tare_field_size(s, f, TARE_KEY_TOTAL_SIZE, &segment.size);
	if (!rc)
		rc = device_of(s, f, &segment.device);
	if (rc)
		return rc;
	segment.address = (uint64_t)address;
	segment.is_host = list_at < s->stack_count && tare_pickle_key_before(s, list_at) == TARE_KEY_HOST_SEGMENTS;
	tare_field_pool(s, f, TARE_KEY_SEGMENT_POOL_ID, &segment.pool);
	if (list)
		address_blocks(&segment, blocks, list->count);
	s->facts.segments++;
	s->is_snapshot = true;
	return s->sink->segment ? s->sink->segment(s->sink->arg, &segment, blocks, list ? list->count : 0, s->err) : 0;
}
