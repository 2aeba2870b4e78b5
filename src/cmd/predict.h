/* SPDX-License-Identifier: Apache-2.0 */
/* What a program needs on cards that are not there: runs on simulated ones, and what their recordings say. */
#ifndef TARE_CMD_PREDICT_H
#define TARE_CMD_PREDICT_H

#include "base/arena.h"
#include "base/emit.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Something that was taken for granted, of the bytes that it concerns. */
struct tare_predict_assumed {
	const char *what, *rule;
	int64_t bytes;
};

/* One card, of as many GPUs as the program was given: the one that needs most counts. */
struct tare_predict_card {
	const char *card; /* as it was asked for */
	const char *name; /* of the GPU */
	bool is_measured; /* its profile is what tare calibrate measured, not what is documented */
	int64_t total, room;     /* bytes of the card; what programs may have of it */
	int64_t need, low, high; /* at the worst moment; low and high: within what was assumed */
	bool fits;
	int exit_code; /* of the program */
	bool is_out_of_memory;
	const char *line; /* where memory ran out; NULL: not known */
	int64_t refused,
		missing; /* bytes that were asked for there, and that were too few; -1: not known */
	const char *recording; /* NULL: it was not kept */
	struct tare_predict_assumed assumed[8];
	int assumed_nr;
	const char **degraded; /* sentences: what is missing in it, or was not simulated */
	int degraded_nr;
};

struct tare_predict_options {
	const char *keep;                     /* folder for recordings, or NULL */
	int64_t gpus;                         /* of a card */
	char *const *argv;                    /* the program */
	int (*record)(int argc, char **argv); /* tare record */
};

/*
 * Runs the program on one simulated card, and reads what it needed. What the program prints goes to stderr. The texts of
 * `out` live in `memory`. TARE_E_NOT_FOUND: the program used no GPU.
 */
int tare_predict_run(const struct tare_predict_options *o, const char *card,
		     struct tare_arena *memory, struct tare_predict_card *out,
		     struct tare_err *err);

/* The largest value of a parameter that fits on the last card, and the smallest that does not. */
struct tare_predict_largest {
	const char *name;    /* NULL: none was asked for */
	int64_t fits, fails; /* INT64_MIN: none in the range */
	int runs;
};

void tare_predict_print(struct tare_emit *e, const struct tare_predict_card *cards, int n,
			const struct tare_predict_largest *largest);

#endif
