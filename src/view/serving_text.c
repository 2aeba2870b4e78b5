/* SPDX-License-Identifier: Apache-2.0 */
/* `--by serving` on the screen: a table for each server that sums to the card, and what it says about the cache. */
#include "view/serving_show.h"

#include "base/units.h"
#include "view/card.h"
#include "view/device_text.h"

#include <math.h>
#include <string.h>

enum { SHARE = 16 }; /* of the card: what a default report says is large */

struct row {
	const char *label;
	int64_t first_ns, bytes;
	bool is_known;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, NULL, "WHAT", TEXT),
	TARE_COLUMN(row, first_ns, NULL, "CAME AT", TIME, .unknown = TARE_UNKNOWN_NEGATIVE, .is_blank = true),
	TARE_COLUMN(row, bytes, NULL, "MiB", BYTES, .is_main = true),
};

static void add_row(struct tare_emit *e, const char *label, int64_t first_ns, int64_t bytes)
{
	tare_emit_add(e, &(struct row){ .label = label, .first_ns = first_ns, .bytes = bytes });
}

static void add_title(struct tare_str *title, const struct tare_serving *s)
{
	tare_device_text_number(title, s->device, "  ");
	tare_card_title(title, s->device);
	tare_device_text_name(title, s->device);
	tare_str_addf(title, " · %s · ", s->program ? s->program : "");
	tare_device_text_instant(title, s->ledger, s->device->t_ns);
}

static void add_cache_label(struct tare_str *out, const struct tare_serving *s)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "cache: %s", s->cache_short_line ? s->cache_short_line : "one block");
	if (s->cache_blocks > 1)
		tare_str_addf(out, ", %s tensors", tare_units_count(text, s->cache_blocks));
}

static void add_table(struct tare_emit *e, const struct tare_serving *s)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 }, cache = { 0 };

	add_title(&title, s);
	add_cache_label(&cache, s);
	tare_emit_table(e, "rows", tare_str_text(&title), TARE_COLUMNS(columns));
	for (int i = 0; i < s->row_nr; i++)
		add_row(e, s->rows[i].what == TARE_COMING_CACHE ? tare_str_text(&cache) : tare_coming_label(s->rows[i].what),
		        s->rows[i].first_ns, s->rows[i].bytes);
	add_row(e, "unexplained", -1, s->device->unexplained);
	if (s->counted)
		add_row(e, "counts otherwise on the smaller card", -1, s->counted);
	add_row(e, "left", -1, s->left);
	if (s->reserved)
		add_row(e, "reserved by the driver", -1, s->reserved);
	tare_emit_rule(e);
	add_row(e, "the card", -1, s->room + s->reserved);
	tare_emit_table_end(e);
}

/* "20,480.0" */
static const char *mib(char buf[TARE_UNITS_TEXT_MAX], int64_t bytes)
{
	return tare_units_mib(buf, bytes);
}

static void say_moment(struct tare_str *line, int64_t bytes, int64_t ns, const char *when)
{
	char a[TARE_UNITS_TEXT_MAX], b[TARE_UNITS_TEXT_MAX];

	tare_str_addf(line, "%s %s MiB", when, mib(a, bytes));
	if (ns >= 0)
		tare_str_addf(line, " (%s)", tare_units_duration(b, ns));
}

static void say_on_top(struct tare_emit *e, const struct tare_serving *s)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_add(&line, "on top of what stays came and went at most: ");
	say_moment(&line, s->before, s->before_ns, "before the cache");
	tare_str_add(&line, ", ");
	say_moment(&line, s->since, s->since_ns, "since then");
	if (s->since > s->before)
		tare_str_add(&line, ". What ran before the cache was not the largest that comes");
	else
		tare_str_add(&line, ". A longer prompt, or more at once, than was tried before the cache needs more");
	tare_emit_indented(e, 2, 4, tare_str_text(&line));
}

