/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what can be done about the memory, and what is wrong. */
#include "view/ledger_view.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/sat.h"
#include "base/text.h"
#include "base/units.h"
#include "view/columns.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SAID = 5 };

static const int64_t large_unexplained = 16 << 20;

/* A finding, and the instant at which it is largest. */
struct said {
	const struct tare_finding *finding;
	const struct tare_ledger *ledger;
	bool is_everywhere; /* just as large at every instant shown */
};

struct list {
	struct said *items;
	size_t count, cap;
};

/* ---- sentences ---- */

static void add_value(struct tare_str *out, const struct tare_finding *f, const char *key, size_t len)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (len == 4 && !strncmp(key, "name", len))
		tare_text_add_name(out, f->name);
	else if (len == 5 && !strncmp(key, "count", len))
		tare_str_add(out, tare_units_count(text, f->count));
	else if (len == 1 && *key == 's')
		tare_str_add(out, f->count == 1 ? "" : "s");
	else if (len == 4 && !strncmp(key, "each", len))
		tare_str_add(out, tare_units_human(text, (uint64_t)f->each));
	else if (len == 4 && !strncmp(key, "next", len))
		tare_str_add(out, tare_units_human(text, (uint64_t)f->next));
}

void tare_advice_finding(struct tare_str *out, const struct tare_finding *f)
{
	const char *at = tare_advices[f->advice].finding, *open;

	while ((open = strchr(at, '{'))) {
		size_t len = strcspn(open + 1, "}");

		tare_str_add_n(out, at, (size_t)(open - at));
		add_value(out, f, open + 1, len);
		at = open + 1 + len + (open[1 + len] == '}');
	}
	tare_str_add(out, at);
}

/* ---- what is said ---- */

static const struct tare_finding *same(const struct tare_device_ledger *d, const struct tare_finding *f)
{
	for (int i = 0; d && i < d->finding_nr; i++)
		if (d->findings[i].advice == f->advice && !strcmp(d->findings[i].name, f->name))
			return &d->findings[i];
	return NULL;
}

static bool is_listed(const struct list *list, const struct tare_finding *f)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].finding->advice == f->advice && !strcmp(list->items[i].finding->name, f->name))
			return true;
	return false;
}

/* The same finding in every ledger: where it is largest, the earliest if it is equally large. */
static void add_said(struct list *list, const struct tare_ledger *const *ledgers, int ledger_nr,
                     const struct tare_device_ledger *device, const struct tare_finding *f)
{
	struct said said = { .is_everywhere = true };

	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_finding *there = same(tare_columns_device(ledgers[i], device), f);

		if (!there || there->bytes != f->bytes)
			said.is_everywhere = false;
		if (there && (!said.finding || there->bytes > said.finding->bytes)) {
			said.finding = there;
			said.ledger = ledgers[i];
		}
	}
	TARE_APPEND(list->items, list->count, list->cap) = said;
}

TARE_COMPARATOR(by_saving, struct said,
                TARE_FALLING(finding->bytes) TARE_RISING(finding->advice) TARE_ALPHABETIC(finding->name))

static void collect(struct list *list, const struct tare_ledger *const *ledgers, int ledger_nr,
                    const struct tare_device_ledger *device)
{
	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_device_ledger *d = tare_columns_device(ledgers[i], device);

		for (int k = 0; d && k < d->finding_nr; k++)
			if (!is_listed(list, &d->findings[k]))
				add_said(list, ledgers, ledger_nr, device, &d->findings[k]);
	}
	TARE_SORT(list->items, list->count, by_saving);
}

/* "  8,184.0  computed   kernel …", broken between words below its text. */
static void add_line(struct tare_emit *e, const struct said *said, const char *known)
{
	char mib[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 }, text = { 0 };

	if (!said->is_everywhere)
		tare_str_addf(&text, "at %s: ", said->ledger->at);
	tare_advice_finding(&text, said->finding);
	tare_str_addf(&text, ". %s", tare_finding_less(said->finding));
	tare_str_addf(&head, "%10s  %-8s  ", tare_units_mib(mib, said->finding->bytes), known);
	tare_emit_term(e, TARE_TONE_PLAIN, tare_str_text(&head), tare_str_text(&text));
}

static void advise_device(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr,
                          const struct tare_device_ledger *device)
{
	struct list list = { 0 };

	collect(&list, ledgers, ledger_nr, device);
	if (list.count && ledgers[0]->device_nr > 1)
		tare_emit_heading(e, "what would make it less on GPU %d, by MiB saved", device->index);
	else if (list.count)
		tare_emit_heading(e, "what would make it less, by MiB saved");
	for (size_t i = 0; i < list.count && i < MAX_SAID; i++)
		add_line(e, &list.items[i], tare_known_name(tare_advices[list.items[i].finding->advice].known));
	free(list.items);
}

/* ---- what is wrong ---- */

static void warn_unexplained(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr,
                             const struct tare_device_ledger *device)
{
	const struct tare_ledger *worst = NULL;
	char mib[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };
	int64_t bytes = 0;

	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_device_ledger *d = tare_columns_device(ledgers[i], device);

		if (!d || tare_sat_abs(d->unexplained) <= tare_sat_abs(bytes))
			continue;
		bytes = d->unexplained;
		worst = ledgers[i];
	}
	if (tare_sat_abs(bytes) <= large_unexplained)
		return;
	if (worst->device_nr > 1)
		tare_str_addf(&s, "GPU %d: ", device->index);
	tare_str_addf(&s,
	              "%s MiB at %s: unexplained. tare dump shows the calls around that time; tare "
	              "doctor checks what could not be seen here.",
	              tare_units_mib(mib, bytes), worst->at);
	tare_emit_alarm(e, "%s", tare_str_text(&s));
}

void tare_degraded_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->note_nr; i++)
		tare_emit_term(e, TARE_TONE_PLAIN, "note  ", ledger->notes[i]);
	for (int i = 0; i < ledger->degraded_nr; i++)
		tare_emit_alarm(e, "degraded: %s", ledger->degraded[i]);
}

void tare_advice_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	const struct tare_ledger *last = ledgers[ledger_nr - 1];

	for (int d = 0; d < last->device_nr; d++)
		advise_device(e, ledgers, ledger_nr, &last->devices[d]);
	for (int d = 0; d < last->device_nr; d++)
		warn_unexplained(e, ledgers, ledger_nr, &last->devices[d]);
	tare_degraded_text(e, last); /* the last instant knows all of them */
}
