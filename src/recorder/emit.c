/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/emit.h"

#include <string.h>

#include "recorder/elfsym.h"
#include "recorder/paths.h"
#include "recorder/plib.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/sys.h"
#include "recorder/unwind.h"
#include "recorder/weigh.h"
#include "trace/clock.h"

#define KNOWN_SLOTS  16384u /* a power of two; when a set is full, texts are merely written again */
#define KNOWN_PROBES 16u
#define STACK_FRAMES 32
#define TEXT_LIMIT   4000u

/*
 * What is already in the log: hash → id. Lock-free: an entry is claimed by its hash. Two threads
 * may write the same text twice under two ids, which costs some bytes and nothing else.
 */
struct known {
	uint64_t hash;
	uint32_t id;
	uint32_t epoch;
};
static struct known known[KNOWN_SLOTS];
static uint32_t next_id;

static uint32_t known_find(uint64_t hash, uint32_t epoch)
{
	uint32_t i;

	for (i = 0; i < KNOWN_PROBES; i++) {
		struct known *k = &known[(hash + i) & (KNOWN_SLOTS - 1)];

		if (__atomic_load_n(&k->hash, __ATOMIC_ACQUIRE) == hash && k->epoch == epoch)
			return __atomic_load_n(&k->id, __ATOMIC_ACQUIRE);
	}
	return 0;
}

/* Called after the record was written, so that nobody refers to an id before the log explains it. */
static void known_add(uint64_t hash, uint32_t epoch, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < KNOWN_PROBES; i++) {
		struct known *k = &known[(hash + i) & (KNOWN_SLOTS - 1)];
		uint64_t old = __atomic_load_n(&k->hash, __ATOMIC_ACQUIRE);

		if (old != 0 && k->epoch == epoch)
			continue;
		/* 1 marks an entry in the making: nobody's hash. */
		if (old == 1 || !__atomic_compare_exchange_n(&k->hash, &old, 1, false,
							     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		__atomic_store_n(&k->id, id, __ATOMIC_RELAXED);
		k->epoch = epoch;
		__atomic_store_n(&k->hash, hash, __ATOMIC_RELEASE);
		return;
	}
}

static uint32_t new_id(void)
{
	return __atomic_add_fetch(&next_id, 1, __ATOMIC_RELAXED);
}

/* A record with a text behind its fields. `fields` has everything but the head. */
static bool write_text(enum tare_kind kind, const void *fields, uint32_t size, const char *text,
		       uint32_t bytes)
{
	struct tare_put put;
	struct tare_record *rec = tare_ring_begin(&put, kind, size + bytes);

	if (!rec)
		return false;
	rec->stamp = tare_clock_ticks();
	memcpy(rec + 1, (const struct tare_record *)fields + 1, size - sizeof(*rec));
	memcpy((uint8_t *)rec + size, text, bytes);
	tare_ring_end(&put);
	return true;
}

static uint32_t text_bytes(const char *text)
{
	size_t n = strlen(text);

	return n < TEXT_LIMIT ? (uint32_t)n : TEXT_LIMIT;
}

uint32_t tare_emit_string(const char *text)
{
	uint32_t bytes, epoch = tare_ring_epoch(), id;
	struct tare_rec_string rec;
	uint64_t hash;

	if (!text)
		return 0;
	bytes = text_bytes(text);
	hash = tare_plib_hash(text, bytes) | 2;
	id = known_find(hash, epoch);
	if (id)
		return id;
	rec.id = id = new_id();
	rec.bytes = bytes;
	if (!write_text(TARE_KIND_STRING, &rec, sizeof(rec), text, bytes))
		return 0;
	known_add(hash, tare_ring_epoch(), id); /* the first record opens the log: a new epoch */
	return id;
}

uint32_t tare_emit_path(const char *path)
{
	return tare_emit_string(tare_paths_of_log(path));
}

static void emit_object_of(uint64_t pc)
{
	uint32_t epoch = tare_ring_epoch(), bytes;
	struct tare_elf_object object;
	struct tare_rec_object rec;
	const char *path;
	uint64_t hash;

	if (!tare_elf_object_at((const void *)(uintptr_t)pc, &object))
		return;
	hash = (tare_plib_hash(object.path, text_bytes(object.path)) ^
		object.base * 0x9e3779b97f4a7c15u) |
	       2;
	if (known_find(hash, epoch))
		return;
	path = tare_paths_of_log(object.path);
	bytes = text_bytes(path);
	memset(&rec, 0, sizeof(rec));
	rec.base = object.base;
	rec.begin = object.begin;
	rec.end = object.end;
	memcpy(&rec.build_id_0, object.build_id, 16);
	rec.bytes = bytes;
	if (!write_text(TARE_KIND_OBJECT, &rec, sizeof(rec), path, bytes))
		return;
	known_add(hash, epoch, 1);
	if (tare_config.no_paths)
		tare_paths_tell(&rec, object.path, text_bytes(object.path));
}

/* Our own frames, innermost, say nothing to the user. */
static int skip_own_frames(const uintptr_t *pcs, int depth)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char _end[] __attribute__((visibility("hidden")));
	int i = 0;

	while (i < depth && pcs[i] >= (uintptr_t)__ehdr_start && pcs[i] < (uintptr_t)_end)
		i++;
	return i;
}

