/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SNAPSHOT_PICKLE_H
#define TARE_SNAPSHOT_PICKLE_H

#include "base/map.h"
#include "snapshot/input.h"
#include "snapshot/intern.h"
#include "snapshot/snapshot.h"

#include <stddef.h>

/* What the files of this folder share; nobody else includes it. */

/* Limits on what a hostile file can make us keep. Real files stay far below. */
#define TARE_PICKLE_VALUES (1u << 20) /* that wait on the stack */
#define TARE_PICKLE_MARKS  256u
#define TARE_PICKLE_LISTS  (1u << 16) /* lists and dicts that are not complete */
#define TARE_PICKLE_ITEMS  (1u << 20) /* keys, values, frames and blocks of those */
#define TARE_PICKLE_MEMO   (1u << 27)
#define TARE_PICKLE_TEXT   (TARE_INPUT_WINDOW / 2)

enum tare_pickle_kind {
	TARE_PICKLE_IS_NONE,
	TARE_PICKLE_IS_BOOL,
	TARE_PICKLE_IS_INT,
	TARE_PICKLE_IS_FLOAT,
	TARE_PICKLE_IS_TEXT,      /* ref: text */
	TARE_PICKLE_IS_FRAME,     /* ref: frame */
	TARE_PICKLE_IS_STACK,     /* ref: stack */
	TARE_PICKLE_IS_PAIR,      /* ref: pool */
	TARE_PICKLE_IS_BLOCK,     /* ref: block that waits for its segment */
	TARE_PICKLE_IS_DIVISIONS, /* of roundup_power2_divisions */
	TARE_PICKLE_IS_OTHER,     /* what no view needs */
	TARE_PICKLE_IS_TOLD,      /* ref: how many dicts, one after the other, that were told to the sink */
	TARE_PICKLE_IS_LIST,      /* ref: container */
	TARE_PICKLE_IS_DICT,      /* ref: container */
	TARE_PICKLE_IS_MARK,
};

struct tare_pickle_value {
	union {
		int64_t i;
		double d;
	};
	uint32_t ref; /* of an INT: it is one from 2^63 on, less 2^64 */
	uint8_t kind;
};

enum tare_list_of { TARE_LIST_OF_NOTHING, TARE_LIST_OF_FRAMES, TARE_LIST_OF_BLOCKS, TARE_LIST_OF_OTHERS };

/* A list or a dict that is not complete. Once it is part of another it is told, or interned, and gone. */
struct tare_pickle_container {
	uint32_t memo;  /* its index + 1; 0: none */
	uint32_t spare; /* of one that is gone: the next such + 1 */
	bool is_list, is_sealed;
	enum tare_list_of of;
	uint32_t first, count; /* among the frames or blocks that wait; of a dict: its pairs, which it owns */
	uint32_t cap;
	uint32_t items; /* that a list was given */
	struct tare_pickle_value *pairs;
	/* A list of trace entries or segments knows where it belongs. */
	bool is_placed, is_host;
	uint32_t device;
	/* history of PyTorch 2.0: what its first entry says */
	int64_t asked;
	uint32_t stack;
};

struct tare_snapshot {
	struct tare_snapshot_input in;
	const struct tare_snapshot_sink *sink;
	struct tare_err *err;
	struct tare_snapshot_facts facts;
	struct tare_intern intern;
	struct tare_pickle_value *stack;
	size_t stack_count, stack_cap;
	uint32_t marks[TARE_PICKLE_MARKS];
	size_t mark_count;
	struct tare_pickle_container *containers;
	size_t container_count, container_cap, live;
	uint32_t spare_container; /* + 1 */
	uint32_t **memo;          /* pages; NULL: nothing on it can be fetched */
	size_t memo_pages, memo_count;
	struct tare_snapshot_pool *pools;
	size_t pool_count, pool_cap;
	struct tare_map pool_numbers;
	uint32_t *frames; /* of lists that are not complete */
	size_t frame_count, frame_cap;
	struct tare_snapshot_block *blocks;
	size_t block_count, block_cap;
	size_t pair_count;
	bool is_snapshot; /* a dict with segments was met */
	uint64_t op_at;   /* offset of the operation */
};

