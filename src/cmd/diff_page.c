/* SPDX-License-Identifier: Apache-2.0 */
/* `tare diff --html`: reads each recording once, and compares the first with the others in every view. */
#include "cmd/diff_page.h"

#include "base/xalloc.h"
#include "cmd/diff_source.h"
#include "cmd/report.h"
#include "cmd/output.h"
#include "ledger/build.h"
#include "trace/recording.h"
#include "view/by.h"
#include "view/ledger_view.h"
#include "view/page.h"

#include <stdlib.h>
#include <string.h>

/* The views of a page, the tree of accounts first. */
static const int views[] = {
	-1, TARE_BY_CATEGORY, TARE_BY_LINE, TARE_BY_MODULE, TARE_BY_OWNER, TARE_BY_LIBRARY, TARE_BY_PHASE
};

enum { VIEWS = sizeof(views) / sizeof(views[0]) };

/* One recording, or one saved report, as long as the page is written. */
struct side {
	struct tare_diff_source source;
	struct tare_str json[VIEWS]; /* the report with this view; of a saved report the first, which is all of it */
	struct tare_ledger ledger;
	struct tare_memory_history by_account, by_category;
	bool has_tensors;
};

struct page {
	struct side *sides;
	struct tare_page_pair *pairs;
	int side_nr, pair_nr;
	struct tare_arena arena;
};

/* The same as tare report --json prints of one instant. */
static void write_json(struct tare_str *out, const struct tare_ledger *ledger, int by)
{
	struct tare_by_ask ask = { .by = (enum tare_by)by, .ledgers = &ledger, .ledger_nr = 1, .pid = -1 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, out);
	e.json.is_pretty = false;
	tare_ledger_json(&e, ledger);
	if (by >= 0)
		tare_by_show(&e, &ask);
	tare_emit_end(&e);
}

static bool has_tensors(const struct tare_ledger *l)
{
	const struct tare_by_ask ask = { .by = TARE_BY_CATEGORY, .ledgers = &l, .ledger_nr = 1, .pid = -1 };

	return tare_by_is_any(&ask);
}

/* The course of time by account, then by category of tensors, in the fold that has the ledger. */
static void fold(struct side *s, struct tare_recording *recording, const struct tare_instant *instant)
{
	struct tare_ledger_opts first = { .history = &s->by_account, .without_tensors = true };
	struct tare_ledger_opts second = { .history = &s->by_category, .history_by_category = &s->by_account };

	tare_ledger_of_recording(recording, &first, instant, 1, &s->ledger);
	tare_ledger_free(&s->ledger);
	tare_ledger_of_recording(recording, &second, instant, 1, &s->ledger);
	if (instant->kind == TARE_INSTANT_MOMENT && instant->moment == TARE_MOMENT_PEAK)
		tare_report_replay(&s->ledger, recording);
	s->has_tensors = has_tensors(&s->ledger);
	for (int v = 0; v < VIEWS; v++)
		write_json(&s->json[v], &s->ledger, views[v]);
}

static int read_side(struct side *s, struct tare_err *err)
{
	struct tare_recording *recording;
	struct tare_instant instant;
	int rc;

	if (s->source.is_file)
		return tare_diff_source_load(&s->source, &s->json[0], err);
	rc = tare_instant_parse(s->source.at ? s->source.at : "peak", &instant, err);
	if (!rc)
		rc = tare_recording_open(&recording, s->source.path, err);
	if (rc)
		return rc;
	rc = tare_instants_settle(recording, &instant, 1, err);
	if (!rc)
		fold(s, recording, &instant);
	else
		tare_err_prefix(err, "%s", s->source.path);
	tare_recording_close(recording);
	return rc;
}

static int parse(const struct side *s, struct tare_diff_side *side, int v, struct tare_err *err)
{
	return tare_diff_source_parse(&s->source, side, &s->json[s->source.is_file ? 0 : v], views[v], err);
}

/* A view that a saved report does not have is left out. */
static int add_pair(struct page *p, int after, int v, struct tare_err *err)
{
	struct tare_page_pair *pair = &p->pairs[p->pair_nr];
	int rc;

	*pair = (struct tare_page_pair){ .after = after, .diff = { .by = views[v] } };
	rc = parse(&p->sides[0], &pair->diff.before, v, err);
	if (!rc)
		rc = parse(&p->sides[after], &pair->diff.after, v, err);
	if (!rc) {
		tare_diff_build(&pair->diff);
		if (v == 0 || pair->diff.row_nr) {
			p->pair_nr++;
			return 0;
		}
	}
	tare_diff_free(&pair->diff);
	if (rc != TARE_E_NOT_FOUND || v == 0)
		return rc;
	*err = (struct tare_err){ 0 };
	return 0;
}

static int write_page(const char *file, const struct page *p, bool is_confidential, struct tare_err *err)
{
	TARE_FREED_HERE struct tare_page_side *sides = tare_xcalloc((size_t)p->side_nr, sizeof(*sides));
	struct tare_page_compare page = {
		.sides = sides,
		.side_nr = p->side_nr,
		.pairs = p->pairs,
		.pair_nr = p->pair_nr,
		.is_confidential = is_confidential,
	};
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	for (int i = 0; i < p->pair_nr; i++) {
		const struct tare_diff *d = &p->pairs[i].diff;
		const struct tare_diff_side *of[] = { &d->before, &d->after };

		for (int k = 0; k < 2; k++) {
			int number = k ? p->pairs[i].after : 0;
			const struct side *s = &p->sides[number];

			sides[number] = (struct tare_page_side){
				.source = s->source.path,
				.at = of[k]->at,
				.t_ns = of[k]->t_ns,
				.ledger = s->source.is_file ? NULL : &s->ledger,
				.by_account = &s->by_account,
				.by_category = s->has_tensors ? &s->by_category : NULL,
			};
		}
	}
	tare_page_compare(&text, &page);
	return tare_cmd_write_file(file, &text, err);
}

static void discard(struct page *p)
{
	for (int i = 0; i < p->side_nr; i++) {
		struct side *s = &p->sides[i];

		for (int v = 0; v < VIEWS; v++)
			tare_str_free(&s->json[v]);
		tare_ledger_free(&s->ledger);
		tare_memory_history_free(&s->by_account);
		tare_memory_history_free(&s->by_category);
	}
	for (int i = 0; i < p->pair_nr; i++)
		tare_diff_free(&p->pairs[i].diff);
	free(p->sides);
	free(p->pairs);
	tare_arena_free(&p->arena);
}

int tare_diff_page(const char *file, const char *const *operands, size_t operand_nr, const struct tare_operands *at,
                   bool is_confidential, struct tare_err *err)
{
	struct page p = { .side_nr = operand_nr > 1 ? (int)operand_nr : 2 };
	int rc = 0;

	p.sides = tare_xcalloc((size_t)p.side_nr, sizeof(*p.sides));
	p.pairs = tare_xcalloc((size_t)p.side_nr * VIEWS, sizeof(*p.pairs));
	for (int i = 0; !rc && i < p.side_nr; i++) {
		const char *own = at->count ? at->items[i ? at->count - 1 : 0] : NULL;

		rc = tare_diff_source_find(&p.sides[i].source, &p.arena, operands[i < (int)operand_nr ? i : 0], own, err);
		if (!rc)
			rc = read_side(&p.sides[i], err);
	}
	for (int i = 1; !rc && i < p.side_nr; i++)
		for (int v = 0; !rc && v < VIEWS; v++)
			rc = add_pair(&p, i, v, err);
	if (!rc)
		rc = write_page(file, &p, is_confidential, err);
	discard(&p);
	return rc;
}
