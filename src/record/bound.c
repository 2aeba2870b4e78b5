/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the sizes in a record: a field of a role in bytes is cut to what a machine can have, field by field of
 * record.def.
 */
#include "record/bound.h"

#include <stdbool.h>
#include <string.h>

/* Of each call below all but the value is a constant, so that of this only what a field needs is left. */
static inline __attribute__((always_inline)) void bound(enum tare_field_role role, size_t size, bool is_signed,
                                                        void *field)
{
	uint64_t value;
	int64_t amount;

	if (size != sizeof(value) || (role != TARE_FIELD_AMOUNT && role != TARE_FIELD_SIZE && role != TARE_FIELD_BYTES))
		return;
	memcpy(&value, field, sizeof(value));
	if (value <= (uint64_t)TARE_BOUND_BYTES || value == TARE_NOT_KNOWN)
		return;
	memcpy(&amount, field, sizeof(amount));
	if (is_signed && amount < 0)
		value = amount < -TARE_BOUND_BYTES ? (uint64_t)-TARE_BOUND_BYTES : value;
	else
		value = (uint64_t)TARE_BOUND_BYTES;
	memcpy(field, &value, sizeof(value));
}

void tare_bound_sizes(uint16_t kind, void *record)
{
	switch (kind) {
#define TARE_FIELD_WORD(words)  TARE_FIELD_WORD
#define TARE_FIELD_FLAGS(words) TARE_FIELD_FLAGS
#define F(type, field, role)    bound(TARE_FIELD_##role, sizeof(type), (type)-1 < (type)1, &rec->field);
#define TARE_RECORD(id, key, name, cls, fields, tail)                                                                  \
	case TARE_KIND_##key: {                                                                                            \
		struct tare_rec_##name *rec = record;                                                                          \
                                                                                                                       \
		(void)rec;                                                                                                     \
		fields;                                                                                                        \
		break;                                                                                                         \
	}
#include "record/record.def"
#undef TARE_RECORD
#undef F
#undef TARE_FIELD_FLAGS
#undef TARE_FIELD_WORD
	default:
		break;
	}
}
