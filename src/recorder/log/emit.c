/* SPDX-License-Identifier: Apache-2.0 */
/* Records texts, objects and stacks once each, and says their ids. */
#include "recorder/log/emit.h"

#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "recorder/ring/put.h"
#include "recorder/unwind/row_cache.h"
#include "recorder/unwind/unwind.h"
#include "record/clock.h"

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

TARE_HOT static uint32_t known_find(uint64_t hash, uint32_t epoch)
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
		if (old == 1 || !__atomic_compare_exchange_n(&k->hash, &old, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
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

/* A record with a text behind its fields, the last of which is how long that is. */
static bool write_text(enum tare_kind kind, const struct tare_record *rec, uint32_t size, const char *text,
                       uint32_t bytes)
{
	struct tare_put put;
	struct tare_record *to = tare_ring_begin(&put, kind, size + bytes);

	if (!to)
		return false;
	to->stamp = tare_clock_ticks();
	memcpy(to + 1, rec + 1, size - sizeof(*to));
	memcpy((uint8_t *)to + size - sizeof(bytes), &bytes, sizeof(bytes));
	memcpy((uint8_t *)to + size, text, bytes);
	tare_ring_end(&put);
	return true;
}

static uint32_t text_bytes(const char *text)
{
	size_t n = strlen(text);

	return n < TEXT_LIMIT ? (uint32_t)n : TEXT_LIMIT;
}

/* Kinds whose text is a path: their length has the role PATH. */
#define TARE_FIELD_WORD(words)                        TARE_FIELD_WORD
#define TARE_FIELD_FLAGS(words)                       TARE_FIELD_FLAGS
#define F(type, field, role)                          || TARE_FIELD_##role == TARE_FIELD_PATH
#define TARE_RECORD(id, key, name, cls, fields, tail) [TARE_KIND_##key] = false fields,
static const bool is_path[TARE_KIND_NR] = {
#include "record/record.def"
};
#undef TARE_FIELD_FLAGS
#undef TARE_FIELD_WORD

bool tare_emit_text(enum tare_kind kind, const struct tare_record *rec, uint32_t size, const char *text)
{
	if (is_path[kind])
		text = tare_paths_of_log(text);
	return write_text(kind, rec, size, text, text_bytes(text));
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
	if (!write_text(TARE_KIND_STRING, &rec.head, sizeof(rec), text, bytes))
		return 0;
	known_add(hash, tare_ring_epoch(), id); /* the first record opens the log: a new epoch */
	return id;
}

uint32_t tare_emit_path(const char *path)
{
	return tare_emit_string(tare_paths_of_log(path));
}

/*
 * Objects that are in the log, and pages of code of which the object is. After an unload all are written again when they
 * are seen again: a reader takes an object to be there until another is written at its addresses.
 */
enum { SEEN_OBJECTS = 512, SEEN_PAGES = 1024, PAGE_BITS = 12 };
static uint64_t seen_objects[SEEN_OBJECTS], seen_pages[SEEN_PAGES];

/* What tells a log from others, and the objects of now from those of before an unload. */
static uint64_t objects_salt(uint32_t epoch)
{
	return tare_row_mix(epoch + (tare_objects_epoch().unloads << 32));
}

__attribute__((noinline)) static bool write_object(const struct tare_rec_object *rec, const char *path)
{
	char room[TARE_PATHS_ROOM];

	path = tare_paths_absolute(path, room, sizeof(room));
	if (!tare_emit_text(TARE_KIND_OBJECT, &rec->head, sizeof(*rec), path))
		return false;
	if (tare_config.no_paths)
		tare_paths_tell(rec, path, text_bytes(path));
	return true;
}

static void emit_object_of(uint64_t pc)
{
	uint32_t epoch = tare_ring_epoch();
	struct tare_elf_object object;
	struct tare_rec_object rec;
	uint64_t hash, *seen;

	if (!tare_elf_object_at((const void *)(uintptr_t)pc, &object))
		return;
	hash =
		tare_plib_hash(object.path, text_bytes(object.path)) ^ object.base * 0x9e3779b97f4a7c15u ^ objects_salt(epoch);
	seen = &seen_objects[tare_row_mix(hash) % SEEN_OBJECTS];
	if (__atomic_load_n(seen, __ATOMIC_ACQUIRE) == hash)
		return;
	memset(&rec, 0, sizeof(rec));
	rec.base = object.base;
	rec.begin = object.begin;
	rec.end = object.end;
	memcpy(&rec.build_id_0, object.build_id, 16);
	if (write_object(&rec, object.path))
		__atomic_store_n(seen, hash, __ATOMIC_RELEASE);
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

static void emit_object_at(uint64_t pc, uint32_t epoch)
{
	uint64_t page = (pc >> PAGE_BITS) + 1, *seen = &seen_pages[page % SEEN_PAGES];
	uint64_t key = page ^ objects_salt(epoch);

	if (__atomic_load_n(seen, __ATOMIC_RELAXED) == key)
		return;
	emit_object_of(pc);
	__atomic_store_n(seen, key, __ATOMIC_RELAXED);
}

uint32_t tare_emit_stack(void)
{
	return tare_emit_stack_until(NULL);
}

/* A stack that the log does not have. */
static uint32_t write_stack(const uintptr_t *pcs, uint32_t depth, uint32_t epoch)
{
	struct tare_rec_stack *rec;
	struct tare_put put;
	uint32_t id, i;

	for (i = 0; i < depth; i++)
		emit_object_at(pcs[i], epoch);
	rec = (struct tare_rec_stack *)tare_ring_begin(&put, TARE_KIND_STACK, (uint32_t)sizeof(*rec) + depth * 8);
	if (!rec)
		return 0;
	rec->head.stamp = tare_clock_ticks();
	rec->id = id = new_id();
	rec->depth = depth;
	for (i = 0; i < depth; i++)
		((uint64_t *)(rec + 1))[i] = pcs[i];
	tare_ring_end(&put);
	return id;
}

/* The id in the log of a stack that was walked; it is written if it has none. */
static uint32_t id_of_stack(const uintptr_t *frames, int all, uint32_t epoch)
{
	int own = skip_own_frames(frames, all);
	const uintptr_t *pcs = frames + own;
	uint32_t id, depth;
	uint64_t hash;

	if (all <= own)
		return 0;
	depth = (uint32_t)(all - own);
	hash = tare_plib_hash(pcs, depth * sizeof(*pcs)) ^ objects_salt(0);
	id = tare_known_stack(hash, epoch);
	if (id)
		return id;
	id = write_stack(pcs, depth, epoch);
	if (id)
		tare_known_stack_keep(hash, tare_ring_epoch(), id);
	return id;
}

uint32_t tare_emit_stack_until(const struct tare_code *last)
{
	uintptr_t frames[STACK_FRAMES];
	uint32_t epoch = tare_ring_epoch(), id;
	struct tare_seen *seen;
	int all;

	if (tare_ring_is_giving_up())
		return 0;
	tare_objects_check(); /* a library may lie where another was */
	/* Without a log, for ulimit -v leaves too little, no table is mapped either. */
	seen = likely(tare_ring_is_open()) ? tare_seen_take() : NULL;
	all = tare_unwind_again(frames, STACK_FRAMES, last, seen, epoch, &id);
	if (unlikely(!id))
		id = id_of_stack(frames, all, epoch);
	tare_seen_give_back(seen, epoch == tare_ring_epoch() ? id : 0, epoch);
	return id;
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

TARE_HOT uint32_t tare_emit_line_stack_known(uint64_t hash)
{
	return tare_known_stack(hash, tare_ring_epoch());
}

uint32_t tare_emit_line_stack(uint64_t hash, const uint64_t *lines, uint32_t depth)
{
	struct tare_rec_line_stack *rec;
	struct tare_put put;
	uint32_t id;

	rec = (struct tare_rec_line_stack *)tare_ring_begin(&put, TARE_KIND_LINE_STACK, (uint32_t)sizeof(*rec) + depth * 8);
	if (!rec)
		return 0;
	rec->head.stamp = tare_clock_ticks();
	rec->id = id = new_id();
	rec->depth = depth;
	memcpy(rec + 1, lines, depth * sizeof(*lines));
	tare_ring_end(&put);
	tare_known_stack_keep(hash, tare_ring_epoch(), id);
	return id;
}

TARE_HOT bool tare_emit_often(enum tare_kind kind, const struct tare_record *rec, uint32_t size, uint64_t stamp)
{
	struct tare_put put;

	_Static_assert(sizeof(struct tare_rec_tensor) == 3 * TARE_CELL, "whole cells");
	_Static_assert(sizeof(struct tare_rec_module) == 2 * TARE_CELL, "whole cells");
	_Static_assert(sizeof(*rec) == TARE_CELL, "the head is one");
	if (!tare_put_begin(&put, size))
		return false;
	put.rec->stamp = stamp;
	__builtin_memcpy(put.rec + 1, rec + 1, TARE_CELL);
	if (size > 2 * TARE_CELL)
		__builtin_memcpy(put.rec + 2, rec + 2, TARE_CELL);
	tare_put_end(&put, kind);
	return true;
}

void tare_emit_launch(const char *text, uint32_t bytes)
{
	struct tare_rec_launch rec = { .reserved0 = 0 };

	write_text(TARE_KIND_LAUNCH, &rec.head, sizeof(rec), text, bytes);
}

static void write_table(enum tare_kind kind, const struct tare_record *rec, uint32_t size)
{
	struct tare_put put;
	struct tare_record *to = tare_ring_begin(&put, kind, size);

	if (!to)
		return;
	to->stamp = rec->stamp;
	memcpy(to + 1, rec + 1, size - sizeof(*to));
	tare_ring_end(&put);
}

void tare_emit_status(int status)
{
	struct tare_rec_status rec;

	memset(&rec, 0, sizeof(rec));
	rec.head.stamp = tare_clock_ticks();
	rec.pid = tare_sys_getpid();
	rec.generation = TARE_LAST_GENERATION;
	rec.status = (uint32_t)(status & 0xff) << 8;
	write_table(TARE_KIND_STATUS, &rec.head, sizeof(rec));
}

void tare_emit_reading_since(struct tare_rec_reading *reading, uint64_t since)
{
	uint64_t now = tare_clock_ticks();

	reading->took = now - since;
	tare_emit_reading(reading, now);
}

void tare_emit_clock(void)
{
	struct tare_rec_clock rec;

	memset(&rec, 0, sizeof(rec));
	rec.monotonic_ns = tare_sys_now_ns(CLOCK_MONOTONIC);
	rec.head.stamp = rec.ticks = tare_clock_ticks();
	rec.realtime_ns = tare_sys_now_ns(CLOCK_REALTIME);
	write_table(TARE_KIND_CLOCK, &rec.head, sizeof(rec));
}

void tare_emit_end_of_log(uint32_t how, uint64_t weigh_ticks, uint64_t run_ticks, uint64_t most_resident)
{
	struct tare_rec_end rec;

	tare_emit_clock();
	rec.tid = tare_sys_gettid();
	rec.how = how;
	rec.weigh_ticks = weigh_ticks;
	rec.run_ticks = run_ticks;
	rec.most_resident = most_resident;
	tare_emit_end(&rec, tare_clock_ticks());
}
