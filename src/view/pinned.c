/* SPDX-License-Identifier: Apache-2.0 */
/* Prints pinned memory of the host, by line. */
#include "view/pinned.h"

#include "base/units.h"

enum { MAX_LINES = 3 };
/* From here on a setting is named: what rounding took of the host. */
static const int64_t large_waste = 64 << 20;

struct row {
	const char *line;
	int64_t bytes, count, looked, asked, on_card;
	bool is_looked;
	const struct tare_host_ledger *host;
};

static struct row row_of(const struct tare_pinned *p)
{
	return (struct row){
		.bytes = p->bytes, .count = p->count, .looked = p->looked, .asked = p->asked, .is_looked = p->looked > 0
	};
}

#define LOOKED .when = TARE_WHEN(row, is_looked)

static const struct tare_column line_columns[] = {
	TARE_COLUMN(row, line, "line", NULL, TEXT),
	TARE_COLUMN(row, bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, count, "blocks", NULL, COUNT),
	TARE_COLUMN(row, looked, "looked_bytes", NULL, BYTES),
	TARE_COLUMN(row, asked, "asked_bytes", NULL, BYTES, LOOKED),
};

static void add_lines(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_host_ledger *h = ((const struct row *)row)->host;

	tare_emit_table(e, key, NULL, TARE_COLUMNS(line_columns));
	for (int i = 0; i < h->pinned_line_nr; i++) {
		struct row line = row_of(&h->pinned_lines[i].of);

		line.line = h->pinned_lines[i].line;
		tare_emit_add(e, &line);
	}
	tare_emit_table_end(e);
}

static const struct tare_column columns[] = {
	TARE_COLUMN(row, bytes, "bytes", NULL, BYTES),         TARE_COLUMN(row, count, "blocks", NULL, COUNT),
	TARE_COLUMN(row, looked, "looked_bytes", NULL, BYTES), TARE_COLUMN(row, asked, "asked_bytes", NULL, BYTES, LOOKED),
	TARE_COLUMN(row, on_card, "card_bytes", NULL, BYTES),  TARE_NESTED("lines", add_lines),
};

void tare_pinned_json(struct tare_emit *e, const char *key, const void *host)
{
	const struct tare_host_ledger *h = host;
	struct row row = row_of(&h->pinned_sum);

	row.on_card = h->pinned_on_card;
	row.host = h;
	tare_emit_object(e, key, TARE_COLUMNS(columns), &row);
}

/* ---- for people ---- */

static void add_mib(struct tare_str *out, const char *before, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "%s%s", before, tare_units_mib(text, bytes));
}

/* What was asked for, of what it is known of; an allocator that rounds does not tell. */
static void add_asked(struct tare_str *out, const struct tare_pinned *p)
{
	if (!p->looked) {
		tare_str_add(out, " · asked for: not known");
		return;
	}
	add_mib(out, " · asked for ", p->asked);
	if (p->asked < p->looked)
		tare_str_addf(out, ", that is %.2f × as much", (double)p->looked / (double)p->asked);
	if (p->bytes - p->looked >= TARE_UNITS_LEAST) {
		add_mib(out, "; of ", p->bytes - p->looked);
		tare_str_add(out, " it is not known");
	}
}

static void add_places(struct tare_str *out, const struct tare_host_ledger *h)
{
	int shown = 0;

	for (int i = 0; i < h->pinned_line_nr && shown < MAX_LINES; i++) {
		const struct tare_pinned_line *l = &h->pinned_lines[i];

		if (l->of.bytes < TARE_UNITS_LEAST)
			continue;
		tare_str_add(out, shown++ ? ", " : " · ");
		tare_str_add(out, l->short_line ? l->short_line : "no line");
		add_mib(out, " ", l->of.bytes);
	}
	if (h->pinned_line_nr > shown)
		tare_str_addf(out, " and %d more", h->pinned_line_nr - shown);
}

void tare_pinned_text(struct tare_emit *e, const struct tare_host_ledger *h)
{
	const struct tare_pinned *p = &h->pinned_sum;
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (p->bytes < TARE_UNITS_LEAST)
		return;
	add_mib(&line, "", p->bytes);
	tare_str_addf(&line, " MiB in %s block%s", tare_units_count(text, (uint64_t)p->count), p->count == 1 ? "" : "s");
	add_asked(&line, p);
	if (h->pinned_on_card >= TARE_UNITS_LEAST)
		add_mib(&line, " · on the GPU ", h->pinned_on_card);
	add_places(&line, h);
	tare_emit_term(e, TARE_TONE_PLAIN, "pinned  ", tare_str_text(&line));
	if (p->looked - p->asked >= large_waste)
		tare_emit_note(
			e,
			"        PyTorch rounds each up to a power of two: PYTORCH_ALLOC_CONF=pinned_max_round_threshold_mb:64,pinned_max_cached_size_mb:64 (newer than 2.11), or cudaHostRegister");
}
