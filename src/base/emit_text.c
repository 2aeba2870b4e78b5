/* SPDX-License-Identifier: Apache-2.0 */
/* A report for a screen: cells are made as rows come, and lined up when the last one is there. */
#include "base/emit_text.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_INDENT = 2 }; /* what the rules of a tree leave free */

static const char mib[] = "MiB";

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	(void)e;
	t->text = tare_arena_alloc(&t->arena, sizeof(*t->text));
	t->text->widths = tare_arena_alloc(&t->arena, t->column_count * sizeof(*t->text->widths));
}

static struct tare_screen_row *add(struct tare_emit_text_rows *t)
{
	return TARE_ADD(t->rows, t->count, t->cap, (struct tare_screen_row){ 0 });
}

static const char *keep(struct tare_emit_table *t, const struct tare_str *text)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_text_add_name(&name, tare_str_text(text));
	return tare_arena_strdup(&t->arena, tare_str_text(&name));
}

static void measure_cell(struct tare_text_width *w, const char *cell)
{
	size_t n = tare_str_columns(cell);

	if (n > w->widest)
		w->widest = n;
}

/* What of a head stays on one line: a word, or a figure and its unit, "645 ms". */
static size_t head_word(const char *p)
{
	size_t len = strcspn(p, " ");

	if (len && p[len] == ' ' && isdigit((unsigned char)p[len - 1]) && islower((unsigned char)p[len + 1]))
		len += 1 + strcspn(p + len + 1, " ");
	return len;
}

static void measure_head(struct tare_text_width *w, const char *head)
{
	w->head = tare_str_columns(head);
	for (const char *p = head; *p;) {
		size_t len = head_word(p), n = 0;

		for (size_t i = 0; i < len; i++)
			n += ((unsigned char)p[i] & 0xc0) != 0x80;
		if (n > w->word)
			w->word = n;
		p += len + (p[len] == ' ');
	}
}

static void add_indent(struct tare_str *out, const struct tare_row_look *look)
{
	size_t levels = look->level;

	if (look->mark && levels) {
		tare_str_add(out, look->mark);
		levels--;
	}
	tare_str_add_repeat(out, TARE_TEXT_GAP, levels);
}

static void add_head(const struct tare_emit_table *t, size_t column, struct tare_str *out)
{
	if (t->title)
		tare_str_add(out, t->columns[column].head);
	else
		tare_column_read(out, &t->columns[column], " ");
}

/* `from` NULL: the heads. */
static const char **make_cells(struct tare_emit_table *t, const struct tare_emit_row *from)
{
	const char **cells = tare_arena_alloc(&t->arena, t->column_count * sizeof(*cells));
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		tare_str_cut(&text, 0);
		if (!from) {
			add_head(t, c, &text);
		} else {
			if (c == 0)
				add_indent(&text, &from->look);
			tare_cell_read(&text, &from->cells[c], from->look.is_blank || t->columns[c].is_blank);
		}
		cells[c] = keep(t, &text);
	}
	return cells;
}

/* Does the row have its label alone, which then stands below the other columns, too? */
static bool is_label_alone(const struct tare_emit_table *t, const char *const *cells, const struct tare_row_look *look)
{
	if (!look->is_whole || !look->is_blank)
		return false;
	for (size_t c = 1; c < t->column_count; c++)
		if (cells[c] && cells[c][0])
			return false;
	return true;
}

static void measure(struct tare_emit_table *t, const char *const *cells,
                    void (*one)(struct tare_text_width *, const char *))
{
	for (size_t c = 0; c < t->column_count; c++)
		if (cells[c])
			one(&t->text->widths[c], cells[c]);
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	const char **cells = make_cells(t, row);
	struct tare_screen_row *made = add(t->text);

	(void)e;
	made->cells = cells;
	made->look = row->look;
	made->is_label_alone = is_label_alone(t, cells, &row->look);
	if (!made->is_label_alone)
		measure(t, cells, measure_cell);
}

static void add_line(struct tare_emit *e, struct tare_emit_table *t, const char *line)
{
	(void)e;
	add(t->text)->line = tare_arena_strdup(&t->arena, line);
}

/* The bytes that the first `columns` code points of a text take. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return i;
}

static void add_cell(struct tare_str *out, const char *cell, const struct tare_text_width *w)
{
	if (tare_str_columns(cell) <= w->shown || !w->shown) {
		tare_str_add(out, cell);
		return;
	}
	tare_str_add_n(out, cell, bytes_of(cell, w->shown - 1));
	tare_str_add(out, "…");
}

TARE_COMPARATOR_OF_POINTERS(by_bytes, char, TARE_ALPHABETIC_BY(it))

/* One letter in front of the cut tells nobody what a row is: so much of a word is to be seen. */
enum { WORD_SEEN = 8 };

