/* SPDX-License-Identifier: Apache-2.0 */
/* What a program needs on cards that are not there: runs on simulated ones, and what their recordings say. */
#ifndef TARE_CMD_PREDICT_H
#define TARE_CMD_PREDICT_H

#include "base/arena.h"
#include "base/args.h"
#include "base/emit.h"
#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

/* Something that was taken for granted, of the bytes that it concerns. */
struct tare_predict_assumed {
	const char *what, *rule;
	int64_t bytes;
};

/* Do the values that no kernel computed decide anything? */
enum tare_predict_decides {
	TARE_PREDICT_UNASKED, /* there was no second run */
	TARE_PREDICT_NO,
	TARE_PREDICT_YES,
	TARE_PREDICT_VARIES, /* two runs with the same answers differ, too */
};

/* A line that read back what a kernel would have computed (docs/SIMGPU.md). */
struct tare_predict_read_back {
	const char *line; /* NULL: not known */
	uint64_t count;
	bool is_overflow; /* what a loss scale's check for numbers that are not finite found */
};

/* What the program did, apart from values: two runs that did the same have the same. */
struct tare_predict_course {
	uint64_t blocks; /* that were handed out, on the device and by PyTorch */
	uint64_t sum;    /* of what stands for the size of each: in whatever order they came */
};

/* Convolutions of a program whose workspace was taken from no card's answers. */
struct tare_predict_convolutions {
	int64_t all, unasked;
	int64_t largest; /* workspace of those that were not asked for */
	char *path;      /* of the file with a line for each; NULL: it was read */
	size_t skip;     /* bytes of it that were there before */
};

struct tare_predict_value;

/* One card, of as many GPUs as the program was given: the one that needs most counts. */
struct tare_predict_card {
	const char *card;    /* as it was asked for */
	const char *name;    /* of the GPU */
	bool is_measured;    /* its profile is what tare calibrate measured, not what is documented */
	int64_t total, room; /* bytes of the card; what programs may have of it */
	/* At the worst moment, or until it failed; -1: it failed before it used a GPU. Low and high: within what was assumed. */
	int64_t need, low, high;
	bool fits;
	int exit_code;   /* of the program */
	bool has_failed; /* the program ended with that, and not for memory: what it needs is not known */
	bool is_out_of_memory;
	const char *line;         /* where memory ran out; NULL: not known */
	int64_t refused, missing; /* bytes that were asked for there, and that were too few; -1: not known */
	int64_t step;             /* of training, in which it ran out; -1: not known */
	const char **settings;    /* of PyTorch's allocator, with which it would not have run out there */
	size_t setting_nr;
	const char *recording;                  /* NULL: it was not kept */
	const struct tare_json_value *versions; /* members of an object; NULL: not known */
	struct tare_predict_convolutions convolutions;
	struct tare_predict_assumed assumed[8];
	int assumed_nr;
	const char **degraded; /* sentences: what is missing in it, or was not simulated */
	int degraded_nr;
	struct tare_predict_read_back *read_backs;
	int read_back_nr;
	struct tare_predict_course course;
	int64_t ns;                              /* how long it ran */
	const struct tare_predict_value *values; /* of a cell of a grid */
	size_t value_nr;
	enum tare_predict_decides decides; /* all the lines together */
	/* What a loss scale's check found, and all else; as `decides` where that was not told apart. */
	enum tare_predict_decides overflow_decides, rest_decides;
	/* Runs with other answers: of all lines, and of a loss scale's check alone. */
	struct tare_predict_others {
		const char *answers; /* NULL: there was none */
		int64_t need;        /* -1: it did not end in three times the time of the first */
		bool is_out;         /* of memory */
	} others, overflows;
};

struct tare_predict_options {
	const char *keep;                       /* folder for recordings, or NULL */
	int64_t gpus;                           /* of a card */
	int64_t ranks;                          /* that Tare starts; 0: the program is started once */
	struct tare_arg_part part;              /* of record --ranks-simulated; 0: all run */
	char *const *argv;                      /* the program */
	const char *answers;                    /* of record --answers; NULL: zeros */
	const struct tare_operands *answers_at; /* of record --answer-at */
	const struct tare_predict_value *what;  /* for which values the program runs, to say so on a terminal */
	size_t what_nr;
	bool has_own_caches;                  /* compilers find what they made before */
	int64_t most_ns;                      /* the program is ended then; 0: never */
	int (*record)(int argc, char **argv); /* tare record */
};

/*
 * Runs the program on one simulated card, and reads what it needed. What the program prints goes to stderr. The texts of
 * `out` live in `memory`. TARE_E_NOT_FOUND: the program used no GPU.
 */
