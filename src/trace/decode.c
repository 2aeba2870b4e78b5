/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/decode.h"

#include <string.h>

/* "without padding": the sum of the fields is the struct. */
#define F(type, field) +sizeof(type)
#define TARE_RECORD(id, key, name, fields, tail)                                                   \
	_Static_assert(sizeof(struct tare_record) fields == sizeof(struct tare_rec_##name),        \
		       #name " has padding: reorder its fields");
#include "trace/record.def"
#undef TARE_RECORD
#undef F

const struct tare_kind_info *tare_decode_kind(uint16_t kind)
{
	switch (kind) {
#define F(type, field) { #field, offsetof(self, field), sizeof(type), (type)-1 < (type)1 },
#define TARE_RECORD(id, key, NAME, FIELDS, TAIL)                                                   \
	case id: {                                                                                 \
		typedef struct tare_rec_##NAME self;                                               \
		static const struct tare_field table[] = { FIELDS{ 0 } };                          \
		static const struct tare_kind_info info = {                                        \
			.kind = id,                                                                \
			.name = #NAME,                                                             \
			.fields = table,                                                           \
			.field_nr = sizeof(table) / sizeof(table[0]) - 1,                          \
			.fixed = sizeof(self),                                                     \
			.tail = TARE_TAIL_##TAIL,                                                  \
		};                                                                                 \
		return &info;                                                                      \
	}
#include "trace/record.def"
#undef TARE_RECORD
#undef F
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

uint64_t tare_decode_value(const struct tare_field *field, const void *rec)
{
	const uint8_t *at = (const uint8_t *)rec + field->offset;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (field->size) {
	case 1:
		return field->is_signed ? (uint64_t)(int8_t)*at : *at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return field->is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return field->is_signed ? (uint64_t)(int32_t)u32 : u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

uint64_t tare_decode_tail_length(const struct tare_kind_info *info, const void *rec)
{
	return tare_decode_value(&info->fields[info->field_nr - 1], rec);
}

struct word {
	uint32_t value;
	const char *word;
};
#define WORD(value, key, word, meaning) { value, word },
static const struct word role_words[] = { TARE_ROLE_MAP(WORD){ 0, NULL } };
static const struct word clock_words[] = { TARE_CLOCK_MAP(WORD){ 0, NULL } };
static const struct word effect_words[] = { TARE_EFFECT_MAP(WORD){ 0, NULL } };
static const struct word event_words[] = { TARE_EVENT_MAP(WORD){ 0, NULL } };
static const struct word tensor_words[] = { TARE_TENSOR_MAP(WORD){ 0, NULL } };
static const struct word stream_ids_words[] = { TARE_STREAM_IDS_MAP(WORD){ 0, NULL } };
static const struct word probe_words[] = { TARE_PROBE_MAP(WORD){ 0, NULL } };
static const struct word probe_flag_words[] = { TARE_PROBE_FLAG_MAP(WORD){ 0, NULL } };
static const struct word sweep_words[] = { TARE_SWEEP_MAP(WORD){ 0, NULL } };
static const struct word device_words[] = { TARE_DEVICE_MAP(WORD){ 0, NULL } };
static const struct word source_words[] = { TARE_SOURCE_MAP(WORD){ 0, NULL } };
static const struct word lost_words[] = { TARE_LOST_MAP(WORD){ 0, NULL } };
static const struct word how_words[] = { TARE_HOW_MAP(WORD){ 0, NULL } };
static const struct word phase_words[] = { TARE_PHASE_MAP(WORD){ 0, NULL } };
static const struct word phase_source_words[] = { TARE_PHASE_SOURCE_MAP(WORD){ 0, NULL } };
static const struct word act_words[] = { TARE_ACT_MAP(WORD){ 0, NULL } };
static const struct word graph_flag_words[] = { TARE_GRAPH_FLAG_MAP(WORD){ 0, NULL } };
static const struct word graph_state_words[] = { TARE_GRAPH_STATE_MAP(WORD){ 0, NULL } };
#undef WORD
#define TARE_CLASS(id, key, name, sizing, account) { id, name },
static const struct word class_words[] = {
#include "trace/class.def"
	{ 0, NULL },
};
#undef TARE_CLASS

static const char *word_of(const struct word *words, uint64_t value)
{
	for (; words->word; words++)
		if (words->value == value)
			return words->word;
	return NULL;
}

/* Fields that are not plain numbers. Kind 0: in whatever record the field stands. */
static const struct {
	uint16_t kind;
	const char *field;
	enum tare_look look;
	const struct word *words;
} looks[] = {
	{ TARE_KIND_EVENT, "effect", TARE_LOOK_WORD, effect_words },
	{ TARE_KIND_EVENT, "class", TARE_LOOK_WORD, class_words },
	{ TARE_KIND_EVENT, "flags", TARE_LOOK_FLAGS, event_words },
	{ TARE_KIND_DEVICE, "flags", TARE_LOOK_FLAGS, device_words },
	{ TARE_KIND_TENSOR, "flags", TARE_LOOK_FLAGS, tensor_words },
	{ TARE_KIND_TENSOR, "block", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_STREAM, "id", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_STREAM, "segment", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_STREAM, "ids", TARE_LOOK_WORD, stream_ids_words },
	{ TARE_KIND_PROBE, "role", TARE_LOOK_WORD, probe_words },
	{ TARE_KIND_PROBE, "flags", TARE_LOOK_FLAGS, probe_flag_words },
	{ TARE_KIND_PROBE, "at", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_PROBE, "of", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_SWEEP, "flags", TARE_LOOK_FLAGS, sweep_words },
	{ TARE_KIND_READING, "source", TARE_LOOK_WORD, source_words },
	{ TARE_KIND_LOST, "reason", TARE_LOOK_WORD, lost_words },
	{ TARE_KIND_END, "how", TARE_LOOK_WORD, how_words },
	{ TARE_KIND_PHASE, "what", TARE_LOOK_WORD, phase_words },
	{ TARE_KIND_PHASE, "source", TARE_LOOK_WORD, phase_source_words },
	{ TARE_KIND_PHASE_SUM, "what", TARE_LOOK_WORD, phase_words },
	{ TARE_KIND_PHASE_SUM, "source", TARE_LOOK_WORD, phase_source_words },
	{ TARE_KIND_PHASE_SUM, "parent", TARE_LOOK_NUMBER, NULL },
	{ TARE_KIND_CONTROL, "what", TARE_LOOK_WORD, act_words },
	{ TARE_KIND_EVENT, "asked", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_EVENT, "granted", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_EVENT, "before", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_EVENT, "after", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_EVENT, "peers_before", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_EVENT, "peers_after", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_EVENT, "local", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_HOST, "anon", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_HOST, "file", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_HOST, "shmem", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_HOST, "swap", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_HOST, "peak", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_HOST, "pss", TARE_LOOK_BYTES, NULL },
	{ 0, "used", TARE_LOOK_BYTES, NULL },
	{ 0, "total", TARE_LOOK_BYTES, NULL },
	{ 0, "reserved", TARE_LOOK_BYTES, NULL },
	{ 0, "handle", TARE_LOOK_HEX, NULL },
	{ 0, "parent", TARE_LOOK_HEX, NULL },
	{ 0, "context", TARE_LOOK_HEX, NULL },
	{ 0, "address", TARE_LOOK_HEX, NULL },
	{ 0, "uuid_high", TARE_LOOK_HEX, NULL },
	{ 0, "uuid_low", TARE_LOOK_HEX, NULL },
	{ 0, "build_id_0", TARE_LOOK_HEX, NULL },
	{ 0, "build_id_1", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_GRAPH, "flags", TARE_LOOK_FLAGS, graph_flag_words },
	{ TARE_KIND_GRAPH_ROW, "flags", TARE_LOOK_FLAGS, graph_flag_words },
	{ TARE_KIND_GRAPH_ROW, "state", TARE_LOOK_WORD, graph_state_words },
	{ TARE_KIND_GRAPH_ROW, "used_after", TARE_LOOK_BYTES, NULL },
	{ TARE_KIND_GRAPH_ROW, "launches", TARE_LOOK_BYTES, NULL },
	{ 0, "exec", TARE_LOOK_HEX, NULL },
	{ 0, "graph", TARE_LOOK_HEX, NULL },
	{ 0, "stream", TARE_LOOK_HEX, NULL },
	{ 0, "object", TARE_LOOK_HEX, NULL },
	{ 0, "pool_object", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_OBJECT, "base", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_OBJECT, "begin", TARE_LOOK_HEX, NULL },
	{ TARE_KIND_OBJECT, "end", TARE_LOOK_HEX, NULL },
};

enum { LOOK_NR = sizeof(looks) / sizeof(looks[0]) };

static int look_of(const struct tare_kind_info *info, const struct tare_field *field)
{
	for (int i = 0; i < LOOK_NR; i++)
		if ((looks[i].kind == 0 || looks[i].kind == info->kind) &&
		    !strcmp(looks[i].field, field->name))
			return i;
	return -1;
}

enum tare_look tare_decode_look(const struct tare_kind_info *info, const struct tare_field *field)
{
	int i = look_of(info, field);

	return i < 0 ? TARE_LOOK_NUMBER : looks[i].look;
}

static void add_flags(const struct word *words, uint64_t value, struct tare_str *out)
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

void tare_decode_words(const struct tare_kind_info *info, const struct tare_field *field,
		       uint64_t value, struct tare_str *out)
{
	int i = look_of(info, field);
	const char *word = i >= 0 && looks[i].words ? word_of(looks[i].words, value) : NULL;

	if (i >= 0 && looks[i].look == TARE_LOOK_FLAGS)
		add_flags(looks[i].words, value, out);
	else if (word)
		tare_str_add(out, word);
	else
		tare_str_addf(out, "%llu", (unsigned long long)value);
}

static const char *name_of(const struct word *words, uint64_t value)
{
	const char *word = word_of(words, value);

	return word ? word : "unknown";
}

const char *tare_lost_meaning(uint32_t reason)
{
#define MEANING(value, key, word, meaning) { value, meaning },
	static const struct word meanings[] = { TARE_LOST_MAP(MEANING){ 0, NULL } };
#undef MEANING
	const char *meaning = word_of(meanings, reason);

	return meaning ? meaning : "the disk was full"; /* the only reason that 0.1.0 knew */
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
