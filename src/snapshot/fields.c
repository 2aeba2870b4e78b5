/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a dict of a snapshot by their keys, and whether they are what they should be. */
#include "snapshot/fields.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {
#define X(NAME, TEXT) TEXT,
#include "snapshot/key.def"
#include "snapshot/action.def"
#include "snapshot/word.def"
#undef X
};

void tare_pickle_know_words(struct tare_snapshot *s)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		tare_intern_text(&s->intern, words[i], strlen(words[i]));
}

void tare_fields_of(struct tare_pickle_fields *f, const struct tare_pickle_value *pairs, size_t pair_count)
{
	f->has = 0;
	for (size_t i = 0; i < pair_count; i++)
		if (pairs[2 * i].kind == TARE_PICKLE_IS_TEXT && pairs[2 * i].ref < TARE_KEY_NR) {
			f->has |= 1ull << pairs[2 * i].ref;
			f->of[pairs[2 * i].ref] = pairs[2 * i + 1];
		}
}

void tare_field_note_odd(struct tare_snapshot *s, enum tare_snapshot_key key)
{
	if (!s->facts.odd++) {
		s->facts.odd_at = s->op_at;
		s->facts.odd_key = words[key - 1];
	}
}

int tare_field_number(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                      int64_t *value)
{
	if (!tare_field_is_there(f, key))
		return tare_pickle_fail(s, TARE_E_CORRUPT, "a dict ends here that has no '%s'", words[key - 1]);
	if (f->of[key].kind != TARE_PICKLE_IS_INT)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "'%s' of the dict that ends here is no whole number of 64 bits",
		                        words[key - 1]);
	*value = f->of[key].i;
	return 0;
}

int tare_field_size(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                    uint64_t *value)
{
	char text[32];
	int64_t n = 0;
	int rc = tare_field_number(s, f, key, &n);

	if (!rc && (n < 0 || n >= 1ll << 50)) {
		if (f->of[key].ref)
			snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
		else
			snprintf(text, sizeof(text), "%lld", (long long)n);
		return tare_pickle_fail(s, TARE_E_CORRUPT, "'%s' of the dict that ends here is %s bytes", words[key - 1], text);
	}
	*value = (uint64_t)n;
	return rc;
}

int64_t tare_field_flag(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                        int64_t otherwise)
{
	if (tare_field_is_there(f, key) && f->of[key].kind == TARE_PICKLE_IS_BOOL)
		return f->of[key].i;
	return tare_field_or(s, f, key, otherwise);
}

int64_t tare_field_time(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	int64_t us = tare_field_or(s, f, TARE_KEY_TIME_US, 0);

	if (us >= 0)
		return us;
	tare_field_note_odd(s, TARE_KEY_TIME_US);
	return 0;
}

double tare_field_double(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key)
{
	const struct tare_pickle_value *value;

	if (tare_field_is_there(f, key) && f->of[key].kind == TARE_PICKLE_IS_INT)
		return (double)f->of[key].i;
	value = tare_field_value(s, f, key, TARE_PICKLE_IS_FLOAT);
	return value ? value->d : 0;
}

bool tare_field_is(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                   enum tare_snapshot_word yes, enum tare_snapshot_word no)
{
	uint32_t text = tare_field_ref(s, f, key, TARE_PICKLE_IS_TEXT, no);

	if (text != yes && text != no)
		tare_field_note_odd(s, key);
	return text == yes;
}

bool tare_field_pool(struct tare_snapshot *s, const struct tare_pickle_fields *f, enum tare_snapshot_key key,
                     struct tare_snapshot_pool *pool)
{
	uint32_t at = tare_field_ref(s, f, key, TARE_PICKLE_IS_PAIR, UINT32_MAX);

	if (at == UINT32_MAX)
		return false;
	*pool = s->pools[at];
	return true;
}