/* Are there two labels that differ, and not so far before their cut that it can be read? */
static bool is_alike_when_cut(struct tare_emit_table *t, size_t column)
{
	const struct tare_emit_text_rows *rows = t->text;
	size_t shown = rows->widths[column].shown, count = 0;
	const char **cells;

	if (rows->widths[column].widest <= shown || !shown)
		return false;
	cells = tare_arena_alloc(&t->arena, (rows->count + 1) * sizeof(*cells));
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].cells && !rows->rows[i].look.is_whole &&
		    tare_str_columns(rows->rows[i].cells[column]) > shown)
			cells[count++] = rows->rows[i].cells[column];
	TARE_SORT(cells, count, by_bytes);
	for (size_t i = 1; i < count; i++) {
		size_t bytes = bytes_of(cells[i], shown > WORD_SEEN ? shown - 1 - WORD_SEEN : 0);

		if (strcmp(cells[i - 1], cells[i]) && !strncmp(cells[i - 1], cells[i], bytes))
			return true;
	}
	return false;
}

/* The texts of a row as they stand when each is cut at its end. */
struct drawn {
	const char *text;
	const struct tare_screen_row *row;
};

static bool is_text(const struct tare_emit_table *t, size_t column)
{
	return tare_text_is_shown(t, column) && t->columns[column].kind == TARE_COL_TEXT;
}

TARE_COMPARATOR(by_text, struct drawn, TARE_ALPHABETIC(text))

static size_t draw_cut(struct tare_emit_table *t, struct drawn *all)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < t->text->count; i++) {
		const struct tare_screen_row *row = &t->text->rows[i];

		if (!row->cells || row->is_label_alone)
			continue;
		tare_str_cut(&text, 0);
		for (size_t c = 0; c < t->column_count; c++) {
			if (!is_text(t, c))
				continue;
			add_cell(&text, row->cells[c], &t->text->widths[c]);
			tare_str_add_char(&text, '\n');
		}
		all[count++] = (struct drawn){ tare_arena_strdup(&t->arena, tare_str_text(&text)), row };
	}
	return count;
}

/* Texts that alone tell rows apart go on on the next line, and so do labels that would look the same. */
static void let_go_on(struct tare_emit_table *t)
{
	struct drawn *all = tare_arena_alloc(&t->arena, (t->text->count + 1) * sizeof(*all));
	size_t first = tare_text_first(t), count = draw_cut(t, all);

	if (first < t->column_count)
		t->text->widths[first].goes_on = is_alike_when_cut(t, first);
	TARE_SORT(all, count, by_text);
	for (size_t i = 1; i < count; i++)
		for (size_t c = 0; c < t->column_count && !by_text(&all[i - 1], &all[i]); c++)
			if (is_text(t, c) && strcmp(all[i - 1].row->cells[c], all[i].row->cells[c]) != 0)
				t->text->widths[c].goes_on = true;
}

/* Blanks at the end of a line are left out. */
static void draw_row(struct tare_emit *e, const struct tare_emit_table *t, const char *const *cells,
                     enum tare_text_tone tone)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	size_t pending = 0;
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		size_t pad, width = t->text->widths[c].shown;

		if (!tare_text_is_shown(t, c))
			continue;
		pad = tare_str_columns(cells[c]) < width ? width - tare_str_columns(cells[c]) : 0;
		pending += is_first ? 0 : sizeof(TARE_TEXT_GAP) - 1;
		is_first = false;
		if (t->columns[c].kind != TARE_COL_TEXT)
			pending += pad;
		if (t->columns[c].is_quiet && cells[c][0]) {
			tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
			tare_str_cut(&line, 0);
			tone = TARE_TONE_QUIET;
		}
		if (cells[c][0]) {
			tare_str_add_repeat(&line, " ", pending);
			pending = 0;
		}
		add_cell(&line, cells[c], &t->text->widths[c]);
		if (t->columns[c].kind == TARE_COL_TEXT)
			pending += pad;
	}
	tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
	tare_str_add_char(e->out, '\n');
}

