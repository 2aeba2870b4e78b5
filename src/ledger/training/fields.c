/* SPDX-License-Identifier: Apache-2.0 */
/* What of the part is kept when a fold is saved: see ledger/core/fields.h. */
#include "ledger/training/training.h"

#include "ledger/core/fields.h"

/* clang-format off */
#define SELF struct tare_training_step
static const struct tare_shape_field fields_tare_training_step[] = {
	TARE_INT_ARRAY(figures),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_step);
#undef SELF

#define SELF struct tare_training_mark
static const struct tare_shape_field fields_tare_training_mark[] = {
	TARE_INT(number), TARE_INT(begin_ns), TARE_INT(ns), TARE_INT(used), TARE_INT(live),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_mark);
#undef SELF

#define SELF struct tare_training_list
static const struct tare_shape_field fields_tare_training_list[] = {
	TARE_INT(is_open), TARE_INT(depth), TARE_INT(begin_ns), TARE_INT(first_ns), TARE_INT(begin),
	TARE_STRUCT(open, tare_shape_tare_training_step), TARE_STRUCT(first, tare_shape_tare_training_step),
	TARE_INT(count), TARE_INT(stride), TARE_LIST(items, tare_shape_tare_training_step, nr, cap),
	TARE_LIST(marks, tare_shape_tare_training_mark, mark_nr, mark_cap), TARE_INT(mark_stride),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_list);
#undef SELF

#define SELF struct tare_training_last
static const struct tare_shape_field fields_tare_training_last[] = {
	TARE_INT(section), TARE_INT(site), TARE_INT(before_site), TARE_INT(bytes), TARE_INT(before_bytes),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_last);
#undef SELF

#define SELF struct tare_training_round
static const struct tare_shape_field fields_tare_training_round[] = {
	TARE_INT_ARRAY(sites), TARE_INT(nr), TARE_INT(before_nr), TARE_INT(begin_ns),
	TARE_STRUCT(sum, tare_shape_tare_training_step),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_round);
#undef SELF

#define SELF struct tare_training_thread
static const struct tare_shape_field fields_tare_training_thread[] = {
	TARE_INT(tid), TARE_INT(section), TARE_INT(backwards), TARE_INT(optimized), TARE_INT(optimizer),
	TARE_INT(has_backward), TARE_INT(has_optimizer), TARE_STRUCT(round, tare_shape_tare_training_round),
	TARE_STRUCT_ARRAY(lasts, tare_shape_tare_training_last), TARE_INT(last_ns),
	TARE_STRUCT_ARRAY(lists, tare_shape_tare_training_list),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_thread);
#undef SELF

#define SELF struct tare_training_noted
static const struct tare_shape_field fields_tare_training_noted[] = {
	TARE_INT(moment), TARE_INT(value),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_noted);
#undef SELF

#define SELF struct tare_training_most
static const struct tare_shape_field fields_tare_training_most[] = {
	TARE_LIST(items, tare_shape_tare_training_noted, nr, cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_most);
#undef SELF

#define SELF struct tare_training_threads
static const struct tare_shape_field fields_tare_training_threads[] = {
	TARE_LIST(items, tare_shape_tare_training_thread, count, cap), TARE_INT(last), TARE_MAP(of_tid), TARE_INT(moment),
	TARE_STRUCT(used, tare_shape_tare_training_most), TARE_STRUCT(live, tare_shape_tare_training_most),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_training_threads);
#undef SELF

#define SELF struct tare_training_part
static const struct tare_shape_field fields_tare_training_part[] = {
	TARE_INT(process_nr), TARE_INT(device_nr),
	TARE_LIST_OF(places, tare_shape_tare_training_threads, TARE_STATE_TRAININGS),
	TARE_FIELDS_END };
TARE_FIELD_TABLE(tare_training_part);
#undef SELF
/* clang-format on */
