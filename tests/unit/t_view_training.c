/* SPDX-License-Identifier: Apache-2.0 */
/* What the report says of a training: the sentence below the table. */
#include "sample_ledger.h"
#include "test.h"
#include "view/ledger_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)

/* What the report says of this training. */
static char *said_of(const struct tare_training *training)
{
	struct tare_ledger ledger = *sample_train_peak();
	struct tare_training own = *training;
	struct tare_str out = { 0 };
	struct tare_emit e;

	ledger.trainings = &own;
	ledger.training_nr = 1;
	tare_emit_begin(&e, TARE_EMIT_TEXT, &out);
	e.style = (struct tare_text_style){ .width = 200, .is_utf8 = true };
	tare_training_text(&e, &ledger);
	tare_emit_end(&e);
	return tare_str_steal(&out);
}

/* Wherever its lines end. */
static void join_lines(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++)
		if (!isspace((unsigned char)*p))
			*to++ = *p;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
}

static void check_said(const struct tare_training *training, const char *words, bool is_said)
{
	char *text = said_of(training);

	join_lines(text);
	CHECK_INT(strstr(text, words) != NULL, is_said);
	free(text);
}

/* Indices of words: 4 KiB of them say nothing of how large a batch is. */
TEST(a_multiple_of_next_to_no_input_is_not_told)
{
	struct tare_training training = sample_train_peak()->trainings[0];

	check_said(&training, "× its input", true);
	training.most[TARE_CATEGORY_INPUT].bytes = 4096;
	check_said(&training, "of the batch", true);
	check_said(&training, "its input", false);
}

/* What was there before the first step and stays may be all of the data. */
TEST(no_multiple_is_told_of_what_is_no_batch)
{
	struct tare_training training = sample_train_peak()->trainings[0];

	training.fed_bytes = training.most[TARE_CATEGORY_INPUT].bytes / 2;
	check_said(&training, "of the batch, or of data that stays", true);
	check_said(&training, "its input", false);
}

/* `peak:host` is when all processes together had most; one of them may have had more in its steps. */
TEST(a_moment_of_all_processes_is_called_so)
{
	struct tare_training training = sample_train_peak()->trainings[0];

	training.device = -1;
	training.first.figures[TARE_TRAINING_LIVE] = 2926 * MIB;
	training.steady.figures[TARE_TRAINING_LIVE] = 2926 * MIB;
	check_said(&training, "all processes together", false);
	training.steady.figures[TARE_TRAINING_LIVE] = 2999 * MIB;
	check_said(&training, "all processes together", true);
}

/* Bars are as long as what they stand for; layers that are equal are one row. */
TEST(categories_and_equal_layers_have_bars)
{
	struct tare_training training = sample_train_peak()->trainings[0];

	check_said(&training, "activation 2,452.5 83.8 % ██████████ 134.4 × its input", true);
	check_said(&training, "optimizer state 195.0 6.7 % █ 2.0 × parameters", true);
	check_said(&training, "net.layer1 2,400.0 82.0 % ██████████ Sequential 0–2 × 3 2,400.0", true);
	training.modules.count = 0;
	check_said(&training, "0–2", false);
	training.most[TARE_CATEGORY_PARAMETER].bytes = 0;
	check_said(&training, "█", false);
}
