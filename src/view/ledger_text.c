/* SPDX-License-Identifier: Apache-2.0 */
/* Prints ledgers for people, as at the end of a run. */
#include "view/ledger_view.h"

#include "base/comparator.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "record/bytes.h"
#include "view/columns.h"
#include "view/device_text.h"
#include "view/graph.h"
#include "view/pinned.h"
#include "view/read_back.h"
#include "view/residue.h"
#include "view/serving.h"
#include "view/text_rows.h"
#include "view/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HOSTS = 4 };

struct screen {
	struct tare_emit *e;
	const struct tare_ledger *const *ledgers;
	int ledger_nr;
};

static struct tare_value value_of(const struct tare_text_cell *cell)
{
	struct tare_value value = tare_value_of(TARE_COL_BYTES, cell->bytes);

	if (!cell->is_present)
		return (struct tare_value){ 0 };
	if (cell->is_contended) {
		value.low = cell->low;
		value.high = cell->high;
	}
	return value;
}

static void add_rows(struct tare_sheet *s, const struct tare_text_rows *rows, const struct tare_columns *c,
                     const struct tare_device_ledger *device)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tare_text_row *from = &rows->rows[i];

		tare_str_add(&s->row->label, tare_str_text(&from->label));
		for (int col = 0; col < c->column_nr; col++)
			s->row->cells[col] = value_of(&from->cells[col]);
		s->row->word = from->is_category ? tare_category_evidence(from->evidence)
		                                 : tare_device_text_evidence(device, from->evidence);
		tare_sheet_add(s, (struct tare_row_look){ .level = (size_t)from->indent + 1,
		                                          .mark = from->elastic ? "~ " : NULL });
	}
}

/* Of a label: so that figures have the room that they have on 80 columns. */
static size_t room_for_label(const struct tare_emit *e)
{
	enum { FIGURES = 36 };

	return (size_t)(e->style.is_screen ? e->style.width : TARE_TEXT_WIDTH) - FIGURES;
}

/* Is the peak of the whole recording among the columns? */
static bool is_peak_shown(const struct screen *s)
{
	for (int i = 0; i < s->ledger_nr; i++)
		if (!strcmp(s->ledgers[i]->at, "peak"))
			return true;
	return false;
}

static void add_device(const struct screen *s, const struct tare_device_ledger *device)
{
	struct tare_timeline_peak peak = { device->peak_t_ns, (int64_t)device->peak_used };
	struct tare_text_rows rows;
	struct tare_sheet sheet;
	struct tare_columns c;

	tare_columns_build(&c, s->ledgers, s->ledger_nr, device);
	tare_text_rows_build(&rows, &c, room_for_label(s->e));
	tare_device_text_begin(&sheet, s->e, &c, s->ledgers, device);
	tare_timeline_show(s->e, &device->timeline, is_peak_shown(s) ? NULL : &peak);
	tare_device_text_used(&sheet, &c, device);
	add_rows(&sheet, &rows, &c, device);
	tare_device_text_end(&sheet, &c);
	if (rows.counts.len)
		tare_emit_note(s->e, "  %s: %s", tare_str_text(&rows.counts), tare_str_text(&rows.counts_mean));
	if (tare_columns_device(s->ledgers[s->ledger_nr - 1], device))
		tare_residue_asleep(s->e, s->ledgers[s->ledger_nr - 1],
		                    tare_columns_device(s->ledgers[s->ledger_nr - 1], device));
	tare_device_text_behind(s->e, device);
	tare_text_rows_free(&rows);
	tare_columns_free(&c);
}

static void add_untouched(const struct screen *s, const struct tare_ledger *last)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	bool is_heap = false;
	int n = 0;

	for (int i = 0; i < last->device_nr; i++) {
		if (tare_device_text_is_touched(s->ledgers, s->ledger_nr, &last->devices[i]))
			continue;
		if (last->devices[i].is_heap)
			is_heap = true;
		else
			tare_str_addf(&line, "%s%d", n++ ? ", " : "GPU ", last->devices[i].index);
	}
	if (is_heap)
		tare_str_addf(&line, "%sheap", n++ ? ", " : "");
	if (n) {
		tare_emit_note(s->e, "%s: %s", last->loss_nr ? "no use is recorded, and records are missing" : "not used",
		               tare_str_text(&line));
		tare_emit_gap(s->e);
	}
}

static bool is_worth_a_word(uint64_t bytes)
{
	return bytes != TARE_NOT_KNOWN && bytes >= TARE_UNITS_LEAST;
}

