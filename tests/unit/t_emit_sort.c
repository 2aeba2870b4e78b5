/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit.h"
#include "test.h"

#include <string.h>

struct row {
	const char *name;
	int64_t bytes, at_ns, pid;
};

static void add_nested(struct tare_emit *e, const char *key, const void *row)
{
	(void)row;
	tare_emit_null(e, key);
}

static const struct tare_column columns[] = {
	TARE_COLUMN(row, name, "label", "NAME", TEXT),
	TARE_COLUMN(row, bytes, "bytes", "SIZE", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE, .is_sum = true),
	TARE_COLUMN(row, at_ns, "t_ns", NULL, TIME),
	TARE_COLUMN(row, pid, "pid", NULL, ID),
};

static void add(struct tare_emit *e, const char *name, int64_t bytes, int64_t at_ns, int64_t pid, size_t level)
{
	char own[16]; /* which does not live on */

	snprintf(own, sizeof(own), "%s", name);
	tare_emit_add_as(e, &(struct row){ own, bytes, at_ns, pid }, (struct tare_row_look){ .level = level });
	memset(own, 'x', sizeof(own) - 1);
}

/* The names, in the order in which they are printed by this column. */
static const char *order(const char *sort, enum tare_shape_kind shape, struct tare_str *out)
{
	static char names[256];
	struct tare_emit e;

	tare_str_cut(out, 0);
	tare_emit_begin(&e, TARE_EMIT_TSV, out);
	e.sort = sort;
	tare_emit_shape(&e, shape, "rows", NULL, TARE_COLUMNS(columns));
	add(&e, "b", 1, 30, 9, 0);
	add(&e, "c", -1, 20, 10, 0);
	add(&e, "c2", 7, 20, 10, 1);
	add(&e, "c1", 8, 10, 10, 1);
	add(&e, "a", 3, 10, 10, 0);
	add(&e, "d", 1, 20, 100, 0);
	tare_emit_table_end(&e);
	CHECK(e.is_sorted == (sort != NULL && strcmp(sort, "nix") != 0));
	tare_emit_end(&e);
	names[0] = '\0';
	for (const char *line = strchr(tare_str_text(out), '\n') + 1; *line; line = strchr(line, '\n') + 1)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%.*s ", (int)strcspn(line, "\t"), line);
	return names;
}

/* Sizes begin with the largest, names and times with the first; what is not known comes last, either way. */
TEST(rows_by_a_column)
{
	struct tare_str s = { 0 };

	CHECK_STR(order(NULL, TARE_SHAPE_TABLE, &s), "b c c2 c1 a d ");
	CHECK_STR(order("nix", TARE_SHAPE_TABLE, &s), "b c c2 c1 a d ");
	CHECK_STR(order("label", TARE_SHAPE_TABLE, &s), "a b c c1 c2 d ");
	tare_str_free(&s);
}

TEST(rows_of_a_tree_keep_their_own)
{
	struct tare_str s = { 0 };

	CHECK_STR(order("label", TARE_SHAPE_TREE, &s), "a b c c1 c2 d ");
	CHECK_STR(order("-label", TARE_SHAPE_TREE, &s), "d c c2 c1 b a ");
	CHECK_STR(order("bytes", TARE_SHAPE_TREE, &s), "a b d c c1 c2 ");
	CHECK_STR(order("-BYTES", TARE_SHAPE_TREE, &s), "b d a c c2 c1 ");
	CHECK_STR(order("size", TARE_SHAPE_TREE, &s), "a b d c c1 c2 ");
	CHECK_STR(order("t_ns", TARE_SHAPE_TREE, &s), "a c c1 c2 d b ");
	CHECK_STR(order("pid", TARE_SHAPE_TREE, &s), "b c c2 c1 a d ");
	tare_str_free(&s);
}

/* A rule parts what is sorted, and a sum stays last. */
TEST(rules_and_sums_stay_where_they_are)
{
	struct tare_str s = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, &s);
	e.sort = "label";
	tare_emit_table(&e, "rows", NULL, TARE_COLUMNS(columns));
	add(&e, "z", 1 << 20, 0, 0, 0);
	add(&e, "y", 1 << 20, 0, 0, 0);
	tare_emit_rule(&e);
	add(&e, "b", 1 << 20, 0, 0, 0);
	add(&e, "a", 1 << 20, 0, 0, 0);
	tare_emit_sum(&e, "all");
	tare_emit_table_end(&e);
	CHECK_STR(tare_str_text(&e.sort_names), "label, bytes, t_ns, pid");
	tare_emit_end(&e);
	CHECK_STR(tare_str_text(&s), "NAME  SIZE MiB\n"
	                             "y          1.0\n"
	                             "z          1.0\n"
	                             "──────────────\n"
	                             "a          1.0\n"
	                             "b          1.0\n"
	                             "──────────────\n"
	                             "all        4.0\n");
	tare_str_free(&s);
}

/* Rows with what no cell can hold are written as they come. */
TEST(what_is_nested_is_not_sorted)
{
	static const struct tare_column nested[] = {
		TARE_COLUMN(row, name, "label", NULL, TEXT),
		TARE_NESTED("more", add_nested),
	};
	struct tare_str s = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON_LINES, &s);
	e.sort = "label";
	tare_emit_table(&e, NULL, NULL, nested, 2);
	add(&e, "b", 0, 0, 0, 0);
	add(&e, "a", 0, 0, 0, 0);
	tare_emit_table_end(&e);
	CHECK(!e.is_sorted);
	tare_emit_end(&e);
	CHECK_STR(tare_str_text(&s), "{\"label\": \"b\", \"more\": null}\n"
	                             "{\"label\": \"a\", \"more\": null}\n");
	tare_str_free(&s);
}
