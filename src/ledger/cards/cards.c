/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smaller card that a device stands for (--vram, --card): what of the device counts on it, and the
 * calls that it had no room for. The rows are the device's own: nothing here changes one.
 */
#include "ledger/cards/cards.h"

#include "base/array.h"
#include "base/comparator.h"

#include <string.h>

void tare_cards_begin(struct tare_cards_part *p, const struct tare_fold *f)
{
	p->items = tare_array_widen(p->items, (size_t)p->device_nr, (size_t)f->device_nr, sizeof(*p->items));
	p->device_nr = f->device_nr;
}

static void take_card(struct tare_card_fold *card, struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_card *r = e->rec.card;

	if (r->reserved >= r->total)
		return; /* damage */
	card->is_there = true;
	card->has_profile = r->has_profile;
	card->total = r->total;
	card->reserved = r->reserved;
	card->context = r->context;
	card->multiprocessors = r->multiprocessors;
	card->threads_per_multiprocessor = r->threads_per_multiprocessor;
	card->name = tare_arena_strdup(&f->arena, e->text ? e->text : "");
}

static int64_t uncounted_at(const struct tare_card_fold *card, const struct tare_device_fold *d, enum tare_moment m)
{
	return m == TARE_MOMENT_NOW || card->moment[m] != d->moment_nr[m] ? card->uncounted : card->kept[m];
}

/* Before card->uncounted changes: what it was at moments since its last change stays known. */
static void keep(struct tare_card_fold *card, const struct tare_device_fold *d)
{
	for (int m = 0; m < TARE_MOMENT_NR; m++)
		if (card->moment[m] != d->moment_nr[m])
			card->kept[m] = card->uncounted;
	memcpy(card->moment, d->moment_nr, sizeof(card->moment));
}

static void set_uncounted(struct tare_card_fold *card, const struct tare_device_fold *d, int process, int64_t bytes)
{
	size_t n = (size_t)process + 1, old = card->uncounted_nr;

	if (n > old) {
		if (!bytes)
			return;
		card->uncounted_by_process = tare_array_reserve(card->uncounted_by_process, &card->uncounted_cap, n,
		                                                sizeof(*card->uncounted_by_process));
		memset(card->uncounted_by_process + old, 0, (n - old) * sizeof(*card->uncounted_by_process));
		card->uncounted_nr = n;
	}
	keep(card, d);
	card->uncounted += bytes - card->uncounted_by_process[process];
	card->uncounted_by_process[process] = bytes;
}

static void take_uncounted(struct tare_card_fold *card, struct tare_fold *f, const struct tare_device_fold *d,
                           const struct tare_event *e)
{
	struct tare_process_fold *p = e->process ? tare_fold_process(f, e->process) : NULL;
	int64_t bytes = e->rec.uncounted->bytes, most = INT64_C(1) << 50;

	if (p && bytes > -most && bytes < most)
		set_uncounted(card, d, e->process->index, bytes);
}

void tare_cards_left(struct tare_cards_part *t, const struct tare_fold *f, const struct tare_device_fold *d,
                     int process)
{
	(void)f;
	set_uncounted(&t->items[d->index], d, process, 0);
}

/* ---- refusals ---- */
static struct tare_refusal_fold *refusal_of(struct tare_card_fold *card, uint64_t owner, const char *api)
{
	for (size_t i = 0; i < card->refusal_nr; i++)
		if (card->refusals[i].owner == owner && !strcmp(card->refusals[i].api, api))
			return &card->refusals[i];
	return TARE_ADD(card->refusals, card->refusal_nr, card->refusal_cap,
	                (struct tare_refusal_fold){ .owner = owner, .api = api });
}

static void add(struct tare_refusal_fold *r, uint64_t bytes, uint64_t missing, int64_t t)
{
	if (!r->count || r->first_ns > t)
		r->first_ns = t;
	if (!r->count || r->largest < bytes) {
		r->largest = bytes;
		r->missing = missing;
	}
	r->count++;
}

void tare_cards_refused(struct tare_cards_part *t, struct tare_fold *f, const struct tare_device_fold *d,
                        const struct tare_event *e)
{
	struct tare_process_fold *p = e->process ? tare_fold_process(f, e->process) : NULL;
	const char *api = tare_arena_strdup(&f->arena, e->api ? e->api : "");

	if (p)
		add(refusal_of(&t->items[d->index], tare_fold_origin(f, p, e).owner, api), e->rec.event->asked,
		    e->rec.event->missing, e->end_ns);
}

void tare_cards_event(struct tare_cards_part *t, struct tare_fold *f, struct tare_device_fold *d,
                      const struct tare_event *e)
{
	if (!d)
		return;
	if (e->kind == TARE_KIND_CARD)
		take_card(&t->items[d->index], f, e);
	else
		take_uncounted(&t->items[d->index], f, d, e);
}

TARE_COMPARATOR(by_size, struct tare_refusal, TARE_FALLING(largest) TARE_ALPHABETIC(api))

void tare_cards_device_rows(const struct tare_cards_part *p, const struct tare_fold *f,
                            const struct tare_device_fold *d, enum tare_moment m, int64_t t, struct tare_arena *memory,
                            struct tare_device_ledger *out)
{
	const struct tare_card_fold *card = &p->items[d->index];
	int64_t uncounted;

	(void)t;
	if (!card->is_there)
		return;
	uncounted = uncounted_at(card, d, m);
	out->card = (struct tare_card_ledger){
		.is_there = true,
		.has_profile = card->has_profile,
		.name = tare_arena_strdup(memory, card->name),
		.total = card->total,
		.reserved = card->reserved,
		.context = card->context,
		.multiprocessors = card->multiprocessors,
		.threads_per_multiprocessor = card->threads_per_multiprocessor,
		.used = out->used == TARE_NOT_KNOWN      ? TARE_NOT_KNOWN
		        : uncounted > (int64_t)out->used ? 0
		                                         : out->used - (uint64_t)uncounted,
	};
	out->refusals = tare_arena_alloc(memory, card->refusal_nr * sizeof(*out->refusals) + 1);
	for (size_t i = 0; i < card->refusal_nr; i++) {
		const struct tare_refusal_fold *r = &card->refusals[i];
		const char *owner = r->owner ? f->owners[r->owner - 1] : NULL;

		out->refusals[out->refusal_nr++] = (struct tare_refusal){
			.api = tare_arena_strdup(memory, r->api),
			.owner = owner ? tare_arena_strdup(memory, tare_owner_name(owner)) : NULL,
			.count = r->count,
			.largest = r->largest,
			.missing = r->missing,
			.first_ns = r->first_ns,
		};
	}
	TARE_SORT(out->refusals, out->refusal_nr, by_size);
}

const char *tare_cards_check(const struct tare_cards_part *t, const struct tare_fold *f)
{
	(void)f;
	for (int i = 0; i < t->device_nr; i++) {
		int64_t sum = 0;

		for (size_t k = 0; k < t->items[i].uncounted_nr; k++)
			sum += t->items[i].uncounted_by_process[k];
		if (sum != t->items[i].uncounted)
			return "what does not count on a smaller card is not the sum of its processes";
	}
	return NULL;
}
