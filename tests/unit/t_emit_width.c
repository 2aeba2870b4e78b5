/* SPDX-License-Identifier: Apache-2.0 */
/* Text on a screen: nothing is wider than it, and what there is room for is not cut. */
#include "base/emit.h"
#include "test.h"

struct row {
	const char *label, *line, *word;
	int64_t before, after;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, "label", "", TEXT),
	TARE_COLUMN(row, before, "before", "AT PEAK 12.3 s", BYTES),
	TARE_COLUMN(row, after, "after", "LEFT", BYTES, .is_main = true),
	TARE_COLUMN(row, line, "line", "made at", TEXT),
	TARE_COLUMN(row, word, "word", "evidence", TEXT, .is_quiet = true),
};

static const struct row rows[] = {
	{ "allocations", "train.py:87 in forward", "exact", 1000 << 20, 2 << 20 },
	{ "a label that is as long as names of tensors of a large network may be",
	  "a/folder/of/a/library.py:1234 in a_function_with_a_name", "inferred", 5, 0 },
};

static void show(struct tare_str *out, enum tare_shape_kind shape, int width, bool is_screen)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, out);
	e.style.width = width;
	e.style.is_screen = is_screen;
	tare_emit_shape(&e, shape, "rows", "GPU 0  NVIDIA H200 · what there is of it, and what not", TARE_COLUMNS(columns));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tare_emit_add_as(&e, &rows[i], (struct tare_row_look){ .level = 1 });
	tare_emit_rule(&e);
	tare_emit_line(&e, "  a line of the view's own, which may be longer than a screen is wide");
	tare_emit_table_end(&e);
	tare_emit_note(&e, "  a note that stands below the table and is longer than a narrow screen");
	tare_emit_end(&e);
}

static size_t widest(const char *text)
{
	size_t most = 0;

	for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
		struct tare_str line = { 0 };

		end = p + strcspn(p, "\n");
		tare_str_add_n(&line, p, (size_t)(end - p));
		if (tare_str_columns(tare_str_text(&line)) > most)
			most = tare_str_columns(tare_str_text(&line));
		tare_str_free(&line);
	}
	return most;
}

TEST(nothing_is_wider_than_the_screen)
{
	for (int shape = TARE_SHAPE_TABLE; shape <= TARE_SHAPE_TREE; shape++)
		for (int width = 40; width <= 200; width++) {
			struct tare_str out = { 0 };

			show(&out, (enum tare_shape_kind)shape, width, true);
			if (widest(tare_str_text(&out)) > (size_t)width)
				test_fail(__FILE__, __LINE__, "%d columns:\n%s", width, tare_str_text(&out));
			CHECK_HAS(tare_str_text(&out), "LEFT"); /* it is what the table is about */
			tare_str_free(&out);
		}
}

/* "12.3 s" does not become "12.3" above "s". */
TEST(a_head_keeps_a_figure_and_its_unit_together)
{
	for (int width = 30; width <= 120; width++) {
		struct tare_str out = { 0 };

		show(&out, TARE_SHAPE_TREE, width, true);
		CHECK_INT(strstr(tare_str_text(&out), "12.3 s") != NULL, strstr(tare_str_text(&out), "PEAK") != NULL);
		tare_str_free(&out);
	}
}

TEST(a_wide_screen_shows_all_of_it)
{
	struct tare_str out = { 0 };

	show(&out, TARE_SHAPE_TREE, 200, true);
	CHECK(!strstr(tare_str_text(&out), "…"));
	CHECK_HAS(tare_str_text(&out), "a_function_with_a_name");
	CHECK(!strstr(tare_str_text(&out), "no room here"));
	tare_str_free(&out);
}

TEST(a_narrow_screen_says_what_it_leaves_out)
{
	struct tare_str out = { 0 };

	show(&out, TARE_SHAPE_TABLE, 40, true);
	CHECK(!strstr(tare_str_text(&out), "inferred"));
	CHECK_HAS(tare_str_text(&out), "no room here");
	tare_str_free(&out);
}

/* Somebody may cut or grep it. */
TEST(what_goes_to_a_file_is_whole)
{
	struct tare_str out = { 0 };

	show(&out, TARE_SHAPE_TABLE, 80, false);
	CHECK_HAS(tare_str_text(&out), "a_function_with_a_name");
	CHECK_HAS(tare_str_text(&out), "large network may be");
	tare_str_free(&out);
}

struct growing {
	const char *where, *rate;
	int64_t bytes;
};

static const struct tare_column growing_columns[] = {
	TARE_COLUMN(growing, where, "where", "WHERE", TEXT),
	TARE_COLUMN(growing, rate, "rate", "GROWS BY", TEXT, .is_whole = true),
	TARE_COLUMN(growing, bytes, "bytes", "SO FAR", BYTES, .is_main = true),
};

static void show_growing(struct tare_str *out, const struct growing *rows_of, size_t count, int width)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, out);
	e.style.width = width;
	e.style.is_screen = true;
	tare_emit_table(&e, "rows", "what grows", TARE_COLUMNS(growing_columns));
	for (size_t i = 0; i < count; i++)
		tare_emit_add(&e, &rows_of[i]);
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

TEST(a_figure_with_words_is_whole_or_not_there)
{
	static const struct growing row = { "a/folder/of/a/library.py:1234 in a_function", "513.9 KiB a step", 58 << 20 };

	for (int width = 16; width <= 80; width++) {
		struct tare_str out = { 0 };

		show_growing(&out, &row, 1, width);
		CHECK_INT(strstr(tare_str_text(&out), "GROWS") != NULL,
		          strstr(tare_str_text(&out), "513.9 KiB a step") != NULL);
		if (width >= 40)
			CHECK_HAS(tare_str_text(&out), "513.9 KiB a step");
		tare_str_free(&out);
	}
}

