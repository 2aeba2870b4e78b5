/* SPDX-License-Identifier: Apache-2.0 */
/* What a prediction takes of the recording of a run on a simulated card. */
#include "cmd/predict.h"

#include "base/str.h"
#include "ledger/build.h"
#include "trace/recording.h"
#include "view/device_text.h"

#include <string.h>

enum {
	ALWAYS_BYTES = 16 << 20,
	ALWAYS_PART = 400,
	UNASKED_LARGEST = 1,
	UNASKED_PART = 100,
	RANKS_PART = 25,
};

/* The device that needs most, of those that were used: the witness has all that there are. */
static const struct tare_device_ledger *largest(const struct tare_ledger *ledger)
{
	const struct tare_device_ledger *best = NULL;

	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];

		if (tare_device_ledger_is_gpu(d) && d->simulated && tare_device_text_is_touched(&ledger, 1, d) &&
		    (!best || d->peak_used > best->peak_used))
			best = d;
	}
	return best;
}

/* Something is taken for granted: the need may be off by so many bytes for it. */
static void assume(struct tare_predict_card *card, const char *what, int64_t bytes, const char *rule)
{
	if (card->assumed_nr < (int)(sizeof(card->assumed) / sizeof(card->assumed[0])))
		card->assumed[card->assumed_nr++] = (struct tare_predict_assumed){ what, rule, bytes };
	card->low -= bytes;
	card->high += bytes;
}

static int64_t bytes_of(const struct tare_device_ledger *d, enum tare_account account)
{
	int64_t bytes = 0;

	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].account == account && tare_row_is_end(&d->rows[i]))
			bytes += d->rows[i].bytes;
	return bytes;
}

bool tare_predict_is_close(const struct tare_predict_card *card)
{
	if (card->is_out_of_memory)
		return card->missing >= 0 && card->missing <= card->high - card->need;
	return card->fits && card->high > card->room;
}

/* What a program needs in all: where memory ran out, as much as there is, or more. */
static int64_t all_of(const struct tare_predict_card *card)
{
	return card->is_out_of_memory ? card->room : card->need;
}

/* A workspace that no card was asked for may be another one, and so may what PyTorch keeps because of it. */
static void assume_convolutions(struct tare_predict_card *card, struct tare_arena *memory)
{
	const struct tare_predict_convolutions *c = &card->convolutions;
	TARE_FREED_BY(tare_str_free) struct tare_str what = { 0 };

	if (!c->unasked)
		return;
	tare_str_addf(&what, "workspaces of %lld of %lld convolutions", (long long)c->unasked, (long long)c->all);
	assume(card, tare_arena_strdup(memory, tare_str_text(&what)),
	       UNASKED_LARGEST * c->largest + all_of(card) / UNASKED_PART,
	       "no card of this kind was asked for them: within the largest of them and 1 %");
}

/*
 * How far off the figure may be, by what is not known of this program. What these rest on: docs/measurements/simulated.md, "How far off a
 * prediction may be".
 */
static void take_range(struct tare_predict_card *card, const struct tare_ledger *ledger,
                       const struct tare_device_ledger *d, struct tare_arena *memory)
{
	const int64_t all = all_of(card);

	card->low = card->high = card->need;
	assume(card, "kernel code, streams and addresses", ALWAYS_BYTES + all / ALWAYS_PART, "within 16 MiB and 0.25 %");
	assume_convolutions(card, memory);
	if (ledger->device_nr > 1)
		assume(card, "what ranks hold while they wait for others", all / RANKS_PART, "within 4 %");
	if (!card->is_measured)
		assume(card, "context and code", (bytes_of(d, TARE_ACCOUNT_CONTEXT) + bytes_of(d, TARE_ACCOUNT_CODE)) / 4,
		       "nobody measured this card: within a quarter");
}

/* Steps of the process that was refused which came to their end, and the one that did not. */
static void take_step(struct tare_predict_card *card, const struct tare_ledger *ledger, const struct tare_oom *oom)
{
	for (int i = 0; i < ledger->training_nr; i++)
		if (ledger->trainings[i].pid == oom->pid && ledger->trainings[i].generation == oom->generation)
			card->step = (int64_t)ledger->trainings[i].count + 1;
}

static void take_oom(struct tare_predict_card *card, const struct tare_ledger *ledger, struct tare_arena *memory)
{
	card->refused = card->missing = -1;
	for (int i = 0; i < ledger->oom_nr; i++) {
		const struct tare_oom *oom = &ledger->ooms[i];

		if (oom->device < 0)
			continue;
		card->is_out_of_memory = true;
		card->line = oom->short_source ? tare_arena_strdup(memory, oom->short_source) : NULL;
		card->refused = (int64_t)(oom->segment ? oom->segment : oom->asked);
		if (oom->free <= INT64_MAX)
			card->missing = card->refused - (int64_t)oom->free;
		take_step(card, ledger, oom);
		return;
	}
}

