/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what one line of a program holds, taken apart. */
#include "view/line_parts.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/units.h"
#include "ledger/owner.h"
#include "view/device_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct parts {
	struct tare_line_part *items;
	size_t count, cap;
	struct tare_blocks_ledger tensors;
	int64_t host_anon, host_file, unexplained;
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
		TARE_APPEND(p->items, p->count, p->cap) =
			(struct tare_line_part){ .account = part->account, .owner = part->owner };
	}
	p->items[i].bytes += part->bytes;
	p->items[i].count += part->count;
	if (p->items[i].evidence < part->evidence)
		p->items[i].evidence = part->evidence;
}

TARE_COMPARATOR(by_size, struct tare_line_part, TARE_FALLING(bytes) TARE_RISING(account))

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
		p->unexplained += l->unexplained;
		p->host_anon += l->host_anon;
		p->host_file += l->host_file;
	}
	TARE_SORT(p->items, p->count, by_size);
}

struct row {
	const char *at, *part, *label; /* the part for scripts, the label for people */
	int device;
	bool has_host, has_bytes, has_count;
	int64_t host, bytes;
	uint64_t count;
	const char *evidence, *owner;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID),
	TARE_COLUMN(row, part, "part", NULL, TEXT),
	TARE_COLUMN(row, label, "label", "", TEXT),
	TARE_COLUMN(row, host, "host_bytes", "host", CHANGE, .when = TARE_WHEN(row, has_host)),
	TARE_COLUMN(row, bytes, "device_bytes", "device", BYTES, .when = TARE_WHEN(row, has_bytes)),
	TARE_COLUMN(row, count, "count", "count", COUNT, .when = TARE_WHEN(row, has_count)),
	TARE_COLUMN(row, evidence, "evidence", "evidence", TEXT),
	TARE_COLUMN(row, owner, "owner", NULL, TEXT),
};

static struct row row_of(const struct tare_ledger *l, const struct tare_device_ledger *d, const char *part,
                         const char *label)
{
	return (struct row){ .at = l->at, .device = d->index, .part = part, .label = label };
}

static void add_host(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
                     const char *key, const char *label, int64_t bytes)
{
	struct row row = row_of(l, d, key, label);

	if (!bytes)
		return;
	row.has_host = true;
	row.host = bytes;
	row.evidence = tare_evidence_name(TARE_EVIDENCE_WEIGHED);
	tare_emit_add(e, &row);
}

static bool is_pool(const struct tare_line_part *part)
{
	return (part->account == TARE_ACCOUNT_ALLOCATION || part->account == TARE_ACCOUNT_VMM) && part->owner &&
	       tare_owner_is_pool(part->owner);
}

/* Of kernel code the library itself is told: an owner has many, and one of them can be what is large. */
static void add_label(struct tare_str *out, const struct tare_line_part *part)
{
	if (is_pool(part)) {
		tare_str_addf(out, "%s's pool: %" PRIu64 " segment%s", tare_owner_name(part->owner), part->count,
		              part->count == 1 ? "" : "s");
		return;
	}
	tare_str_add(out, tare_accounts[part->account].label);
	if (part->owner)
		tare_str_addf(out, ": %s", part->account == TARE_ACCOUNT_CODE ? part->owner : tare_owner_name(part->owner));
}

static void add_account(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
                        const struct tare_line_part *part)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct row row;

	add_label(&text, part);
	row = row_of(l, d, tare_accounts[part->account].key, tare_str_text(&text));
	row.has_bytes = row.has_count = true;
	row.bytes = part->bytes;
	row.count = part->count;
	row.evidence = tare_evidence_name(part->evidence);
	row.owner = part->owner;
	tare_emit_add(e, &row);
}

/* No account, so it has no count and no owner. */
static void add_unexplained(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
                            int64_t bytes)
{
	struct row row = row_of(l, d, "unexplained", "unexplained, inside calls there");

	row.has_bytes = true;
	row.bytes = bytes;
	row.evidence = tare_evidence_name(TARE_EVIDENCE_WEIGHED);
	tare_emit_add(e, &row);
}

static void add_sum(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
                    const struct parts *p)
{
	struct row row = row_of(l, d, "sum", "sum");

	row.has_host = row.has_bytes = true;
	row.host = p->host_anon + p->host_file;
	row.bytes = p->unexplained;
	for (size_t i = 0; i < p->count; i++)
		row.bytes += p->items[i].bytes;
	tare_emit_rule(e);
	tare_emit_add(e, &row);
}

struct tensors {
	bool has_ever;
	struct tare_blocks_ledger of;
};

