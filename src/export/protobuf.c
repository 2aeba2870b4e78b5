/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of protocol buffers: https://protobuf.dev/programming-guides/encoding/ */
#include "export/protobuf.h"

#include "base/text.h"

/* Of what a field is; a number is 0. */
enum { LENGTH = 2 };

void tare_protobuf_varint(struct tare_str *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		tare_str_add_char(out, (char)(value | 0x80));
	tare_str_add_char(out, (char)value);
}

void tare_protobuf_number(struct tare_str *out, uint32_t field, uint64_t value)
{
	tare_protobuf_varint(out, (uint64_t)field << 3);
	tare_protobuf_varint(out, value);
}

void tare_protobuf_int(struct tare_str *out, uint32_t field, int64_t value)
{
	tare_protobuf_number(out, field, (uint64_t)value);
}

void tare_protobuf_part(struct tare_str *out, uint32_t field, struct tare_str *part)
{
	tare_protobuf_varint(out, (uint64_t)field << 3 | LENGTH);
	tare_protobuf_varint(out, part->len);
	tare_str_add_n(out, tare_str_text(part), part->len);
	tare_str_free(part);
}

void tare_protobuf_text(struct tare_str *out, uint32_t field, const char *text)
{
	struct tare_str clean = { 0 };

	tare_text_add_name(&clean, text);
	tare_protobuf_part(out, field, &clean);
}