static void take_degraded(struct tare_predict_card *card, const struct tare_ledger *ledger, struct tare_arena *memory)
{
	card->degraded = tare_arena_alloc(memory, (size_t)ledger->degraded_nr * sizeof(*card->degraded));
	for (int i = 0; i < ledger->degraded_nr; i++)
		card->degraded[card->degraded_nr++] = tare_arena_strdup(memory, ledger->degraded[i]);
}

/* Of several processes a line is one. */
static void take_read_backs(struct tare_predict_card *card, const struct tare_ledger *ledger, struct tare_arena *memory)
{
	card->read_backs = tare_arena_alloc(memory, ((size_t)ledger->read_back_nr + 1) * sizeof(*card->read_backs));
	for (int i = 0, k; i < ledger->read_back_nr; i++) {
		const struct tare_read_back *r = &ledger->read_backs[i];
		const char *line = r->short_source ? tare_arena_strdup(memory, r->short_source) : NULL;

		for (k = 0; k < card->read_back_nr; k++)
			if (line && card->read_backs[k].line && card->read_backs[k].is_overflow == r->is_overflow &&
			    !strcmp(card->read_backs[k].line, line))
				break;
		if (k == card->read_back_nr)
			card->read_backs[card->read_back_nr++] = (struct tare_predict_read_back){ line, 0, r->is_overflow };
		card->read_backs[k].count += r->count;
	}
}

/* Threads take turns in whatever order, so the sum does not depend on it. */
static void add_block(struct tare_predict_course *course, uint64_t bytes)
{
	uint64_t hash = (bytes ^ bytes >> 31) * UINT64_C(0x9e3779b97f4a7c15);

	course->blocks++;
	course->sum += hash ^ hash >> 29;
}

static int take_course(const char *path, struct tare_predict_card *card, struct tare_err *err)
{
	struct tare_recording *recording;
	struct tare_event e;
	int rc = tare_recording_open(&recording, path, err);

	if (rc)
		return rc;
	while (tare_recording_next(recording, &e))
		if (e.kind == TARE_KIND_TENSOR && e.rec.tensor->bytes > 0 && e.rec.tensor->device >= 0)
			add_block(&card->course, (uint64_t)e.rec.tensor->bytes);
		else if (e.kind == TARE_KIND_EVENT && e.rec.event->effect == TARE_EFFECT_NEW && e.rec.event->asked &&
		         e.rec.event->asked != TARE_NOT_KNOWN)
			add_block(&card->course, e.rec.event->asked);
	tare_recording_close(recording);
	return 0;
}

int tare_predict_read(const char *path, struct tare_predict_card *card, struct tare_arena *memory, struct tare_err *err)
{
	struct tare_instant peak = { 0 };
	struct tare_recording *recording;
	const struct tare_device_ledger *d;
	struct tare_ledger ledger;
	int rc = tare_recording_open(&recording, path, err);

	if (rc)
		return rc;
	tare_instant_parse("peak", &peak, NULL);
	tare_ledger_of_recording(recording, &(struct tare_ledger_opts){ .without_tensors = true }, &peak, 1, &ledger);
	d = largest(&ledger);
	if (d) {
		card->name = tare_arena_strdup(memory, d->name);
		card->total = (int64_t)d->total;
		card->room = (int64_t)(d->total - d->reserved);
		card->need = (int64_t)d->used - d->elastic;
		take_oom(card, &ledger, memory);
		take_range(card, &ledger, d, memory);
		take_degraded(card, &ledger, memory);
		take_read_backs(card, &ledger, memory);
		card->has_failed = card->exit_code && !card->is_out_of_memory;
		card->fits = !card->is_out_of_memory && !card->has_failed && card->need <= card->room;
	} else if (card->exit_code) { /* before it used one, by a mistake on its command line, say */
		take_degraded(card, &ledger, memory);
		card->has_failed = true;
		card->need = card->low = card->high = -1;
	} else
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "predict: the program used no GPU; what it printed stands above%s%s",
		                  ledger.degraded_nr ? ": " : "", ledger.degraded_nr ? ledger.degraded[0] : "");
	tare_ledger_free(&ledger);
	tare_recording_close(recording);
	return rc ? rc : take_course(path, card, err);
}
