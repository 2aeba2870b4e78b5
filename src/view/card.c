/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how full a smaller card was. */
#include "view/card.h"

#include "base/units.h"
#include "record/format.h"
#include "view/device_text.h"

enum { MAX_REFUSALS = 4 };

static uint64_t room_of(const struct tare_card_ledger *card)
{
	return card->total - card->reserved;
}

static uint64_t free_of(const struct tare_card_ledger *card)
{
	if (card->used == TARE_NOT_KNOWN)
		return TARE_NOT_KNOWN;
	return card->used < room_of(card) ? room_of(card) - card->used : 0;
}

static void add_card(struct tare_str *out, const struct tare_card_ledger *card)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (*card->name) {
		tare_str_add(out, card->name);
		tare_str_addf(out, " of %s MiB (--card)", tare_units_count(text, room_of(card) >> 20));
	} else {
		tare_str_addf(out, "card of %s MiB (--vram)", tare_units_count(text, room_of(card) >> 20));
	}
}

void tare_card_title(struct tare_str *out, const struct tare_device_ledger *d)
{
	if (!d->card.is_there)
		return;
	add_card(out, &d->card);
	tare_str_add(out, " on ");
}

void tare_card_rows(struct tare_sheet *s, const struct tare_columns *c, const struct tare_device_ledger *device)
{
	const struct tare_row_look below = { .level = 1 };

	if (!device->card.is_there)
		return;
	tare_str_add(&s->row->label, "of that, on the card");
	for (int i = 0; i < c->column_nr; i++)
		s->row->cells[i] = tare_device_text_bytes(c->devices[i] ? c->devices[i]->card.used : TARE_NOT_KNOWN);
	tare_sheet_add(s, below);
	tare_str_add(&s->row->label, "free on the card");
	for (int i = 0; i < c->column_nr; i++)
		s->row->cells[i] = tare_device_text_bytes(c->devices[i] ? free_of(&c->devices[i]->card) : TARE_NOT_KNOWN);
	tare_sheet_add(s, below);
}

static void add_line(struct tare_emit *e, const struct tare_str *line)
{
	tare_emit_indented(e, 2, 4, tare_str_text(line));
}

static void add_refusals(struct tare_emit *e, const struct tare_device_ledger *d)
{
	char a[TARE_UNITS_TEXT_MAX], b[TARE_UNITS_TEXT_MAX];
	const struct tare_refusal *first = &d->refusals[0];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	uint64_t count = 0;

	for (int i = 0; i < d->refusal_nr; i++) {
		count += d->refusals[i].count;
		if (d->refusals[i].first_ns < first->first_ns)
			first = &d->refusals[i];
	}
	tare_str_addf(&line, "refused: %s %s, the first after %s", tare_units_count(a, count),
	              count == 1 ? "call" : "calls", tare_units_duration(b, first->first_ns));
	tare_str_addf(&line, "; the largest needed %s MiB, and %s of them were not there",
	              tare_units_mib(a, (int64_t)d->refusals[0].largest),
	              tare_units_mib(b, (int64_t)d->refusals[0].missing));
	add_line(e, &line);
	for (int i = 0; i < d->refusal_nr && i < MAX_REFUSALS; i++) {
		const struct tare_refusal *r = &d->refusals[i];

		tare_str_cut(&line, 0);
		tare_str_addf(&line, "  %s × %s", tare_units_count(a, r->count), r->api);
		if (r->owner) {
			tare_str_add(&line, " by ");
			tare_str_add(&line, r->owner);
		}
		tare_str_addf(&line, ", up to %s MiB (%s missing)", tare_units_mib(a, (int64_t)r->largest),
		              tare_units_mib(b, (int64_t)r->missing));
		add_line(e, &line);
	}
	if (d->refusal_nr > MAX_REFUSALS)
		tare_emit_note(e, "    and %d more: tare report --json", d->refusal_nr - MAX_REFUSALS);
}

void tare_card_text(struct tare_emit *e, const struct tare_device_ledger *device)
{
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (!device->card.is_there)
		return;
	if (device->refusal_nr)
		add_refusals(e, device);
	else
		tare_emit_note(e, "  refused: nothing, all of it fits on the card");
	if (device->card.has_profile)
		tare_str_addf(&line,
		              "On the card a context takes %s MiB, and local memory is that of %u × %u threads; code, "
		              "streams and steps are those of this GPU.",
		              tare_units_mib(text, (int64_t)device->card.context), device->card.multiprocessors,
		              device->card.threads_per_multiprocessor);
	else
		tare_str_add(&line, "Context, local memory, code and streams are those of this GPU, not of a card of that "
		                    "size: --card PROFILE counts the first two as they are there.");
	add_line(e, &line);
	tare_emit_gap(e);
}

/* ---- JSON ---- */
struct card {
	const char *profile;
	uint64_t free;
	struct tare_card_ledger of;
};

static const struct tare_column card_columns[] = {
	TARE_COLUMN(card, of.total, "total_bytes", NULL, BYTES),
	TARE_COLUMN(card, of.reserved, "reserved_bytes", NULL, BYTES),
	TARE_COLUMN(card, of.used, "used_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(card, free, "free_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(card, profile, "profile", NULL, TEXT),
	TARE_COLUMN(card, of.context, "context_bytes", NULL, BYTES, .when = TARE_WHEN(card, of.has_profile)),
};

static const struct tare_column refused_columns[] = {
	TARE_COLUMN(tare_refusal, api, "api", NULL, TEXT),
	TARE_COLUMN(tare_refusal, owner, "owner", NULL, TEXT),
	TARE_COLUMN(tare_refusal, count, "count", NULL, COUNT),
	TARE_COLUMN(tare_refusal, largest, "largest_bytes", NULL, BYTES),
	TARE_COLUMN(tare_refusal, missing, "missing_bytes", NULL, BYTES),
	TARE_COLUMN(tare_refusal, first_ns, "first_t_ns", NULL, TIME),
};

void tare_card_json(struct tare_emit *e, const struct tare_device_ledger *d)
{
	struct card card = { .of = d->card };

	if (d->card.is_there) {
		card.profile = *d->card.name ? d->card.name : NULL;
		card.free = free_of(&d->card);
	}
	tare_emit_object(e, "card", TARE_COLUMNS(card_columns), d->card.is_there ? &card : NULL);
	tare_emit_rows(e, "refused", NULL, TARE_COLUMNS(refused_columns), TARE_ROWS(d->refusals, d->refusal_nr));
}
