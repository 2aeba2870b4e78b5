/* SPDX-License-Identifier: Apache-2.0 */
#include "view/line_parts.h"

#include "base/array.h"
#include "base/units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int tare_line_parse(const char *text, size_t *len, uint32_t *line, struct tare_err *err)
{
	const char *colon = strrchr(text, ':');
	unsigned long number = 0;
	char *end = NULL;

	if (colon && colon != text && isdigit((unsigned char)colon[1]))
		number = strtoul(colon + 1, &end, 10);
	if (!number || number > UINT32_MAX || *end)
		return tare_err_set(err, TARE_E_USAGE, "--line %s: say FILE:N, such as train.py:87", text);
	*len = (size_t)(colon - text);
	*line = (uint32_t)number;
	return 0;
}

bool tare_line_is_file(const char *file, const char *end, size_t len)
{
	size_t n = strlen(file);

	if (n < len || strncmp(file + n - len, end, len) != 0)
		return false;
	return n == len || end[0] == '/' || file[n - len - 1] == '/';
}

/* ---- which line is meant ---- */

struct search {
	const char *file;
	size_t len;
	uint32_t line, near; /* near: the nearest number of such a file that has records */
	const char *found, *other; /* files */
	const char *has_file;
};

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static void look_at(struct search *s, const struct tare_ledger_line *l)
{
	if (!l->file || !tare_line_is_file(l->file, s->file, s->len))
		return;
	s->has_file = l->file;
	if (l->line && (!s->near || distance(l->line, s->line) < distance(s->near, s->line)))
		s->near = l->line;
	if (l->line != s->line)
		return;
	if (!s->found)
		s->found = l->file;
	else if (strcmp(s->found, l->file) != 0)
		s->other = l->file;
}

static int say_missing(const struct search *s, const char *text, struct tare_err *err)
{
	if (!s->has_file)
		return tare_err_set(err, TARE_E_NOT_FOUND,
				    "--line %s: nothing was recorded at any line of such a file; --by line shows "
				    "the lines that there are",
				    text);
	if (!s->near)
		return tare_err_set(err, TARE_E_NOT_FOUND, "--line %s: no line of %s is known by its number", text,
				    s->has_file);
	return tare_err_set(err, TARE_E_NOT_FOUND,
			    "--line %s: nothing was recorded at this line; the nearest with records is %s:%u", text,
			    s->has_file, s->near);
}

int tare_line_find(const struct tare_ledger *const *ledgers, int ledger_nr, const char *text,
		   struct tare_line_choice *out, struct tare_err *err)
{
	struct search s = { .file = text };
	int rc = tare_line_parse(text, &s.len, &s.line, err);

