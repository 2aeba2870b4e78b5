/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a row of readings each of many changes happened, whose sizes are known and whose times are not. Every
 * change lies between two neighbouring readings, in a stretch of time; a stretch in which the changes that were put
 * there do not add up to what the readings say costs what is missing. plan.c looks for the cheapest plan.
 */
#ifndef TARE_LEDGER_SETTLE_PLAN_H
#define TARE_LEDGER_SETTLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARE_PLAN_NOWHERE SIZE_MAX

/* One change. */
struct tare_plan_item {
	int64_t bytes;
	int64_t slack;   /* of a fall: by how much the fall may be larger */
	size_t from, to; /* the stretches in which it can have been */
	/* the change need not be in any stretch, and `to` is behind the last */
	bool may_be_missing;
	bool is_end; /* the change is the end of a process */
	size_t at;   /* the answer: its stretch, or TARE_PLAN_NOWHERE */
};

/* What the readings say of one stretch. */
struct tare_plan_stretch {
	int64_t change;
	bool has_unknown; /* a call of unknown change may have made what is missing */
	bool has_leaver;  /* the end of a process that is no item may be in it */
};

/* `items` by `from`. The same input has the same answer. */
void tare_plan(struct tare_plan_item *items, size_t item_nr, const struct tare_plan_stretch *stretches,
               size_t stretch_nr);

/* ---- plan_options.c: which of the changes that are waiting may be in one stretch ---- */

enum { TARE_PLAN_WORDS = 8, TARE_PLAN_SLOTS = 64 * TARE_PLAN_WORDS, TARE_PLAN_OPTIONS = 64 };

/* Of slots: a change has one from the first stretch in which it can be to the last. */
struct tare_plan_set {
	uint64_t words[TARE_PLAN_WORDS];
};

static inline bool tare_plan_has(const struct tare_plan_set *s, unsigned slot)
{
	return s->words[slot / 64] >> slot % 64 & 1;
}

static inline void tare_plan_put(struct tare_plan_set *s, unsigned slot)
{
	s->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

static inline void tare_plan_take(struct tare_plan_set *s, unsigned slot)
{
	s->words[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* The slots in use; of changes alike, those to be taken first come first. */
struct tare_plan_waiting {
	const struct tare_plan_item *items;
	uint32_t item_of[TARE_PLAN_SLOTS];
	unsigned order[TARE_PLAN_SLOTS], count;
};

/* What it costs in a stretch that a byte is missing, or too much. */
static inline double tare_plan_weight(const struct tare_plan_stretch *s)
{
	return s->has_unknown ? 1 : 1e6;
}

struct tare_plan_option {
	struct tare_plan_set chosen;
	double cost;
	int64_t left; /* of the change: what the chosen do not explain */
};

struct tare_plan_options {
	struct tare_plan_option items[TARE_PLAN_OPTIONS];
	unsigned count;
};

/*
 * Finds combinations of `open` changes that may explain a stretch; those in `must` have to be in it.
 */
void tare_plan_find_options(const struct tare_plan_waiting *w, const struct tare_plan_set *open,
                            const struct tare_plan_set *must, const struct tare_plan_stretch *s,
                            struct tare_plan_options *out);

#endif