static const struct tare_column tensor_columns[] = {
	TARE_COLUMN(tensors, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(tensors, of.count, "count", NULL, COUNT),
	TARE_COLUMN(tensors, of.ever_bytes, "handed_bytes", NULL, BYTES, .when = TARE_WHEN(tensors, has_ever)),
	TARE_COLUMN(tensors, of.ever, "handed", NULL, COUNT, .when = TARE_WHEN(tensors, has_ever)),
};

static void add_tensors(struct tare_emit *e, const struct tare_blocks_ledger *t, bool has_ever)
{
	tare_emit_object(e, "tensors", TARE_COLUMNS(tensor_columns), &(struct tensors){ has_ever, *t });
}

static void add_title(struct tare_str *out, const struct tare_line_choice *choice, const char *function)
{
	tare_str_addf(out, "%s:%u", choice->file, choice->line);
	if (function && *function)
		tare_str_addf(out, " in %s", function);
}

static bool has_rows(const struct parts *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].bytes || p->items[i].count)
			return true;
	return p->host_anon || p->host_file || p->unexplained;
}

static void show_rows(struct tare_emit *e, const char *title, const struct tare_ledger *l,
                      const struct tare_device_ledger *d, const struct parts *p)
{
	tare_emit_table(e, "rows", title, TARE_COLUMNS(columns));
	add_host(e, l, d, "host_anon", "anonymous memory: heaps, what libraries allocate", p->host_anon);
	add_host(e, l, d, "host_file", "pages of libraries and files, shared memory", p->host_file);
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].bytes || p->items[i].count)
			add_account(e, l, d, &p->items[i]);
	if (p->unexplained)
		add_unexplained(e, l, d, p->unexplained);
	add_sum(e, l, d, p);
	tare_emit_table_end(e);
}

static int64_t of_no_line(const struct tare_device_ledger *d)
{
	int64_t bytes = d->unexplained;

	for (int i = 0; i < d->line_nr; i++)
		bytes -= d->lines[i].unexplained;
	return bytes;
}

static void show_device(struct tare_emit *e, const struct tare_ledger *l, const struct tare_device_ledger *d,
                        const struct tare_line_choice *choice, const struct parts *p)
{
	/* On the screen a line that only made tensors has no table of nothing. */
	bool is_shown = !tare_emit_is_for_people(e) || has_rows(p) || !p->tensors.ever;
	char unexplained[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	add_title(&title, choice, p->function);
	tare_str_add(&title, " · ");
	tare_device_text_place(&title, d->index);
	tare_str_addf(&title, " · at %s", l->at);
	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "device", d->index);
	tare_emit_null(e, "pid");
	if (is_shown)
		show_rows(e, tare_str_text(&title), l, d, p);
	add_tensors(e, &p->tensors, true);
	tare_line_made_show(e, &(struct tare_line_made){ .at = l->at,
	                                                 .title = is_shown ? NULL : tare_str_text(&title),
	                                                 .device = d->index,
	                                                 .pid = -1,
	                                                 .choice = choice,
	                                                 .tensors = p->tensors,
	                                                 .has_ever = true,
	                                                 .rows = &d->tensors });
	if (p->tensors.ever)
		tare_emit_note(e, "  tensors lie in segments of PyTorch's pool, which the line has that made it ask for them");
	if (of_no_line(d))
		tare_emit_note(e, "  unexplained on this GPU, and of no line: %s MiB",
		               tare_units_mib(unexplained, of_no_line(d)));
	tare_emit_close(e);
}

/* The bytes of CPU memory that PyTorch asked for on this line. They need not be resident, so this row is in no sum. */
static void show_host(struct tare_emit *e, const struct tare_ledger *l, const struct tare_host_ledger *h,
                      const struct tare_line_choice *choice)
{
	struct tare_line_made made = { .at = l->at, .device = -1, .pid = h->pid, .choice = choice, .rows = &h->blocks };
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };
	const char *function = NULL;

	for (int i = 0; i < h->line_nr; i++) {
		const struct tare_ledger_line *line = &h->lines[i];

		if (!line->file || line->line != choice->line || strcmp(line->file, choice->file) != 0)
			continue;
		function = line->function;
		made.tensors.bytes += line->tensors.bytes;
		made.tensors.count += line->tensors.count;
	}
	if (!made.tensors.count)
		return;
	add_title(&title, choice, function);
	tare_str_addf(&title, " · CPU, process %" PRId64 " · at %s", h->pid, l->at);
	made.title = tare_str_text(&title);
	tare_emit_open(e, NULL, '{');
	tare_emit_null(e, "device");
	tare_emit_int(e, "pid", h->pid);
	add_tensors(e, &made.tensors, false);
	tare_line_made_show(e, &made);
	tare_emit_note(e, "  asked for by PyTorch, whether resident or not");
	tare_emit_close(e);
}

static const struct tare_column line_columns[] = {
	TARE_COLUMN(tare_line_choice, file, "file", NULL, TEXT),
	TARE_COLUMN(tare_line_choice, line, "line", NULL, ID),
};

void tare_line_parts_show(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_line_choice *choice)
{
	tare_emit_object(e, "line", TARE_COLUMNS(line_columns), choice);
	tare_emit_open(e, "parts", '[');
	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];
		struct parts p;

		collect(&p, d, choice);
		if (p.is_any)
			show_device(e, ledger, d, choice, &p);
		free(p.items);
	}
	for (int i = 0; i < ledger->host_nr; i++)
		show_host(e, ledger, &ledger->hosts[i], choice);
	tare_emit_close(e);
}
