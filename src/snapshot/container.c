/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and dicts. Nothing is built of them: a list of frames becomes a stack, a dict is told to the sink or interned as
 * soon as it is complete, which is when its items are set all at once, or when it becomes part of another.
 */
#include "snapshot/pickle.h"

#include "base/array.h"

#include <stdlib.h>

int tare_pickle_open(struct tare_snapshot *s, bool is_list)
{
	uint32_t at;

	if (s->live >= TARE_PICKLE_LISTS)
		return tare_pickle_fail(s, TARE_E_LIMIT, "more than %u lists and dicts are not complete", TARE_PICKLE_LISTS);
	if (s->spare_container) {
		at = s->spare_container - 1;
		s->spare_container = s->containers[at].spare;
	} else {
		s->containers =
			tare_array_reserve(s->containers, &s->container_cap, s->container_count + 1, sizeof(*s->containers));
		at = (uint32_t)s->container_count++;
	}
	s->containers[at] = (struct tare_pickle_container){ .is_list = is_list };
	s->live++;
	return tare_pickle_push(s, (struct tare_pickle_value){ .kind = is_list ? TARE_PICKLE_IS_LIST : TARE_PICKLE_IS_DICT,
	                                                       .ref = at });
}

/* The container is gone, and what waited for it. */
static void close(struct tare_snapshot *s, uint32_t at)
{
	struct tare_pickle_container *c = &s->containers[at];

	if (c->pairs) {
		for (size_t i = 0; i < c->count; i++)
			tare_pickle_drop(s, &c->pairs[i]);
		s->pair_count -= c->count;
		free(c->pairs);
		c = &s->containers[at];
		c->pairs = NULL;
	}
	if (c->of == TARE_LIST_OF_FRAMES && c->first < s->frame_count)
		s->frame_count = c->first;
	if (c->of == TARE_LIST_OF_BLOCKS && c->first < s->block_count)
		s->block_count = c->first;
	c->memo = 0;
	c->spare = s->spare_container;
	s->spare_container = at + 1;
	s->live--;
}

void tare_pickle_drop(struct tare_snapshot *s, const struct tare_pickle_value *value)
{
	if (value->kind == TARE_PICKLE_IS_LIST || value->kind == TARE_PICKLE_IS_DICT)
		close(s, value->ref);
}

/* What was a list is a stack, or nothing that is needed. */
static int list_result(struct tare_snapshot *s, const struct tare_pickle_container *c, struct tare_pickle_value *result)
{
	*result = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER };
	if (c->of == TARE_LIST_OF_FRAMES) {
		if (c->first + c->count > s->frame_count)
			return tare_pickle_fail(s, TARE_E_CORRUPT, "the frames of two stacks are mixed");
		result->kind = TARE_PICKLE_IS_STACK;
		result->ref = tare_intern_stack(&s->intern, s->frames + c->first, c->count);
	} else if (c->of == TARE_LIST_OF_NOTHING) {
		result->kind = TARE_PICKLE_IS_STACK;
	}
	return 0;
}

/* A list of frames may be fetched before it has its place. From then on nothing is added to it. */
int tare_pickle_seal(struct tare_snapshot *s, uint64_t index, struct tare_pickle_value *value)
{
	struct tare_pickle_container *c = &s->containers[value->ref];

	/* The place of a list that is gone may be another container's. */
	if (c->memo != index + 1 || !c->is_list || (c->of != TARE_LIST_OF_FRAMES && c->of != TARE_LIST_OF_NOTHING)) {
		value->kind = TARE_PICKLE_IS_MARK;
		return 0;
	}
	c->is_sealed = true;
	return list_result(s, c, value);
}

static int complete_list(struct tare_snapshot *s, struct tare_pickle_value *value)
{
	struct tare_pickle_container *c = &s->containers[value->ref];
	struct tare_pickle_value result;
	int rc;

	/* Blocks wait for their segment, which takes the list. */
	if (c->of == TARE_LIST_OF_BLOCKS || c->asked)
		return 0;
	rc = list_result(s, c, &result);
	if (rc)
		return rc;
	if (c->memo)
		tare_pickle_memo_set(s, c->memo - 1, &result);
	close(s, value->ref);
	*value = result;
	return 0;
}

