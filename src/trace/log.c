/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a log for reading: checks the header, finds the files, the ring and the segments that have it, and answers
 * what there is.
 */
#include "trace/log.h"

#include "base/xalloc.h"
#include "trace/log_private.h"
#include "record/schema_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t tare_log_pread(int fd, void *to, size_t size, uint64_t offset)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, (uint8_t *)to + got, size - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* A text of the header goes to terminals and reports: no control characters, and an end. */
static void make_printable(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

static uint32_t swapped(uint32_t v)
{
	return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24;
}

/* A record of this position lies right behind a header of this size. */
static bool begins_with(const struct tare_log *log, uint64_t header_bytes, uint64_t position)
{
	uint32_t seal;

	return log->fd >= 0 && tare_log_pread(log->fd, &seal, sizeof(seal), header_bytes) == sizeof(seal) &&
	       seal == tare_seal(position);
}

/* The first record lies right behind a header of this size: that of position 0, or of `base`. */
static bool is_begin(const struct tare_log *log, uint64_t header_bytes)
{
	return begins_with(log, header_bytes, 0) || begins_with(log, header_bytes, log->info.header.base);
}

/* Where position 0 lies if that is not where the header says. */
static uint32_t usual_begin(const struct tare_log *log)
{
	char head[sizeof(TARE_SCHEMA_HEAD) - 1];

	if (is_begin(log, TARE_HEADER_BYTES) ||
	    tare_log_pread(log->fd, head, sizeof(head), TARE_HEADER_BYTES) != sizeof(head) ||
	    memcmp(head, TARE_SCHEMA_HEAD, sizeof(head)) != 0)
		return TARE_HEADER_BYTES;
	return TARE_LOG_BEGIN;
}

/* Where which position lies. Damage of the two fields is noticed by the seal of the first record. */
static void check_layout(struct tare_log *log)
{
	struct tare_file_header *h = &log->info.header;
	uint32_t usual = usual_begin(log), said = h->header_bytes;
	bool is_sane = tare_schema_is_begin(said);

	if (said != usual && (!is_sane || (!is_begin(log, said) && is_begin(log, usual)))) {
		log->info.is_header_damaged = true;
		h->header_bytes = usual;
	}
	if (h->base != 0 && (begins_with(log, h->header_bytes, 0) || h->base % TARE_CELL != 0 || h->base > INT64_MAX)) {
		log->info.is_header_damaged = true;
		h->base = 0;
	}
}

static int check_header(struct tare_log *log, struct tare_err *err)
{
	struct tare_file_header *h = &log->info.header;

	make_printable(h->tool, sizeof(h->tool));
	make_printable(h->host, sizeof(h->host));
	make_printable(h->program, sizeof(h->program));
	make_printable(h->script, sizeof(h->script));
	if (memcmp(h->magic, TARE_FORMAT_MAGIC, sizeof(h->magic)) != 0) {
		if (!is_begin(log, h->header_bytes))
			return tare_err_set(err, TARE_E_FORMAT,
			                    "%s is not a recording of Tare; give a folder NAME.tare "
			                    "or a .events file in one",
			                    log->path);
		log->info.is_header_damaged = true;
	}
	if (h->endian == swapped(TARE_ENDIAN_MARK))
		return tare_err_set(err, TARE_E_UNSUPPORTED,
		                    "%s was recorded on a machine with the other byte order; open it "
		                    "on a machine of that kind",
		                    log->path);
	if (h->version > TARE_FORMAT_VERSION && !log->info.is_header_damaged)
		return tare_err_set(err, TARE_E_NEWER,
		                    "%s is in format %u, written by Tare %s, and this is Tare %s, which "
		                    "reads formats up to %u; open it with Tare %s or newer",
		                    log->path, h->version, h->tool, TARE_VERSION, TARE_FORMAT_VERSION, h->tool);
	if (h->endian != TARE_ENDIAN_MARK)
		log->info.is_header_damaged = true;
	return 0;
}

static int open_file(struct tare_log *log, struct tare_err *err)
{
	struct stat st;

	log->fd = tare_log_file_open(log->path);
	if (log->fd < 0) {
		if (errno == ENOENT)
			return 0; /* the ring may be there */
		return tare_err_set_errno(err, errno, "%s", log->path);
	}
	if (fstat(log->fd, &st) < 0)
		return tare_err_set_errno(err, errno, "%s", log->path);
	if (!S_ISREG(st.st_mode))
		return tare_err_set(err, TARE_E_FORMAT, "%s is not a file; give a .events file", log->path);
	if (tare_log_pread(log->fd, &log->info.header, TARE_HEADER_BYTES, 0) == TARE_HEADER_BYTES)
		log->info.has_file = true;
	return 0;
}

/* What is left when neither file nor ring has a whole header. */
static int no_header(struct tare_log *log, struct tare_err *err)
{
	struct stat st;
	char magic[8];

	if (log->fd < 0)
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such file", log->path);
	if (fstat(log->fd, &st) == 0 && st.st_size == 0)
		return tare_err_set(err, TARE_E_EMPTY,
		                    "%s is empty: the process ended, or the disk was full, before its "
		                    "log began",
		                    log->path);
	if (tare_log_pread(log->fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    !memcmp(magic, TARE_FORMAT_MAGIC, sizeof(magic)))
		return tare_err_set(err, TARE_E_TRUNCATED, "%s is cut off inside its header; nothing in it can be read",
		                    log->path);
	return tare_err_set(err, TARE_E_FORMAT,
	                    "%s is not a recording of Tare; give a folder NAME.tare or a .events file "
	                    "in one",
	                    log->path);
}

/* "…/P-G.events" and "…/P-G.ring" for either of them. */
static void name_files(struct tare_log *log, const char *path, struct tare_str *ring_path)
{
	size_t len = strlen(path);
	struct tare_str events = { 0 };

	if (len > 5 && !strcmp(path + len - 5, ".ring")) {
		tare_str_add_n(&events, path, len - 5);
		tare_str_add(&events, ".events");
		tare_str_add(ring_path, path);
	} else {
		tare_str_add(&events, path);
		if (len > 7 && !strcmp(path + len - 7, ".events")) {
			tare_str_add_n(ring_path, path, len - 7);
			tare_str_add(ring_path, ".ring");
		}
	}
	log->path = tare_str_steal(&events);
	log->info.path = log->path;
}

static int open_log(struct tare_log *log, const char *ring_path, struct tare_err *err)
{
	struct tare_log_info *info = &log->info;
	uint64_t files_end;
	int rc = open_file(log, err);

	if (rc)
		return rc;
	if (info->has_file)
		check_layout(log);
	tare_log_load_ring(log, ring_path);
	if (!info->has_file && !info->has_ring)
		return no_header(log, err);
	rc = check_header(log, err);
	if (!rc)
		rc = tare_log_load_schema(log, err);
	if (rc)
		return rc;
	info->begin = info->has_file ? info->header.base : 0;
	tare_log_find_chunks(log);
	files_end = tare_log_files_end(log);
	info->file_end = files_end - files_end % TARE_CELL;
	/* Of what segments have, files may have nothing any more. */
	if (log->behind && info->file_end < log->behind->part.file_end)
		info->file_end = log->behind->part.file_end;
	tare_log_place_ring(log);
	info->end = log->ring_end > info->file_end ? log->ring_end : info->file_end;
	if (info->end == info->file_end && !info->header.has_lanes)
		log->cut_bytes = files_end % TARE_CELL;
	return 0;
}

/* "431-0" of "…/431-0.events". */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return tare_xstrndup(name, dot ? (size_t)(dot - name) : strlen(name));
}

static const struct tare_stored_log *find_stored(const struct tare_log *log, const struct tare_store *store)
{
	TARE_FREED_HERE char *name = name_of(log->path);
	const struct tare_stored_log *stored = store ? tare_store_find(store, name) : NULL;

	return stored;
}

/* The segments beside the log, if there are any. */
static int open_own_store(struct tare_log *log, struct tare_err *err)
{
	const char *slash = strrchr(log->path, '/');
	TARE_FREED_HERE char *folder =
		slash ? tare_xstrndup(log->path, (size_t)(slash - log->path) + 1) : tare_xstrdup(".");
	int rc = tare_store_open(&log->own_store, folder, err);

	return rc == TARE_E_NOT_FOUND ? 0 : rc;
}

static struct tare_log *new_log(const char *path, struct tare_str *ring_path)
{
	struct tare_log *log = tare_xcalloc(1, sizeof(*log));

	log->fd = log->chunk_fd = -1;
	log->cut = tare_xcalloc(TARE_LANES_MAX, sizeof(*log->cut));
	log->expected = tare_xcalloc(TARE_LANES_MAX, sizeof(*log->expected));
	name_files(log, path, ring_path);
	return log;
}

/* As if there were no ring, and nothing in the file that may still change. */
static void leave_unsettled_out(struct tare_log *log, const struct tare_log_reach *reach)
{
	struct tare_log_info *info = &log->info;
	uint64_t below = reach->below(reach->arg, log->path, info->has_ring);

	if (info->file_end > below)
		info->file_end = below / TARE_CELL * TARE_CELL;
	if (info->has_ring)
		log->cut_bytes = 0;
	info->has_ring = false;
	info->end = log->ring_end = info->file_end;
}

/* The end is where a block begins, for its first record says whose the others are. */
static void leave_rest(struct tare_log *log, uint64_t most)
{
	struct tare_log_info *info = &log->info;
	struct tare_log_record rec;
	enum tare_log_step step;

	if (!most || info->end - info->begin <= most)
		return;
	tare_log_rewind(log, (info->begin + most) / TARE_CELL * TARE_CELL);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
		if (step == TARE_LOG_RECORD && rec.info && rec.info->kind == TARE_KIND_LANE) {
			info->file_end = info->end = log->ring_end = rec.position;
			info->is_cut_short = true;
			return;
		}
}

static const struct tare_log_reach whole = { .scope = TARE_LOG_WHOLE };

/* Of the files what lies behind `stored`, which may be NULL. */
static int open_files(struct tare_log *log, const struct tare_stored_log *stored, const struct tare_log_reach *reach,
                      const char *ring_path, struct tare_err *err)
{
	struct tare_log_info *info = &log->info;
	uint64_t file_end;
	int rc;

	log->behind = stored;
	rc = open_log(log, ring_path, err);
	if (rc)
		return rc;
	file_end = info->file_end;
	if (reach->scope == TARE_LOG_SETTLED)
		leave_unsettled_out(log, reach);
	info->stored_until = stored ? stored->part.last_stamp : 0;
	info->beyond_from = UINT64_MAX;
	if (stored && info->begin < stored->part.end)
		info->begin = stored->part.end < info->end ? stored->part.end : info->end;
	tare_log_file_keep(log);
	if (reach->scope == TARE_LOG_SETTLED)
		leave_rest(log, reach->most);
	if (reach->scope == TARE_LOG_SETTLED)
		info->beyond_from = tare_log_oldest_between(log, info->end, file_end);
	tare_log_rewind(log, 0);
	return 0;
}

/* The files of a log of which segments have the begin. Without them there is no more of it. */
static int open_rest(struct tare_log *log, const struct tare_stored_log *stored, struct tare_err *err)
{
	struct tare_str ring_path = { 0 };
	struct tare_err reason = { 0 };
	int rc;

	log->rest = new_log(log->path, &ring_path);
	rc = open_files(log->rest, stored, &whole, tare_str_text(&ring_path), &reason);
	tare_str_free(&ring_path);
	if (rc) {
		tare_log_close(log->rest);
		log->rest = NULL;
	} else {
		tare_log_stored_add_rest(log);
	}
	if (rc == TARE_E_NOT_FOUND)
		return 0;
	if (rc && err)
		*err = reason;
	return rc;
}

static int open_segments(struct tare_log *log, const struct tare_store *store, const struct tare_stored_log *stored,
                         const struct tare_log_reach *reach, struct tare_err *err)
{
	int rc = tare_log_stored_open(log, store, stored, reach->is_unchecked, err);

	if (!rc && reach->scope == TARE_LOG_WHOLE && stored->part.is_begun)
		rc = open_rest(log, stored, err);
	if (!rc)
		tare_log_rewind(log, 0);
	return rc;
}

static bool is_behind(enum tare_log_scope scope)
{
	return scope == TARE_LOG_REST || scope == TARE_LOG_SETTLED;
}

static int open_any(struct tare_log **out, const struct tare_store *store, bool has_store,
                    const struct tare_log_reach *reach, const char *path, struct tare_err *err)
{
	enum tare_log_scope scope = reach->scope;
	const struct tare_stored_log *stored;
	struct tare_str ring_path = { 0 };
	struct tare_log *log = new_log(path, &ring_path);
	int rc = has_store ? 0 : open_own_store(log, err);

	store = has_store ? store : log->own_store;
	stored = find_stored(log, store);
	if (!rc && (stored ? is_behind(scope) && !stored->part.is_begun : scope == TARE_LOG_SEGMENTS))
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s: %s", log->path,
		                  stored ? "segments have all of it" : "no segment has it");
	if (!rc)
		rc = stored && !is_behind(scope) ? open_segments(log, store, stored, reach, err)
		                                 : open_files(log, stored, reach, tare_str_text(&ring_path), err);
	tare_str_free(&ring_path);
	if (rc) {
		tare_log_close(log);
		return rc;
	}
	*out = log;
	return 0;
}

