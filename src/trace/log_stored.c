/* SPDX-License-Identifier: Apache-2.0 */
/* A log that segments have: the same steps as of its files, in an order that needs no sorting. */
#include "trace/log_private.h"

#include "trace/reorder.h"

bool tare_log_is_table(uint16_t kind)
{
	const struct tare_kind_info *info = tare_decode_kind(kind);

	switch (kind) {
	case TARE_KIND_DEVICE:
	case TARE_KIND_DEGRADED:
	case TARE_KIND_CONTROL:
	case TARE_KIND_END:
	case TARE_KIND_LOST:
		return true;
	default:
		return !info || !info->is_event;
	}
}

int tare_log_stored_open(struct tare_log *log, const struct tare_store *store, const struct tare_stored_log *stored,
                         bool is_unchecked, struct tare_err *err)
{
	const struct tare_log_part *part = &stored->part;
	struct tare_store_damage damage =
		is_unchecked ? tare_store_missing(store, stored) : tare_store_check(store, stored);
	struct tare_store_order order = tare_store_order(store, stored, TARE_REORDER_LAG_MAX);
	int rc;

	log->stored = stored;
	log->is_order_damaged = order.lag > 0 && order.has_outliers;
	log->cursor.store = store;
	log->cursor.log = stored;
	log->info = (struct tare_log_info){
		.path = log->path,
		.header = part->header,
		.has_file = part->has_file,
		.has_ring = part->has_ring,
		.is_finished = part->is_finished,
		.is_header_damaged = part->is_header_damaged,
		.is_ring_damaged = part->is_ring_damaged,
		.begin = part->begin,
		.file_end = part->file_end,
		.end = part->end,
		.is_stored = true,
		.first_stamp = part->first_stamp,
		.last_stamp = part->last_stamp,
		.lag = order.lag,
		.damaged_blocks = damage.blocks,
		.damaged_records = damage.records,
		.is_damaged = damage.is_any,
		.is_damage_counted = !damage.is_uncounted,
		.damaged_first = damage.first,
		.damaged_last = damage.last,
	};
	rc = tare_log_load_stored_schema(log, err);
	tare_schema_layouts(log->schema, &log->cursor.layouts);
	return rc;
}

static void begin(struct tare_log *log, bool has_tables, bool has_events)
{
	const struct tare_log_part *part = &log->stored->part;

	log->has_tables_only = !has_events;
	log->has_events_only = !has_tables;
	log->stored_at = has_tables ? STORED_HOLES : STORED_EVENTS;
	log->hole = 0;
	log->counts = (struct tare_log_counts){
		.records = part->records, .unknown = part->unknown, .repaired = part->repaired, .lost = part->lost
	};
	log->is_in_rest = false;
	tare_store_begin(&log->cursor, !has_tables, has_tables);
}

void tare_log_stored_add_rest(struct tare_log *log)
{
	const struct tare_log_info *rest = &log->rest->info;

	log->info.has_file = rest->has_file;
	log->info.has_ring = rest->has_ring;
	log->info.is_finished = rest->is_finished;
	log->info.is_ring_damaged |= rest->is_ring_damaged;
	log->info.file_end = rest->file_end;
	log->info.end = rest->end;
}

/* Behind the last record of the segments. */
static enum tare_log_step next_of_rest(struct tare_log *log, struct tare_log_record *rec)
{
	enum tare_log_step step;

	if (log->has_events_only || !log->rest)
		return TARE_LOG_END;
	if (!log->is_in_rest) {
		log->is_in_rest = true;
		log->counts_stored = log->counts;
		tare_log_rewind(log->rest, 0);
	}
	step = tare_log_next(log->rest, rec);
	if (step == TARE_LOG_END) {
		const struct tare_log_counts *of_rest = &log->rest->counts;

		log->counts = log->counts_stored;
		log->counts.records += of_rest->records;
		log->counts.unknown += of_rest->unknown;
		log->counts.repaired += of_rest->repaired;
		log->counts.gaps += of_rest->gaps;
		log->counts.gap_bytes += of_rest->gap_bytes;
		log->counts.lost += of_rest->lost;
	}
	return step;
}

void tare_log_stored_rewind(struct tare_log *log)
{
	begin(log, true, true);
}

void tare_log_read_tables(struct tare_log *log)
{
	if (log->stored)
		begin(log, true, false);
}

void tare_log_read_events(struct tare_log *log)
{
	if (log->stored)
		begin(log, false, true);
}

bool tare_log_next_run(const struct tare_log *log, struct tare_store_cursor *run)
{
	if (!log->stored || !tare_log_has_runs(log) || log->is_order_damaged)
		return false;
	run->layouts = log->cursor.layouts;
	return tare_store_next_run(log->cursor.store, log->stored, TARE_REORDER_LAG_MAX, run);
}

static enum tare_log_step next_hole(struct tare_log *log, struct tare_log_record *rec)
{
	const struct tare_log_hole *hole = &log->stored->part.holes[log->hole++];

	*rec = (struct tare_log_record){ .position = hole->position,
		                             .bytes = hole->bytes,
		                             .gap = (enum tare_log_gap)hole->gap };
	log->counts.gaps++;
	log->counts.gap_bytes += hole->bytes;
	return TARE_LOG_GAP;
}

enum tare_log_step tare_log_stored_next(struct tare_log *log, struct tare_log_record *rec)
{
	const struct tare_block_record *next;

	if (log->is_in_rest)
		return next_of_rest(log, rec);
	if (log->stored_at == STORED_HOLES && log->hole < log->stored->part.hole_nr)
		return next_hole(log, rec);
	if (log->stored_at == STORED_HOLES)
		log->stored_at = STORED_TABLES;
	for (;;) {
		next = tare_store_next(&log->cursor);
		if (!next && log->stored_at == STORED_TABLES && !log->has_tables_only) {
			log->stored_at = STORED_EVENTS;
			tare_store_begin(&log->cursor, true, true);
			continue;
		}
		if (!next)
			return next_of_rest(log, rec);
		*rec = (struct tare_log_record){
			.position = next->position, .bytes = next->bytes, .is_stored = true, .segment = log->cursor.segment
		};
		tare_log_fill(log, rec, next->data);
		/* Some records are among the tables and among the events, and are told once. */
		if (log->has_events_only || log->stored_at == STORED_TABLES || !rec->info ||
		    !tare_log_is_table(rec->info->kind))
			return TARE_LOG_RECORD;
	}
}
