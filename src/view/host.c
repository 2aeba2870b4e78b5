/* SPDX-License-Identifier: Apache-2.0 */
/* Prints memory of the CPU, by processes and what they asked for. */
#include "view/ledger_view.h"

#include "base/comparator.h"
#include "base/sat.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "view/device_text.h"
#include "view/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PROCESSES = 4, MAX_SHARED = 4, LEAST = TARE_UNITS_LEAST };

/* What is known of a process, and how large it is. */
struct part {
	const char *key, *label;
	int64_t (*bytes)(const struct tare_host_tensors *t);
	int64_t (*count)(const struct tare_host_tensors *t);
	int64_t (*most)(const struct tare_host_tensors *t); /* NULL: not kept */
};

static int64_t bytes_of_blocks(const struct tare_host_tensors *t)
{
	return t->bytes;
}

static int64_t count_of_blocks(const struct tare_host_tensors *t)
{
	return t->count;
}

static int64_t most_of_blocks(const struct tare_host_tensors *t)
{
	return t->most;
}

static int64_t bytes_mapped(const struct tare_host_tensors *t)
{
	return t->mapped;
}

static int64_t count_mapped(const struct tare_host_tensors *t)
{
	return t->mapped_count;
}

enum { BLOCKS, MAPPED, PART_NR };
static const struct part parts[PART_NR] = {
	[BLOCKS] = { "tensors", "tensors on the CPU", bytes_of_blocks, count_of_blocks, most_of_blocks },
	[MAPPED] = { "mapped", "tensors in shared memory and mapped files", bytes_mapped, count_mapped, NULL },
};

/* Asked for, not resident: no leaf, so it enters no sum. */
struct account {
	struct tare_str path;
	const char *label, *account;
	int64_t pid, generation;
	bool is_leaf, is_known;     /* known: else there may be some, and nothing says how much */
	int64_t bytes, most, count; /* most: -1, not kept */
	enum tare_evidence evidence;
};

#define KNOWN .when = TARE_WHEN(account, is_known)

