/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what came to the logs of a recording that is kept open. Files are read, in the order of positions, and where they have
 * something no more, segments (growing_segments.c): a place that is not
 * written yet is waited for. How far each lane was written, and how far its thread got meanwhile, says the ring.
 */
#include "trace/growing_private.h"

#include "base/array.h"
#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAITS_MOST = 3 }; /* turns: what is no record by then is damage */
#define COARSE_NS INT64_C(1000000000)

/* ---- which logs ---- */

static char *ring_path_of(const struct tare_log *log)
{
	size_t size = strlen(log->path);
	struct tare_str path = { 0 };

	tare_str_add_n(&path, log->path, size - strlen(".events"));
	tare_str_add(&path, ".ring");
	return tare_str_steal(&path);
}

static void add_log(struct tare_growing *g, struct tare_rprocess *p)
{
	struct tare_log *files = p->log->stored ? p->log->rest : p->log;
	struct tare_growing_log *l;

	if (!files || (p->public.role == TARE_ROLE_PROGRAM && !files->info.has_ring))
		return; /* it has ended */
	l = &TARE_APPEND(g->logs, g->log_nr, g->log_cap);
	*l = (struct tare_growing_log){ .process = p, .files = files, .reader = tare_log_share(files) };
	l->reader->info.has_ring = false;
	l->position = files->info.begin;
	if (files->info.has_ring)
		l->ring_path = ring_path_of(files);
	if (!files->info.header.has_lanes) {
		l->position = p->read_to > l->position ? p->read_to : l->position;
		l->last_stamp = p->last_stamp;
		return;
	}
	l->lanes = tare_xcalloc(TARE_LANES_MAX, sizeof(*l->lanes));
	for (uint32_t i = 0; i < TARE_LANES_MAX; i++)
		l->lanes[i] = (struct tare_growing_lane){ .position = files->expected[i] ? files->expected[i] - 1 : 0,
			                                      .last_stamp = p->last_stamp };
	for (size_t i = 0; files->behind && i < files->behind->part.lane_nr; i++)
		if (files->behind->part.lane_ends[i].lane < TARE_LANES_MAX)
			l->lanes[files->behind->part.lane_ends[i].lane].walked = files->behind->part.lane_ends[i].position;
}

static void know(struct tare_growing *g, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	TARE_FREED_HERE char *stem = tare_xstrndup(name, tare_log_stem(name));

	tare_strmap_put(&g->known, stem, NULL);
}

void tare_growing_open_logs(struct tare_growing *g)
{
	const struct tare_rfolder *folder = g->recording->folders[0];

	g->folder = folder->spool ? folder->spool : folder->path;
	for (size_t i = 0; i < g->recording->process_nr; i++) {
		if (!g->recording->processes[i]->log)
			continue;
		know(g, g->recording->processes[i]->public.log);
		add_log(g, g->recording->processes[i]);
	}
}

/* ---- which came ---- */

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* The time of a folder is coarse: what came right after somebody looked may have the same. */
static bool has_changed(struct tare_growing *g)
{
	struct timespec now;
	struct stat st;
	int64_t changed;
	bool is_new;

	clock_gettime(CLOCK_REALTIME, &now);
	if (stat(g->folder, &st) != 0)
		return true;
	changed = ns_of(&st.st_mtim);
	is_new = changed != g->folder_ns || g->looked_ns_at - changed < COARSE_NS;
	g->folder_ns = changed;
	g->looked_ns_at = ns_of(&now);
	return is_new;
}

