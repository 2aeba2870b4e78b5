/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers, as far as they are written here: fields of a message, which is a string of bytes. */
#ifndef TARE_EXPORT_PROTOBUF_H
#define TARE_EXPORT_PROTOBUF_H

#include "base/str.h"

#include <stdint.h>

void tare_protobuf_varint(struct tare_str *out, uint64_t value);
void tare_protobuf_number(struct tare_str *out, uint32_t field, uint64_t value);
/* int64 of a .proto: a negative one takes ten bytes. */
void tare_protobuf_int(struct tare_str *out, uint32_t field, int64_t value);
/* As text of a .proto must be: UTF-8; what is none, and what steers a terminal, becomes "?". */
void tare_protobuf_text(struct tare_str *out, uint32_t field, const char *text);
/* A message inside another, or packed numbers: `part` is freed. */
void tare_protobuf_part(struct tare_str *out, uint32_t field, struct tare_str *part);

#endif
