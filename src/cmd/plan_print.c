/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what `tare plan` chose, and why not the others. */
#include "cmd/fit.h"

#include "base/units.h"
#include "fit/fit_report.h"

#include <string.h>

static void mib(struct tare_str *out, double bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "%s MiB", tare_units_mib(text, (int64_t)bytes));
}

static void add_cell(const struct tare_plan *plan, size_t row, const char *between, struct tare_str *out)
{
	for (size_t c = 0; c < plan->cells.column_count; c++)
		tare_str_addf(out, "%s%s=%s", c ? between : "", plan->cells.columns[c], tare_table_cell(&plan->cells, row, c));
}

/* The account with most bytes in a cell, by its law. */
static bool binding(const struct tare_plan *plan, struct tare_series_list *list, size_t row, struct tare_str *name,
                    double *bytes)
{
	*bytes = 0;
	for (size_t i = 0; list && i < list->count; i++) {
		struct tare_problem_ask ask = { .params = plan->cells.columns, .param_count = plan->cells.column_count };
		struct tare_forecast f;
		struct tare_prediction got;

		if (list->items[i].kind != TARE_SERIES_ACCOUNT ||
		    tare_forecast_of_series(&f, list, list->items[i].name, &ask, NULL) != 0)
			continue;
		if (tare_forecast_at(&f, &plan->cells, row, &got, NULL, NULL) && got.value > *bytes) {
			*bytes = got.value;
			tare_str_cut(name, 0);
			tare_str_add(name, list->items[i].name);
		}
		tare_forecast_free(&f);
	}
	return *bytes > 0;
}

static void print_choice(struct tare_emit *e, const struct tare_plan *plan, ptrdiff_t at, const char *key,
                         bool has_expression, struct tare_series_list *list)
{
	const struct tare_plan_choice *c = &plan->choices[at];
	double margin = plan->has_room_for - c->bytes, most;
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 }, account = { 0 };
	/* A law of an account that is more than everything is no good there. */
	bool has_account = binding(plan, list, c->row, &account, &most) && most <= c->bytes;

	tare_emit_open(e, key, '{');
	tare_emit_open(e, "params", '{');
	for (size_t p = 0; p < plan->cells.column_count; p++)
		tare_emit_str(e, plan->cells.columns[p], tare_table_cell(&plan->cells, c->row, p));
	tare_emit_close(e);
	tare_emit_flag(e, "measured", c->is_measured);
	tare_emit_flag(e, "ran_out_of_memory", c->is_failed);
	tare_emit_number(e, "bytes", c->bytes);
	tare_emit_number(e, "low", c->low);
	tare_emit_number(e, "high", c->high);
	tare_emit_number(e, "margin", margin);
	tare_emit_number(e, "beyond", c->beyond);
	tare_emit_number(e, "worth", c->worth);
	tare_emit_str(e, "unseen_phase", c->unseen_phase);
	tare_emit_str(e, "account", has_account ? tare_str_text(&account) : NULL);
	tare_emit_number(e, "account_bytes", has_account ? most : __builtin_nan(""));
	tare_emit_close(e);

	add_cell(plan, c->row, " ", &s);
	tare_str_add(&s, ": ");
	if (c->is_failed)
		tare_str_add(&s, "ran out of memory when it was run; by the law ");
	mib(&s, c->bytes);
	if (c->is_measured) {
		tare_str_add(&s, " measured");
	} else {
		tare_str_add(&s, " predicted (");
		mib(&s, c->low);
		tare_str_add(&s, " to ");
		mib(&s, c->high);
		if (c->beyond > 1)
			tare_str_addf(&s, "; %s %.3g times beyond what was measured", plan->cells.columns[c->beyond_param],
			              c->beyond);
		tare_str_add(&s, ")");
	}
	if (c->high <= plan->has_room_for) {
		tare_str_add(&s, ", ");
		mib(&s, margin);
		tare_str_addf(&s, " to spare (%.0f %%)", 100 * margin / plan->has_room_for);
	} else {
		tare_str_add(&s, margin < 0 ? ", too much by " : ", perhaps too much, by up to ");
		mib(&s, margin < 0 ? -margin : c->high - plan->has_room_for);
	}
	if (has_expression && c->worth == c->worth)
		tare_str_addf(&s, ", worth %.4g", c->worth);
	tare_emit_note(e, "%s", tare_str_text(&s));
	if (has_account) {
		tare_str_cut(&s, 0);
		mib(&s, most);
		tare_emit_note(e, "  the largest part: %s, %s", tare_str_text(&account), tare_str_text(&s));
	}
	if (c->unseen_phase)
		tare_emit_note(
			e, "  ! %s, the greatest in no measured run, may be the greatest there: run it before you count on it",
			c->unseen_phase);
	else if (plan->has_no_phases && c->beyond > 1)
		tare_emit_note(e, "  ! no phase was recorded: one that was the greatest in no run may be the greatest there");
}

