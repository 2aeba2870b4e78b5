/* SPDX-License-Identifier: Apache-2.0 */
/* What no field can say becomes what one can, by its role (src/record/bound.def): of each kind of record, and of columns. */
#include "test.h"
#include "record/bound.h"
#include "record/format.h"
#include "trace/recording.h"
#include "make_log.h"

#include "ledger/build.h"

#include <string.h>

/* The rows of the table, as they are meant: what of a value of that role stays, and what becomes of one that does not. */
static const struct row {
	enum tare_field_role role;
	uint64_t least, most, below, above;
} rows[] = {
	{ TARE_FIELD_BYTES, 0, (uint64_t)TARE_MOST_BYTES, TARE_NOT_KNOWN, TARE_NOT_KNOWN },
	{ TARE_FIELD_AMOUNT, (uint64_t)-TARE_MOST_BYTES, (uint64_t)TARE_MOST_BYTES, 0, 0 },
	{ TARE_FIELD_SIZE, 0, (uint64_t)TARE_BOUND_BYTES, TARE_NOT_KNOWN, (uint64_t)TARE_BOUND_BYTES },
	{ TARE_FIELD_COUNT, 0, (uint64_t)TARE_MOST_COUNT, (uint64_t)TARE_MOST_COUNT, (uint64_t)TARE_MOST_COUNT },
	{ TARE_FIELD_LASTED, 0, (uint64_t)TARE_MOST_LAG, 0, 0 },
	{ TARE_FIELD_ORDINAL, 0, TARE_MOST_ORDINAL, (uint64_t)-1, (uint64_t)-1 },
	{ TARE_FIELD_DEVICE, 0, TARE_MOST_ORDINAL, (uint64_t)-1, (uint64_t)-1 },
	{ TARE_FIELD_NVML_INDEX, 0, TARE_MOST_ORDINAL, (uint64_t)-1, (uint64_t)-1 },
	{ TARE_FIELD_ADDRESS, 0, TARE_MOST_ADDRESS, 0, 0 },
	{ TARE_FIELD_HANDLE, 0, TARE_MOST_ADDRESS, 0, 0 },
	{ TARE_FIELD_WORD, 0, TARE_CLASS_NR - 1, TARE_CLASS_NONE, TARE_CLASS_NONE }, /* of a class */
};

static const struct row *row_of(const struct tare_kind_info *info, const struct tare_field *field)
{
	if (field->role == TARE_FIELD_WORD && strcmp(field->name, "class") != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].role == field->role && (field->role != TARE_FIELD_WORD || info->kind == TARE_KIND_EVENT))
			return &rows[i];
	return NULL;
}

/* The value of a field after a whole record was bounded in which it was that. */
static uint64_t after(const struct tare_kind_info *info, const struct tare_field *field, uint64_t value)
{
	unsigned char rec[1024] = { 0 };

	CHECK(info->fixed <= sizeof(rec));
	tare_encode_value(field, rec, value);
	tare_bound_record(info->kind, rec);
	return tare_decode_value(field, rec);
}

/* Does a field have room for it? */
static bool fits(const struct tare_field *field, uint64_t value)
{
	unsigned char rec[1024] = { 0 };

	tare_encode_value(field, rec, value);
	return tare_decode_value(field, rec) == value;
}

static void check_field(const struct tare_kind_info *info, const struct tare_field *field, const struct row *row)
{
	CHECK(after(info, field, row->least) == row->least);
	CHECK(!fits(field, row->most) || after(info, field, row->most) == row->most);
	if (fits(field, row->least - 1))
		CHECK(after(info, field, row->least - 1) == row->below);
	if (fits(field, row->most + 1))
		CHECK(after(info, field, row->most + 1) == row->above);
}

TEST(the_last_that_can_be_stays_and_the_next_does_not)
{
	int checked = 0;

	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);

		for (int i = 0; info && i < info->field_nr; i++) {
			const struct row *row = row_of(info, &info->fields[i]);

			if (row)
				check_field(info, &info->fields[i], row);
			else
				CHECK(after(info, &info->fields[i], UINT64_MAX) ==
				      tare_decode_value(&info->fields[i], memset((unsigned char[1024]){ 0 }, 0xff, 1024)));
			checked += row != NULL;
		}
	}
	CHECK(checked > 100);
}

