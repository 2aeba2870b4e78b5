/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SNAPSHOT_FIELDS_H
#define TARE_SNAPSHOT_FIELDS_H

#include "snapshot/pickle.h"

/* Texts that are values. Their numbers follow those of the keys. */
enum tare_snapshot_word {
	TARE_WORD_BEFORE = TARE_KEY_NR - 1,
#define X(NAME, TEXT) TARE_WORD_##NAME,
#include "snapshot/action.def"
#include "snapshot/word.def"
#undef X
};

/* The values of a dict by their keys; of a key that is there twice, the last one. */
struct tare_pickle_fields {
	uint64_t has; /* a bit for each key */
	struct tare_pickle_value of[TARE_KEY_NR];
};
_Static_assert(TARE_KEY_NR <= 64, "a bit for each key");

void tare_fields_of(struct tare_pickle_fields *f, const struct tare_pickle_value *pairs, size_t pair_count);

static inline bool tare_field_is_there(const struct tare_pickle_fields *f, enum tare_snapshot_key key)
{
	return f->has >> key & 1;
}

/* What a dict must have: a whole number; a size in bytes. */
int tare_field_number(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                      int64_t *value);
int tare_field_size(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                    uint64_t *value);

void tare_field_note_odd(struct tare_snapshot *s, enum tare_snapshot_key key);

/* What need not be there, or is None. Where it is something else than it should be, it counts as odd and as not there. */
static inline const struct tare_pickle_value *tare_field_value(struct tare_snapshot *s,
                                                               const struct tare_pickle_fields *f,
                                                               enum tare_snapshot_key key, enum tare_pickle_kind kind)
{
	const struct tare_pickle_value *value = &f->of[key];

	if (!tare_field_is_there(f, key) || value->kind == TARE_PICKLE_IS_NONE)
		return NULL;
	if (value->kind == kind)
		return value;
	tare_field_note_odd(s, key);
	return NULL;
}

static inline int64_t tare_field_or(struct tare_snapshot *s, const struct tare_pickle_fields *f,
                                    enum tare_snapshot_key key, int64_t otherwise)
{
	const struct tare_pickle_value *value = tare_field_value(s, f, key, TARE_PICKLE_IS_INT);

	return value ? value->i : otherwise;
}

static inline uint32_t tare_field_ref(struct tare_snapshot *s, const struct tare_pickle_fields *f,
                                      enum tare_snapshot_key key, enum tare_pickle_kind kind, uint32_t otherwise)
{
	const struct tare_pickle_value *value = tare_field_value(s, f, key, kind);

	return value ? value->ref : otherwise;
}

int64_t tare_field_flag(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                        int64_t otherwise);
int64_t tare_field_time(struct tare_snapshot *s, const struct tare_pickle_fields *f);
double tare_field_double(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key);
/* One of two texts. */
bool tare_field_is(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                   enum tare_snapshot_word yes, enum tare_snapshot_word no);
bool tare_field_pool(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                     struct tare_snapshot_pool *pool);

/* event.c, segment.c: complete dicts, items of the list at `list_at` */
int tare_pickle_tell_event(struct tare_snapshot *s, size_t list_at, const struct tare_pickle_fields *f);
int tare_pickle_tell_segment(struct tare_snapshot *s, size_t list_at, const struct tare_pickle_fields *f);
/* A block waits for the segment that it is in. */
int tare_pickle_keep_block(struct tare_snapshot *s, const struct tare_pickle_fields *f,
                           struct tare_pickle_value *value);
uint32_t tare_pickle_key_before(const struct tare_snapshot *s, size_t at);

#endif