int tare_pickle_complete(struct tare_snapshot *s, size_t list_at, struct tare_pickle_value *value)
{
	struct tare_pickle_container *c;
	struct tare_pickle_value result = { .kind = TARE_PICKLE_IS_OTHER };
	uint32_t ref = value->ref;
	int rc;

	if (value->kind == TARE_PICKLE_IS_LIST)
		return complete_list(s, value);
	if (value->kind != TARE_PICKLE_IS_DICT)
		return 0;
	c = &s->containers[ref];
	rc = tare_pickle_meaning(s, list_at, c->pairs, c->count / 2, &result);
	c = &s->containers[ref];
	if (!rc && c->memo)
		tare_pickle_memo_set(s, c->memo - 1, &result);
	close(s, ref);
	*value = result;
	return rc;
}

static int add_frames(struct tare_snapshot *s, struct tare_pickle_container *list,
                      const struct tare_pickle_value *frames, size_t count)
{
	if (list->of == TARE_LIST_OF_NOTHING) {
		list->of = TARE_LIST_OF_FRAMES;
		list->first = (uint32_t)s->frame_count;
	}
	if (list->of != TARE_LIST_OF_FRAMES || list->first + list->count != s->frame_count)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "the frames of two stacks are mixed");
	if (count > TARE_PICKLE_ITEMS - s->frame_count)
		return tare_pickle_fail(s, TARE_E_LIMIT, "a stack has more than %u frames", TARE_PICKLE_ITEMS);
	s->frames = tare_array_reserve(s->frames, &s->frame_cap, s->frame_count + count, sizeof(*s->frames));
	for (size_t i = 0; i < count; i++)
		s->frames[s->frame_count + i] = frames[i].ref;
	s->frame_count += count;
	list->count += (uint32_t)count;
	return 0;
}

static int add_block(struct tare_snapshot *s, struct tare_pickle_container *list, uint32_t block)
{
	if (list->of == TARE_LIST_OF_NOTHING) {
		list->of = TARE_LIST_OF_BLOCKS;
		list->first = block;
	}
	if (list->of != TARE_LIST_OF_BLOCKS || list->first + list->count != block)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "the blocks of two segments are mixed");
	list->count++;
	return 0;
}

static int add_item(struct tare_snapshot *s, uint32_t ref, const struct tare_pickle_value *item)
{
	struct tare_pickle_container *list = &s->containers[ref];

	if (item->kind == TARE_PICKLE_IS_FRAME)
		return add_frames(s, list, item, 1);
	if (item->kind == TARE_PICKLE_IS_BLOCK)
		return add_block(s, list, item->ref);
	if (list->of == TARE_LIST_OF_NOTHING) {
		list->of = TARE_LIST_OF_OTHERS;
		list->asked = item->kind == TARE_PICKLE_IS_OTHER ? item->i : 0; /* of a history */
		list->stack = item->kind == TARE_PICKLE_IS_OTHER ? item->ref : 0;
	}
	tare_pickle_drop(s, item);
	return 0;
}

/* All that is on the stack from there on. So most lists come, at once. */
static bool are_frames(const struct tare_snapshot *s, size_t from)
{
	for (size_t at = from; at < s->stack_count; at++)
		if (s->stack[at].kind != TARE_PICKLE_IS_FRAME)
			return false;
	return s->stack_count > from;
}

/* The last list first: its frames wait behind those of the others. */
int tare_pickle_complete_lists(struct tare_snapshot *s, size_t from)
{
	int rc = 0;

	for (size_t at = s->stack_count; at-- > from && !rc;)
		if (s->stack[at].kind == TARE_PICKLE_IS_LIST)
			rc = complete_list(s, &s->stack[at]);
	return rc;
}