/* How many bytes of a text stand on a line of so many columns: up to a place between words, if there is one. */
static size_t piece_of(const char *text, size_t columns)
{
	size_t len = bytes_of(text, columns), best = len;

	if (!text[len])
		return len;
	while (best > len / 2 && !strchr(" /:.", text[best - 1]))
		best--;
	return best > len / 2 ? best : len;
}

/* Does a cell go on on further lines, below itself? */
static bool goes_on(const struct tare_emit_table *t, const struct tare_screen_row *row, size_t c)
{
	const struct tare_text_width *w = &t->text->widths[c];

	if (!tare_text_is_shown(t, c) || !w->shown || tare_str_columns(row->cells[c]) <= w->shown)
		return false;
	return w->goes_on && !(row->look.is_whole && c == tare_text_first(t));
}

/* The next line of a cell of this width out of the rest of it. */
static const char *next_piece(struct tare_emit_table *t, const struct tare_screen_row *row, size_t c, size_t width,
                              const char **rest)
{
	size_t room = width, indent = 0, len;
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (c == tare_text_first(t) && *rest != row->cells[c])
		indent = (sizeof(TARE_TEXT_GAP) - 1) * (row->look.level + 1);
	if (width > 2 * indent)
		room = width - indent;
	tare_str_add_repeat(&line, " ", room < width ? indent : 0);
	len = piece_of(*rest, room);
	tare_str_add_n(&line, *rest, len);
	*rest += len;
	while (line.len && line.data[line.len - 1] == ' ')
		tare_str_cut(&line, line.len - 1);
	return tare_arena_strdup(&t->arena, tare_str_text(&line));
}

/* A label without figures beside it, as wide as the table. */
static void draw_label(struct tare_emit *e, struct tare_emit_table *t, const struct tare_screen_row *row, size_t total)
{
	size_t c = tare_text_first(t);
	const char *rest = c < t->column_count ? row->cells[c] : "";

	while (*rest) {
		tare_text_tone(e->out, next_piece(t, row, c, total, &rest), row->look.tone, &e->style);
		tare_str_add_char(e->out, '\n');
	}
}

/* Has the label of a row that is not to be cut no room beside the figures? */
static bool is_label_above(const struct tare_emit_table *t, const struct tare_screen_row *row)
{
	size_t c = tare_text_first(t);
	const struct tare_text_width *w = &t->text->widths[c];

	return row->look.is_whole && c < t->column_count && w->shown && tare_str_columns(row->cells[c]) > w->shown;
}

/* A row of which cells go on on further lines, below themselves, where there is no room for all of them. */
static void draw_whole(struct tare_emit *e, struct tare_emit_table *t, const struct tare_screen_row *row, size_t total)
{
	const char **cells = tare_arena_alloc(&t->arena, t->column_count * sizeof(*cells));
	const char **rest = tare_arena_alloc(&t->arena, t->column_count * sizeof(*rest));
	bool is_more = !row->is_label_alone;

	for (size_t c = 0; c < t->column_count; c++) {
		rest[c] = goes_on(t, row, c) ? row->cells[c] : "";
		cells[c] = *rest[c] ? NULL : row->cells[c];
	}
	if (row->is_label_alone || is_label_above(t, row)) {
		draw_label(e, t, row, total);
		cells[tare_text_first(t)] = "";
	}
	while (is_more) {
		is_more = false;
		for (size_t c = 0; c < t->column_count; c++) {
			if (*rest[c])
				cells[c] = next_piece(t, row, c, t->text->widths[c].shown, &rest[c]);
			is_more = is_more || *rest[c];
		}
		draw_row(e, t, cells, row->look.tone);
		for (size_t c = 0; c < t->column_count; c++)
			cells[c] = "";
	}
}

enum { GLUE = '\1' }; /* a space at which no line ends */

/* A head on as many lines as it takes in its width. */
static char *wrap_head(const struct tare_emit_table *t, size_t column, size_t *lines)
{
	struct tare_str head = { 0 }, wrapped = { 0 };
	size_t width = t->text->widths[column].shown;
	char *text;

	for (const char *p = t->text->heads[column]; *p;) {
		size_t len = head_word(p);

		for (size_t i = 0; i < len; i++)
			tare_str_add_char(&head, p[i] == ' ' ? GLUE : p[i]);
		p += len;
		if (*p)
			tare_str_add_char(&head, *p++);
	}
	if (tare_str_columns(tare_str_text(&head)) > width)
		tare_str_add_wrapped(&wrapped, tare_str_text(&head), 0, 0, width);
	else
		tare_str_add(&wrapped, tare_str_text(&head));
	tare_str_free(&head);
	text = tare_str_steal(&wrapped);
	*lines = 1;
	for (char *p = text; *p; p++) {
		*lines += *p == '\n';
		if (*p == GLUE)
			*p = ' ';
	}
	return text;
}

