/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the kinds of records, of their fields, and of the words of enumerations, made of record.def and
 * format.h; and values read and written by them.
 */
#include "record/decode.h"

#include <string.h>

/* "without padding": the sum of the fields is the struct. */
#define F(type, field, role) +sizeof(type)
#define TARE_RECORD(id, key, name, cls, fields, tail)                                                                  \
	_Static_assert(sizeof(struct tare_record) fields == sizeof(struct tare_rec_##name),                                \
	               #name " has padding: reorder its fields");
#include "record/record.def"

struct tare_word {
	uint32_t value;
	const char *word;
};
#define WORD(value, key, word, meaning) { value, word },
static const struct tare_word role_words[] = { TARE_ROLE_MAP(WORD){ 0, NULL } };
static const struct tare_word clock_words[] = { TARE_CLOCK_MAP(WORD){ 0, NULL } };
static const struct tare_word effect_words[] = { TARE_EFFECT_MAP(WORD){ 0, NULL } };
static const struct tare_word event_words[] = { TARE_EVENT_MAP(WORD){ 0, NULL } };
static const struct tare_word tensor_words[] = { TARE_TENSOR_MAP(WORD){ 0, NULL } };
static const struct tare_word stream_ids_words[] = { TARE_STREAM_IDS_MAP(WORD){ 0, NULL } };
static const struct tare_word scanned_words[] = { TARE_SCANNED_MAP(WORD){ 0, NULL } };
static const struct tare_word scanned_flag_words[] = { TARE_SCANNED_FLAG_MAP(WORD){ 0, NULL } };
static const struct tare_word scan_words[] = { TARE_SCAN_MAP(WORD){ 0, NULL } };
static const struct tare_word device_words[] = { TARE_DEVICE_MAP(WORD){ 0, NULL } };
static const struct tare_word heap_source_words[] = { TARE_HEAP_SOURCE_MAP(WORD){ 0, NULL } };
static const struct tare_word heap_goes_words[] = { TARE_HEAP_GOES_MAP(WORD){ 0, NULL } };
static const struct tare_word heap_words[] = { TARE_HEAP_MAP(WORD){ 0, NULL } };
static const struct tare_word source_words[] = { TARE_SOURCE_MAP(WORD){ 0, NULL } };
static const struct tare_word lost_words[] = { TARE_LOST_MAP(WORD){ 0, NULL } };
static const struct tare_word how_words[] = { TARE_HOW_MAP(WORD){ 0, NULL } };
static const struct tare_word phase_words[] = { TARE_PHASE_MAP(WORD){ 0, NULL } };
static const struct tare_word phase_source_words[] = { TARE_PHASE_SOURCE_MAP(WORD){ 0, NULL } };
static const struct tare_word act_words[] = { TARE_ACT_MAP(WORD){ 0, NULL } };
static const struct tare_word graph_flag_words[] = { TARE_GRAPH_FLAG_MAP(WORD){ 0, NULL } };
#undef WORD
#define TARE_CLASS(id, key, name, sizing, account) { id, name },
static const struct tare_word class_words[] = {
#include "record/class.def"
	{ 0, NULL },
};

/* The role of a field, and the words of its values. */
#define TARE_FIELD_WORD(of)  TARE_FIELD_WORD, .words = of##_words
#define TARE_FIELD_FLAGS(of) TARE_FIELD_FLAGS, .words = of##_words

#define TARE_RECORD_CLASS(key, is_event, is_schema, meaning)                                                           \
	enum { IS_EVENT_##key = is_event, IS_SCHEMA_##key = is_schema };
#include "record/record_class.def"

const struct tare_kind_info *tare_decode_kind(uint16_t kind)
{
	switch (kind) {
#define F(type, field, role_)                                                                                          \
	{ .name = #field,                                                                                                  \
	  .offset = offsetof(self, field),                                                                                 \
	  .size = sizeof(type),                                                                                            \
	  .is_signed = (type)-1 < (type)1,                                                                                 \
	  .role = TARE_FIELD_##role_ },
#define TARE_RECORD(id, key, NAME, CLASS, FIELDS, TAIL)                                                                \
	case id: {                                                                                                         \
		typedef struct tare_rec_##NAME self;                                                                           \
		static const struct tare_field table[] = { FIELDS{ 0 } };                                                      \
		static const struct tare_kind_info info = {                                                                    \
			.kind = id,                                                                                                \
			.name = #NAME,                                                                                             \
			.fields = table,                                                                                           \
			.field_nr = sizeof(table) / sizeof(table[0]) - 1,                                                          \
			.fixed = sizeof(self),                                                                                     \
			.tail = TARE_TAIL_##TAIL,                                                                                  \
			.class = TARE_RECORD_CLASS_##CLASS,                                                                        \
			.is_event = IS_EVENT_##CLASS,                                                                              \
			.is_schema = IS_SCHEMA_##CLASS,                                                                            \
		};                                                                                                             \
		return &info;                                                                                                  \
	}
#include "record/record.def"
	default:
		return NULL;
	}
}

const struct tare_kind_info *tare_decode_kind_named(const char *name)
{
	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);

		if (info && !strcmp(info->name, name))
			return info;
	}
	return NULL;
}

const char *tare_record_name(uint16_t kind)
{
	const struct tare_kind_info *info = tare_decode_kind(kind);

	return info ? info->name : "unknown";
}

void tare_encode_value(const struct tare_field *field, void *rec, uint64_t value)
{
	uint8_t *at = (uint8_t *)rec + field->offset;
	uint32_t u32 = (uint32_t)value;
	uint16_t u16 = (uint16_t)value;

	switch (field->size) {
	case 1:
		*at = (uint8_t)value;
		break;
	case 2:
		memcpy(at, &u16, sizeof(u16));
		break;
	case 4:
		memcpy(at, &u32, sizeof(u32));
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

static const char *word_of(const struct tare_word *words, uint64_t value)
{
	for (; words->word; words++)
		if (words->value == value)
			return words->word;
	return NULL;
}

const struct tare_role_info *tare_decode_role(enum tare_field_role role)
{
#define TARE_FIELD_ROLE(key, look, unit, absent, meaning)                                                              \
	[TARE_FIELD_##key] = { #key, unit, TARE_LOOK_##look, (uint64_t)(absent) },
	static const struct tare_role_info roles[] = {
#include "record/field_role.def"
	};

	return &roles[role < TARE_FIELD_NR ? role : TARE_FIELD_NUMBER];
}

enum tare_look tare_decode_look(const struct tare_field *field)
{
	return tare_decode_role(field->role)->look;
}

static void add_flags(const struct tare_word *words, uint64_t value, struct tare_str *out)
{
	const char *separator = "";

	if (value == 0)
		tare_str_add(out, "-");
	for (; words->word; words++) {
		if (!(value & words->value))
			continue;
		tare_str_addf(out, "%s%s", separator, words->word);
		separator = "+";
		value &= ~(uint64_t)words->value;
	}
	if (value)
		tare_str_addf(out, "%s0x%llx", separator, (unsigned long long)value);
}

void tare_decode_words(const struct tare_field *field, uint64_t value, struct tare_str *out)
{
	const char *word = field->words ? word_of(field->words, value) : NULL;

	if (field->words && field->role == TARE_FIELD_FLAGS)
		add_flags(field->words, value, out);
	else if (word)
		tare_str_add(out, word);
	else
		tare_str_addf(out, "%llu", (unsigned long long)value);
}

static const char *name_of(const struct tare_word *words, uint64_t value)
{
	const char *word = word_of(words, value);

	return word ? word : "unknown";
}

const char *tare_lost_meaning(uint32_t reason)
{
#define MEANING(value, key, word, meaning) { value, meaning },
	static const struct tare_word meanings[] = { TARE_LOST_MAP(MEANING){ 0, NULL } };
#undef MEANING
	const char *meaning = word_of(meanings, reason);

	return meaning ? meaning : "the disk was full";
}

const char *tare_lost_word(uint32_t reason)
{
	const char *word = word_of(lost_words, reason);

	return word ? word : name_of(lost_words, TARE_LOST_DISK_FULL);
}

const char *tare_role_name(uint32_t role)
{
	return name_of(role_words, role);
}

const char *tare_clock_name(uint32_t clock)
{
	return name_of(clock_words, clock);
}
