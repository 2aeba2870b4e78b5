/* SPDX-License-Identifier: Apache-2.0 */
/* What happens, as all parts that take it are told: the lists of parts.def, spelled out when this is compiled. */
#ifndef TARE_LEDGER_PARTS_H
#define TARE_LEDGER_PARTS_H

#include "ledger/advice/facts.h"
#include "ledger/core/change.h"
#include "ledger/core/fold.h"

#include "ledger/parts/parts.def"

struct tare_parts {
#define TARE_PART_STRUCT(name) struct tare_##name##_part name;
	TARE_PARTS(TARE_PART_STRUCT)
};

struct tare_parts *tare_parts_new(void);
void tare_parts_free(struct tare_fold *f); /* state/state.c */
void tare_parts_begin(struct tare_fold *f);
void tare_parts_event(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
void tare_parts_phases(struct tare_fold *f); /* those that wait in f->phase_changes */
void tare_parts_rebase(struct tare_fold *f, const struct tare_device_fold *d, int64_t shift);
void tare_parts_finish(struct tare_fold *f);
void tare_parts_device_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                            struct tare_arena *memory, struct tare_device_ledger *out);
void tare_parts_doubt(const struct tare_fold *f, int64_t t, struct tare_ledger *out);
void tare_parts_rows(const struct tare_fold *f, struct tare_ledger *out);

/* What a part asked to look at: tare_block.looker. */
enum tare_looker {
#define TARE_PART_LOOKER(name) TARE_LOOKER_##name,
	TARE_PARTS_LOOK(TARE_PART_LOOKER) TARE_PARTS_LOOK_AT_ROWS(TARE_PART_LOOKER)
};

struct tare_asked {
	enum tare_looker looker;
	size_t what; /* plus 1; 0: nothing */
};

/* For every record of a device. */
static inline struct tare_asked tare_parts_ask(struct tare_fold *f, struct tare_device_fold *d,
                                               const struct tare_event *e)
{
	switch (e->kind) {
#define TARE_TELL_ASK(name, KIND)                                                                                      \
	case TARE_KIND_##KIND:                                                                                             \
		return (struct tare_asked){ TARE_LOOKER_##name, tare_##name##_ask(&f->parts->name, f, d, e) };
		TARE_PARTS_ASK(TARE_TELL_ASK)
	default:
		return (struct tare_asked){ 0, 0 };
	}
}

static inline bool tare_parts_looks_at_rows(enum tare_looker looker)
{
#define TARE_PART_LOOKS(name)                                                                                          \
	if (looker == TARE_LOOKER_##name)                                                                                  \
		return true;
	TARE_PARTS_LOOK_AT_ROWS(TARE_PART_LOOKS)
	return false;
}

/* `rows` of who looks at them, else NULL. */
static inline void tare_parts_look(struct tare_fold *f, struct tare_asked look, const struct tare_ledger *rows)
{
#define TARE_TELL_LOOK(name)                                                                                           \
	if (look.looker == TARE_LOOKER_##name)                                                                             \
		tare_##name##_look(&f->parts->name, f, look.what - 1);
#define TARE_TELL_LOOK_AT_ROWS(name)                                                                                   \
	if (look.looker == TARE_LOOKER_##name)                                                                             \
		tare_##name##_look(&f->parts->name, f, look.what - 1, rows);
	TARE_PARTS_LOOK(TARE_TELL_LOOK)
	TARE_PARTS_LOOK_AT_ROWS(TARE_TELL_LOOK_AT_ROWS)
}

static inline void tare_parts_gone(struct tare_fold *f, const struct tare_object_live *o)
{
#define TARE_TELL_GONE(name) tare_##name##_gone(&f->parts->name, f, o);
	TARE_PARTS_GONE(TARE_TELL_GONE)
}

static inline void tare_parts_call(struct tare_fold *f, const struct tare_step *s)
{
#define TARE_TELL_CALL(name) tare_##name##_call(&f->parts->name, f, s);
	TARE_PARTS_CALL(TARE_TELL_CALL)
}

static inline void tare_parts_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
#define TARE_TELL_ADVANCE(name) tare_##name##_advance(&f->parts->name, f, d, t);
	TARE_PARTS_ADVANCE(TARE_TELL_ADVANCE)
}

static inline void tare_parts_host(struct tare_fold *f, int64_t t)
{
#define TARE_TELL_HOST(name) tare_##name##_host(&f->parts->name, f, t);
	TARE_PARTS_HOST(TARE_TELL_HOST)
}

static inline void tare_parts_used(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
#define TARE_TELL_USED(name) tare_##name##_used(&f->parts->name, f, d, t);
	TARE_PARTS_USED(TARE_TELL_USED)
}

/* Told of every block. */
static inline void tare_parts_block(struct tare_fold *f, const struct tare_block_change *c)
{
#define TARE_TELL_BLOCK(name) tare_##name##_block(&f->parts->name, f, c);
	TARE_PARTS_BLOCK(TARE_TELL_BLOCK)
}

/* Up to which moment nothing waits for the device to advance. */
static inline int64_t tare_parts_calm_until(const struct tare_fold *f, const struct tare_device_fold *d)
{
	int64_t calm = INT64_MAX, until;

#define TARE_TELL_CALM_UNTIL(name)                                                                                     \
	until = tare_##name##_calm_until(&f->parts->name, d);                                                              \
	calm = until < calm ? until : calm;
	TARE_PARTS_CALM_UNTIL(TARE_TELL_CALM_UNTIL)
	return calm;
}

/* After every event, where it is asked for: ends the program with a sentence if a part is wrong. */
#ifdef TARE_CHECK
void tare_parts_check(const struct tare_fold *f);
#else
static inline void tare_parts_check(const struct tare_fold *f)
{
	(void)f;
}
#endif

#endif