static const struct tare_column columns[] = {
	TARE_COLUMN(account, path, "path", NULL, TEXT),
	TARE_COLUMN(account, label, "label", NULL, TEXT),
	TARE_COLUMN(account, account, "account", NULL, TEXT),
	TARE_COLUMN(account, pid, "pid", NULL, ID),
	TARE_COLUMN(account, generation, "generation", NULL, ID),
	TARE_COLUMN(account, is_leaf, "leaf", NULL, FLAG),
	TARE_COLUMN(account, bytes, "bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(account, most, "most_bytes", NULL, BYTES, KNOWN, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(account, count, "count", NULL, COUNT, KNOWN),
	TARE_COLUMN(account, evidence, "evidence", NULL, TEXT, KNOWN, .name = tare_evidence_name),
};

void tare_host_path(struct tare_str *out, const struct tare_host_ledger *h, const char *account, const char *category)
{
	tare_str_addf(out, "process:%lld", (long long)h->pid);
	if (h->generation)
		tare_str_addf(out, ".%lld", (long long)h->generation);
	tare_str_addf(out, "/%s", account);
	if (category)
		tare_row_path_add(out, category);
}

/* `name`: of the category below the account, or NULL. */
static void add_account(struct tare_emit *e, const struct tare_host_ledger *h, const char *name, struct account a)
{
	a.pid = h->pid;
	a.generation = h->generation;
	tare_host_path(&a.path, h, a.account, name);
	tare_emit_add(e, &a);
	tare_str_free(&a.path);
}

static void add_part(struct tare_emit *e, const struct tare_host_ledger *h, const struct part *part)
{
	add_account(e, h, NULL,
	            (struct account){ .account = part->key,
	                              .label = part->label,
	                              .is_known = true,
	                              .bytes = part->bytes(&h->tensors),
	                              .most = part->most ? part->most(&h->tensors) : -1,
	                              .count = part->count(&h->tensors),
	                              .evidence = h->evidence });
	for (int i = 0; part == &parts[BLOCKS] && i < h->category_nr; i++) {
		const struct tare_category_sum *c = &h->categories[i];
		const char *name = tare_category_name(c->category);

		add_account(e, h, name,
		            (struct account){ .account = part->key,
		                              .label = name,
		                              .is_known = true,
		                              .bytes = c->bytes,
		                              .most = -1,
		                              .count = (int64_t)c->count,
		                              .evidence = c->evidence });
	}
}

void tare_host_json(struct tare_emit *e, const struct tare_host_ledger *host)
{
	tare_emit_table(e, "accounts", NULL, TARE_COLUMNS(columns));
	for (int i = 0; host->tensors.is_known && i < PART_NR; i++)
		add_part(e, host, &parts[i]);
	if (host->tensors.is_known && host->tensors.is_partial)
		add_account(e, host, NULL,
		            (struct account){ .account = "paused", .label = "tensors made while recording was paused" });
	tare_emit_table_end(e);
}

static const struct tare_column shared_columns[] = {
	TARE_COLUMN(tare_ledger_line, label, "line", NULL, TEXT),
	TARE_COLUMN(tare_ledger_line, pid, "pid", NULL, ID),
	TARE_COLUMN(tare_ledger_line, tensors.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(tare_ledger_line, tensors.count, "count", NULL, COUNT),
};

void tare_host_shared_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_rows(e, "shared", NULL, TARE_COLUMNS(shared_columns),
	               TARE_ROWS(ledger->shared.lines, ledger->shared.line_nr));
}

/* ---- on a screen ---- */

/* A process in all ledgers. */
struct process {
	const struct tare_host_ledger *host;
	const struct tare_host_ledger **columns; /* NULL: it did not live then */
	int64_t most;                            /* of all columns */
};

static const struct tare_host_ledger *find(const struct tare_ledger *l, const struct tare_host_ledger *h)
{
	for (int i = 0; i < l->host_nr; i++)
		if (l->hosts[i].pid == h->pid && l->hosts[i].generation == h->generation &&
		    !strcmp(l->hosts[i].name ? l->hosts[i].name : "", h->name ? h->name : ""))
			return &l->hosts[i];
	return NULL;
}

TARE_COMPARATOR(by_most, struct process, TARE_FALLING(most) TARE_RISING(host->pid))

/* Every process once, from the first ledger that has it; those without a row left out. */
static size_t list(const struct tare_ledger *const *ledgers, int ledger_nr, struct process **out)
{
	size_t count = 0, room = 0;

	for (int i = 0; i < ledger_nr; i++)
		room += (size_t)ledgers[i]->host_nr;
	*out = tare_xcalloc(room + 1, sizeof(**out));
	for (int i = 0; i < ledger_nr; i++) {
		for (int k = 0; k < ledgers[i]->host_nr; k++) {
			struct process p = { .host = &ledgers[i]->hosts[k] };
			bool is_known = false;

			for (int e = 0; e < i; e++)
				is_known |= find(ledgers[e], p.host) != NULL;
			if (is_known)
				continue;
			p.columns = tare_xcalloc((size_t)ledger_nr, sizeof(*p.columns));
			for (int c = 0; c < ledger_nr; c++) {
				int64_t sum;

				p.columns[c] = find(ledgers[c], p.host);
				sum = p.columns[c] ? tare_sat_add(p.columns[c]->tensors.bytes, p.columns[c]->tensors.mapped) : 0;
				p.most = sum > p.most ? sum : p.most;
			}
			for (int c = 0; c < ledger_nr; c++)
				if (p.columns[c] && p.columns[c]->tensors.is_known && p.columns[c]->tensors.is_partial)
					p.most = p.most > LEAST ? p.most : LEAST;
			if (p.most >= LEAST)
				(*out)[count++] = p;
			else
				free(p.columns);
		}
	}
	TARE_SORT(*out, count, by_most);
	return count;
}

static void free_list(struct process *processes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(processes[i].columns);
	free(processes);
}

static void add_part_row(struct tare_sheet *s, const struct process *p, const struct part *part,
                         struct tare_row_look look)
{
	enum tare_evidence weakest = TARE_EVIDENCE_EXACT;

	for (size_t i = 0; i < s->cell_nr; i++) {
		const struct tare_host_ledger *h = p->columns[i];

		if (h)
			s->row->cells[i] = tare_value_of(TARE_COL_BYTES, part->bytes(&h->tensors));
		weakest = h && h->evidence > weakest ? h->evidence : weakest;
	}
	s->row->word = tare_evidence_name(weakest);
	tare_sheet_add(s, look);
}

static const struct tare_category_sum *sum_of(const struct tare_host_ledger *h, enum tare_category category)
{
	for (int i = 0; h && i < h->category_nr; i++)
		if (h->categories[i].category == category)
			return &h->categories[i];
	return NULL;
}

/* Categories that share a row. */
struct kinds {
	bool is_in[TARE_CATEGORY_NR];
	int count;
};

static void add_kinds(struct tare_sheet *s, const struct process *p, const struct kinds *k)
{
	enum tare_evidence evidence = TARE_EVIDENCE_WITNESS;

	for (size_t i = 0; i < s->cell_nr; i++) {
		bool is_any = false;
		int64_t bytes = 0;

		for (int c = 0; c < TARE_CATEGORY_NR; c++) {
			const struct tare_category_sum *sum = sum_of(p->columns[i], (enum tare_category)c);

			if (!k->is_in[c] || !sum)
				continue;
			is_any = true;
			bytes += sum->bytes;
			evidence = sum->evidence < evidence ? sum->evidence : evidence;
		}
		if (is_any)
			s->row->cells[i] = tare_value_of(TARE_COL_BYTES, bytes);
	}
	s->row->word = tare_category_evidence(evidence);
	tare_sheet_add(s, (struct tare_row_look){ .level = 2 });
}

/* The most that is for it at any of the instants. */
static int64_t most_of(const struct process *p, size_t instants, enum tare_category category)
{
	int64_t most = 0;

	for (size_t i = 0; i < instants; i++) {
		const struct tare_category_sum *sum = sum_of(p->columns[i], category);

		most = sum && sum->bytes > most ? sum->bytes : most;
	}
	return most;
}

static void add_category(struct tare_sheet *s, const struct process *p, enum tare_category category)
{
	struct kinds one = { .count = 1 };

	one.is_in[category] = true;
	tare_str_add(&s->row->label, tare_category_name(category));
	add_kinds(s, p, &one);
}

/* A row for each category; several that are tiny beside the others share a row. */
static void add_categories(struct tare_sheet *s, const struct process *p)
{
	int64_t tiny = p->most / 200 > LEAST ? p->most / 200 : LEAST;
	struct kinds small = { 0 };
	int large = 0;

	for (int c = 0; c < TARE_CATEGORY_NR; c++) {
		int64_t most = most_of(p, s->cell_nr, (enum tare_category)c);

		small.is_in[c] = most && most < tiny;
		small.count += small.is_in[c];
		large += most >= tiny;
	}
	if (small.count < 2 || !large)
		tiny = 1;
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (most_of(p, s->cell_nr, (enum tare_category)c) >= tiny)
			add_category(s, p, (enum tare_category)c);
	if (!small.count || tiny == 1)
		return;
	tare_str_addf(&s->row->label, "%d smaller", small.count);
	add_kinds(s, p, &small);
}

static void add_process(struct tare_sheet *s, const struct process *p)
{
	bool is_partial = false;

	tare_str_add(&s->row->label, p->host->name ? p->host->name : "");
	tare_str_addf(&s->row->label, " (pid %lld)", (long long)p->host->pid);
	add_part_row(s, p, &parts[BLOCKS], (struct tare_row_look){ .level = 1 });
	add_categories(s, p);
	for (size_t i = 0; i < s->cell_nr; i++)
		is_partial |= p->columns[i] && p->columns[i]->tensors.is_partial;
	if (!is_partial)
		return;
	tare_str_add(&s->row->label, "made while recording was paused");
	for (size_t i = 0; i < s->cell_nr; i++)
		if (p->columns[i] && p->columns[i]->tensors.is_partial)
			s->row->cells[i] = tare_value_text("not known");
	tare_sheet_add(s, (struct tare_row_look){ .level = 2 });
}

/* A place that put tensors into shared memory; `name` stands for what it has in the other ledgers, too. */
static int64_t shared_at(const struct tare_ledger *l, const char *name)
{
	int64_t bytes = 0;

	for (int i = 0; i < l->shared.line_nr; i++)
		if (!strcmp(l->shared.lines[i].short_label, name))
			bytes += l->shared.lines[i].tensors.bytes;
	return bytes;
}

static bool is_shown_before(const struct tare_ledger *const *ledgers, int ledger, int line)
{
	const char *name = ledgers[ledger]->shared.lines[line].short_label;

	for (int k = 0; k <= ledger; k++)
		for (int i = 0; i < (k == ledger ? line : ledgers[k]->shared.line_nr); i++)
			if (!strcmp(ledgers[k]->shared.lines[i].short_label, name))
				return true;
	return false;
}

/* Shared memory is one row, however many processes map it; the lines that made it are the rows below. */
static void add_shared(struct tare_sheet *s, const struct tare_ledger *const *ledgers, int nr)
{
	int64_t most = 0;
	int shown = 0;

	for (int i = 0; i < nr; i++)
		most = ledgers[i]->shared.bytes > most ? ledgers[i]->shared.bytes : most;
	if (most < LEAST)
		return;
	tare_str_add(&s->row->label, "shared memory and mapped files, once");
	for (int i = 0; i < nr; i++)
		s->row->cells[i] = tare_value_of(TARE_COL_BYTES, ledgers[i]->shared.bytes);
	s->row->word = tare_evidence_name(TARE_EVIDENCE_EXACT);
	tare_sheet_add(s, (struct tare_row_look){ .level = 1 });
	for (int k = 0; k < nr; k++)
		for (int i = 0; i < ledgers[k]->shared.line_nr && shown < MAX_SHARED; i++) {
			const struct tare_ledger_line *line = &ledgers[k]->shared.lines[i];

			if (is_shown_before(ledgers, k, i) || shared_at(ledgers[k], line->short_label) < LEAST)
				continue;
			tare_str_add(&s->row->label, line->short_label);
			for (int c = 0; c < nr; c++)
				s->row->cells[c] = tare_value_of(TARE_COL_BYTES, shared_at(ledgers[c], line->short_label));
			tare_sheet_add(s, (struct tare_row_look){ .level = 2 });
			shown++;
		}
}

bool tare_host_has_tensors(const struct tare_ledger *const *ledgers, int ledger_nr)
{
	struct process *processes;
	size_t count = list(ledgers, ledger_nr, &processes);

	free_list(processes, count);
	return count > 0;
}

void tare_host_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	struct tare_sheet s;
	struct process *processes;
	size_t count = list(ledgers, ledger_nr, &processes);
	size_t shown = tare_view_most(count, MAX_PROCESSES);

	if (!count) {
		free_list(processes, count);
		return;
	}
	tare_sheet_begin(&s, e, (size_t)ledger_nr);
	s.word_head = "evidence";
	for (int i = 0; i < ledger_nr; i++)
		tare_device_text_instant(&s.heads[i], ledgers[i], ledgers[i]->t_ns);
	tare_sheet_open(&s, "CPU  tensors: MiB that were asked for, whether resident or not", TARE_COL_COUNT);
	tare_timeline_show(e, &ledgers[0]->host_timeline, NULL);
	for (size_t i = 0; i < shown; i++)
		add_process(&s, &processes[i]);
	add_shared(&s, ledgers, ledger_nr);
	tare_sheet_end(&s);
	if (count > shown)
		tare_emit_note(e, "  %zu more processes: tare report --json", count - shown);
	tare_emit_gap(e);
	free_list(processes, count);
}
