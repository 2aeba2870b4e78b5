/* SPDX-License-Identifier: Apache-2.0 */
#include "record/decode.h"
#include "test.h"
#include "record/encode.h"

/* format.h, "RECORDS": the example, byte for byte. */
TEST(the_example_of_the_format)
{
	static const uint8_t want[32] = {
		0x54, 0x41, 0x52, 0x45, 2, 0, 2, 0, 8,   7,   6,   5,   4,   3,   2, 1,
		1,    0,    0,    0,    6, 0, 0, 0, 'c', 'u', 'I', 'n', 'i', 't', 0, 0,
	};
	struct tare_rec_string rec = { .head = { .kind = TARE_KIND_STRING, .stamp = 0x0102030405060708 },
		                           .id = 1,
		                           .bytes = 6 };
	uint64_t got[4];

	CHECK_INT(tare_encode_size(sizeof(rec), 6), sizeof(want));
	memset(got, 0xff, sizeof(got));
	tare_encode(got, sizeof(got), 0, sizeof(want), &rec, sizeof(rec), "cuInit", 6);
	CHECK(!memcmp(got, want, sizeof(want)));
}

TEST(a_record_wraps_in_its_ring)
{
	struct tare_rec_string rec = { .head = { .kind = TARE_KIND_STRING }, .id = 1, .bytes = 30 };
	uint64_t ring[8], line[8];

	memset(ring, 0xff, sizeof(ring));
	tare_encode(ring, 64, 64 + 48, 64, &rec, sizeof(rec), "thirty bytes, not one too many", 30);
	tare_encode(line, 1 << 20, 0, 64, &rec, sizeof(rec), "thirty bytes, not one too many", 30);
	CHECK(!memcmp((uint8_t *)ring + 52, (uint8_t *)line + 4, 12));
	CHECK(!memcmp(ring, line + 2, 48));
	CHECK_INT(*(uint32_t *)(void *)((uint8_t *)ring + 48), tare_seal(112));
}

TEST(sizes)
{
	CHECK_INT(tare_encode_size(16, 0), 16);
	CHECK_INT(tare_encode_size(24, 9), 48);
	CHECK_INT(tare_encode_size(24, 65520 - 24), 65520);
	CHECK_INT(tare_encode_size(24, 65520 - 23), 0);
	CHECK_INT(tare_encode_size(24, SIZE_MAX), 0);
}

TEST(seals_differ_between_the_turns_of_a_ring)
{
	for (uint64_t position = 0; position < 1 << 16; position += 16)
		for (uint64_t turn = 1; turn < 8; turn++)
			CHECK(tare_seal(position) != tare_seal(position + (turn << 16)));
}

TEST(names)
{
	CHECK_STR(tare_record_name(TARE_KIND_EVENT), "event");
	CHECK_STR(tare_record_name(1), "unknown");
	CHECK(!tare_decode_kind(TARE_KIND_NR));
	CHECK_INT(tare_decode_kind_named("peer")->kind, TARE_KIND_PEER);
	CHECK(!tare_decode_kind_named("nonsense"));
	CHECK_STR(tare_role_name(TARE_ROLE_TARE), "tare");
	CHECK_STR(tare_clock_name(99), "unknown");
}

static const struct tare_field *field(const struct tare_kind_info *info, const char *name)
{
	for (int i = 0; i < info->field_nr; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

static void check_words(const struct tare_kind_info *info, const char *name, uint64_t value, const char *want)
{
	struct tare_str out = { 0 };

	CHECK(field(info, name));
	tare_decode_words(field(info, name), value, &out);
	CHECK_STR(tare_str_text(&out), want);
	tare_str_free(&out);
}

TEST(words_and_values)
{
	const struct tare_kind_info *info = tare_decode_kind(TARE_KIND_EVENT);
	struct tare_rec_event e = { .device = -1, .result = 65535, .asked = TARE_NOT_KNOWN };

	CHECK_INT(tare_decode_value(field(info, "device"), &e), -1);
	CHECK_INT(tare_decode_value(field(info, "result"), &e), 65535);
	CHECK_INT(tare_decode_value(field(info, "asked"), &e), -1);
	CHECK_INT(tare_decode_look(field(info, "asked")), TARE_LOOK_BYTES);
	CHECK_INT(tare_decode_look(field(info, "handle")), TARE_LOOK_HEX);
	CHECK_INT(tare_decode_look(field(info, "tid")), TARE_LOOK_NUMBER);
	check_words(info, "effect", TARE_EFFECT_DEL, "del");
	check_words(info, "effect", 77, "77");
	check_words(info, "class", TARE_CLASS_LAUNCH, "first launch");
	check_words(info, "flags", 0, "-");
	check_words(info, "flags", TARE_EVENT_FAILED | TARE_EVENT_PEERS | 0x4000, "failed+peers+0x4000");
	check_words(tare_decode_kind(TARE_KIND_END), "how", TARE_HOW_QUICK, "_exit");
	check_words(tare_decode_kind(TARE_KIND_DEVICE), "flags", TARE_DEVICE_MIG, "mig");
	check_words(tare_decode_kind(TARE_KIND_READING), "source", TARE_SOURCE_CUDA, "cuda");
}

/* What the rows of record.def must keep to, so that all that is made from the roles can rely on it. */
TEST(roles)
{
	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);

		for (int i = 0; info && i < info->field_nr; i++) {
			const struct tare_field *f = &info->fields[i];
			bool is_last = i == info->field_nr - 1, has_tail = info->tail;

			CHECK_INT(f->words != NULL, f->role == TARE_FIELD_WORD || f->role == TARE_FIELD_FLAGS);
			CHECK_INT(f->role == TARE_FIELD_LENGTH || f->role == TARE_FIELD_PATH, is_last && has_tail);
			if (f->role == TARE_FIELD_GENERATION || f->role == TARE_FIELD_PID)
				CHECK(field(info, "pid") && field(info, "generation"));
			if (!strcmp(tare_decode_role(f->role)->unit, "bytes"))
				CHECK_INT(f->size, 8);
			if (f->role == TARE_FIELD_DEVICE)
				CHECK(f->is_signed);
		}
	}
	CHECK_STR(tare_decode_role(TARE_FIELD_LASTED)->unit, "ticks");
	CHECK_INT(tare_decode_role(TARE_FIELD_DEVICE)->absent, -1);
	CHECK(tare_decode_role(TARE_FIELD_BYTES)->absent == TARE_NOT_KNOWN);
	CHECK(tare_decode_kind(TARE_KIND_EVENT)->is_event);
	CHECK(!tare_decode_kind(TARE_KIND_STRING)->is_event);
}