uint32_t tare_emit_stack(void)
{
	uint32_t epoch = tare_ring_epoch(), id, depth;
	struct tare_rec_stack *rec;
	uintptr_t frames[STACK_FRAMES];
	const uintptr_t *pcs;
	struct tare_put put;
	uint64_t hash;
	int all, own;
	uint32_t i;

	tare_objects_check(); /* a library may lie where another was */
	all = tare_unwind(frames, STACK_FRAMES, NULL);
	own = skip_own_frames(frames, all);
	if (all <= own)
		return 0;
	pcs = frames + own;
	depth = (uint32_t)(all - own);
	hash = tare_plib_hash(pcs, depth * sizeof(*pcs)) | 2;
	id = known_find(hash, epoch);
	if (id)
		return id;
	for (i = 0; i < depth; i++)
		emit_object_of(pcs[i]);
	rec = (struct tare_rec_stack *)tare_ring_begin(&put, TARE_KIND_STACK,
						       (uint32_t)sizeof(*rec) + depth * 8);
	if (!rec)
		return 0;
	rec->head.stamp = tare_clock_ticks();
	rec->id = id = new_id();
	rec->depth = depth;
	for (i = 0; i < depth; i++)
		((uint64_t *)(rec + 1))[i] = pcs[i];
	tare_ring_end(&put);
	known_add(hash, tare_ring_epoch(), id);
	return id;
}

static bool emit_plain(enum tare_kind kind, const void *fields, uint32_t size, uint64_t stamp)
{
	struct tare_put put;
	struct tare_record *rec = tare_ring_begin(&put, kind, size);

	if (!rec)
		return false;
	rec->stamp = stamp;
	memcpy(rec + 1, (const struct tare_record *)fields + 1, size - sizeof(*rec));
	tare_ring_end(&put);
	return true;
}

uint32_t tare_emit_line(uint32_t file, uint32_t function, uint32_t line)
{
	const uint32_t key[4] = { TARE_KIND_LINE, file, function, line };
	uint64_t hash = tare_plib_hash(key, sizeof(key)) | 2;
	uint32_t id = known_find(hash, tare_ring_epoch());
	struct tare_rec_line *rec;
	struct tare_put put;

	if (id)
		return id;
	rec = (struct tare_rec_line *)tare_ring_begin(&put, TARE_KIND_LINE, sizeof(*rec));
	if (!rec)
		return 0;
	rec->head.stamp = tare_clock_ticks();
	rec->id = id = new_id();
	rec->file = file;
	rec->function = function;
	rec->line = line;
	tare_ring_end(&put);
	known_add(hash, tare_ring_epoch(), id);
	return id;
}

uint32_t tare_emit_line_stack_known(uint64_t hash)
{
	return known_find(hash | 2, tare_ring_epoch());
}

uint32_t tare_emit_line_stack(uint64_t hash, const uint64_t *lines, uint32_t depth)
{
	struct tare_rec_line_stack *rec;
	struct tare_put put;
	uint32_t id;

	rec = (struct tare_rec_line_stack *)tare_ring_begin(&put, TARE_KIND_LINE_STACK,
							    (uint32_t)sizeof(*rec) + depth * 8);
	if (!rec)
		return 0;
	rec->head.stamp = tare_clock_ticks();
	rec->id = id = new_id();
	rec->depth = depth;
	memcpy(rec + 1, lines, depth * sizeof(*lines));
	tare_ring_end(&put);
	known_add(hash | 2, tare_ring_epoch(), id);
	return id;
}

void tare_emit_event(const struct tare_rec_event *event, uint64_t stamp)
{
	emit_plain(TARE_KIND_EVENT, event, sizeof(*event), stamp);
}

void tare_emit_pool(const struct tare_rec_pool *pool, uint64_t stamp)
{
	emit_plain(TARE_KIND_POOL, pool, sizeof(*pool), stamp);
}

void tare_emit_mempool(const struct tare_rec_mempool *pool)
{
	emit_plain(TARE_KIND_MEMPOOL, pool, sizeof(*pool), tare_clock_ticks());
}

void tare_emit_graph(const struct tare_rec_graph *graph, uint64_t stamp)
{
	emit_plain(TARE_KIND_GRAPH, graph, sizeof(*graph), stamp);
}

