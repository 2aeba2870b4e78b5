/* SPDX-License-Identifier: Apache-2.0 */
/* A prediction, for people and as data (docs/JSON.md). */
#include "cmd/predict.h"

#include "base/simulated.h"
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

void tare_predict_card_json(struct tare_emit *e, const struct tare_predict_card *card)
{
	int i;

	tare_emit_open(e, NULL, '{');
	if (card->value_nr) {
		tare_emit_open(e, "params", '{');
		for (i = 0; i < (int)card->value_nr; i++)
			tare_emit_str(e, card->values[i].name, card->values[i].text);
		tare_emit_close(e);
	}
	tare_emit_str(e, "card", card->card);
	tare_emit_str(e, "name", card->name);
	tare_emit_flag(e, "simulated", true);
	tare_emit_flag(e, "measured_profile", card->is_measured);
	emit_bytes(e, "total_bytes", card->total);
	emit_bytes(e, "room_bytes", card->room);
	emit_bytes(e, "need_bytes", card->need);
	emit_bytes(e, "low_bytes", card->low);
	emit_bytes(e, "high_bytes", card->high);
	if (card->has_failed)
		tare_emit_null(e, "fits");
	else
		tare_emit_flag(e, "fits", card->fits);
	tare_emit_flag(e, "close", tare_predict_is_close(card));
	tare_emit_number(e, "exit_code", card->exit_code);
	if (card->is_out_of_memory) {
		tare_emit_open(e, "out_of_memory", '{');
		tare_emit_str(e, "line", card->line);
		emit_bytes(e, "bytes", card->refused);
		emit_bytes(e, "missing_bytes", card->missing);
		emit_bytes(e, "step", card->step);
		tare_emit_open(e, "settings", '[');
		for (i = 0; i < (int)card->setting_nr; i++)
			tare_emit_str(e, NULL, card->settings[i]);
		tare_emit_close(e);
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
	tare_predict_read_backs_json(e, card);
	tare_predict_versions_json(e, card);
	tare_emit_str(e, "recording", card->recording);
	tare_emit_close(e);
}

static void print_text(struct tare_emit *e, const struct tare_predict_card *card)
{
	const bool is_close = tare_predict_is_close(card);
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	tare_str_addf(&s, "%s%s: ", card->name, tare_simulated_mark(true));
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
		if (card->step > 0)
			tare_str_addf(&s, ", in step %lld", (long long)card->step);
		tare_str_add(&s, "; until then it needs ");
		add_mib(&s, card->need);
	} else if (card->has_failed) {
		tare_str_addf(&s, "not known, the program failed with exit code %d %s(what it printed stands above)",
		              card->exit_code, card->need < 0 ? "before it used a GPU " : "");
		if (card->need >= 0) {
			tare_str_add(&s, "; until then it needs ");
			add_mib(&s, card->need);
		}
	} else {
		tare_str_add(&s, is_close ? "may not fit, needs " : card->fits ? "fits, needs " : "does not fit, needs ");
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
			tare_str_add(&s, is_close ? " to spare if what is assumed holds" : " to spare");
		}
	}
	tare_emit_note(e, "%s", tare_str_text(&s));
	if (card->is_out_of_memory && is_close)
		tare_emit_note(e, "  it may fit: what is missing is less than what is assumed may be off");
	if (card->is_out_of_memory && card->exit_code)
		tare_emit_note(e, "  the program ended with exit code %d: what it would have done after that is not in it",
		               card->exit_code);
	else if (card->is_out_of_memory)
		tare_emit_note(e, "  the program went on without it, and ended well");
	for (int i = 0; i < card->assumed_nr; i++)
		tare_emit_note(e, "  assumed: %s, %s", card->assumed[i].what, card->assumed[i].rule);
	for (int i = 0; i < card->degraded_nr; i++)
		tare_emit_note(e, "  degraded: %s", card->degraded[i]);
	if (card->setting_nr)
		tare_emit_note(
			e, "  it would not have run out there with PYTORCH_CUDA_ALLOC_CONF=%s, by a replay of its allocations",
			card->settings[0]);
	tare_predict_note_read_backs(e, card);
	tare_predict_note_versions(e, card);
	if (card->recording)
		tare_emit_note(e, "  tare report %s", card->recording);
}

static void print_largest(struct tare_emit *e, const struct tare_predict_largest *largest, const char *card)
{
	bool has_fit = largest->fits != INT64_MIN, has_failure = largest->fails != INT64_MIN;

	tare_emit_open(e, "largest", '{');
	tare_emit_str(e, "name", largest->name);
	tare_emit_number(e, "fits", has_fit ? (double)largest->fits : __builtin_nan(""));
	tare_emit_number(e, "fails", has_failure ? (double)largest->fails : __builtin_nan(""));
	tare_emit_number(e, "runs", largest->runs);
	tare_emit_close(e);
	if (has_fit && has_failure)
		tare_emit_note(e, "%s %lld is the largest that fits on %s; %lld does not (%d runs)", largest->name,
		               (long long)largest->fits, card, (long long)largest->fails, largest->runs);
	else if (has_fit)
		tare_emit_note(e, "%s %lld, the largest of the range, fits on %s", largest->name, (long long)largest->fits,
		               card);
	else
		tare_emit_note(e, "no %s of the range fits on %s, not even %lld", largest->name, card,
		               (long long)largest->fails);
}

void tare_predict_print(struct tare_emit *e, const struct tare_predict_card *cards, int n,
                        const struct tare_predict_largest *largest, const struct tare_predict_prices *prices)
{
	tare_emit_number(e, "tare", 1);
	tare_emit_open(e, "cards", '[');
	for (int i = 0; i < n; i++)
		tare_predict_card_json(e, &cards[i]);
	tare_emit_close(e);
	if (largest->name)
		print_largest(e, largest, cards[0].name);
	for (int i = 0; i < n; i++)
		print_text(e, &cards[i]);
	tare_predict_choose_print(e, cards, (size_t)n, prices);
}
