/* SPDX-License-Identifier: Apache-2.0 */
/* What of the part is kept when a fold is saved: see ledger/core/fields.h. */
#include "ledger/graphs/graphs.h"

#include "ledger/core/fields.h"

/* clang-format off */
#define SELF struct tare_graph
static const struct tare_shape_field fields_tare_graph[] = {
	TARE_INT(number), TARE_INT(count), TARE_INT(device), TARE_INT(pid), TARE_INT(generation),
	TARE_INT(state), TARE_INT(flags), TARE_INT(begin_ns), TARE_INT(end_ns), TARE_INT(nodes),
	TARE_INT_ARRAY(kinds), TARE_INT(ask_ns), TARE_INT(at_instantiate), TARE_INT(at_upload),
	TARE_INT(at_launch), TARE_INT(at_update), TARE_INT(at_destroy), TARE_INT(doubt), TARE_INT(memory),
	TARE_INT(allocated), TARE_INT(by_others), TARE_INT(held),
	TARE_LEFT(parts), TARE_LEFT(part_nr), /* made of the owners when the row is shown */
	TARE_INT(pool), TARE_INT(is_private), TARE_INT(stream), TARE_INT(stream_number), TARE_TEXT(phase),
	TARE_TEXT(source), TARE_INT(used_after), TARE_INT(execs), TARE_INT(alive), TARE_INT(updates),
	TARE_INT(refused), TARE_INT(in_exec_of), TARE_INT(launches), TARE_INT(unweighed),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_graph);
#undef SELF

#define SELF struct tare_graph_owner
static const struct tare_shape_field fields_tare_graph_owner[] = {
	TARE_INT(owner), TARE_INT(bytes),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_graph_owner);
#undef SELF

#define SELF struct tare_graph_now
static const struct tare_shape_field fields_tare_graph_now[] = {
	TARE_STRUCT(row, tare_shape_tare_graph), TARE_INT(process), TARE_INT(device), TARE_INT(tid),
	TARE_INT(handle), TARE_INT(phase), TARE_INT(site), TARE_INT(known_execs),
	TARE_LIST(owners, tare_shape_tare_graph_owner, owner_nr, owner_cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_graph_now);
#undef SELF

#define SELF struct tare_graph_pool
static const struct tare_shape_field fields_tare_graph_pool[] = {
	TARE_INT(process), TARE_INT(has_id), TARE_INT(object), TARE_INT(first), TARE_INT(second),
	TARE_INT(begin_ns),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_graph_pool);
#undef SELF

#define SELF struct tare_pending_graph_record
static const struct tare_shape_field fields_tare_pending_graph_record[] = {
	TARE_INT(process), TARE_INT(at_ns), TARE_WORDS(graph), TARE_WORDS(mempool),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_pending_graph_record);
#undef SELF

#define SELF struct tare_pending_graph_records
static const struct tare_shape_field fields_tare_pending_graph_records[] = {
	TARE_LIST(items, tare_shape_tare_pending_graph_record, count, cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_pending_graph_records);
#undef SELF

static const struct tare_shape_field fields_tare_map[] = {
	{ .name = "map", .kind = TARE_SHAPED_MAP, .size = sizeof(struct tare_map), .nr = 1 },
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_map);

#define SELF struct tare_graphs_part
static const struct tare_shape_field fields_tare_graphs_part[] = {
	TARE_ROW(of_handle, tare_shape_tare_map, process_nr),
	TARE_LIST(rows, tare_shape_tare_graph_now, row_nr, row_cap),
	TARE_INTS(capturing, capturing_nr, capturing_cap),
	TARE_LIST(pools, tare_shape_tare_graph_pool, pool_nr, pool_cap),
	TARE_STRUCT(said, tare_shape_tare_pending_graph_records),
	TARE_STRUCT(mempools, tare_shape_tare_pending_graph_records),
	TARE_FIELDS_END };
TARE_FIELD_TABLE(tare_graphs_part);
#undef SELF
/* clang-format on */