/* Heads end on one line, whatever lines they begin on. */
static void draw_heads(struct tare_emit *e, struct tare_emit_table *t)
{
	size_t *lines = tare_arena_alloc(&t->arena, t->column_count * sizeof(*lines)), most = 1;
	char **rest = tare_arena_alloc(&t->arena, t->column_count * sizeof(*rest)), **heads;
	const char **cells = tare_arena_alloc(&t->arena, t->column_count * sizeof(*cells));

	heads = tare_arena_alloc(&t->arena, t->column_count * sizeof(*heads));
	for (size_t c = 0; c < t->column_count; c++) {
		if (!tare_text_is_shown(t, c))
			continue;
		heads[c] = rest[c] = wrap_head(t, c, &lines[c]);
		most = lines[c] > most ? lines[c] : most;
	}
	for (size_t line = 0; line < most; line++) {
		for (size_t c = 0; c < t->column_count; c++)
			if (tare_text_is_shown(t, c))
				cells[c] = line < most - lines[c] ? "" : strsep(&rest[c], "\n");
		draw_row(e, t, cells, TARE_TONE_QUIET);
	}
	for (size_t c = 0; c < t->column_count; c++)
		free(heads[c]);
}

static void draw_title(struct tare_emit *e, const struct tare_emit_table *t, size_t total)
{
	TARE_FREED_BY(tare_str_free) struct tare_str shown = { 0 };
	bool has_size = false;

	for (size_t c = 0; c < t->column_count; c++)
		has_size = has_size || (t->columns[c].head && tare_kind_is_size(t->columns[c].kind));
	tare_text_add_title(e, &shown, t->title, has_size ? mib : "", total);
	tare_text_tone(e->out, tare_str_text(&shown), TARE_TONE_STRONG, &e->style);
	tare_str_add_char(e->out, '\n');
}

static void draw_line(struct tare_emit *e, const struct tare_emit_table *t, const char *line, size_t total)
{
	size_t indent = t->shape == TARE_SHAPE_TREE ? RULE_INDENT : 0;
	struct tare_str text = { 0 };

	if (line[0]) {
		tare_text_add_lines(&text, line, strlen(line));
		tare_text_add_wrapped(e, e->out, tare_str_text(&text));
		tare_str_free(&text);
	} else {
		tare_str_add_repeat(e->out, " ", indent);
		tare_str_add_repeat(e->out, "─", total - indent);
	}
	tare_str_add_char(e->out, '\n');
}

static void say_left_out(struct tare_emit *e, size_t count)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_str_addf(&line, "  %zu column%s no room here: a wider screen, --csv and --json have %s", count,
	              count == 1 ? " has" : "s have", count == 1 ? "it" : "them");
	tare_text_add_wrapped(e, e->out, tare_str_text(&line));
	tare_str_add_char(e->out, '\n');
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	size_t total, left_out;

	t->text->heads = make_cells(t, NULL);
	measure(t, t->text->heads, measure_head);
	left_out = tare_text_fit(e, t);
	total = tare_text_total(t);
	let_go_on(t);
	if (t->title)
		draw_title(e, t, total);
	if (t->series)
		tare_chart_spark(e->out, t->series->chart, total, t->series->title);
	draw_heads(e, t);
	for (size_t r = 0; r < t->text->count; r++) {
		const struct tare_screen_row *row = &t->text->rows[r];

		if (row->cells)
			draw_whole(e, t, row, total);
		else
			draw_line(e, t, row->line, total);
	}
	if (left_out)
		say_left_out(e, left_out);
	free(t->text->rows);
}

static void add_chart(struct tare_emit *e, const struct tare_chart *chart)
{
	if (chart->shape != TARE_SHAPE_SERIES)
		return;
	if (chart->title)
		tare_text_toned(e, chart->title, TARE_TONE_STRONG);
	tare_chart_spark(e->out, chart, (size_t)e->style.width, NULL);
}

static void finish(struct tare_emit *e)
{
	if (!e->style.is_utf8)
		tare_text_to_ascii(e->out, e->start);
}

const struct tare_renderer tare_render_text = {
	.table = begin,
	.row = add_row,
	.line = add_line,
	.end = end,
	.block = tare_text_block,
	.chart = add_chart,
	.finish = finish,
};