static bool has_new_log(const struct tare_growing *g)
{
	DIR *dir = opendir(g->folder);
	struct dirent *entry;
	bool is_any = !dir;

	while (dir && !is_any && (entry = readdir(dir))) {
		size_t size = tare_log_stem(entry->d_name);

		if (!size)
			continue;
		entry->d_name[size] = '\0';
		is_any = !tare_strmap_get(&g->known, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return is_any;
}

/* ---- records ---- */

/* Tables that only grow, and what leaves them as they are. What else is said changes what was read. */
static bool is_plain(const struct tare_rprocess *p, const struct tare_log_record *rec)
{
	switch (rec->info->kind) {
	case TARE_KIND_OBJECT:
	case TARE_KIND_SYMBOL:
	case TARE_KIND_DEGRADED:
	case TARE_KIND_LAUNCH:
	case TARE_KIND_STATUS:
	case TARE_KIND_LOST:
		return false;
	case TARE_KIND_DEVICE:
		return tare_process_device(&p->public, rec->rec.device->ordinal) != NULL;
	default:
		return true;
	}
}

enum tare_growing_outcome tare_growing_take_record(struct tare_growing *g, struct tare_growing_log *l,
                                                   const struct tare_log_record *rec)
{
	uint64_t *last = l->block_end ? &l->lanes[l->lane].last_stamp : &l->last_stamp;

	if (!rec->info)
		return TARE_GROWING_READ;
	if (rec->is_repaired || !is_plain(l->process, rec))
		return TARE_GROWING_AGAIN;
	tare_recording_index(g->recording, l->process, rec);
	if (rec->info->kind == TARE_KIND_LINE_STACK)
		TARE_APPEND(g->unsettled_lines, g->unsettled_nr, g->unsettled_cap) =
			(struct tare_unsettled_lines){ l->process,
			                               tare_recording_find_line_stack(l->process, rec->rec.line_stack->id) };
	if (rec->info->is_event || rec->info->kind == TARE_KIND_CLOCK)
		*last = rec->rec.head->stamp;
	if (!rec->info->is_event)
		return TARE_GROWING_READ;
	tare_growing_hold(g, l->process, rec, l->block_end ? (int)l->lane : -1);
	return TARE_GROWING_READ;
}

/* ---- blocks ---- */

/* A block begins. What was read of its lane elsewhere is passed over. */
static enum tare_growing_outcome enter(struct tare_growing_log *l, const struct tare_log_record *rec)
{
	const struct tare_rec_lane *block = rec->rec.lane;
	uint64_t begin = rec->position + rec->bytes, end = begin + block->bytes;

	if (block->lane >= TARE_LANES_MAX || block->from > l->lanes[block->lane].position)
		return TARE_GROWING_AGAIN;
	if (block->from + block->bytes > l->lanes[block->lane].tail)
		return TARE_GROWING_WAIT; /* it may be being written */
	l->lane = block->lane;
	l->block_begin = begin;
	l->block_end = end;
	l->block_position = block->from;
	if (block->from + block->bytes <= l->lanes[block->lane].position)
		l->reader->position = end;
	return TARE_GROWING_READ;
}

static void leave(struct tare_growing_log *l)
{
	struct tare_growing_lane *lane = &l->lanes[l->lane];
	uint64_t end = l->block_position + (l->block_end - l->block_begin);

	lane->position = end > lane->position ? end : lane->position;
	lane->walked = end;
	l->block_end = 0;
}

/* Between two blocks there may be room that one is about to be written in. Where none is planned it stays empty. */
static bool is_awaited(const struct tare_growing_log *l, uint64_t position)
{
	for (uint32_t i = 0; i < l->lane_nr; i++) {
		const struct tare_growing_lane *lane = &l->lanes[i];
		uint64_t begin = TARE_PLAN_BEGIN(lane->plan);

		if (TARE_PLAN_SIZE(lane->plan) > 0 && TARE_PLAN_TAIL(lane->plan) == (lane->tail & TARE_PLAN_TAIL_MASK) &&
		    begin >= l->position && begin < position)
			return true;
	}
	return false;
}

static enum tare_growing_outcome take_in_block(struct tare_growing *g, struct tare_growing_log *l,
                                               const struct tare_log_record *rec)
{
	uint64_t at = l->block_position + (rec->position - l->block_begin);
	enum tare_growing_outcome outcome =
		at < l->lanes[l->lane].position ? TARE_GROWING_READ : tare_growing_take_record(g, l, rec);

	l->position = rec->position + rec->bytes;
	return outcome;
}

static enum tare_growing_outcome take_any(struct tare_growing *g, struct tare_growing_log *l,
                                          const struct tare_log_record *rec)
{
	enum tare_growing_outcome outcome;

	if (l->block_end && rec->position < l->block_end)
		return take_in_block(g, l, rec);
	if (l->block_end)
		leave(l);
	if (is_awaited(l, rec->position))
		return TARE_GROWING_WAIT;
	l->waits = 0;
	if (!l->lanes) {
		outcome = tare_growing_take_record(g, l, rec);
		l->position = rec->position + rec->bytes;
		return outcome;
	}
	if (!rec->info || rec->info->kind != TARE_KIND_LANE)
		return TARE_GROWING_AGAIN;
	outcome = enter(l, rec);
	if (outcome == TARE_GROWING_READ)
		l->position = l->reader->position;
	return outcome;
}

/* What is no record is about to be written, or damaged. */
static enum tare_growing_outcome take_gap(struct tare_growing_log *l)
{
	if (l->block_end && l->position < l->block_end)
		return TARE_GROWING_AGAIN;
	if (l->block_end)
		leave(l);
	return l->waits++ < WAITS_MOST ? TARE_GROWING_WAIT : TARE_GROWING_AGAIN;
}

/* Where blocks were taken out of the files there are zeros, as between two blocks; their lanes tell. */
static bool lacks_blocks(const struct tare_growing_log *l)
{
	for (uint32_t i = 0; i < l->lane_nr; i++)
		if (l->lanes[i].tail > l->lanes[i].position)
			return true;
	return false;
}

static enum tare_growing_outcome read_files(struct tare_growing *g, struct tare_growing_log *l, bool are_files_new)
{
	uint64_t end = tare_log_files_grown(l->files, are_files_new) / TARE_CELL * TARE_CELL;
	struct tare_log *reader = l->reader;
	enum tare_log_step step;
	struct tare_log_record rec;
	enum tare_growing_outcome outcome = TARE_GROWING_READ;

	if (l->lanes && end > l->log_end)
		end = l->log_end / TARE_CELL * TARE_CELL;
	if (end <= l->position)
		return outcome;
	reader->info.file_end = reader->info.end = reader->ring_end = end;
	tare_log_set_range(reader, l->position, end);
	while (outcome == TARE_GROWING_READ && (step = tare_log_next(reader, &rec)) != TARE_LOG_END) {
		outcome = step == TARE_LOG_RECORD ? take_any(g, l, &rec) : take_gap(l);
		if (outcome == TARE_GROWING_READ)
			tare_growing_take_row(g, l);
	}
	if (l->block_end && l->position >= l->block_end)
		leave(l);
	return outcome == TARE_GROWING_READ && lacks_blocks(l) ? TARE_GROWING_WAIT : outcome;
}

/* What is not in the files may be in segments by now. */
static bool read_log(struct tare_growing *g, struct tare_growing_log *l)
{
	enum tare_growing_outcome outcome = read_files(g, l, g->is_folder_new), of_segments;

	if (outcome == TARE_GROWING_READ)
		return true;
	of_segments = tare_growing_read_segments(g, l);
	if (of_segments == TARE_GROWING_READ)
		outcome = read_files(g, l, true);
	return outcome != TARE_GROWING_AGAIN && of_segments != TARE_GROWING_AGAIN;
}

/* ---- how far threads got ---- */

/* Before the files are read. False: there is no ring any more, none that makes sense, or records were lost. */
static bool read_heads(struct tare_growing_log *l)
{
	int fd = tare_file_open(l->ring_path, NULL);
	struct tare_ring_header header;
	struct tare_lane *lanes = NULL;
	bool is_read = fd >= 0 && tare_log_pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	               header.lane_nr <= TARE_LANES_MAX && !header.lost;

	if (is_read) {
		size_t size = header.lane_nr * sizeof(*lanes);

		lanes = tare_xmalloc(size + 1);
		is_read = tare_log_pread(fd, lanes, size, TARE_RING_HEADER_BYTES) == size;
		l->lane_nr = header.lane_nr;
		l->log_end = header.log_end;
	}
	for (uint32_t i = 0; is_read && i < l->lane_nr; i++) {
		l->lanes[i].tail = lanes[i].tail;
		l->lanes[i].head = lanes[i].head;
		l->lanes[i].plan = lanes[i].plan;
		is_read = !lanes[i].lost && !lanes[i].has_no_file;
	}
	free(lanes);
	if (fd >= 0)
		close(fd);
	return is_read;
}

static void bound(const struct tare_growing *g, const struct tare_growing_log *l, uint64_t stamp, int64_t *complete_ns)
{
	int64_t ns = tare_recording_ns(g->recording, l->process, stamp);

	*complete_ns = ns < *complete_ns ? ns : *complete_ns;
}

/* What a thread has published was read, or is later than the last that was. */
static bool read_program(struct tare_growing *g, struct tare_growing_log *l, int64_t *complete_ns)
{
	if (!read_heads(l) || !read_log(g, l))
		return false;
	for (uint32_t i = 0; i < l->lane_nr; i++)
		if (l->lanes[i].head > l->lanes[i].position)
			bound(g, l, l->lanes[i].last_stamp, complete_ns);
	return true;
}

static bool read_other(struct tare_growing *g, struct tare_growing_log *l, int64_t *complete_ns)
{
	if (!read_log(g, l))
		return false;
	if (l->process->public.role == TARE_ROLE_TARE)
		bound(g, l, l->last_stamp, complete_ns);
	return true;
}

static void settle_tables(struct tare_growing *g)
{
	size_t left = 0;

	for (size_t i = 0; i < g->recording->clock_nr; i++)
		tare_clockmap_go_on(g->recording->clocks[i]);
	for (size_t i = 0; i < g->unsettled_nr; i++) {
		struct tare_unsettled_lines *u = &g->unsettled_lines[i];

		if (!tare_recording_settle_lines(g->recording, u->process, u->stack))
			g->unsettled_lines[left++] = *u;
	}
	g->unsettled_nr = left;
}

bool tare_growing_read_logs(struct tare_growing *g, int64_t *complete_ns)
{
	size_t device_nr = g->recording->device_nr;

	*complete_ns = INT64_MAX;
	g->is_folder_new = has_changed(g);
	if (g->is_folder_new && has_new_log(g))
		return false;
	for (size_t i = 0; i < g->log_nr; i++) {
		struct tare_growing_log *l = &g->logs[i];

		if (!(l->ring_path ? read_program(g, l, complete_ns) : read_other(g, l, complete_ns)))
			return false;
	}
	settle_tables(g);
	return device_nr == g->recording->device_nr;
}
