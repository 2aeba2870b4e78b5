/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/log.h"

#include "trace/encode.h"
#include "trace/log_private.h"

#include <string.h>
#include <unistd.h>

static bool is_in_ring(const struct tare_log *log, uint64_t position)
{
	return log->ring && position >= log->info.ring_begin && position < log->ring_end;
}

/* Fills the window from `position` on: the file, then what the ring has beyond it, else zeros. */
static void fill_window(struct tare_log *log, uint64_t position)
{
	const struct tare_log_info *info = &log->info;
	uint64_t size = info->end - position, from_file = 0, at;

	if (size > LOG_WINDOW)
		size = LOG_WINDOW;
	if (position < info->file_end) {
		from_file = info->file_end - position;
		if (from_file > size)
			from_file = size;
		from_file = tare_log_pread(log->fd, log->window, from_file,
					   tare_log_offset(info, position));
	}
	memset(log->window + from_file, 0, size - from_file);
	at = position + from_file > info->ring_begin ? position + from_file : info->ring_begin;
	if (log->ring && at < position + size && at < log->ring_end) {
		uint64_t n =
			(log->ring_end < position + size ? log->ring_end : position + size) - at;

		memcpy(log->window + (at - position), log->ring + (at - info->ring_begin), n);
	}
	log->window_begin = position;
	log->window_end = position + size;
}

/* Makes sure that the longest record at `position`, and the head after it, lie in the window. */
static void need_window(struct tare_log *log, uint64_t position)
{
	uint64_t end = position + LOG_RECORD_MAX + TARE_CELL;

	if (end > log->info.end)
		end = log->info.end;
	if (position < log->window_begin || end > log->window_end)
		fill_window(log, position);
}

/* Where a position can be seen: in the file's order of things, or in the ring alone. */
struct view {
	const uint8_t *bytes;
	uint64_t begin, end;
};

static bool is_sealed(const struct view *view, uint64_t position)
{
	struct tare_record head;

	if (position < view->begin || position + sizeof(head) > view->end)
		return false;
	memcpy(&head, view->bytes + (position - view->begin), sizeof(head));
	return head.seal == tare_seal(position) && head.kind != 0 && head.cells != 0 &&
	       head.cells <= TARE_MAX_CELLS;
}

/*
 * The file comes first. The ring has the last word where the file holds no record: what is written
 * twice is written equal, but a disk that was full can leave a hole in the file.
 */
static bool find_view(const struct tare_log *log, uint64_t position, struct view *view)
{
	*view = (struct view){ log->window, log->window_begin, log->window_end };
	if (is_sealed(view, position))
		return true;
	if (!is_in_ring(log, position))
		return false;
	*view = (struct view){ log->ring, log->info.ring_begin, log->ring_end };
	return is_sealed(view, position);
}

/* How long a record with these fields is today; 0 where that is not known. */
static uint64_t usual_size(const struct view *view, uint64_t position,
			   const struct tare_record *head)
{
	const struct tare_kind_info *info = tare_decode_kind(head->kind);
	const uint8_t *bytes = view->bytes + (position - view->begin);

	if (!info || view->end - position < info->fixed)
		return 0;
	if (info->tail == TARE_TAIL_NONE)
		return tare_encode_size(info->fixed, 0);
	return tare_encode_size(info->fixed, tare_decode_tail_length(info, bytes) *
						     (info->tail == TARE_TAIL_PCS ? 8u : 1u));
}

/*
 * The end of the record at `position`, 0 if there is no telling. It is where the record says, unless
 * that is wrong: another record begins before it, or not there but where a record of this kind and
 * tail would end.
 */
static uint64_t end_of(const struct tare_log *log, const struct view *view, uint64_t position,
		       const struct tare_record *head)
{
	uint64_t size = usual_size(view, position, head);
	uint64_t said = position + (uint64_t)head->cells * TARE_CELL, usual = position + size;

	if (said > usual)
		for (uint64_t at = position + TARE_CELL; at < said && at < view->end;
		     at += TARE_CELL)
			if (is_sealed(view, at))
				return at;
	if (said < usual && !is_sealed(view, said) && is_sealed(view, usual))
		return usual;
	/* Nobody has what lies between the file and a ring that begins later. */
	if (view->bytes == log->window && position < log->info.file_end &&
	    said > log->info.file_end && log->info.ring_begin > log->info.file_end)
		return 0;
	return said <= view->end ? said : 0;
}

/* A length that cannot be stands for all there is, without the zeros that fill the last cell. */
static uint64_t tail_length(struct tare_log_record *rec, const uint8_t *tail, uint64_t item_size)
{
	static const uint8_t zero[sizeof(uint64_t)];
	uint64_t room = rec->bytes > rec->info->fixed ? rec->bytes - rec->info->fixed : 0;
	uint64_t said = tare_decode_tail_length(rec->info, rec->rec.head);

	room /= item_size;
	if (said <= room)
		return said;
	rec->is_repaired = true;
	while (room > 0 && !memcmp(tail + (room - 1) * item_size, zero, item_size))
		room--;
	return room;
}