int tare_log_open(struct tare_log **out, const char *path, struct tare_err *err)
{
	return open_any(out, NULL, false, &whole, path, err);
}

int tare_log_open_in(struct tare_log **out, const struct tare_store *store, const struct tare_log_reach *reach,
                     const char *path, struct tare_err *err)
{
	return open_any(out, store, true, reach, path, err);
}

struct tare_log *tare_log_rest(struct tare_log *log)
{
	return log->rest;
}

struct tare_log *tare_log_share(struct tare_log *log)
{
	struct tare_log *other = tare_xcalloc(1, sizeof(*other));

	if (log->rest)
		log = log->rest;
	other->info = log->info;
	other->fd = other->chunk_fd = -1;
	other->whole = log;
	other->ring = log->ring;
	other->ring_end = log->ring_end;
	other->schema = log->schema;
	other->held = log->held;
	tare_log_rewind(other, 0);
	return other;
}

void tare_log_set_range(struct tare_log *log, uint64_t begin, uint64_t end)
{
	if (log->stored) {
		tare_log_read_events(log);
		return;
	}
	log->position = begin;
	log->limit = end < log->info.end ? end : log->info.end;
	/* Nothing that lay behind the range before is in the window. */
	log->window_begin = log->window_end = 0;
}

void tare_log_close(struct tare_log *log)
{
	if (!log)
		return;
	free(log->own_window);
	tare_log_close(log->rest);
	tare_store_cursor_free(&log->cursor);
	if (!log->whole) {
		free(log->held.bytes);
		tare_log_file_drop(log);
		tare_store_close(log->own_store);
		for (size_t i = 0; i < log->lane_nr; i++)
			free(log->lanes[i].bytes);
		free(log->lanes);
		tare_chunk_list_free(&log->list);
		free(log->cut);
		free(log->expected);
		free(log->ring);
		free(log->path);
		tare_schema_free(log->own_schema);
	}
	free(log);
}

