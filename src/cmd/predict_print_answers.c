/* SPDX-License-Identifier: Apache-2.0 */
/* What a prediction says of values that no kernel computed: which lines read them, and what other answers came to. */
#include "cmd/predict.h"

#include "base/units.h"

static void add_mib(struct tare_str *out, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "%s MiB", tare_units_mib(text, bytes));
}

static void emit_bytes(struct tare_emit *e, const char *key, int64_t bytes)
{
	tare_emit_number(e, key, bytes < 0 ? __builtin_nan("") : (double)bytes);
}

static enum tare_predict_decides decides(const struct tare_predict_card *card, bool is_overflow)
{
	return is_overflow ? card->overflow_decides : card->rest_decides;
}

/* Runs with other answers than the first. */
static void print_others(struct tare_emit *e, const struct tare_predict_card *card)
{
	const struct tare_predict_others *runs[] = { &card->others, &card->overflows };

	tare_emit_open(e, "other_answers", '[');
	for (int i = 0; i < 2; i++) {
		if (!runs[i]->answers || (i && runs[i]->answers == runs[0]->answers))
			continue;
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "answers", runs[i]->answers);
		tare_emit_flag(e, "ends", runs[i]->need >= 0);
		emit_bytes(e, "need_bytes", runs[i]->need);
		tare_emit_flag(e, "out_of_memory", runs[i]->is_out);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

void tare_predict_read_backs_json(struct tare_emit *e, const struct tare_predict_card *card)
{
	enum tare_predict_decides what;

	tare_emit_open(e, "read_back", '[');
	for (int i = 0; i < card->read_back_nr; i++) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "line", card->read_backs[i].line);
		tare_emit_uint(e, "count", card->read_backs[i].count);
		what = decides(card, card->read_backs[i].is_overflow);
		if (what == TARE_PREDICT_YES || what == TARE_PREDICT_NO)
			tare_emit_flag(e, "decides", what == TARE_PREDICT_YES);
		else
			tare_emit_null(e, "decides");
		tare_emit_flag(e, "overflow", card->read_backs[i].is_overflow);
		tare_emit_close(e);
	}
	tare_emit_close(e);
	print_others(e, card);
}

/* What a second run found, behind the lines. */
static void add_decision(struct tare_str *s, const struct tare_predict_card *card)
{
	switch (card->decides) {
	case TARE_PREDICT_UNASKED:
		tare_str_add(s, "whether they decide anything is not known (--check-answers)");
		return;
	case TARE_PREDICT_NO:
		tare_str_addf(s, "they decide nothing: with %s the same is allocated",
		              card->others.answers ? card->others.answers : "others, on the first card,");
		return;
	case TARE_PREDICT_VARIES:
		tare_str_add(s, "whether they decide anything cannot be told, for the program allocates otherwise in each run");
		return;
	case TARE_PREDICT_YES:
		break;
	}
	if (!card->others.answers) {
		tare_str_add(s, "they decide, as on the first card");
		return;
	}
	tare_str_addf(s, "they decide: with %s ", card->others.answers);
	if (card->others.need < 0) {
		tare_str_add(s, "it does not end");
		return;
	}
	if (card->others.is_out)
		tare_str_add(s, "memory runs out");
	else if (card->others.need == card->need)
		tare_str_add(s, "it allocates otherwise, and needs as much");
	else {
		tare_str_add(s, "it needs ");
		add_mib(s, card->others.need);
	}
}

/* The most frequent lines come first. */
static void note_lines(struct tare_emit *e, const struct tare_predict_card *card)
{
	enum { MOST = 5 };
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };
	char text[TARE_UNITS_TEXT_MAX];

	if (!card->read_back_nr)
		return;
	for (int i = 0; i < card->read_back_nr && i < MOST; i++)
		tare_str_addf(&s, "%s%s (%s×)", i ? ", " : "",
		              card->read_backs[i].line ? card->read_backs[i].line : "a line that is not known",
		              tare_units_count(text, card->read_backs[i].count));
	if (card->read_back_nr > MOST)
		tare_str_addf(&s, " and %d other lines", card->read_back_nr - MOST);
	tare_str_add(&s, "; ");
	add_decision(&s, card);
	tare_emit_note(e, "  values that no kernel computed were read back at %s", tare_str_text(&s));
}

/* Where a loss scale finds an overflow, the optimizer's step is left out, and with it what that allocates. */
static void note_overflows(struct tare_emit *e, const struct tare_predict_card *card)
{
	const struct tare_predict_others *with = &card->overflows;
	const char *line = NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	if (!with->answers)
		return;
	for (int i = 0; i < card->read_back_nr && !line; i++)
		if (card->read_backs[i].is_overflow)
			line = card->read_backs[i].line;
	tare_str_addf(&s, "whether the loss scale finds an overflow at %s ", line ? line : "a line that is not known");
	if (card->overflow_decides == TARE_PREDICT_NO)
		tare_str_add(&s, "decides nothing");
	else if (with->need < 0)
		tare_str_add(&s, "decides: if it does in the first nine steps, the program does not end");
	else if (with->is_out)
		tare_str_add(&s, "decides: if it does in the first nine steps, memory runs out");
	else {
		tare_str_add(&s,
		             "decides when the optimizer's state is allocated: if it does in the first nine steps, it needs ");
		add_mib(&s, with->need);
		tare_str_addf(&s, ", %.1f %% %s",
		              (double)(with->need < card->need ? card->need - with->need : with->need - card->need) * 100 /
		                  (double)card->need,
		              with->need <= card->need ? "less" : "more");
		if (card->rest_decides == TARE_PREDICT_NO)
			tare_str_add(&s, "; nothing else that was read back decides");
	}
	tare_emit_note(e, "  %s", tare_str_text(&s));
}

/* Such a value may be a size that does not go together with others. */
static void note_way_out(struct tare_emit *e, const struct tare_predict_card *card)
{
	if (card->has_failed && card->read_back_nr)
		tare_emit_note(
			e, "  if it failed by one of these values, say what a card computes there: --answer-at FILE:LINE=NUMBER");
}

void tare_predict_note_read_backs(struct tare_emit *e, const struct tare_predict_card *card)
{
	note_lines(e, card);
	note_way_out(e, card);
	note_overflows(e, card);
}
