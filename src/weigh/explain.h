/* SPDX-License-Identifier: Apache-2.0 */
/* What other tools show of a process, as sums of rows of its ledger. */
#ifndef TARE_WEIGH_EXPLAIN_H
#define TARE_WEIGH_EXPLAIN_H

#include "base/str.h"
#include "weigh/machine.h"

enum tare_figure {
#define TARE_FIGURE(KEY, NAME) TARE_FIGURE_##KEY,
#include "weigh/figure.def"
	TARE_FIGURE_NR
};

enum tare_tool {
#define TARE_TOOL(KEY, WORD, NAME, STYLE, SHOWS, FORMULA, LEAVES, TWICE, UNKNOWN) TARE_TOOL_##KEY,
#include "weigh/tools.def"
	TARE_TOOL_NR
};

/* How a tool prints sizes. */
enum tare_tool_style {
	TARE_STYLE_BYTES,
	TARE_STYLE_KIB,
	TARE_STYLE_MIB,
	TARE_STYLE_MIB_FRACTION,
	TARE_STYLE_MB, /* 1000 × 1000 */
	TARE_STYLE_TOP,
	TARE_STYLE_HTOP,
	TARE_STYLE_TEGRA,
	TARE_STYLE_DOCKER,
};

struct tare_tool_info {
	const char *word, *name;
	enum tare_tool_style style;
	const char *shows, *formula; /* sums: tare_figures_sum() */
	const char *leaves_out, *counts_twice, *unknown;
};
extern const struct tare_tool_info tare_tools[TARE_TOOL_NR];
extern const char *const tare_figure_names[TARE_FIGURE_NR];

/* Two tools that have something in common. */
struct tare_tool_pair {
	enum tare_tool one, other;
	const char *why;
};
extern const struct tare_tool_pair tare_tool_pairs[];
extern const size_t tare_tool_pair_count;

#define TARE_FIGURE_NOT_KNOWN INT64_MIN
struct tare_figures {
	int64_t of[TARE_FIGURE_NR]; /* TARE_FIGURE_NOT_KNOWN where nobody says */
};

/* The group of kinds, as tools tell them apart, that a kind is of. Each is two figures: in full, and by share. */
enum tare_figure tare_figure_of_kind(enum tare_weigh_kind kind);

void tare_figures_clear(struct tare_figures *f);
void tare_figures_of_process(struct tare_figures *f, const struct tare_weigh_process *p);
void tare_figures_of_machine(struct tare_figures *f, const struct tare_weigh_machine *m, const char *root);

/* "A + B - C": not known if any of them is, or there is none. */
int64_t tare_figures_sum(const struct tare_figures *f, const char *sum);
/* The names of a sum's figures; with `f`, each that has something with its MiB. */
void tare_figures_describe(struct tare_str *out, const struct tare_figures *f, const char *sum);
/* The figures of a sum, with 1 or -1 each; how many. Unknown words: -1. */
enum { TARE_SUM_MOST = 8 };
struct tare_sum_term {
	enum tare_figure figure;
	int sign;
};
int tare_figures_parse(const char *sum, struct tare_sum_term terms[TARE_SUM_MOST]);

/* As the tool would print it: "2.47G". */
void tare_tool_print(struct tare_str *out, enum tare_tool tool, int64_t bytes);
/* What somebody read there: "2.5G", "3443". `tolerance`: half of its last digit. 0 or -EINVAL, -ERANGE. */
int tare_tool_parse(enum tare_tool tool, const char *text, size_t len, int64_t *bytes, int64_t *tolerance);
/* By the word for TOOL=FIGURE; TARE_TOOL_NR: none. */
enum tare_tool tare_tool_find(const char *word, size_t len);
bool tare_tool_is_of_board(enum tare_tool tool); /* there is none but on a Jetson */

#endif