static void find_tail(struct tare_log_record *rec, const uint8_t *bytes)
{
	const uint8_t *tail = bytes + rec->info->fixed;

	if (rec->info->tail == TARE_TAIL_TEXT) {
		rec->text = (const char *)tail;
		rec->text_len = tail_length(rec, tail, 1);
	} else if (rec->info->tail == TARE_TAIL_PCS) {
		rec->pcs = (const uint64_t *)(const void *)tail;
		rec->depth = (uint32_t)tail_length(rec, tail, sizeof(uint64_t));
	}
}

static bool take_record(struct tare_log *log, struct tare_log_record *rec)
{
	uint64_t position = log->position, end;
	struct tare_record head;
	const uint8_t *bytes;
	struct view view;

	if (!find_view(log, position, &view))
		return false;
	bytes = view.bytes + (position - view.begin);
	memcpy(&head, bytes, sizeof(head));
	end = end_of(log, &view, position, &head);
	if (!end)
		return false;
	rec->position = position;
	rec->bytes = end - position;
	rec->is_repaired = rec->bytes != (uint64_t)head.cells * TARE_CELL;
	rec->is_in_ring = view.bytes == log->ring || position >= log->info.file_end;
	rec->info = tare_decode_kind(head.kind);
	rec->rec.head = (const struct tare_record *)(const void *)bytes;
	if (rec->info && rec->bytes < rec->info->fixed) {
		memset(log->scratch, 0, sizeof(log->scratch));
		memcpy(log->scratch, bytes, rec->bytes);
		rec->rec.head = (const struct tare_record *)(const void *)log->scratch;
	}
	if (rec->info)
		find_tail(rec, bytes);
	log->counts.records++;
	log->counts.unknown += !rec->info;
	log->counts.repaired += rec->is_repaired;
	if (head.kind == TARE_KIND_LOST)
		log->counts.lost += rec->rec.lost->records;
	log->position = end;
	return true;
}

/* The next position worth looking at after one where no record is. */
static uint64_t step_over(struct tare_log *log, uint64_t position)
{
	const struct tare_log_info *info = &log->info;
	uint64_t begin = position + TARE_CELL;
	off_t offset, data;

	position = begin;
	if (position >= info->file_end && position < info->ring_begin)
		return info->ring_begin;
	/* Holes of a sparse file can be huge, so ask now and then where they end. */
	if (position < info->file_end && position % 65536 == 0 && !is_in_ring(log, position)) {
		offset = (off_t)tare_log_offset(info, position);
		data = lseek(log->fd, offset, SEEK_DATA);
		if (data > offset)
			position += (uint64_t)(data - offset) / TARE_CELL * TARE_CELL;
		else if (data < 0)
			position = info->file_end;
		if (begin < info->ring_begin && info->ring_begin < position)
			position = info->ring_begin;
	}
	return position;
}

static bool is_zero_cell(const struct tare_log *log, uint64_t position)
{
	static const uint8_t zero[TARE_CELL];

	return position < log->window_begin || position >= log->window_end ||
	       !memcmp(log->window + (position - log->window_begin), zero, sizeof(zero));
}

/* A sealed record at `position` that does not end before the log does. */
static bool is_cut_record(const struct tare_log *log, uint64_t position)
{
	struct view view;

	return find_view(log, position, &view);
}

static void take_gap(struct tare_log *log, struct tare_log_record *rec)
{
	const struct tare_log_info *info = &log->info;
	uint64_t begin = log->position, at = begin;
	bool is_empty = true, is_cut = false;
	struct tare_log_record next;
	struct tare_log_counts counts = log->counts;

	do {
		is_empty = is_empty && is_zero_cell(log, at);
		is_cut = is_cut || is_cut_record(log, at);
		at = step_over(log, at);
		if (at >= info->end)
			break;
		need_window(log, at);
		log->position = at;
		next = (struct tare_log_record){ 0 };
	} while (!take_record(log, &next));
	/* The record after the gap was only looked at. */
	log->counts = counts;
	log->position = at < info->end ? at : info->end;
	rec->position = begin;
	rec->bytes = log->position - begin;
	if (begin >= info->file_end && log->position <= info->ring_begin)
		rec->gap = TARE_GAP_MISSING;
	else if (is_cut)
		rec->gap = TARE_GAP_CUT;
	else
		rec->gap = is_empty ? TARE_GAP_EMPTY : TARE_GAP_UNFINISHED;
	if (log->position == info->end && log->cut_bytes > 0) {
		rec->bytes += log->cut_bytes;
		log->is_cut_told = true;
	}
}

enum tare_log_step tare_log_next(struct tare_log *log, struct tare_log_record *rec)
{
	*rec = (struct tare_log_record){ 0 };
	if (log->position < log->info.end) {
		need_window(log, log->position);
		if (take_record(log, rec))
			return TARE_LOG_RECORD;
		take_gap(log, rec);
	} else if (log->cut_bytes > 0 && !log->is_cut_told) {
		log->is_cut_told = true;
		rec->position = log->info.end;
		rec->bytes = log->cut_bytes;
		rec->gap = TARE_GAP_CUT;
	} else {
		return TARE_LOG_END;
	}
	log->counts.gaps++;
	log->counts.gap_bytes += rec->bytes;
	return TARE_LOG_GAP;
}
