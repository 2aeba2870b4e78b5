/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short texts about the ledger of now (used, peak, steps, growth …), and a line of as many of them as there is room
 * for.
 */
#include "top/status.h"

#include "base/part.h"
#include "base/units.h"
#include "base/width.h"

#include <stdio.h>
#include <string.h>

enum { PIECES_MOST = 12 };

/* ---- what there is to say ---- */

static bool is_used(const struct tare_device_ledger *d)
{
	if (!tare_device_ledger_is_gpu(d))
		return false;
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].pid >= 0 && d->rows[i].account != TARE_ACCOUNT_OTHER)
			return true;
	return false;
}

/* The GPU on which programs have most; NULL: none is used. */
static const struct tare_device_ledger *main_device(const struct tare_ledger *ledger)
{
	const struct tare_device_ledger *most = NULL;

	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];

		if (is_used(d) && (!most || d->used > most->used))
			most = d;
	}
	return most;
}

static int gpus_of(const struct tare_ledger *ledger)
{
	int n = 0;

	for (int i = 0; i < ledger->device_nr; i++)
		n += is_used(&ledger->devices[i]);
	return n;
}

static uint64_t steps_of(const struct tare_ledger *ledger)
{
	uint64_t most = 0;

	for (int i = 0; i < ledger->training_nr; i++)
		if (ledger->trainings[i].count > most)
			most = ledger->trainings[i].count;
	return most;
}

/* Of all processes together; false: not known. */
static bool add_up_host(const struct tare_ledger *ledger, int64_t *resident, int64_t *tensors)
{
	bool is_known = false;

	*resident = *tensors = 0;
	for (int i = 0; i < ledger->host_nr; i++) {
		const struct tare_host_ledger *h = &ledger->hosts[i];

		if (h->rss != TARE_NOT_KNOWN) {
			*resident += (int64_t)h->rss;
			is_known = true;
		}
		if (h->tensors.is_known)
			*tensors += h->tensors.bytes;
	}
	return is_known;
}

/* What PyTorch has of the device: the rows above those of live tensors. */
static int64_t torch_of(const struct tare_device_ledger *d)
{
	int64_t sum = 0;

	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].has_categories)
			sum += d->rows[d->rows[i].parent >= 0 ? d->rows[i].parent : i].bytes;
	return sum;
}

/* What most tensors are for, of all processes; without tensors, the largest row. */
static const char *top_of(const struct tare_device_ledger *d, int64_t *bytes)
{
	const struct tare_row *most = NULL;
	const char *name = NULL;

	*bytes = 0;
	for (int i = 0; i < d->row_nr; i++) {
		int64_t sum = 0;

		if (!d->rows[i].is_category)
			continue;
		for (int k = i; k < d->row_nr; k++)
			if (d->rows[k].is_category && !strcmp(d->rows[k].label, d->rows[i].label))
				sum += d->rows[k].bytes;
		if (sum > *bytes) {
			*bytes = sum;
			name = d->rows[i].label;
		}
	}
	if (name)
		return name;
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].leaf && d->rows[i].pid >= 0 && (!most || d->rows[i].bytes > most->bytes))
			most = &d->rows[i];
	*bytes = most ? most->bytes : 0;
	return most ? most->label : NULL;
}

static int64_t used_of(const struct tare_ledger *ledger)
{
	const struct tare_device_ledger *d = main_device(ledger);
	int64_t resident, tensors;

	if (d)
		return (int64_t)d->used;
	add_up_host(ledger, &resident, &tensors);
	return tensors ? tensors : resident;
}

void tare_status_take(struct tare_status *s, const struct tare_ledger *ledger)
{
	uint64_t steps = steps_of(ledger);
	int64_t used = used_of(ledger);

	if (steps == s->steps)
		return;
	if (s->steps && steps > s->steps) {
		s->before = s->steps;
		s->change = used - s->used;
		s->has_change = true;
	}
	s->steps = steps;
	s->used = used;
}

/* ---- pieces, the most needed first ---- */

struct pieces {
	struct tare_str items[PIECES_MOST];
	size_t count;
};

static struct tare_str *add_piece(struct pieces *p)
{
	return &p->items[p->count < PIECES_MOST - 1 ? p->count++ : p->count];
}

static void add_gpu(struct pieces *p, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	struct tare_str *piece = add_piece(p);
	char text[TARE_UNITS_TEXT_MAX], total[TARE_UNITS_TEXT_MAX];
	int others = gpus_of(ledger) - 1;

	tare_str_addf(piece, "GPU %d%s  %s", d->index, d->simulated ? " (simulated)" : "",
	              tare_units_mib(text, (int64_t)d->used));
	if (d->total != TARE_NOT_KNOWN && d->total) {
		tare_str_addf(piece, " of %s MiB, ", tare_units_count(total, d->total >> 20));
		tare_part_add(piece, (double)d->used / (double)d->total);
	} else {
		tare_str_add(piece, " MiB");
	}
	tare_str_addf(add_piece(p), "peak %s", tare_units_mib(text, (int64_t)d->peak_used));
	if (torch_of(d))
		tare_str_addf(add_piece(p), "PyTorch %s", tare_units_mib(text, torch_of(d)));
	if (others > 0)
		tare_str_addf(add_piece(p), "%d other GPU%s", others, others == 1 ? "" : "s");
}

