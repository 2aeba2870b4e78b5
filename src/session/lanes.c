/* SPDX-License-Identifier: Apache-2.0 */
/* Drains the lanes of one recorded process into its log. */
#include "session/lanes.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "trace/log_out.h"
#include "record/allowance.h"
#include "record/lane.h"
#include "record/schema_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURNS = 100 };

struct tare_lanes {
	struct tare_control *control; /* NULL: anything may be written */
	struct tare_log_out log;
	struct tare_file_header header;
	uint32_t lane_bytes;
	uint8_t *base;
	uint64_t span;
	struct tare_ring_header *ring;
	struct tare_lane *table;
	uint8_t *block;
	/* Of what is under way, which a truncated ring may end anywhere. */
	uint64_t bytes, lost, settled, oldest;
	uint32_t lost_reason;
	int error;
	bool is_empty, is_finished;
};

/* All lanes that there could ever be: those beyond the end of the file are not touched. */
static bool map(struct tare_lanes *l, int fd)
{
	struct tare_ring_header head;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)TARE_RING_LANES_AT ||
	    pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.magic, TARE_RING_MAGIC, sizeof(head.magic)) != 0 || head.version > TARE_FORMAT_VERSION ||
	    !tare_lane_bytes_are_sane(head.lane_bytes) || !tare_schema_is_begin(head.file.header_bytes) ||
	    (head.file.chunk_bytes && !tare_chunk_bytes_are_sane(head.file.chunk_bytes)))
		return false;
	l->header = head.file;
	l->log.chunks = (struct tare_chunks){ head.file.header_bytes, head.file.chunk_bytes };
	l->lane_bytes = head.lane_bytes;
	l->span = tare_lane_offset(l->lane_bytes, TARE_LANES_MAX);
	l->base = mmap(NULL, l->span, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l->base == MAP_FAILED)
		return false;
	l->ring = (struct tare_ring_header *)(void *)l->base;
	l->table = (struct tare_lane *)(void *)(l->base + TARE_RING_HEADER_BYTES);
	return true;
}

struct tare_lanes *tare_lanes_open(const char *stem, struct tare_control *control)
{
	struct tare_lanes *l = tare_xcalloc(1, sizeof(*l));
	char *ring = tare_str_format("%s.ring", stem);
	int fd = open(ring, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	bool is_ours = fd >= 0 && map(l, fd);

	if (fd >= 0)
		close(fd);
	free(ring);
	if (!is_ours) {
		free(l);
		return NULL;
	}
	l->control = control;
	l->log.fd = -1;
	l->log.path = tare_str_format("%s.events", stem);
	l->block = tare_xmalloc(TARE_BLOCK_MAX);
	return l;
}

void tare_lanes_close(struct tare_lanes *l)
{
	if (!l)
		return;
	munmap(l->base, l->span);
	free(l->log.path);
	free(l->block);
	free(l);
}

void tare_lanes_allow_all(struct tare_lanes *l)
{
	l->control = NULL;
}

const struct tare_file_header *tare_lanes_header(const struct tare_lanes *l)
{
	return &l->header;
}

static int write_log(void *arg, const void *bytes, uint64_t size, uint64_t position)
{
	struct tare_lanes *l = arg;

	if (l->control && !tare_allowance_take(l->control, size))
		return TARE_ALLOWANCE_IS_USED_UP;
	return tare_log_out_write(&l->log, bytes, size, position);
}

static struct tare_lane_view view_of(const struct tare_lanes *l, uint32_t index)
{
	return (struct tare_lane_view){ .lane = &l->table[index],
		                            .bytes = l->base + tare_lane_offset(l->lane_bytes, index),
		                            .size = tare_lane_bytes(l->lane_bytes, index),
		                            .index = index };
}

static uint32_t lane_nr(const struct tare_lanes *l)
{
	uint32_t nr = __atomic_load_n(&l->ring->lane_nr, __ATOMIC_ACQUIRE);

	return nr < TARE_LANES_MAX ? nr : TARE_LANES_MAX;
}

static bool is_empty(const struct tare_lane *lane)
{
	return __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE) == __atomic_load_n(&lane->head, __ATOMIC_ACQUIRE);
}

static struct tare_lane_drain drain_of(struct tare_lanes *l)
{
	return (struct tare_lane_drain){ .log_end = &l->ring->log_end, .write = write_log, .arg = l, .block = l->block };
}

static void drain_lanes(void *arg)
{
	struct tare_lanes *l = arg;
	struct tare_lane_drain drain = drain_of(l);
	uint32_t nr = lane_nr(l);

	for (uint32_t i = 0; i < nr; i++) {
		struct tare_lane_view view = view_of(l, i);
		uint64_t most = view.size; /* then it is another lane's turn */
		int64_t n = 1;

		while (n > 0 && most > 0 && !is_empty(view.lane) && !view.lane->has_no_file) {
			n = tare_lane_drain(&view, &drain);
			most -= n > 0 && (uint64_t)n < most ? (uint64_t)n : most;
			l->bytes += n > 1 ? (uint64_t)n : 0;
		}
		if (n < 0)
			l->error = (int)n;
		if (n < 0 && n != -EBADMSG)
			return;
	}
}

/* Work that touches the mapping; 0, or what was met first. */
static int guarded(struct tare_lanes *l, void (*work)(void *))
{
	l->error = 0;
	if (!tare_bus_guard(work, l))
		l->error = -EFAULT;
	tare_log_out_close_file(&l->log);
	return l->error;
}

