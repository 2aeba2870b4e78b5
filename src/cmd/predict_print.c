/* SPDX-License-Identifier: Apache-2.0 */
/* A prediction, for people and as data (docs/JSON.md). */
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

static void print_data(struct tare_emit *e, const struct tare_predict_card *card)
{
	int i;

	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "card", card->card);
	tare_emit_str(e, "name", card->name);
	tare_emit_flag(e, "simulated", true);
	tare_emit_flag(e, "measured_profile", card->is_measured);
	emit_bytes(e, "total_bytes", card->total);
	emit_bytes(e, "room_bytes", card->room);
	emit_bytes(e, "need_bytes", card->need);
	emit_bytes(e, "low_bytes", card->low);
	emit_bytes(e, "high_bytes", card->high);
	tare_emit_flag(e, "fits", card->fits);
	tare_emit_number(e, "exit_code", card->exit_code);
	if (card->is_out_of_memory) {
		tare_emit_open(e, "out_of_memory", '{');
		tare_emit_str(e, "line", card->line);
		emit_bytes(e, "bytes", card->refused);
		emit_bytes(e, "missing_bytes", card->missing);
		tare_emit_close(e);
	} else
		tare_emit_null(e, "out_of_memory");
	tare_emit_open(e, "assumed", '[');
	for (i = 0; i < card->assumed_nr; i++) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "what", card->assumed[i].what);
		emit_bytes(e, "bytes", card->assumed[i].bytes);
		tare_emit_str(e, "rule", card->assumed[i].rule);
		tare_emit_close(e);
	}
	tare_emit_close(e);
	tare_emit_open(e, "degraded", '[');
	for (i = 0; i < card->degraded_nr; i++)
		tare_emit_str(e, NULL, card->degraded[i]);
	tare_emit_close(e);
	tare_emit_str(e, "recording", card->recording);
	tare_emit_close(e);
}

static void print_text(struct tare_emit *e, const struct tare_predict_card *card)
{
	struct tare_str s = { 0 };

	tare_str_addf(&s, "%s (simulated): ", card->name);
	if (card->is_out_of_memory) {
		tare_str_add(&s, "does not fit, memory runs out");
		if (card->line)
			tare_str_addf(&s, " at %s", card->line);
		if (card->refused >= 0) {
			tare_str_add(&s, ", asking for ");
			add_mib(&s, card->refused);
		}
		if (card->missing > 0) {
			tare_str_add(&s, ", of which ");
			add_mib(&s, card->missing);
			tare_str_add(&s, " are missing");
		}
		tare_str_add(&s, "; until then it needs ");
		add_mib(&s, card->need);
	} else {
		tare_str_add(&s, card->fits ? "fits, needs " : "does not fit, needs ");
		add_mib(&s, card->need);
		tare_str_add(&s, " (");
		add_mib(&s, card->low);
		tare_str_add(&s, " to ");
		add_mib(&s, card->high);
		tare_str_add(&s, ") of ");
		add_mib(&s, card->room);
		if (card->fits) {
			tare_str_add(&s, ", ");
			add_mib(&s, card->room - card->need);
			tare_str_add(&s, card->high > card->room
						 ? " to spare, if what is assumed holds"
						 : " to spare");
		}
	}
	tare_emit_note(e, "%s", tare_str_text(&s));
	if (card->exit_code)
		tare_emit_note(
			e,
			"  the program ended with exit code %d: what it would have done after that is not in it",
			card->exit_code);
	for (int i = 0; i < card->assumed_nr; i++)
		tare_emit_note(e, "  assumed: %s, %s", card->assumed[i].what,
			       card->assumed[i].rule);
	for (int i = 0; i < card->degraded_nr; i++)
		tare_emit_note(e, "  degraded: %s", card->degraded[i]);
	if (card->recording)
		tare_emit_note(e, "  tare report %s", card->recording);
	tare_str_free(&s);
}

static void print_largest(struct tare_emit *e, const struct tare_predict_largest *largest,
			  const char *card)
{
	bool has_fit = largest->fits != INT64_MIN, has_failure = largest->fails != INT64_MIN;

	tare_emit_open(e, "largest", '{');
	tare_emit_str(e, "name", largest->name);
	tare_emit_number(e, "fits", has_fit ? (double)largest->fits : __builtin_nan(""));
	tare_emit_number(e, "fails", has_failure ? (double)largest->fails : __builtin_nan(""));
	tare_emit_number(e, "runs", largest->runs);
	tare_emit_close(e);
	if (has_fit && has_failure)
		tare_emit_note(e, "%s %lld is the largest that fits on %s; %lld does not (%d runs)",
			       largest->name, (long long)largest->fits, card,
			       (long long)largest->fails, largest->runs);
	else if (has_fit)
		tare_emit_note(e, "%s %lld, the largest of the range, fits on %s", largest->name,
			       (long long)largest->fits, card);
	else
		tare_emit_note(e, "no %s of the range fits on %s, not even %lld", largest->name,
			       card, (long long)largest->fails);
}

void tare_predict_print(struct tare_emit *e, const struct tare_predict_card *cards, int n,
			const struct tare_predict_largest *largest)
{
	tare_emit_number(e, "tare", 1);
	tare_emit_open(e, "cards", '[');
	for (int i = 0; i < n; i++)
		print_data(e, &cards[i]);
	tare_emit_close(e);
	if (largest->name)
		print_largest(e, largest, cards[0].name);
	for (int i = 0; i < n; i++)
		print_text(e, &cards[i]);
}
