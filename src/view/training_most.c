/* SPDX-License-Identifier: Apache-2.0 */
/* A training's tensors when there was most of them: a bar for each category, and for each module, equal layers as one. */
#include "view/training_private.h"

#include "base/comparator.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "view/module.h"
#include "view/tensors.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAST = 52429, /* bytes: what does not show as 0.0 MiB */
	FED = 20,      /* a twentieth of the input does not matter */
	BAR = 10,      /* blocks of the longest */
	TEXT_MAX = 24, /* of a path, and of a class: a row is no wider than 80 columns */
	MAX_LAYERS = 4,
	NEARLY_ALL = 10 /* but for a tenth: who holds so much says little, what is in it more */
};

static enum tare_training_share part_of(enum tare_category category)
{
	switch (category) {
	case TARE_CATEGORY_PARAMETER:
	case TARE_CATEGORY_GRADIENT:
	case TARE_CATEGORY_OPTIMIZER:
		return TARE_TRAINING_MODEL;
	case TARE_CATEGORY_INPUT:
	case TARE_CATEGORY_ACTIVATION:
		return TARE_TRAINING_BATCH;
	default:
		return TARE_TRAINING_OTHER;
	}
}

int64_t tare_training_sum_of(const struct tare_training *t, enum tare_training_share part)
{
	int64_t sum = 0;

	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (part_of((enum tare_category)c) == part)
			sum += t->most[c].bytes;
	return sum;
}

int64_t tare_training_parameters_of(const struct tare_training *t)
{
	return t->most[TARE_CATEGORY_PARAMETER].bytes;
}

bool tare_training_has_parameters(const struct tare_training *t)
{
	int64_t all = tare_training_sum_of(t, TARE_TRAINING_MODEL) + tare_training_sum_of(t, TARE_TRAINING_BATCH) +
	              tare_training_sum_of(t, TARE_TRAINING_OTHER);

	return tare_training_parameters_of(t) && tare_training_parameters_of(t) >= all / TARE_PARAMETERS_COUNT;
}

bool tare_training_has_batch(const struct tare_training *t)
{
	return t->fed_bytes <= t->most[TARE_CATEGORY_INPUT].bytes / FED;
}

/* ---- rows ---- */

struct row {
	const char *label, *bar, *note;
	int64_t bytes;
	double share;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, "label", "", TEXT),
	TARE_COLUMN(row, bytes, "bytes", "MiB", BYTES),
	TARE_COLUMN(row, share, "share", "", PERCENT),
	TARE_COLUMN(row, bar, "bar", "", TEXT, .is_quiet = true),
	TARE_COLUMN(row, note, "note", "", TEXT, .is_quiet = true),
};

static void add_row(struct tare_emit *e, const char *label, int64_t bytes, int64_t all, int64_t longest,
                    const char *note, size_t level)
{
	TARE_FREED_BY(tare_str_free) struct tare_str bar = { 0 };

	for (int64_t i = 0; i < (bytes * BAR + longest / 2) / longest || (!i && bytes * 100 >= all); i++)
		tare_str_add(&bar, "█");
	tare_emit_add_as(e, &(struct row){ label, tare_str_text(&bar), note, bytes, (double)bytes / (double)all },
	                 (struct tare_row_look){ .level = level });
}

/* What a category grows with, where that can be said. */
static void add_note(struct tare_str *note, const struct tare_training *t, const struct tare_category_sum *sum)
{
	int64_t input = t->most[TARE_CATEGORY_INPUT].bytes;

	if (sum->category == TARE_CATEGORY_ACTIVATION && tare_training_has_batch(t)) {
		if (input >= LEAST && sum->bytes > input)
			tare_str_addf(note, "%.1f × its input", (double)sum->bytes / (double)input);
		else
			tare_str_add(note, "grows with the batch");
	} else if (part_of(sum->category) == TARE_TRAINING_MODEL && sum->category != TARE_CATEGORY_PARAMETER) {
		tare_str_addf(note, "%.1f × parameters", (double)sum->bytes / (double)tare_training_parameters_of(t));
	}
}

TARE_COMPARATOR(by_bytes, struct tare_category_sum, TARE_FALLING(bytes))

static void add_categories(struct tare_emit *e, const struct tare_training *t, int64_t all)
{
	struct tare_category_sum sums[TARE_CATEGORY_NR];

	memcpy(sums, t->most, sizeof(sums));
	TARE_SORT(sums, TARE_CATEGORY_NR, by_bytes);
	for (int i = 0; i < TARE_CATEGORY_NR && sums[i].bytes >= LEAST; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str note = { 0 };

		add_note(&note, t, &sums[i]);
		add_row(e, tare_category_name(sums[i].category), sums[i].bytes, all, sums[0].bytes, tare_str_text(&note), 1);
	}
}

/* ---- modules ---- */

static size_t end_of(const struct tare_module_tree *t, size_t i)
{
	size_t end = i + 1;

	while (end < t->count && t->items[end].depth > t->items[i].depth)
		end++;
	return end;
}

/* The largest module from `i` to `end` that is in no other of these. */
static size_t largest(const struct tare_module_tree *t, size_t i, size_t end)
{
	size_t most = i;

	for (; i < end; i = end_of(t, i))
		if (t->items[i].row && t->items[i].all.bytes > t->items[most].all.bytes)
			most = i;
	return most;
}