TEST(every_field_that_counts_bytes_has_a_bound)
{
	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);

		for (int i = 0; info && i < info->field_nr; i++)
			if (!strcmp(tare_decode_role(info->fields[i].role)->unit, "bytes"))
				CHECK(row_of(info, &info->fields[i]));
	}
}

/* As read by tare_bound_columns(), which a run of blocks goes through. */
TEST(columns_of_a_run_are_bounded_as_records_are)
{
	int64_t bytes[] = { 0, 512, -512, TARE_MOST_BYTES, -TARE_MOST_BYTES, TARE_MOST_BYTES + 1, INT64_MIN, INT64_MAX };
	enum { NR = sizeof(bytes) / sizeof(bytes[0]) };
	uint64_t addresses[NR] = { 0, 1, UINT64_MAX, TARE_MOST_ADDRESS, TARE_MOST_ADDRESS + 1, UINT64_MAX >> 1 };
	struct tare_rec_tensor records[NR];

	for (int i = 0; i < NR; i++) {
		records[i] = (struct tare_rec_tensor){ .block = addresses[i], .bytes = bytes[i] };
		tare_bound_record(TARE_KIND_TENSOR, &records[i]);
	}
	tare_bound_columns(&(struct tare_tensor_columns){ .addresses = addresses, .bytes = bytes }, NR);
	for (int i = 0; i < NR; i++)
		CHECK(bytes[i] == records[i].bytes && addresses[i] == records[i].block);
}

/* ---- the worst of each field, up to ledgers ---- */

/* A log of a program, and a record of the kind in which the field has that value. */
static void write_worst(const struct tare_kind_info *info, const struct tare_field *field, uint64_t value)
{
	unsigned char rec[1024] = { 0 };
	struct make_log m;

	make_log_init(&m, 431, 0);
	make_log_program(&m);
	make_log_every_kind(&m);
	((struct tare_record *)(void *)rec)->kind = info->kind;
	for (int i = 0; i < info->field_nr; i++)
		tare_encode_value(&info->fields[i], rec,
		                  info->fields[i].size > 1 && info->fields[i].role != TARE_FIELD_ORDINAL);
	if (info->tail)
		tare_encode_value(&info->fields[info->field_nr - 1], rec, 0);
	tare_encode_value(field, rec, value);
	for (int i = 0; i < 3; i++)
		make_log_add(&m, rec, info->fixed, NULL, 0);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_free(&m);
}

static void make_ledgers(void)
{
	static const struct tare_instant at[] = { { .moment = TARE_MOMENT_PEAK, .text = "peak" },
		                                      { .moment = TARE_MOMENT_END, .text = "end" } };
	struct tare_ledger ledgers[2];
	struct tare_recording *r;
	struct tare_err err = { 0 };

	CHECK(!tare_recording_open(&r, make_dir(), &err));
	tare_ledger_of_recording(r, NULL, at, 2, ledgers);
	for (int i = 0; i < 2; i++) {
		for (int d = 0; d < ledgers[i].device_nr; d++)
			CHECK(ledgers[i].devices[d].total == TARE_NOT_KNOWN ||
			      ledgers[i].devices[d].total <= (uint64_t)TARE_MOST_BYTES);
		tare_ledger_free(&ledgers[i]);
	}
	tare_recording_close(r);
}

TEST(the_worst_value_of_every_field_makes_a_ledger)
{
	static const uint64_t worst[] = { UINT64_MAX, UINT64_MAX >> 1, UINT64_C(1) << 63, UINT64_MAX - 1 };

	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);

		if (!info || !info->is_schema)
			continue;
		for (int i = 0; i < info->field_nr - (info->tail != TARE_TAIL_NONE); i++)
			for (size_t k = 0; k < sizeof(worst) / sizeof(worst[0]); k++) {
				write_worst(info, &info->fields[i], worst[k]);
				make_ledgers();
			}
	}
}

TEST(every_kind_is_below_the_number_of_kinds)
{
	CHECK(tare_decode_kind_named("heap_unmapped"));
	CHECK((int)TARE_KIND_HEAP_UNMAPPED < (int)TARE_KIND_NR);
}