int tare_lanes_drain(struct tare_lanes *l, uint64_t *bytes)
{
	int rc;

	l->bytes = 0;
	rc = guarded(l, drain_lanes);
	*bytes = l->bytes;
	return rc;
}

static void settle_lanes(void *arg)
{
	struct tare_lanes *l = arg;
	struct tare_lane_drain drain = drain_of(l);
	uint64_t below = __atomic_fetch_add(&l->ring->log_end, TARE_CELL, __ATOMIC_ACQ_REL);
	uint32_t nr = lane_nr(l);

	if (below % TARE_CELL || below >= TARE_PLAN_BEGIN_MAX) {
		l->error = -EBADMSG;
		return;
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct tare_lane_view view = view_of(l, i);

		below = tare_lane_settle(&view, &drain, below);
	}
	l->settled = below;
}

int tare_lanes_settle(struct tare_lanes *l, uint64_t *below)
{
	int rc;

	l->settled = 0;
	rc = guarded(l, settle_lanes);
	*below = rc ? 0 : l->settled;
	return rc;
}

/* 0: it was drained meanwhile, so what follows is asked for; the lane has a later one. */
static uint64_t first_stamp(const struct tare_lane_view *view)
{
	uint64_t tail = __atomic_load_n(&view->lane->tail, __ATOMIC_ACQUIRE), stamp;

	if (tail == __atomic_load_n(&view->lane->head, __ATOMIC_ACQUIRE))
		return UINT64_MAX;
	stamp = __atomic_load_n(&tare_lane_record(view, tail)->stamp, __ATOMIC_ACQUIRE);
	return tail == __atomic_load_n(&view->lane->tail, __ATOMIC_ACQUIRE) ? stamp : 0;
}

static void find_oldest(void *arg)
{
	struct tare_lanes *l = arg;
	uint32_t nr = lane_nr(l);

	l->oldest = UINT64_MAX;
	for (uint32_t i = 0; i < nr; i++) {
		struct tare_lane_view view = view_of(l, i);
		uint64_t stamp = 0;

		if (view.lane->has_no_file)
			continue;
		for (int turn = 0; turn < TURNS && !stamp; turn++)
			stamp = first_stamp(&view);
		l->oldest = stamp < l->oldest ? stamp : l->oldest;
	}
}

uint64_t tare_lanes_oldest(struct tare_lanes *l)
{
	return guarded(l, find_oldest) ? 0 : l->oldest;
}

/* A record on its own, outside of any block. */
static void add_lost(struct tare_lanes *l, struct tare_rec_lost *rec)
{
	uint64_t position = __atomic_fetch_add(&l->ring->log_end, sizeof(*rec), __ATOMIC_RELAXED);

	if (position % TARE_CELL || position > TARE_PLAN_BEGIN_MAX)
		return;
	rec->head = (struct tare_record){
		.seal = tare_seal(position), .kind = TARE_KIND_LOST, .cells = sizeof(*rec) / TARE_CELL, .stamp = rec->last
	};
	l->error = write_log(l, rec, sizeof(*rec), position);
}

static void tell_lost(void *arg)
{
	struct tare_lanes *l = arg;
	uint32_t nr = lane_nr(l);

	for (uint32_t i = 0; i < nr && !l->error; i++) {
		const struct tare_lane *lane = &l->table[i];
		struct tare_rec_lost rec = { .records = lane->lost - lane->lost_told,
			                         .first = lane->lost_first,
			                         .last = lane->lost_last,
			                         .tid = lane->tid,
			                         .reason = lane->lost_reason };

		if (rec.records)
			add_lost(l, &rec);
	}
	if (l->ring->lost && !l->error)
		add_lost(l, &(struct tare_rec_lost){ .records = l->ring->lost,
		                                     .first = l->ring->lost_first,
		                                     .last = l->ring->lost_last,
		                                     .reason = TARE_LOST_NO_LANE });
}

int tare_lanes_tell_lost(struct tare_lanes *l)
{
	return guarded(l, tell_lost);
}

static void look_at_lanes(void *arg)
{
	struct tare_lanes *l = arg;
	uint32_t nr = lane_nr(l);

	l->lost = l->ring->lost;
	l->lost_reason = TARE_LOST_NO_LANE;
	l->is_empty = true;
	for (uint32_t i = 0; i < nr; i++) {
		l->lost += l->table[i].lost;
		if (l->table[i].lost)
			l->lost_reason = l->table[i].lost_reason;
		l->is_empty = l->is_empty && (is_empty(&l->table[i]) || l->table[i].has_no_file);
	}
}

bool tare_lanes_are_empty(struct tare_lanes *l)
{
	return !guarded(l, look_at_lanes) && l->is_empty;
}

uint64_t tare_lanes_lost(struct tare_lanes *l, uint32_t *reason)
{
	l->lost = 0;
	guarded(l, look_at_lanes);
	if (l->lost)
		*reason = l->lost_reason;
	return l->lost;
}

static void look_at_end(void *arg)
{
	struct tare_lanes *l = arg;

	l->is_finished = __atomic_load_n(&l->ring->finished, __ATOMIC_ACQUIRE) == 1;
}

bool tare_lanes_are_finished(struct tare_lanes *l)
{
	return !guarded(l, look_at_end) && l->is_finished;
}
