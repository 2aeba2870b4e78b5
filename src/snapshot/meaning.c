/* SPDX-License-Identifier: Apache-2.0 */
/* What a dict of a snapshot is, by the keys that it has, and what it says. */
#include "snapshot/fields.h"

#include "base/array.h"

#include <stdlib.h>

static int tell_annotation(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	struct tare_snapshot_annotation a = {
		.name = tare_field_ref(s, f, TARE_KEY_NAME, TARE_PICKLE_IS_TEXT, 0),
		.is_end = tare_field_is(s, f, TARE_KEY_STAGE, TARE_WORD_END, TARE_WORD_START),
		.device = (uint32_t)tare_field_or(s, f, TARE_KEY_DEVICE, 0),
		.time_us = tare_field_time(s, f),
	};

	s->facts.annotations++;
	return s->sink->annotation ? s->sink->annotation(s->sink->arg, &a, s->err) : 0;
}

static void keep_settings(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	struct tare_snapshot_settings *to = &s->facts.settings;

	to->is_there = true;
	to->conf = tare_field_ref(s, f, TARE_KEY_ALLOC_CONF, TARE_PICKLE_IS_TEXT, 0);
	to->max_split = tare_field_or(s, f, TARE_KEY_MAX_SPLIT_SIZE, -1);
	to->expandable = tare_field_flag(s, f, TARE_KEY_EXPANDABLE_SEGMENTS, -1);
	to->gc_threshold = tare_field_double(s, f, TARE_KEY_GC_THRESHOLD);
	to->has_divisions = tare_field_ref(s, f, TARE_KEY_DIVISIONS, TARE_PICKLE_IS_DIVISIONS, UINT32_MAX) != UINT32_MAX;
	to->overflowed = tare_field_flag(s, f, TARE_KEY_OVERFLOWED, -1);
	to->max_entries = tare_field_or(s, f, TARE_KEY_MAX_ENTRIES, -1);
}

/* {"1": 0, "2": 0, …, "32768": 0} */
static bool is_divisions(struct tare_snapshot *s, const struct tare_pickle_value *pairs, size_t pair_count)
{
	int64_t found[16] = { 0 };

	for (size_t i = 0; i < pair_count; i++) {
		const char *text;
		char *end;
		unsigned long mb;

		if (pairs[2 * i].kind != TARE_PICKLE_IS_TEXT || pairs[2 * i + 1].kind != TARE_PICKLE_IS_INT)
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

static uint32_t frame_of(struct tare_snapshot *s, const struct tare_pickle_fields *f)
{
	return tare_intern_frame(&s->intern, &(struct tare_snapshot_frame){
											 tare_field_ref(s, f, TARE_KEY_NAME, TARE_PICKLE_IS_TEXT, 0),
											 tare_field_ref(s, f, TARE_KEY_FILENAME, TARE_PICKLE_IS_TEXT, 0),
											 tare_field_or(s, f, TARE_KEY_LINE, 0) });
}

int tare_pickle_meaning(struct tare_snapshot *s, size_t list_at, const struct tare_pickle_value *pairs,
                        size_t pair_count, struct tare_pickle_value *value)
{
	struct tare_pickle_fields f;
	int rc = 0;

	tare_fields_of(&f, pairs, pair_count);
	if (tare_field_is_there(&f, TARE_KEY_ACTION)) {
		rc = tare_pickle_tell_event(s, list_at, &f);
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TOLD, .ref = 1 };
	} else if (tare_field_is_there(&f, TARE_KEY_FILENAME) && tare_field_is_there(&f, TARE_KEY_LINE)) {
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_FRAME, .ref = frame_of(s, &f) };
	} else if (tare_field_is_there(&f, TARE_KEY_STATE) && tare_field_is_there(&f, TARE_KEY_SIZE)) {
		rc = tare_pickle_keep_block(s, &f, value);
	} else if (tare_field_is_there(&f, TARE_KEY_TOTAL_SIZE) || tare_field_is_there(&f, TARE_KEY_BLOCKS)) {
		rc = tare_pickle_tell_segment(s, list_at, &f);
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TOLD, .ref = 1 };
	} else if (tare_field_is_there(&f, TARE_KEY_STAGE)) {
		rc = tell_annotation(s, &f);
		*value = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_TOLD, .ref = 1 };
	} else if (tare_field_is_there(&f, TARE_KEY_REAL_SIZE)) {
		value->i = tare_field_or(s, &f, TARE_KEY_REAL_SIZE, 0);
		value->ref = tare_field_ref(s, &f, TARE_KEY_FRAMES, TARE_PICKLE_IS_STACK, 0);
	} else if (tare_field_is_there(&f, TARE_KEY_SEGMENTS) || tare_field_is_there(&f, TARE_KEY_DEVICE_TRACES)) {
		s->is_snapshot = true;
		s->facts.has_annotations = tare_field_is_there(&f, TARE_KEY_EXTERNAL_ANNOTATIONS);
	} else if (tare_field_is_there(&f, TARE_KEY_ALLOC_CONF) || tare_field_is_there(&f, TARE_KEY_MAX_SPLIT_SIZE)) {
		keep_settings(s, &f);
	} else if (is_divisions(s, pairs, pair_count)) {
		value->kind = TARE_PICKLE_IS_DIVISIONS;
	}
	return rc;
}
