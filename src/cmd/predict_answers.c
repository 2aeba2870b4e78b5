/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do values that no kernel computed decide what a program needs? It runs once more with other answers; where its allocations,
 * its need or its end are otherwise then, they do, all the lines together. A program may also be another in each run by
 * itself (shuffled data of different sizes): so where they are otherwise it runs a third time, with the answers of the first.
 */
#include "cmd/predict.h"

#include <string.h>

static bool is_alike(const struct tare_predict_card *a, const struct tare_predict_card *b)
{
	return a->course.blocks == b->course.blocks && a->course.sum == b->course.sum &&
	       a->is_out_of_memory == b->is_out_of_memory && a->exit_code == b->exit_code;
}

/* A card may compute either: what it needs is between the least and the most of both. */
static void widen(struct tare_predict_card *card, int64_t low, int64_t high)
{
	if (low < card->low)
		card->low = low;
	if (high > card->high)
		card->high = high;
}

int tare_predict_ask_answers(const struct tare_predict_options *o, struct tare_arena *memory,
			     struct tare_predict_card *card, struct tare_err *err)
{
	struct tare_predict_options other = *o;
	struct tare_predict_card got, with_others;
	bool is_ended;
	int rc;

	other.keep = NULL;
	other.answers = o->answers && !strcmp(o->answers, "ones") ? "zeros" : "ones";
	other.most_ns = card->ns * 3 + INT64_C(10) * 1000000000;
	rc = tare_predict_run(&other, card->card, memory, &got, err);
	if (rc)
		return rc;
	is_ended = got.ns < other.most_ns;
	card->other_answers = other.answers;
	card->other_need = is_ended ? got.need : -1;
	card->is_other_out = got.is_out_of_memory;
	card->decides = TARE_PREDICT_NO;
	if (is_ended && is_alike(card, &got))
		return 0;
	card->decides = TARE_PREDICT_YES;
	if (!is_ended)
		return 0;
	with_others = got;
	other.answers = o->answers;
	rc = tare_predict_run(&other, card->card, memory, &got, err);
	if (!rc && !is_alike(card, &got))
		card->decides = TARE_PREDICT_VARIES;
	else if (!rc && !with_others.has_failed && !with_others.is_out_of_memory)
		widen(card, with_others.low, with_others.high);
	return rc;
}
