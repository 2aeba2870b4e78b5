/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_FORM_H
#define TARE_STORE_FORM_H

#include "base/owned.h"
#include "store/column.h"
#include "record/decode.h"
#include "record/tensor_columns.h"

/*
 * The fields of many records of one kind, as columns. Which columns are worth having is seen from the records:
 *
 *   Fields that have few values, such as threads, stacks and flags, are one column together: which combination
 *   of them a record has. (Few lines of a program make all of its records.)
 *   Every other field is a column of its own: what it differs by from another number that is known by then,
 *   which is that field of the record before, or another field of this one, of the one before or of the next. What a
 *   device had in use before a call is what it had after the last one, for example.
 *   What was taken back is as large as it was when it was handed out: a signed size is told once (PAIR).
 */
void tare_form_encode(struct tare_pack *out, const struct tare_kind_info *info, const uint8_t *const *records,
                      size_t n);

/* Memory that decoding uses, again for each block. {0} to begin with. */
struct tare_form_scratch {
	TARE_OWNED struct tare_column_scratch column;
	TARE_OWNED struct tare_column_ids ids;
	TARE_OWNED uint64_t *values, *last;
	size_t value_cap, last_cap;
	TARE_OWNED struct tare_pack combinations;
};
TARE_FREES(tare_form_scratch_free, tare_form_scratch);

/*
 * Writes the fields of n records, each `stride` bytes behind the one before, which have room for all of info->fixed; their heads are
 * left as they are. With
 * `only` that field has its value ("": none has), others may be 0. False: damage; the fields are anything then.
 */
bool tare_form_decode(struct tare_unpack *in, struct tare_form_scratch *scratch, const struct tare_kind_info *info,
                      uint8_t *records, size_t stride, size_t n, const char *only);

/* form_columns.c: are these tensors? If they lie as those of this version, their fields can be had as columns. */
bool tare_form_has_columns(const struct tare_kind_info *info);
/* Memory of the columns of one form. {0} to begin with. */
struct tare_form_columns {
	struct tare_tensor_columns public; /* without stamps */
	bool is_of_one_device;             /* all of public.others */
	TARE_OWNED uint64_t *addresses, *bytes, *which;
	size_t address_cap, byte_cap, which_cap;
	TARE_OWNED struct tare_pack others;
};
TARE_FREES(tare_form_columns_free, tare_form_columns);
bool tare_form_decode_columns(struct tare_unpack *in, struct tare_form_scratch *scratch,
                              const struct tare_kind_info *info, size_t n, struct tare_form_columns *out);

/* Passes over what tare_form_decode() would read. */
void tare_form_skip(struct tare_unpack *in, const struct tare_kind_info *info);
/* The same, and which value that field has in all records. False: it has several, or has a column of its own; or damage. */
bool tare_form_decode_one(struct tare_unpack *in, struct tare_form_scratch *scratch, const struct tare_kind_info *info,
                          const char *field, uint64_t *value);

#endif
