/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_SERIES_H
#define TARE_FIT_SERIES_H

#include "fit/table.h"

/* What a sweep's file or a recording has measured, as tables: one per quantity that has a law. */
enum tare_series_kind {
	TARE_SERIES_NEED, /* of the GPU with most, at its peak, without what is elastic */
	TARE_SERIES_PEAK, /* the same with what is elastic */
	TARE_SERIES_SECONDS,
	TARE_SERIES_PHASE,   /* need at the peak of a phase */
	TARE_SERIES_ACCOUNT, /* at the peak, without what is elastic */
	TARE_SERIES_CHANGE,  /* what a phase changed, of all or of one account */
};

/* The name of a series: what was resident of runs that opened no GPU. */
#define TARE_SERIES_RESIDENT "resident"

struct tare_series {
	enum tare_series_kind kind;
	const char *name; /* "need", "phase fill", "graphs" … : also the column of the values */
	bool is_outer;    /* PHASE: no phase is around it */
	struct tare_table table;
	size_t row_cap, column_cap;
};

struct tare_series_list {
	struct tare_arena arena;
	struct tare_series *items;
	size_t count, cap;
	bool is_simulated; /* a run used a GPU that is not there */
};

/*
 * The series of that kind and name, a new one if there is none. The pointer is good until the next call.
 */
struct tare_series *tare_series_get(struct tare_series_list *list, enum tare_series_kind kind, const char *name);
struct tare_series *tare_series_find(struct tare_series_list *list, const char *name); /* or NULL */

/* Adds an empty row; then sets cells of the last row. Texts are copied. */
void tare_series_row(struct tare_series_list *list, struct tare_series *s);
void tare_series_set(struct tare_series_list *list, struct tare_series *s, const char *column, const char *text);
void tare_series_set_number(struct tare_series_list *list, struct tare_series *s, const char *column, double v);

void tare_series_drop(struct tare_series_list *list, size_t at);

/* Removes the series of this kind that are below `least` in every row. */
void tare_series_drop_small(struct tare_series_list *list, enum tare_series_kind kind, double least);

void tare_series_free(struct tare_series_list *list);

/* db_series.c: series of the runs that ended well. TARE_E_EMPTY: no run did. */
struct tare_db;
int tare_series_of_db(struct tare_db *db, struct tare_series_list *out, struct tare_err *err);

/*
 * The cells that ran out of memory: one series, "room", with the memory of the card. The list may stay empty.
 */
int tare_series_failed_of_db(struct tare_db *db, struct tare_series_list *out, struct tare_err *err);

/* The path of a phase without the words key=value of its names: "solve/force_graph". */
char *tare_series_phase_name(struct tare_series_list *list, const char *path);

#endif