void tare_emit_rss(const struct tare_rec_rss *rss, uint64_t stamp)
{
	emit_plain(TARE_KIND_RSS, rss, sizeof(*rss), stamp);
}

void tare_emit_tensor(const struct tare_rec_tensor *tensor, uint64_t stamp)
{
	struct tare_put put;
	struct tare_rec_tensor *rec =
		(struct tare_rec_tensor *)tare_ring_begin(&put, TARE_KIND_TENSOR, sizeof(*rec));

	if (!rec)
		return;
	rec->head.stamp = stamp;
	/* There are more of these than of all others: no calls. */
	__builtin_memcpy(&rec->head + 1, &tensor->head + 1, sizeof(*rec) - sizeof(rec->head));
	tare_ring_end(&put);
}

bool tare_emit_stream(const struct tare_rec_stream *stream)
{
	return emit_plain(TARE_KIND_STREAM, stream, sizeof(*stream), tare_clock_ticks());
}

void tare_emit_oom(const struct tare_rec_oom *oom)
{
	emit_plain(TARE_KIND_OOM, oom, sizeof(*oom), tare_clock_ticks());
}

void tare_emit_probe(const struct tare_rec_probe *probe)
{
	emit_plain(TARE_KIND_PROBE, probe, sizeof(*probe), tare_clock_ticks());
}

void tare_emit_pool_witness(const struct tare_rec_pool_witness *said, uint64_t stamp)
{
	emit_plain(TARE_KIND_POOL_WITNESS, said, sizeof(*said), stamp);
}

void tare_emit_sweep(const struct tare_rec_sweep *sweep)
{
	emit_plain(TARE_KIND_SWEEP, sweep, sizeof(*sweep), tare_clock_ticks());
}

void tare_emit_phase(const struct tare_rec_phase *phase, uint64_t stamp)
{
	emit_plain(TARE_KIND_PHASE, phase, sizeof(*phase), stamp);
}

void tare_emit_device(const struct tare_rec_device *device, const char *name)
{
	struct tare_rec_device rec = *device;

	rec.bytes = text_bytes(name);
	write_text(TARE_KIND_DEVICE, &rec, sizeof(rec), name, rec.bytes);
}

void tare_emit_card(const struct tare_rec_card *card, const char *name)
{
	struct tare_rec_card rec = *card;

	rec.bytes = text_bytes(name);
	write_text(TARE_KIND_CARD, &rec, sizeof(rec), name, rec.bytes);
}

void tare_emit_aside(int device, int64_t bytes)
{
	struct tare_rec_aside rec = { .device = device, .bytes = bytes };

	emit_plain(TARE_KIND_ASIDE, &rec, sizeof(rec), tare_clock_ticks());
}

void tare_emit_degraded(const char *sentence)
{
	struct tare_rec_degraded rec = { .bytes = 0 };

	rec.bytes = text_bytes(sentence);
	write_text(TARE_KIND_DEGRADED, &rec, sizeof(rec), sentence, rec.bytes);
}

void tare_emit_launch(const char *text, uint32_t bytes)
{
	struct tare_rec_launch rec = { .bytes = bytes };

	write_text(TARE_KIND_LAUNCH, &rec, sizeof(rec), text, bytes);
}

void tare_emit_status(int status)
{
	struct tare_rec_status rec;

	memset(&rec, 0, sizeof(rec));
	rec.pid = tare_sys_getpid();
	rec.generation = TARE_LAST_GENERATION;
	rec.status = (uint32_t)(status & 0xff) << 8;
	emit_plain(TARE_KIND_STATUS, &rec, sizeof(rec), tare_clock_ticks());
}

void tare_emit_reading(struct tare_rec_reading *reading, uint64_t since)
{
	uint64_t now = tare_clock_ticks();

	reading->took = now - since;
	emit_plain(TARE_KIND_READING, reading, sizeof(*reading), now);
}

void tare_emit_clock(void)
{
	struct tare_rec_clock rec;

	memset(&rec, 0, sizeof(rec));
	rec.monotonic_ns = tare_sys_now_ns(CLOCK_MONOTONIC);
	rec.ticks = tare_clock_ticks();
	rec.realtime_ns = tare_sys_now_ns(CLOCK_REALTIME);
	emit_plain(TARE_KIND_CLOCK, &rec, sizeof(rec), rec.ticks);
}

void tare_emit_end(uint32_t how)
{
	struct tare_rec_end rec;

	tare_emit_clock();
	rec.tid = tare_sys_gettid();
	rec.how = how;
	tare_weigh_account(&rec.weigh_ticks, &rec.run_ticks);
	emit_plain(TARE_KIND_END, &rec, sizeof(rec), tare_clock_ticks());
}
