/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a source file with what its lines hold. */
#include "view/line_parts.h"

#include "base/array.h"
#include "view/device_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB = 8, LINES_MOST = 1 << 20 };

static void look_at(const struct tare_ledger_line *l, const char *text, const char **found, const char **other)
{
	if (!l->file || !tare_line_is_file(l->file, text, strlen(text)))
		return;
	if (!*found)
		*found = l->file;
	else if (strcmp(*found, l->file) != 0)
		*other = l->file;
}

static void look_at_all(const struct tare_ledger_line *lines, int nr, const char *text, const char **found,
                        const char **other)
{
	for (int i = 0; i < nr; i++)
		look_at(&lines[i], text, found, other);
}

int tare_annotate_find(const struct tare_ledger *const *ledgers, int ledger_nr, const char *text, const char **file,
                       struct tare_err *err)
{
	const char *other = NULL;

	*file = NULL;
	for (int i = 0; i < ledger_nr && *text; i++) {
		const struct tare_ledger *l = ledgers[i];

		for (int d = 0; d < l->device_nr; d++)
			look_at_all(l->devices[d].lines, l->devices[d].line_nr, text, file, &other);
		for (int h = 0; h < l->host_nr; h++)
			look_at_all(l->hosts[h].lines, l->hosts[h].line_nr, text, file, &other);
		look_at_all(l->shared.lines, l->shared.line_nr, text, file, &other);
	}
	if (other)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "--annotate %s means several files, such as %s and %s; say "
		                    "more of the path",
		                    text, *file, other);
	if (!*file)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "--annotate %s: nothing was recorded at any line of such a file; --by line shows "
		                    "the lines that there are",
		                    text);
	return 0;
}

/* What all lines with one line number have. */
struct sum {
	bool is_any;
	int64_t host, bytes;
	struct tare_blocks_ledger tensors;
};

struct sums {
	struct sum *items; /* by number */
	size_t count, cap;
	bool is_any;
};

static void add(struct sums *s, const struct tare_ledger_line *l)
{
	struct sum *sum;

	if (l->line >= LINES_MOST)
		return;
	while (s->count <= l->line) {
		TARE_APPEND(s->items, s->count, s->cap) = (struct sum){ 0 };
	}
	sum = &s->items[l->line];
	sum->is_any = s->is_any = true;
	sum->host += l->host_anon + l->host_file;
	sum->bytes += l->bytes;
	sum->tensors.bytes += l->tensors.bytes;
	sum->tensors.count += l->tensors.count;
	sum->tensors.ever += l->tensors.ever;
	sum->tensors.ever_bytes += l->tensors.ever_bytes;
}

static void collect(struct sums *s, const struct tare_ledger_line *lines, int nr, const char *file)
{
	for (int i = 0; i < nr; i++)
		if (lines[i].file && !strcmp(lines[i].file, file))
			add(s, &lines[i]);
}

/* Of all processes; what is shared counts once. */
static struct sums collect_cpu(const struct tare_ledger *l, const char *file)
{
	struct sums s = { 0 };

	for (int i = 0; i < l->host_nr; i++)
		collect(&s, l->hosts[i].lines, l->hosts[i].line_nr, file);
	collect(&s, l->shared.lines, l->shared.line_nr, file);
	return s;
}

static void add_source(struct tare_str *out, const char *line, size_t len)
{
	for (size_t i = 0, column = 0; i < len; i++) {
		size_t blanks = line[i] == '\t' ? TAB - column % TAB : 0;

		tare_str_add_repeat(out, " ", blanks);
		if (!blanks)
			tare_str_add_char(out, line[i]);
		column += blanks ? blanks : 1;
	}
}

struct row {
	const char *at;
	int device;
	uint64_t line;
	char number[24]; /* of the line, as people know it */
	struct sum of;
	struct tare_str source, shown;
	bool has_source; /* the file has the line */
	bool has_ever;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, line, "line", NULL, ID),
	TARE_COLUMN(row, of.host, "host_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, of.tensors.bytes, "tensor_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.tensors.count, "tensors", NULL, COUNT),
	TARE_COLUMN(row, of.tensors.ever_bytes, "handed_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.tensors.ever, "handed", NULL, COUNT),
	TARE_COLUMN(row, source, "source", NULL, TEXT, .when = TARE_WHEN(row, has_source)),
};