static void print_card(struct tare_emit *e, const struct tare_plan *plan, const struct tare_plan_card *card)
{
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	tare_emit_number(e, "card_bytes", card->total);
	tare_emit_number(e, "used_bytes", card->is_used_known ? card->used : __builtin_nan(""));
	tare_emit_number(e, "room_bytes", plan->has_room_for);
	tare_emit_number(e, "context_change_bytes", card->context);
	mib(&s, card->total);
	if (card->is_used_known) {
		tare_str_add(&s, " less ");
		mib(&s, card->used);
		tare_str_add(&s, " that others use: room for ");
		mib(&s, plan->has_room_for);
	} else {
		tare_str_add(&s, ", all of it free (a desktop or other programs: --used)");
	}
	if (card->context > 0.5 || card->context < -0.5) {
		tare_str_add(&s, "; its context takes ");
		mib(&s, card->context < 0 ? -card->context : card->context);
		tare_str_add(&s, card->context < 0 ? " less than where it was measured" : " more than where it was measured");
	}
	tare_emit_note(e, "%s: %s", card->is_memory ? "Memory" : "Card", tare_str_text(&s));
}

void tare_plan_print(struct tare_emit *e, const struct tare_plan *plan, const struct tare_plan_card *card,
                     const char *target, bool has_expression, struct tare_series_list *list)
{
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	tare_emit_uint(e, "tare", 1);
	tare_emit_str(e, "target", target);
	print_card(e, plan, card);
	tare_emit_str(e, "strength", tare_fit_strength_name(plan->strength));
	if (plan->strength != TARE_FIT_LAW)
		tare_emit_note(e, "! %s of %s: what was not measured is a guess (tare fit says more)",
		               plan->strength == TARE_FIT_WEAK_LAW ? "a weak law" : "no law", target);
	if (plan->best >= 0) {
		tare_emit_note(e, "Best that fits:");
		print_choice(e, plan, plan->best, "best", has_expression, list);
	} else {
		tare_emit_null(e, "best");
		tare_emit_note(e, "Nothing fits.");
	}
	if (plan->first >= 0) {
		tare_emit_note(e, plan->best >= 0 ? "The next that does not:" : "The nearest:");
		print_choice(e, plan, plan->first, "first_that_does_not", has_expression, list);
	} else {
		tare_emit_null(e, "first_that_does_not");
	}
	if (plan->best >= 0) {
		add_cell(plan, plan->choices[plan->best].row, "\n", &s);
		tare_emit_str(e, "configuration", tare_str_text(&s));
		tare_emit_note(e, "%s", "");
		for (size_t c = 0; c < plan->cells.column_count; c++)
			tare_emit_note(e, "%s=%s", plan->cells.columns[c],
			               tare_table_cell(&plan->cells, plan->choices[plan->best].row, c));
	} else {
		tare_emit_null(e, "configuration");
	}
}