static void add_host_part(struct tare_str *line, const char *before, uint64_t bytes)
{
	if (!tare_bytes_are_known(bytes))
		return;
	tare_str_add(line, before);
	tare_device_text_mib(line, bytes);
}

enum { TABLES_LEAST = 16 << 20 }; /* most programs have some MiB of page tables, which are no news */

static void add_host(const struct screen *s, const struct tare_host_ledger *h)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_add(&line, h->name ? h->name : "");
	tare_str_addf(&line, " (pid %lld)", (long long)h->pid);
	add_host_part(&line, " · resident ", h->rss);
	add_host_part(&line, " = anonymous ", h->anon);
	add_host_part(&line, " + files ", h->file);
	if (is_worth_a_word(h->shmem))
		add_host_part(&line, " + shared ", h->shmem);
	if (is_worth_a_word(h->swap))
		add_host_part(&line, " · swap ", h->swap);
	if (h->tables >= TABLES_LEAST)
		add_host_part(&line, " · page tables ", h->tables);
	if (is_worth_a_word(h->pinned))
		add_host_part(&line, " · pinned ", h->pinned);
	if (is_worth_a_word(h->registered))
		add_host_part(&line, " · registered ", h->registered);
	add_host_part(&line, " · peak ", h->peak_rss);
	tare_str_add(&line, " MiB");
	tare_emit_term(s->e, TARE_TONE_PLAIN, "host  ", tare_str_text(&line));
	tare_pinned_text(s->e, h);
}

TARE_COMPARATOR_OF_POINTERS(by_peak, struct tare_host_ledger,
                            TARE_FALLING_BY(it->peak_rss == TARE_NOT_KNOWN ? 0 : it->peak_rss)
                                TARE_RISING_BY((uintptr_t)it))

/* A process that ended before anybody read its memory has nothing to show. */
static bool is_host_known(const struct tare_host_ledger *h)
{
	return h->rss != TARE_NOT_KNOWN || h->peak_rss != TARE_NOT_KNOWN || (h->pinned && h->pinned != TARE_NOT_KNOWN);
}

/* A job of a hundred processes has a hundred of these: the largest stand for them. */
static void add_hosts(const struct screen *s, const struct tare_ledger *last)
{
	const struct tare_host_ledger **hosts = tare_xcalloc((size_t)last->host_nr + 1, sizeof(*hosts));
	size_t count = 0, shown;

	for (int i = 0; i < last->host_nr; i++)
		if (is_host_known(&last->hosts[i]))
			hosts[count++] = &last->hosts[i];
	TARE_SORT(hosts, count, by_peak);
	shown = tare_view_most(count, MAX_HOSTS);
	for (size_t i = 0; i < shown; i++)
		add_host(s, hosts[i]);
	if (count > shown)
		tare_emit_note(s->e, "host  %zu more processes: tare report --json", count - shown);
	free(hosts);
}

static void add_no_device(const struct screen *s, const struct tare_ledger *last)
{
	if (last->opened_gpu) {
		tare_emit_note(s->e, "a GPU was opened, but nothing on it was recorded");
	} else if (!tare_host_has_tensors(s->ledgers, s->ledger_nr)) {
		tare_emit_note(s->e, "no memory of a GPU was recorded, and no tensors on the CPU; "
		                     "tare doctor checks this machine");
	}
}

void tare_ledger_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	struct screen s = { e, ledgers, ledger_nr };
	const struct tare_ledger *last = ledgers[ledger_nr - 1];

	/* First of all: what is missing may be in any figure that follows. */
	tare_loss_text(e, last);
	if (!last->device_nr)
		add_no_device(&s, last);
	for (int i = 0; i < last->device_nr; i++)
		if (tare_device_text_is_touched(ledgers, ledger_nr, &last->devices[i]))
			add_device(&s, &last->devices[i]);
	add_untouched(&s, last);
	tare_residue_text(e, ledgers, ledger_nr);
	tare_host_text(e, ledgers, ledger_nr);
	tare_training_text(e, last);
	tare_growth_text(e, last);
	tare_oom_text(e, last);
	tare_read_back_text(e, last);
	if (last->graph_nr) {
		tare_graph_line(e, last);
		/* a server that ends may have given its cache back */
		tare_serving_line(e, ledgers[0]);
	}
	add_hosts(&s, last);
	tare_advice_text(e, ledgers, ledger_nr);
}
