/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_LOG_EMIT_H
#define TARE_RECORDER_LOG_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format.h"
#include "recorder/elf/objects.h"
#include "recorder/ring/ring.h"

/* Writing records: names, stacks and objects once each, events as they come. */

/* The id under which a text stands in the log; writes it the first time. 0: nothing is recorded. */
uint32_t tare_emit_string(const char *text);
/* The same of a path, or what the log gets of it. */
uint32_t tare_emit_path(const char *path);

/* The calling thread's native stack, from the first frame outside the recorder. 0: none. */
uint32_t tare_emit_stack(void);
/* The same, as far as the first frame in `last`. */
uint32_t tare_emit_stack_until(const struct tare_code *last);

/*
 * The ids of a source line (strings of its file and function, 0: no line) and of a stack of such ids,
 * innermost first, as they stand in the log; written the first time. 0: nothing is recorded. `hash` tells the
 * stack from all others.
 */
uint32_t tare_emit_line(uint32_t file, uint32_t function, uint32_t line);
uint32_t tare_emit_line_stack(uint64_t hash, const uint64_t *lines, uint32_t depth);
uint32_t tare_emit_line_stack_known(uint64_t hash); /* 0: the log does not have it */

/*
 * tare_emit_event(&rec, stamp), tare_emit_pool(&rec, stamp), …: one function for each kind of the class EVENT without a
 * tail, which copies the record, all but its head, into the log. False: it is not in the log. A copy of known size is
 * no call. Where there are many, tare_emit_often() is quicker.
 */
#define TARE_EMIT_EVENT_NONE(name, key)                                                                                \
	static inline bool tare_emit_##name(const struct tare_rec_##name *rec, uint64_t stamp)                             \
	{                                                                                                                  \
		struct tare_put put;                                                                                           \
		struct tare_record *to = tare_ring_begin(&put, TARE_KIND_##key, sizeof(*rec));                                 \
                                                                                                                       \
		if (!to)                                                                                                       \
			return false;                                                                                              \
		to->stamp = stamp;                                                                                             \
		__builtin_memcpy(to + 1, &rec->head + 1, sizeof(*rec) - sizeof(*to));                                          \
		tare_ring_end(&put);                                                                                           \
		return true;                                                                                                   \
	}

/* tare_emit_device(&rec, text), …: the same for kinds with a text, which is cut if it is very long. Stamped with now. */
#define TARE_EMIT_KEPT_TEXT(name, key)                                                                                 \
	static inline bool tare_emit_##name(const struct tare_rec_##name *rec, const char *text)                           \
	{                                                                                                                  \
		return tare_emit_text(TARE_KIND_##key, &rec->head, sizeof(*rec), text);                                        \
	}
#define TARE_EMIT_EVENT_TEXT(name, key) TARE_EMIT_KEPT_TEXT(name, key)
bool tare_emit_text(enum tare_kind kind, const struct tare_record *rec, uint32_t size, const char *text);

/* Tables have functions of their own, above; the others are not written by the recorder, or by its ring. */
#define TARE_EMIT_KEPT_NONE(name, key)
#define TARE_EMIT_TABLE_NONE(name, key)
#define TARE_EMIT_TABLE_TEXT(name, key)
#define TARE_EMIT_TABLE_PCS(name, key)
#define TARE_EMIT_PART_NONE(name, key)
#define TARE_EMIT_FRAME_NONE(name, key)

#define F(type, field, role)
#define TARE_RECORD(id, key, name, cls, fields, tail) TARE_EMIT_##cls##_##tail(name, key)
#include "record/record.def"

/*
 * The same of a record of two or three cells (`size` bytes) of which there are more than of all others: TENSOR, MODULE.
 * It calls nothing, and both run the same few cache lines of code.
 */
bool tare_emit_often(enum tare_kind kind, const struct tare_record *rec, uint32_t size, uint64_t stamp);
void tare_emit_launch(const char *text, uint32_t bytes);
void tare_emit_status(int status); /* as exit() was given it */
/* Stamped with now, which is as long after `since`, before the reading, as it `took`. */
void tare_emit_reading_since(struct tare_rec_reading *reading, uint64_t since);
void tare_emit_clock(void);
void tare_emit_end_of_log(uint32_t how, uint64_t weigh_ticks, uint64_t run_ticks, uint64_t most_resident);

/*
 * known_stacks.c: which stacks are in the log, and under which ids: of native frames and of lines, each by a hash of 64 bits that tells
 * it from all others. A table of a fixed size, without locks: where there is no room, one that was there before is
 * forgotten, and would merely be written again. 0: it is not known in this log.
 */
uint32_t tare_known_stack(uint64_t hash, uint32_t epoch);
/* Called after the record was written, so that nobody refers to an id before the log explains it. */
void tare_known_stack_keep(uint64_t hash, uint32_t epoch, uint32_t id);

/* At the start: every allocation will have one, or some will. Takes 16 MiB of zero pages, or one, where without there are 128 KiB. */
void tare_known_stacks_expect(bool are_all);

/*
 * paths.c: with `--no-paths` no path gets into the log, only what record/path.h leaves of it. `tare` still needs to find the
 * programs and libraries, to look up the names of their functions: it is told of them in a file of its memory,
 * which has no name but /proc/PID/fd/N, the value of TARE_NO_PATHS, and is gone when `tare` is.
 */

/* What the log gets of a path: all of it, unless TARE_NO_PATHS is set. */
const char *tare_paths_of_log(const char *path);

enum { TARE_PATHS_ROOM = 1024 }; /* stacks are small */

/* The path of a library from the root on, in `room` if it was no such path; or `path`, where that cannot be known. */
const char *tare_paths_absolute(const char *path, char *room, size_t size);

/* Tells `tare` the path of an object; where it cannot be told, its functions have no names. */
void tare_paths_tell(const struct tare_rec_object *object, const char *path, uint32_t bytes);

#endif