const struct tare_log_info *tare_log_info(const struct tare_log *log)
{
	return &log->info;
}

const struct tare_schema *tare_log_schema(const struct tare_log *log)
{
	return log->schema;
}

const struct tare_log_counts *tare_log_counts(const struct tare_log *log)
{
	return &log->counts;
}

struct tare_chunk_part tare_log_place(const struct tare_log_info *info, uint64_t position)
{
	const struct tare_file_header *h = &info->header;
	struct tare_chunks chunks = { h->header_bytes, h->base ? 0 : h->chunk_bytes };

	return tare_chunk_part(&chunks, position - h->base, 1);
}

static uint64_t bytes_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* A chunk that could not be made has its records in the first file, behind where that one ends. */
bool tare_log_has_from(const struct tare_log_info *info, const char *path, uint64_t position)
{
	struct tare_chunk_part place = tare_log_place(info, position);
	TARE_FREED_HERE char *file = tare_chunk_path(path, place.chunk);

	return bytes_of(file) > place.offset || bytes_of(path) > info->header.header_bytes + position - info->header.base;
}

/* All lanes begin at 0; where they are at another position of the log segments may say. */
static void expect_lanes(struct tare_log *log)
{
	const struct tare_stored_log *before = log->behind;

	for (uint32_t i = 0; log->expected && i < TARE_LANES_MAX; i++)
		log->expected[i] = log->position == 0;
	if (!log->expected || !before || log->position != before->part.end)
		return;
	for (size_t i = 0; i < before->part.lane_nr; i++)
		if (before->part.lane_ends[i].lane < TARE_LANES_MAX)
			log->expected[before->part.lane_ends[i].lane] = before->part.lane_ends[i].position + 1;
}

void tare_log_rewind(struct tare_log *log, uint64_t position)
{
	if (log->stored) {
		tare_log_stored_rewind(log);
		return;
	}
	memset(&log->counts, 0, sizeof(log->counts));
	log->position = position > log->info.begin ? position : log->info.begin;
	expect_lanes(log);
	log->limit = log->info.end;
	log->is_cut_told = false;
	log->again.end = 0;
}

const char *tare_log_gap_name(enum tare_log_gap gap)
{
	switch (gap) {
	case TARE_GAP_EMPTY:
		return "never written";
	case TARE_GAP_CUT:
		return "cut off";
	case TARE_GAP_MISSING:
		return "missing";
	default:
		return "unfinished or damaged";
	}
}
