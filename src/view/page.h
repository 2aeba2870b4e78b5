/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as one page that is looked at in a browser: `tare report REC --html FILE`. The page is that of web/, which is
 * inside the program, with data in the middle: what tare report --json prints of the peak and of the end, its views, memory over time, and
 * the stacks of some moments. Its size does not depend on the number of events.
 */
#ifndef TARE_VIEW_PAGE_H
#define TARE_VIEW_PAGE_H

#include "base/str.h"
#include "ledger/block_course.h"
#include "ledger/ledger.h"
#include "ledger/memory_history.h"
#include "ledger/step_curves.h"
#include "view/diff.h"

/* How many moments have stacks, besides the peak and the end. */
enum { TARE_PAGE_MOMENTS = 48 };

struct tare_emit;
struct tare_time_rows;

/* What PyTorch's allocator would have had with other settings. */
struct tare_page_setting {
	const char *conf; /* PYTORCH_CUDA_ALLOC_CONF; NULL: as recorded */
	uint64_t peak_reserved, driver_allocs;
	bool runs_out;
};

/* What the machine that makes the page has of a file of source. */
struct tare_page_source {
	struct tare_str text, why; /* why there is no text */
	struct tare_str leads_to;  /* the file that its name is a link to */
	bool is_newer;             /* than the recording: its lines may not be those that ran */
};

struct tare_page {
	const char *title;
	/* At the peak, at the end, and at the peak of tensors on the CPU where that is another; with tensors. */
	const struct tare_ledger *ledgers;
	int ledger_nr;
	const struct tare_ledger *moments; /* without */
	int moment_nr;
	bool is_confidential; /* names and paths are left out */
	const struct tare_memory_history *by_account;
	const struct tare_memory_history *by_category; /* NULL: nothing is known of tensors */
	const struct tare_block_courses *blocks;       /* one by one, over time; NULL: nothing is known of tensors */
	const struct tare_step_curves *step_curves;    /* of the first ledger; or NULL */
	const struct tare_page_setting *settings;      /* as recorded first */
	size_t setting_nr;
	/* Reads a file of source; NULL: the page has none, and `source_why` says why, or is NULL. */
	void (*read_source)(const void *of, const char *path, struct tare_page_source *out);
	const void *of_source;
	const char *source_why;
	const struct tare_time_rows *calls; /* of the driver, by account; NULL: not known */
	/* Adds what other tools show of processes at the peak, an object each. */
	void (*explain)(const void *of, struct tare_emit *e);
	const void *of_explain;
};

/* One of the recordings of a page that compares. */
struct tare_page_side {
	const char *source; /* as the user called it */
	const char *at;
	int64_t t_ns;                     /* -1: not known */
	const struct tare_ledger *ledger; /* NULL: of a saved report, which has no course of time */
	const struct tare_memory_history *by_account;
	const struct tare_memory_history *by_category; /* NULL: nothing is known of tensors */
};

/* The first recording and another, in one view. */
struct tare_page_pair {
	int after; /* index of the other */
	struct tare_diff diff;
};

struct tare_page_compare {
	const struct tare_page_side *sides;
	int side_nr;
	const struct tare_page_pair *pairs; /* those of one recording stand together */
	int pair_nr;
	bool is_confidential;
};

/*
 * The times of moments that say most: of each part of the time the one with most in use. At most `most`, which is at most
 * TARE_PAGE_MOMENTS, in order.
 */
int tare_page_choose(const struct tare_memory_history *history, int most, int64_t out[TARE_PAGE_MOMENTS]);

void tare_page(struct tare_str *out, const struct tare_page *page);
/* What came and what went, of two recordings or more. */
void tare_page_compare(struct tare_str *out, const struct tare_page_compare *page);

/* page_data.c, page_time.c, page_stacks.c: members of the data, into the object that is open. */
void tare_page_data(struct tare_str *out, const struct tare_page *page);
/* page_confidential.c: the same data with a number in place of each text that is not one of Tare's own. */
void tare_page_leave_names_out(struct tare_str *data);
void tare_page_time(struct tare_emit *e, const char *key, const struct tare_memory_history *history,
                    const struct tare_ledger *ledger);
void tare_page_stacks(struct tare_emit *e, const struct tare_page *page);
/* The number that the stack of a line has there. */
struct tare_page_stack_list;
int tare_page_stack_of(struct tare_page_stack_list *list, const struct tare_ledger_line *line);
/* page_sizes.c: live tensors by their size */
void tare_page_sizes(struct tare_emit *e, const struct tare_page *page);
/* page_blocks.c */
void tare_page_blocks(struct tare_emit *e, const struct tare_page *page, struct tare_page_stack_list *stacks);
/* page_source.c: is a file called as source is, by a whole path? */
bool tare_page_is_source(const char *path);
/* Of lines that memory counts for, and of all frames. */
void tare_page_sources(struct tare_emit *e, const struct tare_page *page, const char *const *lines, size_t line_nr,
                       const char *const *frames, size_t frame_nr);
/* page_evidence.c, page_host.c */
void tare_page_evidence(struct tare_emit *e, const struct tare_page *page);
void tare_page_host(struct tare_emit *e, const struct tare_page *page);
void tare_page_pool(struct tare_emit *e, const struct tare_page *page);
/* page_steps.c */
void tare_page_steps(struct tare_emit *e, const struct tare_page *page);
/* page_graphs.c: sums of all graphs; the largest of them, in their order, which the caller frees. */
void tare_page_graphs(struct tare_emit *e, const struct tare_ledger *ledger);
struct tare_graph *tare_page_largest_graphs(const struct tare_ledger *ledger, int *nr);
void tare_page_compare_data(struct tare_str *out, const struct tare_page_compare *page);

#endif