/* The innermost module that has nearly all of what the outermost has. */
static size_t heart_of(const struct tare_module_tree *t)
{
	size_t at = largest(t, 0, t->count);
	int64_t all = t->items[at].all.bytes;

	for (size_t next = at + 1; next < end_of(t, at); next = at + 1) {
		next = largest(t, next, end_of(t, at));
		if (t->items[next].last || t->items[next].all.bytes < all - all / NEARLY_ALL)
			break;
		at = next;
	}
	return at;
}

/* The end of a path that is too long, with what tells it apart. */
static void add_path(struct tare_str *label, const char *path)
{
	size_t skip = strlen(path) > TEXT_MAX ? strlen(path) - TEXT_MAX : 0;
	const char *dot = skip ? strchr(path + skip, '.') : NULL;

	tare_str_addf(label, "%s%s", skip ? "…" : "", dot ? dot + 1 : path + skip);
}

static const char *class_of(const struct tare_module_node *n)
{
	return n->row->class && strlen(n->row->class) <= TEXT_MAX ? n->row->class : NULL;
}

struct layer {
	int64_t bytes;
	size_t at;
};

TARE_COMPARATOR(by_size, struct layer, TARE_FALLING(bytes) TARE_RISING(at))

static void add_layer(struct tare_emit *e, const struct tare_module_node *n, int64_t all, int64_t longest)
{
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	tare_str_add(&label, n->row->name);
	if (n->last)
		tare_str_addf(&label, "–%s × %zu", n->last, n->times);
	add_row(e, tare_str_text(&label), n->all.bytes, all, longest, class_of(n), 2);
}

static void add_layers(struct tare_emit *e, const struct tare_module_tree *t, size_t heart, int64_t all)
{
	TARE_FREED_HERE struct layer *layers = tare_xcalloc(t->count, sizeof(*layers));
	size_t count = 0;
	int64_t more = 0;

	for (size_t i = heart + 1; i < end_of(t, heart); i = end_of(t, i))
		if (t->items[i].all.bytes >= LEAST)
			layers[count++] = (struct layer){ t->items[i].all.bytes, i };
	TARE_SORT(layers, count, by_size);
	for (size_t i = 0; i < count; i++)
		if (i < MAX_LAYERS)
			add_layer(e, &t->items[layers[i].at], all, t->items[heart].all.bytes);
		else
			more += layers[i].bytes;
	if (more)
		add_row(e, "others", more, all, t->items[heart].all.bytes, NULL, 2);
}

static void add_modules(struct tare_emit *e, const struct tare_training *t, int64_t all)
{
	struct tare_module_tree tree, folded;
	size_t heart;

	tare_module_tree_build(&tree, &t->modules);
	tare_module_tree_fold(&folded, &tree);
	heart = folded.count ? heart_of(&folded) : 0;
	if (folded.count && folded.items[heart].row && folded.items[heart].all.bytes >= LEAST) {
		const struct tare_module_node *n = &folded.items[heart];

		TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

		add_path(&path, n->row->path);
		add_row(e, tare_str_text(&path), n->all.bytes, all, n->all.bytes, class_of(n), 1);
		add_layers(e, &folded, heart, all);
	}
	tare_module_tree_free(&folded);
	tare_module_tree_free(&tree);
}

/* ---- the sentence above them ---- */

static void add_part(struct tare_str *line, const struct tare_training *t, enum tare_training_share part,
                     const char *name)
{
	int64_t bytes = tare_training_sum_of(t, part);
	char text[TARE_UNITS_TEXT_MAX];

	if (bytes < LEAST)
		return;
	tare_str_addf(line, " + %s %s", tare_units_mib(text, bytes), name);
}

/* Had it more in a step than at the moment at which all processes together had most? */
static bool is_above_moment(const struct tare_training *t, int64_t bytes)
{
	int64_t first = t->first.figures[TARE_TRAINING_LIVE];
	int64_t steady = t->steady.figures[TARE_TRAINING_LIVE];

	return t->device < 0 && (first > steady ? first : steady) >= bytes + TARE_UNITS_LEAST;
}

static void add_sentence(struct tare_emit *e, const struct tare_training *t, int64_t bytes)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(&line, t->most_at);
	if (is_above_moment(t, bytes))
		tare_str_add(&line, ", when all processes together had most: here");
	tare_str_addf(&line, " %s MiB = %.1f × parameters", tare_units_mib(text, bytes),
	              (double)tare_training_sum_of(t, TARE_TRAINING_MODEL) / (double)tare_training_parameters_of(t));
	add_part(&line, t, TARE_TRAINING_BATCH,
	         tare_training_has_batch(t) ? "of the batch" : "of the batch, or of data that stays");
	add_part(&line, t, TARE_TRAINING_OTHER, "other");
	tare_emit_indented(e, 2, 4, tare_str_text(&line));
}

void tare_training_most_text(struct tare_emit *e, const struct tare_training *t)
{
	int64_t all = tare_training_sum_of(t, TARE_TRAINING_MODEL) + tare_training_sum_of(t, TARE_TRAINING_BATCH) +
	              tare_training_sum_of(t, TARE_TRAINING_OTHER);

	if (!tare_training_has_parameters(t))
		return;
	add_sentence(e, t, all);
	tare_emit_shape(e, TARE_SHAPE_TREE, "training_most", NULL, TARE_COLUMNS(columns));
	add_categories(e, t, all);
	add_modules(e, t, all);
	tare_emit_table_end(e);
}