static void add_host(struct pieces *p, const struct tare_ledger *ledger, bool is_alone)
{
	char text[TARE_UNITS_TEXT_MAX];
	int64_t resident, tensors;
	bool is_known = add_up_host(ledger, &resident, &tensors);

	if (is_known)
		tare_str_addf(add_piece(p), "host %s%s", tare_units_mib(text, resident), is_alone ? " MiB resident" : "");
	if (tensors >= TARE_UNITS_LEAST)
		tare_str_addf(add_piece(p), "tensors on the CPU %s", tare_units_mib(text, tensors));
}

static void add_steps(struct pieces *p, const struct tare_status *s)
{
	char text[TARE_UNITS_TEXT_MAX], steps[TARE_UNITS_TEXT_MAX];

	if (!s->steps)
		return;
	tare_str_addf(add_piece(p), "step %s", tare_units_count(steps, s->steps));
	if (s->has_change)
		tare_str_addf(add_piece(p), "%s%s since step %s", s->change >= 0 ? "+" : "", tare_units_mib(text, s->change),
		              tare_units_count(steps, s->before));
}

/* What never stops to grow is said with its line; the fastest. */
static void add_growth(struct pieces *p, const struct tare_ledger *ledger)
{
	const struct tare_growth *g = ledger->growth_nr ? &ledger->growths[0] : NULL;
	struct tare_str *piece;
	char text[TARE_UNITS_TEXT_MAX];

	if (!g)
		return;
	piece = add_piece(p);
	tare_str_addf(piece, "grows %s %s", tare_units_human(text, (uint64_t)(g->has_steps ? g->per_step : g->per_second)),
	              g->has_steps ? "a step" : "a second");
	tare_str_addf(piece, ": %s", g->short_line ? g->short_line : g->what);
}

static void add_top(struct pieces *p, const struct tare_device_ledger *d)
{
	char text[TARE_UNITS_TEXT_MAX];
	int64_t bytes;
	const char *name = top_of(d, &bytes);

	if (name && bytes >= TARE_UNITS_LEAST)
		tare_str_addf(add_piece(p), "most: %s %s", name, tare_units_mib(text, bytes));
}

/* ---- lines ---- */

/* As many pieces as there is room for, one that is too wide is passed over; the first is cut if need be. */
static void fill(struct tare_str *line, const char *head, const struct pieces *p, size_t columns)
{
	struct tare_str text = { 0 };

	tare_str_add(&text, head);
	for (size_t i = 0; i < p->count; i++) {
		const char *piece = tare_str_text(&p->items[i]);
		bool is_first = tare_str_text(&text)[strlen(head)] == '\0';

		if (!is_first && tare_width_text(tare_str_text(&text)) + strlen(" · ") - 1 + tare_width_text(piece) > columns)
			continue;
		tare_str_addf(&text, "%s%s", is_first ? "" : " · ", piece);
	}
	tare_str_cut(line, 0);
	tare_width_add(line, tare_str_text(&text), columns, false);
	tare_str_free(&text);
}

static void forget(struct pieces *p)
{
	for (size_t i = 0; i < PIECES_MOST; i++)
		tare_str_free(&p->items[i]);
}

/* "0:07", "1:02:03" */
static void add_time(struct pieces *p, int64_t seconds)
{
	struct tare_str *piece = add_piece(p);
	long long hours = seconds / 3600, minutes = seconds / 60 % 60;

	if (hours)
		tare_str_addf(piece, "%lld:%02lld", hours, minutes);
	else
		tare_str_addf(piece, "%lld", minutes);
	tare_str_addf(piece, ":%02lld", (long long)seconds % 60);
}

/* One line has of the second what there is room for. */
void tare_status_lines(const struct tare_status *s, const struct tare_ledger *ledger, int64_t seconds, size_t columns,
                       struct tare_str *lines, size_t line_nr)
{
	const struct tare_device_ledger *d = ledger ? main_device(ledger) : NULL;
	struct pieces first = { 0 }, second = { 0 }, *next = line_nr > 1 ? &second : &first;

	if (d)
		add_gpu(&first, ledger, d);
	if (ledger)
		add_host(&first, ledger, !d);
	if (!first.count)
		tare_str_add(add_piece(&first), "nothing is recorded yet");
	add_steps(next, s);
	if (ledger)
		add_growth(next, ledger);
	if (d)
		add_top(next, d);
	add_time(next, seconds);
	fill(&lines[0], "tare  ", &first, columns);
	if (line_nr > 1)
		fill(&lines[1], "      ", &second, columns);
	for (size_t i = 2; i < line_nr; i++)
		tare_str_cut(&lines[i], 0);
	forget(&first);
	forget(&second);
}