	if (rc)
		return rc;
	for (int i = 0; i < ledger_nr; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			for (int k = 0; k < ledgers[i]->devices[d].line_nr; k++)
				look_at(&s, &ledgers[i]->devices[d].lines[k]);
	if (!s.found)
		return say_missing(&s, text, err);
	if (s.other)
		return tare_err_set(err, TARE_E_NOT_FOUND, "--line %s is in several files, such as %s and %s; say more of "
						       "the path",
				    text, s.found, s.other);
	*out = (struct tare_line_choice){ s.found, s.line };
	return 0;
}

/* ---- its parts ---- */

struct parts {
	struct tare_line_part *items;
	size_t count, cap;
	struct tare_blocks_ledger tensors;
	int64_t host_anon, host_file;
	const char *function;
	bool is_any;
};

static bool is_same(const struct tare_line_part *a, const struct tare_line_part *b)
{
	return a->account == b->account && !a->owner == !b->owner && (!a->owner || !strcmp(a->owner, b->owner));
}

static void add_part(struct parts *p, const struct tare_line_part *part)
{
	size_t i = 0;

	while (i < p->count && !is_same(&p->items[i], part))
		i++;
	if (i == p->count) {
		p->items = tare_array_reserve(p->items, &p->cap, p->count + 1, sizeof(*p->items));
		p->items[p->count++] = (struct tare_line_part){ .account = part->account, .owner = part->owner };
	}
	p->items[i].bytes += part->bytes;
	p->items[i].count += part->count;
	if (p->items[i].evidence < part->evidence)
		p->items[i].evidence = part->evidence;
}

static int by_size(const void *a, const void *b)
{
	const struct tare_line_part *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (int)x->account - (int)y->account;
}

static void collect(struct parts *p, const struct tare_device_ledger *d, const struct tare_line_choice *choice)
{
	*p = (struct parts){ 0 };
	for (int i = 0; i < d->line_nr; i++) {
		const struct tare_ledger_line *l = &d->lines[i];

		if (!l->file || l->line != choice->line || strcmp(l->file, choice->file) != 0)
			continue;
		p->is_any = true;
		p->function = l->function;
		for (int k = 0; k < l->part_nr; k++)
			add_part(p, &l->parts[k]);
		p->tensors.bytes += l->tensors.bytes;
		p->tensors.count += l->tensors.count;
		p->tensors.ever += l->tensors.ever;
		p->tensors.ever_bytes += l->tensors.ever_bytes;
		p->host_anon += l->host_anon;
		p->host_file += l->host_file;
	}
	if (p->count)
		qsort(p->items, p->count, sizeof(*p->items), by_size);
}

static const struct tare_column columns[] = {
	{ "at", NULL, TARE_COL_TEXT },
	{ "device", NULL, TARE_COL_COUNT },
	{ "part", "", TARE_COL_TEXT },
	{ "label", NULL, TARE_COL_TEXT },
	{ "host_bytes", "host", TARE_COL_CHANGE },
	{ "device_bytes", "device", TARE_COL_BYTES },
	{ "count", "count", TARE_COL_COUNT },
	{ "evidence", "evidence", TARE_COL_TEXT },
};

enum { COLUMN_NR = sizeof(columns) / sizeof(columns[0]) };

/* What every row starts with. In text the label stands for the key of the part. */
static void begin_row(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
		      const char *key, const char *label)
{
	tare_emit_cell_text(e, l->at);
	tare_emit_cell_int(e, d->index);
	tare_emit_cell_text(e, e->format == TARE_EMIT_TEXT ? label : key);
	tare_emit_cell_text(e, label);
}

static void add_host(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
		     const char *key, const char *label, int64_t bytes)
{
	if (!bytes)
		return;
	begin_row(e, l, d, key, label);
	tare_emit_cell_int(e, bytes);
	tare_emit_cell_unknown(e);
	tare_emit_cell_unknown(e);
	tare_emit_cell_text(e, tare_evidence_name(TARE_EVIDENCE_WEIGHED));
	tare_emit_row(e);
}

static void add_account(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
			const struct tare_line_part *part)
{
	const char *label = tare_accounts[part->account].label;
	struct tare_str text = { 0 };

	tare_str_add(&text, label);
	if (part->owner)
		tare_str_addf(&text, ": %s", tare_owner_name(part->owner));
	begin_row(e, l, d, tare_accounts[part->account].key, tare_str_text(&text));
	tare_emit_cell_unknown(e);
	tare_emit_cell_int(e, part->bytes);
	tare_emit_cell_uint(e, part->count);
	tare_emit_cell_text(e, tare_evidence_name(part->evidence));
	tare_emit_row(e);
	tare_str_free(&text);
}

static void add_sum(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
		    const struct parts *p)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < p->count; i++)
		bytes += p->items[i].bytes;
	tare_emit_rule(e);
	begin_row(e, l, d, "sum", "sum");
	tare_emit_cell_int(e, p->host_anon + p->host_file);
	tare_emit_cell_int(e, bytes);
	tare_emit_cell_unknown(e);
	tare_emit_cell_unknown(e);
	tare_emit_row(e);
}

static void add_tensors(struct tare_emit *e, const struct tare_blocks_ledger *t)
{
	char now[TARE_UNITS_TEXT_MAX], ever[TARE_UNITS_TEXT_MAX];

	tare_emit_open(e, "tensors", '{');
	tare_emit_int(e, "bytes", t->bytes);
	tare_emit_uint(e, "count", t->count);
	tare_emit_int(e, "handed_bytes", t->ever_bytes);
	tare_emit_uint(e, "handed", t->ever);
	tare_emit_close(e);
	if (t->ever)
		tare_emit_note(e, "  tensors made here, in segments of PyTorch's pool: %llu now (%s MiB), %llu ever (%s MiB)",
			       (unsigned long long)t->count, tare_units_mib(now, t->bytes), (unsigned long long)t->ever,
			       tare_units_mib(ever, t->ever_bytes));
}

static void show_device(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
			const struct tare_line_choice *choice, const struct parts *p)
{
	char unexplained[TARE_UNITS_TEXT_MAX];
	struct tare_str title = { 0 };

	tare_str_addf(&title, "%s:%u", choice->file, choice->line);
	if (p->function && *p->function)
		tare_str_addf(&title, " in %s", p->function);
	tare_str_addf(&title, " · GPU %d · at %s", d->index, l->at);
	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "device", d->index);
	tare_emit_table(e, "rows", tare_str_text(&title), columns, COLUMN_NR);
	add_host(e, l, d, "host_anon", "anonymous memory: heaps, what libraries allocate", p->host_anon);
	add_host(e, l, d, "host_file", "pages of libraries and files, shared memory", p->host_file);
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].bytes || p->items[i].count)
			add_account(e, l, d, &p->items[i]);
	add_sum(e, l, d, p);
	tare_emit_table_end(e);
	add_tensors(e, &p->tensors);
	if (d->unexplained)
		tare_emit_note(e, "  unexplained on this GPU, and of no line: %s MiB",
			       tare_units_mib(unexplained, d->unexplained));
	tare_emit_close(e);
	tare_str_free(&title);
}

void tare_line_parts_show(struct tare_emit *e, const struct tare_ledger *ledger,
			  const struct tare_line_choice *choice)
{
	tare_emit_open(e, "line", '{');
	tare_emit_str(e, "file", choice->file);
	tare_emit_uint(e, "line", choice->line);
	tare_emit_close(e);
	tare_emit_open(e, "parts", '[');
	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];
		struct parts p;

		collect(&p, d, choice);
		if (p.is_any)
			show_device(e, ledger, d, choice, &p);
		free(p.items);
	}
	tare_emit_close(e);
}