/* Names that end in different ways go on on the next line; names that begin so are cut at the end, as people read them. */
TEST(what_is_cut_can_be_told_apart)
{
	static const struct growing same_begin[] = {
		{ "decoder.layers.attention.weight", "1 MiB a step", 2 << 20 },
		{ "decoder.layers.attention.bias", "2 MiB a step", 1 << 20 },
		{ "größe.größe.größe.größe.größe.a", "2 MiB a step", 1 << 20 },
		{ "größe.größe.größe.größe.größe.b", "2 MiB a step", 1 << 20 },
	};
	static const struct growing same_end[] = {
		{ "first.of.all.the.layers.weight", "1 MiB a step", 2 << 20 },
		{ "second.of.all.the.layers.weight", "2 MiB a step", 1 << 20 },
	};
	static const struct growing one_letter[] = {
		{ "allocations.live.activation.", "1 MiB a step", 2 << 20 },
		{ "allocations.live.optimizer", "2 MiB a step", 1 << 20 },
	};
	struct tare_str out = { 0 };

	show_growing(&out, one_letter, 2, 40); /* "act…" and "opt…" could be told apart, and not read */
	CHECK(!strstr(tare_str_text(&out), "…"));
	tare_str_free(&out);
	show_growing(&out, same_begin, 4, 40);
	CHECK_HAS(tare_str_text(&out), "decoder.layers. ");
	CHECK_HAS(tare_str_text(&out), "\n  attention.weight\n");
	CHECK_HAS(tare_str_text(&out), "\n  attention.bias\n");
	CHECK_HAS(tare_str_text(&out), "größe.a\n");
	CHECK_HAS(tare_str_text(&out), "größe.b\n");
	CHECK(!strstr(tare_str_text(&out), "…"));
	tare_str_free(&out);
	show_growing(&out, same_end, 2, 40);
	CHECK_HAS(tare_str_text(&out), "first.of");
	CHECK_HAS(tare_str_text(&out), "second.of.all.the.la… ");
	tare_str_free(&out);
}

/* Rows of one name may differ in another text only: that goes on, too. What tells nothing apart is cut at its end. */
TEST(what_alone_tells_rows_apart_is_whole)
{
	struct row alike[] = {
		{ "tr.py:8 in forward", "decoder.layers.11.attention.first", "x", 1 << 20, 0 },
		{ "tr.py:8 in forward", "decoder.layers.11.attention.second", "x", 2 << 20, 0 },
		{ "tr.py:9 in forward", "decoder.layers.11.attention.third", "x", 2 << 20, 0 },
	};
	struct tare_str out = { 0 };
	struct tare_emit e;

	for (int width = 44; width < 80; width++) {
		tare_str_cut(&out, 0);
		tare_emit_begin(&e, TARE_EMIT_TEXT, &out);
		e.style.width = width;
		e.style.is_screen = true;
		tare_emit_table(&e, "rows", "what", TARE_COLUMNS(columns));
		for (int i = width % 2; i < 2 + width % 2; i++)
			tare_emit_add(&e, &alike[i]);
		tare_emit_table_end(&e);
		tare_emit_end(&e);
		CHECK(widest(tare_str_text(&out)) <= (size_t)width);
		if (width % 2 == 0 && width < 50)
			CHECK(!strstr(tare_str_text(&out), "…"));
	}
	tare_str_free(&out);
}

static void show_labels(struct tare_str *out, int width)
{
	static const struct growing rows_of[] = {
		{ "a/folder/of/a/library.py:1234 in a_function", "1 MiB a step", 2 << 20 },
		{ "a/folder/of/a/library.py:56 in its_caller", "", 0 },
		{ "a/library.py:7 in f", "2 MiB a step", 1 << 20 },
	};
	static const struct tare_column columns[] = {
		TARE_COLUMN(growing, where, "where", "WHERE", TEXT),
		TARE_COLUMN(growing, rate, "rate", "GROWS BY", TEXT, .is_whole = true),
		TARE_COLUMN(growing, bytes, "bytes", "SO FAR", BYTES, .unknown = TARE_UNKNOWN_ZERO),
	};
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, out);
	e.style.width = width;
	e.style.is_screen = true;
	tare_emit_shape(&e, TARE_SHAPE_TREE, "rows", "what grows", TARE_COLUMNS(columns));
	for (int i = 0; i < 3; i++)
		tare_emit_add_as(&e, &rows_of[i], (struct tare_row_look){ .level = 1, .is_whole = true, .is_blank = i == 1 });
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

/* A frame of a stack can be searched for: it stands on one line, as wide as the table, above its figures if it has any. */
TEST(a_label_without_room_is_above_its_figures)
{
	struct tare_str out = { 0 };

	show_labels(&out, 56);
	CHECK(widest(tare_str_text(&out)) <= 56);
	CHECK_HAS(tare_str_text(&out), "\n  a/folder/of/a/library.py:1234 in a_function\n    ");
	CHECK_HAS(tare_str_text(&out), "\n  a/folder/of/a/library.py:56 in its_caller\n  a/library.py:7 in f  ");
	tare_str_cut(&out, 0);
	show_labels(&out, 120);
	CHECK_HAS(tare_str_text(&out), "a_function  1 MiB a step");
	tare_str_free(&out);
}
