/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do values that no kernel computed decide what a program needs? It runs once more with other answers; where its allocations,
 * its need or its end are otherwise then, they do, all the lines together. A program may also be another in each run by
 * itself (shuffled data of different sizes): so where they are otherwise it runs a third time, with the answers of the first.
 * Whether a loss scale (GradScaler) finds an overflow is told apart from all else, by a run in which nothing but that is
 * otherwise: it decides in which step the optimizer's state comes, and on a card the first steps often overflow.
 */
#include "cmd/predict.h"

#include <string.h>

static bool is_alike(const struct tare_predict_card *a, const struct tare_predict_card *b)
{
	return a->course.blocks == b->course.blocks && a->course.sum == b->course.sum &&
	       a->is_out_of_memory == b->is_out_of_memory && a->exit_code == b->exit_code;
}

/* A card may compute either: what it needs is between the least and the most of both. */
static void widen(struct tare_predict_card *card, const struct tare_predict_card *other)
{
	if (other->has_failed || other->is_out_of_memory)
		return;
	if (other->low < card->low)
		card->low = other->low;
	if (other->high > card->high)
		card->high = other->high;
}

/* One more run on the card, with these answers. False in `is_ended`: it was ended. */
static int run(const struct tare_predict_options *o, const char *answers, struct tare_arena *memory,
               const struct tare_predict_card *card, struct tare_predict_card *got, bool *is_ended,
               struct tare_err *err)
{
	struct tare_predict_options other = *o;
	int rc;

	other.keep = NULL;
	other.answers = answers;
	other.most_ns = card->ns * 3 + INT64_C(10) * 1000000000;
	rc = tare_predict_run(&other, card->card, memory, got, err);
	*is_ended = !rc && got->ns < other.most_ns;
	return rc;
}

static struct tare_predict_others others_of(const char *answers, const struct tare_predict_card *got, bool is_ended)
{
	return (struct tare_predict_others){ answers, is_ended ? got->need : -1, is_ended && got->is_out_of_memory };
}

static int count_overflows(const struct tare_predict_card *card)
{
	int n = 0;

	for (int i = 0; i < card->read_back_nr; i++)
		n += card->read_backs[i].is_overflow;
	return n;
}

/* `with_others`: the run in which all answers were others; NULL: it did not end. */
static int ask_overflow(const struct tare_predict_options *o, struct tare_arena *memory, struct tare_predict_card *card,
                        const struct tare_predict_card *with_others, struct tare_err *err)
{
	struct tare_predict_card got;
	bool is_ended;
	int n = count_overflows(card), rc;

	if (n == card->read_back_nr) { /* nothing else was read, so that run was this one */
		card->overflows = card->others;
		return 0;
	}
	if (!n)
		return 0;
	rc = run(o, "overflow", memory, card, &got, &is_ended, err);
	if (rc)
		return rc;
	card->overflows = others_of("overflow", &got, is_ended);
	card->overflow_decides = is_ended && is_alike(card, &got) ? TARE_PREDICT_NO : TARE_PREDICT_YES;
	card->rest_decides = is_ended && with_others && is_alike(with_others, &got) ? TARE_PREDICT_NO : TARE_PREDICT_YES;
	if (is_ended)
		widen(card, &got);
	return 0;
}

static void decide(struct tare_predict_card *card, enum tare_predict_decides decides)
{
	card->decides = card->overflow_decides = card->rest_decides = decides;
}

static int ask(const struct tare_predict_options *o, struct tare_arena *memory, struct tare_predict_card *card,
               struct tare_err *err)
{
	const bool is_ones = o->answers && !strcmp(o->answers, "ones");
	const bool is_zeros = !o->answers || !strcmp(o->answers, "zeros");
	const char *answers = is_ones ? "zeros" : "ones";
	struct tare_predict_card with_others, again;
	bool is_ended, is_again_ended;
	int rc = run(o, answers, memory, card, &with_others, &is_ended, err);

	if (rc)
		return rc;
	card->others = others_of(answers, &with_others, is_ended);
	decide(card, TARE_PREDICT_NO);
	if (is_ended && is_alike(card, &with_others))
		return 0;
	decide(card, TARE_PREDICT_YES);
	if (is_ended) {
		rc = run(o, o->answers, memory, card, &again, &is_again_ended, err);
		if (rc)
			return rc;
		if (!is_alike(card, &again)) {
			decide(card, TARE_PREDICT_VARIES);
			return 0;
		}
	}
	if (is_zeros)
		rc = ask_overflow(o, memory, card, is_ended ? &with_others : NULL, err);
	if (!rc && is_ended)
		widen(card, &with_others);
	return rc;
}

int tare_predict_ask_answers(const struct tare_predict_options *o, struct tare_arena *memory,
                             struct tare_predict_card *cards, size_t n, struct tare_err *err)
{
	const int64_t low = cards[0].low, high = cards[0].high;
	int rc = ask(o, memory, &cards[0], err);

	for (size_t i = 1; i < n && !rc; i++) {
		cards[i].decides = cards[0].decides;
		cards[i].overflow_decides = cards[0].overflow_decides;
		cards[i].rest_decides = cards[0].rest_decides;
		cards[i].low -= low - cards[0].low;
		cards[i].high += cards[0].high - high;
	}
	return rc;
}