static void say_graphs(struct tare_emit *e, const struct tare_serving *s)
{
	const struct tare_serving_graphs *g = &s->graphs;
	char a[TARE_UNITS_TEXT_MAX], b[TARE_UNITS_TEXT_MAX], c[TARE_UNITS_TEXT_MAX], d[TARE_UNITS_TEXT_MAX],
		e1[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (!g->captured) {
		tare_emit_indented(e, 2, 4, "CUDA graphs: none was captured");
		return;
	}
	tare_str_addf(&line, "CUDA graphs: %s took %s MiB: pools %s, driver %s; the first %s",
	              tare_units_count(a, g->captured), mib(b, g->bytes), mib(c, g->pool), mib(d, g->driver),
	              mib(e1, g->first));
	if (g->is_known)
		tare_str_addf(&line, ", each further one %s (%s to %s)", mib(a, g->each), mib(b, g->each_low),
		              mib(c, g->each_high));
	tare_emit_indented(e, 2, 4, tare_str_text(&line));
	tare_str_cut(&line, 0);
	if (g->in_all > g->captured && g->is_known)
		tare_str_addf(&line, "all %s of them will take %s MiB (%s to %s)", tare_units_count(a, g->in_all),
		              mib(b, g->all), mib(c, g->all_low), mib(d, g->all_high));
	else if (g->in_all > g->captured)
		tare_str_add(&line, "what the others will take is known when two are captured");
	if (line.len)
		tare_emit_indented(e, 2, 4, tare_str_text(&line));
}

static void say_safe(struct tare_emit *e, const struct tare_serving *s)
{
	char a[TARE_UNITS_TEXT_MAX], b[TARE_UNITS_TEXT_MAX], c[TARE_UNITS_TEXT_MAX], d[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_addf(&line,
	              "the largest cache that is safe: %s MiB = %s that programs can have - %s that "
	              "stays beside it - %s that comes on top",
	              mib(a, s->safe), mib(b, s->room), mib(c, s->stays), mib(d, s->on_top));
	if (s->graphs.to_come)
		tare_str_addf(&line, " - %s for graphs to come", mib(a, s->graphs.to_come));
	tare_emit_indented(e, 2, 4, tare_str_text(&line));
}

static void say_share(struct tare_str *line, const char *before, const char *setting, double share)
{
	if (!isnan(share))
		tare_str_addf(line, "%s%s%.3f", before, setting, share);
}

static void say_settings(struct tare_emit *e, const struct tare_serving *s)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_addf(&line, "vLLM: --kv-cache-memory-bytes %lld", (long long)s->safe);
	say_share(&line, " or ", "--gpu-memory-utilization ", s->utilization);
	say_share(&line, " · SGLang: ", "--mem-fraction-static ", s->fraction_static);
	say_share(&line, " · TensorRT-LLM: ", "free_gpu_memory_fraction ", s->fraction_free);
	tare_emit_indented(e, 2, 4, tare_str_text(&line));
}

static void add_server(struct tare_emit *e, const struct tare_serving *s)
{
	add_table(e, s);
	say_on_top(e, s);
	say_graphs(e, s);
	say_safe(e, s);
	say_settings(e, s);
	tare_emit_gap(e);
}

void tare_serving_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	for (int i = ask->ledger_nr; i-- > 0;) {
		const struct tare_ledger *l = ask->ledgers[i];
		struct tare_serving s;

		if (!tare_serving_is_found(l))
			continue;
		for (int k = 0; k < l->device_nr; k++)
			if (tare_serving_find(&s, l, &l->devices[k], ask->graphs))
				add_server(e, &s);
		return;
	}
	tare_emit_paragraph(
		e, "no memory of a GPU looks like a server's cache: PyTorch's tensors of one line that stay, are no "
		   "weights, and are a 64th of the card or more; tare report has what there is");
}

/* The tensors of which line are most, if they are more than the weights and a share of the card. */
static const struct tare_ledger_line *line_of_cache(const struct tare_device_ledger *d)
{
	const struct tare_ledger_line *most = NULL;
	int64_t least = d->total == TARE_NOT_KNOWN ? INT64_MAX : (int64_t)(d->total / SHARE);

	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].is_category && strstr(d->rows[i].path, "/parameter") && d->rows[i].bytes > least)
			least = d->rows[i].bytes;
	for (int i = 0; i < d->line_nr; i++)
		if (d->lines[i].file && d->lines[i].tensors.bytes > least) {
			most = &d->lines[i];
			least = most->tensors.bytes;
		}
	return most;
}

void tare_serving_line(struct tare_emit *e, const struct tare_ledger *ledger)
{
	char text[TARE_UNITS_TEXT_MAX];

	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_ledger_line *most = line_of_cache(&ledger->devices[i]);
		TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

		if (!most)
			continue;
		tare_str_addf(&line, "a server? %s holds %s MiB; how large its cache can be: tare report --by serving",
		              most->short_label, mib(text, most->tensors.bytes));
		tare_emit_indented(e, 0, 2, tare_str_text(&line));
	}
}