/* Texts that have the same number in every reader: keys, then actions and words (fields.h). */
enum tare_snapshot_key {
	TARE_KEY_EMPTY,
#define X(NAME, TEXT) TARE_KEY_##NAME,
#include "snapshot/key.def"
#undef X
	TARE_KEY_NR
};

/* waiting.c: "byte N: …"; returns a code. */
int tare_pickle_fail(struct tare_snapshot *s, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The input ended, or could not be read further. */
int tare_pickle_too_short(struct tare_snapshot *s);
int tare_pickle_push_more(struct tare_snapshot *s, struct tare_pickle_value value);

static inline int tare_pickle_push(struct tare_snapshot *s, struct tare_pickle_value value)
{
	if (s->stack_count >= s->stack_cap || s->stack_count >= TARE_PICKLE_VALUES)
		return tare_pickle_push_more(s, value);
	s->stack[s->stack_count++] = value;
	return 0;
}

/* container.c */
int tare_pickle_open(struct tare_snapshot *s, bool is_list);
int tare_pickle_append(struct tare_snapshot *s, size_t list_at, size_t from); /* items: from … top */
int tare_pickle_set_items(struct tare_snapshot *s, size_t dict_at, size_t from);
int tare_pickle_tuple(struct tare_snapshot *s, size_t from); /* tuple.c */
/* A value becomes part of another, of a list at `list_at` if it is not SIZE_MAX: containers are completed. */
int tare_pickle_complete(struct tare_snapshot *s, size_t list_at, struct tare_pickle_value *value);
/* All lists on the stack from there on. */
int tare_pickle_complete_lists(struct tare_snapshot *s, size_t from);
/* `value`: the list that was remembered as `index`; what it is, if it can be fetched already, else a mark. */
int tare_pickle_seal(struct tare_snapshot *s, uint64_t index, struct tare_pickle_value *value);
void tare_pickle_drop(struct tare_snapshot *s, const struct tare_pickle_value *value);

/* memo.c */
int tare_pickle_memo_put(struct tare_snapshot *s, uint64_t index);
int tare_pickle_memo_get(struct tare_snapshot *s, uint64_t index);
void tare_pickle_memo_set(struct tare_snapshot *s, uint64_t index, const struct tare_pickle_value *value);

/* The memo has pages of so many entries; each is the kind of a value, plus 1, above its ref. 0: nothing can be fetched. */
#define TARE_PICKLE_PAGE_LOG2 12
#define TARE_PICKLE_REF_BITS  28

static inline uint32_t tare_pickle_memo_at(const struct tare_snapshot *s, uint64_t index)
{
	size_t page = index >> TARE_PICKLE_PAGE_LOG2;

	if (page >= s->memo_pages || !s->memo[page])
		return 0;
	return s->memo[page][index & ((1u << TARE_PICKLE_PAGE_LOG2) - 1)];
}

static inline struct tare_pickle_value tare_pickle_memo_value(uint32_t entry)
{
	return (struct tare_pickle_value){
		.kind = (uint8_t)((entry >> TARE_PICKLE_REF_BITS) - 1),
		.ref = entry & ((1u << TARE_PICKLE_REF_BITS) - 1),
	};
}

/* Pushes what was remembered as `index`. Inline, for most operations of a file fetch something. */
static inline int tare_pickle_fetch(struct tare_snapshot *s, uint64_t index)
{
	uint32_t entry = tare_pickle_memo_at(s, index);

	if (!entry || entry >> TARE_PICKLE_REF_BITS == TARE_PICKLE_IS_LIST + 1)
		return tare_pickle_memo_get(s, index);
	return tare_pickle_push(s, tare_pickle_memo_value(entry));
}

/* fields.c */
void tare_pickle_know_words(struct tare_snapshot *s);

/* meaning.c: a complete dict, which is an item of the list at `list_at`. */
int tare_pickle_meaning(struct tare_snapshot *s, size_t list_at, const struct tare_pickle_value *pairs, size_t count,
                        struct tare_pickle_value *value);

/* old_op.c: operations that end with a line (protocol 0). */
int tare_pickle_line_op(struct tare_snapshot *s, unsigned char op);

int tare_pickle_run(struct tare_snapshot *s);

#endif
