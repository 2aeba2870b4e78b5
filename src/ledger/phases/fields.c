/* SPDX-License-Identifier: Apache-2.0 */
/* What of the part is kept when a fold is saved: see ledger/core/fields.h. */
#include "ledger/phases/phases.h"

#include "ledger/core/fields.h"

/* clang-format off */
#define SELF struct tare_phase_total
static const struct tare_shape_field fields_tare_phase_total[] = {
	TARE_INT(seen), TARE_INT(before), TARE_INT(after), TARE_INT(change), TARE_INT(change_min),
	TARE_INT(change_max), TARE_INT(own), TARE_INT(own_min), TARE_INT(own_max),
	TARE_STRUCT(peak, tare_shape_tare_high_water), TARE_INT_ARRAY(parts),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_total);
#undef SELF

#define SELF struct tare_phase_resident
static const struct tare_shape_field fields_tare_phase_resident[] = {
	TARE_INT(readings), TARE_INT(before), TARE_INT(last), TARE_INT(most), TARE_INT(most_ns),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_resident);
#undef SELF

#define SELF struct tare_phase_resident_total
static const struct tare_shape_field fields_tare_phase_resident_total[] = {
	TARE_INT(readings), TARE_INT(without_change), TARE_INT(after), TARE_INT(change), TARE_INT(most),
	TARE_INT(most_ns),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_resident_total);
#undef SELF

#define SELF struct tare_phase_known
static const struct tare_shape_field fields_tare_phase_known[] = {
	TARE_INT(process), TARE_INT(parent), TARE_INT(depth), TARE_TEXT(name), TARE_TEXT(domain), TARE_TEXT(path),
	TARE_INT(source), TARE_INT(what), TARE_LEFT(step), TARE_LEFT(last_thread), TARE_INT(threads), TARE_INT(repeats), TARE_INT(unclosed), TARE_INT(namesake), TARE_INT(named),
	TARE_INT(first_ns), TARE_INT(last_ns), TARE_INT(ns),
	TARE_LIST_OF(totals, tare_shape_tare_phase_total, TARE_STATE_DEVICES),
	TARE_STRUCT(host, tare_shape_tare_phase_total),
	TARE_STRUCT(resident, tare_shape_tare_phase_resident_total),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_known);
#undef SELF

#define SELF struct tare_phase_level
static const struct tare_shape_field fields_tare_phase_level[] = {
	TARE_INT(from_start), TARE_INT(before), TARE_INT(nested), TARE_INT_ARRAY(accounts),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_level);
#undef SELF

#define SELF struct tare_phase_host_level
static const struct tare_shape_field fields_tare_phase_host_level[] = {
	TARE_INT(from_start), TARE_INT(is_open), TARE_INT(before), TARE_INT(nested), TARE_INT(peak), TARE_INT(peak_ns),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_host_level);
#undef SELF

#define SELF struct tare_phase_frame
static const struct tare_shape_field fields_tare_phase_frame[] = {
	TARE_INT(known), TARE_INT(is_used), TARE_INT(is_ended), TARE_INT(is_watched), TARE_INT(process),
	TARE_LEFT(is_library), TARE_LEFT(source), /* as of its phase */
	TARE_INT(tid), TARE_INT(id), TARE_INT(serial), TARE_INT(nth), TARE_INT(begin_ns), TARE_INT(below),
	TARE_INT(parent), TARE_INT(parent_serial),
	TARE_LIST_OF(levels, tare_shape_tare_phase_level, TARE_STATE_DEVICES),
	TARE_STRUCT(host, tare_shape_tare_phase_host_level),
	TARE_STRUCT(resident, tare_shape_tare_phase_resident),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_frame);
#undef SELF

#define SELF struct tare_phase_boundary
static const struct tare_shape_field fields_tare_phase_boundary[] = {
	TARE_INT(t), TARE_INT(frame), TARE_INT(into),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_boundary);
#undef SELF

#define SELF struct tare_phase_peak
static const struct tare_shape_field fields_tare_phase_peak[] = {
	TARE_INT(frame_nr), TARE_INT(is_later), TARE_STRUCT(most, tare_shape_tare_high_water),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phase_peak);
#undef SELF

#define SELF struct tare_phases_device
static const struct tare_shape_field fields_tare_phases_device[] = {
	TARE_INT(next), TARE_INTS(open, open_nr, open_cap), TARE_LIST(peaks, tare_shape_tare_phase_peak, peak_nr, peak_cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_phases_device);
#undef SELF

#define SELF struct tare_phases_part
static const struct tare_shape_field fields_tare_phases_part[] = {
	TARE_ROW(devices, tare_shape_tare_phases_device, device_nr),
	TARE_STRUCT(host, tare_shape_tare_phases_device), TARE_INT(host_most), TARE_INT(host_most_ns),
	TARE_INT(host_since_ns), TARE_ROW(residents, tare_shape_tare_phase_resident, process_nr),
	TARE_LIST(known, tare_shape_tare_phase_known, known_nr, known_cap), TARE_STRMAP(known_of), TARE_STRMAP(named),
	TARE_LEFT(recent), TARE_LEFT(pushed), /* found again */
	TARE_MAP(threads_seen), TARE_LIST(frames, tare_shape_tare_phase_frame, frame_nr, frame_cap),
	TARE_INT(frame_free), TARE_INT(serial), TARE_MAP(top_of), TARE_LEFT(top), TARE_MAP(range_of), TARE_MAP(mark_of),
	TARE_LIST(queue, tare_shape_tare_phase_boundary, queue_nr, queue_cap), TARE_INT(queue_base), TARE_INT(taken),
	TARE_INT(stray), TARE_INT(is_full), TARE_INT(open_nr), TARE_INT(dropped),
	TARE_FIELDS_END };
TARE_FIELD_TABLE(tare_phases_part);
#undef SELF
/* clang-format on */