int tare_predict_run(const struct tare_predict_options *o, const char *card, struct tare_arena *memory,
                     struct tare_predict_card *out, struct tare_err *err);

/*
 * Runs the program on the first card once more with other answers, and says in `cards` whether anything became otherwise: what
 * read-backs decide is the program's, not a card's.
 */
int tare_predict_ask_answers(const struct tare_predict_options *o, struct tare_arena *memory,
                             struct tare_predict_card *cards, size_t n, struct tare_err *err);

/* ---- what frameworks compile, in an empty folder: predict_caches.c ---- */
void tare_predict_caches_use(const char *folder); /* in the program's process, before it begins */

/* ---- convolutions that no card was asked for: predict_convolutions.c ---- */
void tare_predict_convolutions_begin(struct tare_predict_convolutions *c, const char *folder); /* for a file of ours */
void tare_predict_convolutions_use(const struct tare_predict_convolutions *c); /* in the program's process */
void tare_predict_convolutions_end(struct tare_predict_convolutions *c);       /* when the program has ended */

/* Fills in `settings`. */
void tare_predict_find_settings(const char *recording, struct tare_predict_card *card, struct tare_arena *memory);

/* Of Tare, the driver, and the program's packages, as the recording has them. */
void tare_predict_read_versions(const char *recording, struct tare_predict_card *card, struct tare_arena *memory);
void tare_predict_versions_json(struct tare_emit *e, const struct tare_predict_card *card);
/* The frameworks in a line. */
void tare_predict_note_versions(struct tare_emit *e, const struct tare_predict_card *card);

/* What a recording says, in all members but those of the run itself. */
int tare_predict_read(const char *path, struct tare_predict_card *card, struct tare_arena *memory,
                      struct tare_err *err);

/* Within what was assumed it may be the other way round: it fits and may not, or does not and may. */
bool tare_predict_is_close(const struct tare_predict_card *card);

/* ---- values for {NAME} in the command: predict_fill.c ---- */
struct tare_predict_value {
	const char *name, *text;
};

struct tare_predict_value tare_predict_number(const char *name, int64_t number, struct tare_arena *memory);
/* The command with each {NAME} replaced by its text. */
char *const *tare_predict_fill(char *const *argv, const struct tare_predict_value *values, size_t n,
                               struct tare_arena *memory);
bool tare_predict_has(char *const *argv, const char *name); /* {NAME} is somewhere in it */

/* --largest */
struct tare_predict_range {
	const char *name;
	int64_t from, to;
};
int tare_predict_parse_range(const char *text, char *const *argv, struct tare_arena *memory,
                             struct tare_predict_range *out, struct tare_err *err);

/* The largest value of a parameter that fits on the first card, and the smallest that does not. */
struct tare_predict_largest {
	const char *name;    /* NULL: none was asked for */
	int64_t fits, fails; /* INT64_MIN: none in the range */
	int runs;
};

/* By halves: `found` becomes the prediction of the largest that fits, or of the smallest where none does. */
int tare_predict_search(const struct tare_predict_options *o, const struct tare_predict_range *range, const char *card,
                        struct tare_arena *memory, struct tare_predict_card *found,
                        struct tare_predict_largest *largest, struct tare_err *err);

/* ---- all combinations of values, on each card: predict_grid.c ---- */
/* `n`: of cards, and then of cells. */
int tare_predict_grid(const struct tare_predict_options *o, const struct tare_operands *grid, const char *const *names,
                      size_t *n, struct tare_arena *memory, struct tare_predict_card **cells, struct tare_err *err);

/* ---- the user's prices: predict_price.c ---- */
struct tare_predict_prices {
	struct tare_predict_price {
		const char *card;
		double price;
	} * items;
	size_t count;
};
int tare_predict_parse_prices(const struct tare_operands *given, struct tare_arena *memory,
                              struct tare_predict_prices *out, struct tare_err *err);
void tare_predict_choose_print(struct tare_emit *e, const struct tare_predict_card *cards, size_t n,
                               const struct tare_predict_prices *prices);

/* ---- what is printed ---- */
/* predict_print_answers.c */
void tare_predict_read_backs_json(struct tare_emit *e, const struct tare_predict_card *card);
void tare_predict_note_read_backs(struct tare_emit *e, const struct tare_predict_card *card);
void tare_predict_card_json(struct tare_emit *e, const struct tare_predict_card *card);
void tare_predict_print(struct tare_emit *e, const struct tare_predict_card *cards, int n,
                        const struct tare_predict_largest *largest, const struct tare_predict_prices *prices);
void tare_predict_grid_print(struct tare_emit *e, const struct tare_predict_card *cells, size_t n,
                             const struct tare_predict_prices *prices);

#endif
