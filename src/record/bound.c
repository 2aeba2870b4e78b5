/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds what the fields of a record say, by the role of each (bound.def): whoever keeps books of them need not look whether it can be.
 */
#include "record/bound.h"

#include <string.h>

/* An index of the table of classes has a bound of its own: it is the only word that is one. */
enum { TARE_FIELD_CLASS = TARE_FIELD_NR };
#define ROLE_OF_WORD(words) (!__builtin_strcmp(#words, "class") ? (int)TARE_FIELD_CLASS : (int)TARE_FIELD_WORD)

#define TARE_BOUND_SIZE(value) ((value) == TARE_NOT_KNOWN ? (value) : (uint64_t)TARE_BOUND_BYTES)

/* What becomes of a value. Of each call below the role is a constant, so that of this only what a field needs is left. */
static inline __attribute__((always_inline)) uint64_t bounded(int role, uint64_t value)
{
	switch (role) {
#define TARE_BOUND(key, least, most, otherwise, why)                                                                   \
	case TARE_FIELD_##key:                                                                                             \
		return value - (uint64_t)(least) <= (uint64_t)(most) - (uint64_t)(least) ? value : (uint64_t)(otherwise);
#include "record/bound.def"
#undef TARE_BOUND
	default:
		return value;
	}
}

#define BOUND(type, field, role) ((field) = (type)bounded(role, (uint64_t)(field)))

void tare_bound_columns(const struct tare_tensor_columns *columns, size_t n)
{
	uint64_t *addresses = (uint64_t *)(uintptr_t)columns->addresses; /* the memory is a reader's, as that of a record */

	for (size_t i = 0; i < n; i++)
		BOUND(int64_t, columns->bytes[i], TARE_FIELD_AMOUNT);
	for (size_t i = 0; i < n; i++)
		BOUND(uint64_t, addresses[i], TARE_FIELD_ADDRESS);
}

void tare_bound_record(uint16_t kind, void *record)
{
	switch (kind) {
#define TARE_FIELD_WORD(words)  ROLE_OF_WORD(words)
#define TARE_FIELD_FLAGS(words) TARE_FIELD_FLAGS
#define F(type, field, role)    BOUND(type, rec->field, TARE_FIELD_##role);
#define TARE_RECORD(id, key, name, cls, fields, tail)                                                                  \
	case TARE_KIND_##key: {                                                                                            \
		struct tare_rec_##name *rec = record;                                                                          \
                                                                                                                       \
		(void)rec;                                                                                                     \
		fields;                                                                                                        \
		break;                                                                                                         \
	}
#include "record/record.def"
#undef TARE_FIELD_FLAGS
#undef TARE_FIELD_WORD
	default:
		break;
	}
}