int tare_pickle_append(struct tare_snapshot *s, size_t list_at, size_t from)
{
	uint32_t ref;
	int rc;

	if (list_at >= s->stack_count || s->stack[list_at].kind != TARE_PICKLE_IS_LIST)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
		                        "something is added to what is no list, or to a list that has its place already");
	ref = s->stack[list_at].ref;
	if (s->containers[ref].is_sealed)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "something is added to a list that was fetched before");
	if (are_frames(s, from)) {
		rc = add_frames(s, &s->containers[ref], s->stack + from, s->stack_count - from);
		s->containers[ref].items += (uint32_t)(s->stack_count - from);
		s->stack_count = rc ? s->stack_count : from;
		return rc;
	}
	rc = tare_pickle_complete_lists(s, from);
	if (rc)
		return rc;
	for (size_t at = from; at < s->stack_count; at++) {
		struct tare_pickle_value item = s->stack[at];

		rc = tare_pickle_complete(s, list_at, &item);
		s->stack[at] = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER };
		if (!rc)
			rc = add_item(s, ref, &item);
		if (rc)
			return rc;
		s->containers[ref].items++;
	}
	s->stack_count = from;
	return 0;
}

static int keep_pairs(struct tare_snapshot *s, uint32_t ref, size_t from)
{
	struct tare_pickle_container *dict = &s->containers[ref];
	size_t count = s->stack_count - from, cap = dict->cap;

	if (!count)
		return 0;
	if (s->pair_count + count > TARE_PICKLE_ITEMS)
		return tare_pickle_fail(s, TARE_E_LIMIT, "dicts that are not complete have more than %u items",
		                        TARE_PICKLE_ITEMS);
	dict->pairs = tare_array_reserve(dict->pairs, &cap, dict->count + count, sizeof(*dict->pairs));
	memcpy(dict->pairs + dict->count, s->stack + from, count * sizeof(*dict->pairs));
	dict->cap = (uint32_t)cap;
	dict->count += (uint32_t)count;
	s->pair_count += count;
	return 0;
}

/* Dicts that were told, one after the other in a list, are one value. */
static void join_told(struct tare_snapshot *s)
{
	struct tare_pickle_value *top = &s->stack[s->stack_count - 1];

	if (s->stack_count > 1 && top->kind == TARE_PICKLE_IS_TOLD && top[-1].kind == TARE_PICKLE_IS_TOLD) {
		top[-1].ref += top->ref;
		s->stack_count--;
	}
}

/* The list that the value at `at` will be an item of; SIZE_MAX: none. */
static size_t list_of(const struct tare_snapshot *s, size_t at)
{
	if (at && s->stack[at - 1].kind == TARE_PICKLE_IS_LIST)
		return at - 1;
	if (s->mark_count && s->marks[s->mark_count - 1])
		return s->marks[s->mark_count - 1] - 1;
	return SIZE_MAX;
}

int tare_pickle_set_items(struct tare_snapshot *s, size_t dict_at, size_t from)
{
	struct tare_pickle_value *dict = dict_at < s->stack_count ? &s->stack[dict_at] : NULL, result;
	bool is_all = from == dict_at + 2 && s->stack_count - from > 2; /* behind a mark: written at once */
	uint32_t ref, memo;
	int rc = 0;

	if (!dict || dict->kind != TARE_PICKLE_IS_DICT)
		return tare_pickle_fail(s, TARE_E_CORRUPT,
		                        "an item is set in what is no dict, or in a dict that has its place already");
	if ((s->stack_count - from) % 2)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "a key has no value");
	ref = dict->ref;
	for (size_t at = s->stack_count; at-- > from && !rc;) /* the last list first */
		if (s->stack[at].kind == TARE_PICKLE_IS_LIST || s->stack[at].kind == TARE_PICKLE_IS_DICT)
			rc = tare_pickle_complete(s, SIZE_MAX, &s->stack[at]);
	if (rc)
		return rc;
	if (!is_all || s->containers[ref].count || s->stack_count - from >= 2000) {
		rc = keep_pairs(s, ref, from);
		s->stack_count = rc ? s->stack_count : from;
		return rc;
	}
	result = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER };
	rc = tare_pickle_meaning(s, list_of(s, dict_at), s->stack + from, (s->stack_count - from) / 2, &result);
	if (rc)
		return rc;
	for (size_t at = from; at < s->stack_count; at++)
		tare_pickle_drop(s, &s->stack[at]);
	memo = s->containers[ref].memo;
	if (memo)
		tare_pickle_memo_set(s, memo - 1, &result);
	close(s, ref);
	s->stack_count = dict_at + 1;
	s->stack[dict_at] = result;
	join_told(s);
	return 0;
}