#define ZERO .unknown = TARE_UNKNOWN_ZERO
#define EVER .when = TARE_WHEN(row, has_ever)

/* For people: a cell of a line that has no such bytes is left blank. */
static const struct tare_column shown[] = {
	TARE_COLUMN(row, number, NULL, "line", COUNT),
	TARE_COLUMN(row, of.host, NULL, "host", CHANGE, ZERO),
	TARE_COLUMN(row, of.bytes, NULL, "device", BYTES, ZERO),
	TARE_COLUMN(row, of.tensors.bytes, NULL, "tensors", BYTES, EVER),
	TARE_COLUMN(row, of.tensors.ever, NULL, "ever", COUNT, EVER),
	TARE_COLUMN(row, shown, NULL, "source", TEXT),
};

/* On the CPU there are tensors only, and how many there ever were is not counted by line. */
static const struct tare_column shown_on_cpu[] = {
	TARE_COLUMN(row, number, NULL, "line", COUNT),
	TARE_COLUMN(row, of.tensors.bytes, NULL, "tensors", BYTES, ZERO),
	TARE_COLUMN(row, of.tensors.count, NULL, "count", COUNT, ZERO),
	TARE_COLUMN(row, shown, NULL, "source", TEXT),
};

/* `device`: tare_device_ledger.index, -1: the CPU. */
static void add_row(struct tare_emit *e, const struct tare_ledger *l, int device, size_t number, const struct sum *s,
                    const char *line, size_t len)
{
	struct row row = {
		.at = l->at, .device = device, .line = number, .of = *s, .has_source = line, .has_ever = s->tensors.ever > 0
	};

	snprintf(row.number, sizeof(row.number), "%zu", number);
	if (line) {
		tare_str_add_n(&row.source, line, len);
		add_source(&row.shown, line, len);
	}
	tare_emit_add_as(e, &row, (struct tare_row_look){ .is_blank = true });
	tare_str_free(&row.source);
	tare_str_free(&row.shown);
}

static void add_rows(struct tare_emit *e, const struct tare_ledger *l, int device, const struct sums *s,
                     const char *source)
{
	static const struct sum nothing;
	size_t number = 1;

	for (; source && *source; number++) {
		size_t len = strcspn(source, "\n");

		add_row(e, l, device, number, number < s->count ? &s->items[number] : &nothing, source, len);
		source += len + (source[len] == '\n');
	}
	for (; number < s->count; number++)
		if (s->items[number].is_any)
			add_row(e, l, device, number, &s->items[number], NULL, 0);
}

static void show_table(struct tare_emit *e, const struct tare_ledger *l, int device, const char *file,
                       const struct sums *s, const char *source)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_str_addf(&title, "%s · ", file);
	if (device < 0)
		tare_str_addf(&title, "CPU · at %s", l->at);
	else {
		tare_device_text_place(&title, device);
		tare_str_addf(&title, " · at %s", l->at);
	}
	if (device < 0)
		tare_emit_table(e, "rows", tare_str_text(&title), TARE_COLUMNS(shown_on_cpu));
	else
		tare_emit_table(e, "rows", tare_str_text(&title), TARE_COLUMNS(shown));
	add_rows(e, l, device, s, source);
	tare_emit_table_end(e);
}

static void show(struct tare_emit *e, const struct tare_ledger *l, int device, const char *file, const struct sums *s,
                 const char *source)
{
	if (s->is_any && !tare_emit_is_for_people(e))
		add_rows(e, l, device, s, source);
	else if (s->is_any)
		show_table(e, l, device, file, s, source);
}

/* People see a table per device, and one of the CPU; data is one. */
void tare_annotate_show(struct tare_emit *e, const struct tare_ledger *ledger, const char *file, const char *source,
                        const char *note)
{
	bool is_data = !tare_emit_is_for_people(e);
	struct sums cpu;

	tare_emit_str(e, "file", file);
	tare_emit_str(e, "note", note);
	if (is_data)
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];
		struct sums s = { 0 };

		collect(&s, d->lines, d->line_nr, file);
		show(e, ledger, d->index, file, &s, source);
		free(s.items);
	}
	cpu = collect_cpu(ledger, file);
	show(e, ledger, -1, file, &cpu, source);
	free(cpu.items);
	if (is_data)
		tare_emit_table_end(e);
	if (note)
		tare_emit_alarm(e, "%s", note);
}
