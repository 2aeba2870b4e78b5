/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the first step of training beside the others. */
#include "view/ledger_view.h"

#include "view/training_private.h"

#include "base/units.h"
#include "view/device_text.h"
#include "view/tensors.h"

#include <math.h>
#include <string.h>

enum {
	MAX_TRAININGS = 4,
};

enum unit { TIME, COUNT, BYTES };

static const struct figure {
	const char *label;
	enum unit unit;
	bool is_gpu; /* means nothing on the CPU */
} figures[TARE_TRAINING_NR] = {
#define TARE_TRAINING(KEY, key, unit, is_gpu, label) { label, unit, is_gpu },
#include "ledger/training/training.def"
};

static const char *const by_names[TARE_TRAINING_BY_NR] = { "phases", "optimizer", "optimizers", "backward" };
static const char *const by_words[TARE_TRAINING_BY_NR] = {
	"by phases",
	"by the optimizer",
	"each of several optimizers",
	"by backward passes",
};

/* ---- for scripts ---- */

struct step {
	bool is_on_gpu;
	struct tare_training_step of;
};

static const struct tare_column step_columns[] = {
#define TARE_TRAINING(KEY, key, unit, is_gpu, label)                                                                   \
	TARE_COLUMN(step, of.figures[TARE_TRAINING_##KEY], key, NULL, COUNT,                                               \
	            .when = (is_gpu) ? TARE_WHEN(step, is_on_gpu) : 0),
#include "ledger/training/training.def"
};

struct most {
	const char *at;
	int64_t t_ns, bytes, parameters, batch, other;
	double parameters_ratio, input_ratio;
};

static const struct tare_column most_columns[] = {
	TARE_COLUMN(most, at, "at", NULL, TEXT),
	TARE_COLUMN(most, t_ns, "t_ns", NULL, TIME),
	TARE_COLUMN(most, bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(most, parameters, "parameter_bytes", NULL, BYTES),
	TARE_COLUMN(most, parameters_ratio, "parameters_ratio", NULL, NUMBER),
	TARE_COLUMN(most, batch, "batch_bytes", NULL, BYTES),
	TARE_COLUMN(most, input_ratio, "input_ratio", NULL, NUMBER),
	TARE_COLUMN(most, other, "other_bytes", NULL, BYTES),
};

static double ratio(int64_t bytes, int64_t of)
{
	return of > 0 ? (double)bytes / (double)of : NAN;
}

static void add_step(struct tare_emit *e, const char *key, const struct tare_training *t,
                     const struct tare_training_step *step)
{
	tare_emit_object(e, key, TARE_COLUMNS(step_columns), &(struct step){ .is_on_gpu = t->device >= 0, .of = *step });
}

static void add_first(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_training *t = row;

	add_step(e, key, t, &t->first);
}

static void add_steady(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_training *t = row;

	add_step(e, key, t, &t->steady);
}

static void add_most(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_training *t = row;
	int64_t model = tare_training_sum_of(t, TARE_TRAINING_MODEL), batch = tare_training_sum_of(t, TARE_TRAINING_BATCH),
			other = tare_training_sum_of(t, TARE_TRAINING_OTHER);
	struct most most = { .at = t->most_at,
		                 .t_ns = t->most_ns,
		                 .bytes = model + batch + other,
		                 .parameters = tare_training_parameters_of(t),
		                 .parameters_ratio =
		                     tare_training_has_parameters(t) ? ratio(model, tare_training_parameters_of(t)) : NAN,
		                 .batch = batch,
		                 .input_ratio =
		                     tare_training_has_batch(t) ? ratio(batch, t->most[TARE_CATEGORY_INPUT].bytes) : NAN,
		                 .other = other };

	tare_emit_object(e, key, TARE_COLUMNS(most_columns), most.parameters ? &most : NULL);
}

static void add_counts(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_training *t = row;

	tare_emit_open(e, key, '[');
	for (size_t i = 0; i < t->thread_nr; i++)
		tare_emit_uint(e, NULL, t->counts[i]);
	tare_emit_close(e);
}

static const struct tare_column mark_columns[] = {
	TARE_COLUMN(tare_training_mark, number, "step", NULL, ID),
	TARE_COLUMN(tare_training_mark, begin_ns, "begin_ns", NULL, TIME),
	TARE_COLUMN(tare_training_mark, ns, "ns", NULL, DURATION),
	TARE_COLUMN(tare_training_mark, used, "peak_used_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tare_training_mark, live, "peak_tensor_bytes", NULL, BYTES),
};

static void add_marks(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_training *t = row;

	tare_emit_rows(e, key, NULL, TARE_COLUMNS(mark_columns), TARE_ROWS(t->marks, t->mark_nr));
}

static const char *by_name(unsigned by)
{
	return by_names[by];
}

static const struct tare_column columns[] = {
	TARE_COLUMN(tare_training, pid, "pid", NULL, ID),
	TARE_COLUMN(tare_training, generation, "generation", NULL, ID),
	TARE_COLUMN(tare_training, program, "program", NULL, TEXT),
	TARE_COLUMN(tare_training, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(tare_training, by, "steps_by", NULL, TEXT, .name = by_name),
	TARE_COLUMN(tare_training, count, "steps", NULL, COUNT),
	TARE_NESTED("steps_of_threads", add_counts),
	TARE_NESTED("first", add_first),
	TARE_NESTED("steady", add_steady),
	TARE_NESTED("each", add_marks),
	TARE_NESTED("most", add_most),
};

void tare_training_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_rows(e, "training", NULL, TARE_COLUMNS(columns), TARE_ROWS(ledger->trainings, ledger->training_nr));
}

/* ---- for people ---- */

struct shown {
	const char *label, *unit;
	struct tare_value first, steady;
};

static struct tare_value value_of(enum unit unit, int64_t value)
{
	static const enum tare_column_kind kinds[] = {
		[TIME] = TARE_COL_DURATION, [COUNT] = TARE_COL_COUNT, [BYTES] = TARE_COL_BYTES
	};

	return tare_value_of(kinds[unit], value);
}

static const char *label_of(const struct tare_training *t, int i)
{
	return i == TARE_TRAINING_USED && t->device == TARE_HEAP_ORDINAL ? "peak of the heap" : figures[i].label;
}

static void add_figure(struct tare_emit *e, const struct tare_training *t, int i)
{
	int64_t first = t->first.figures[i], steady = t->steady.figures[i];

	if ((figures[i].is_gpu && t->device < 0) || (!first && !steady))
		return;
	tare_emit_add_as(e,
	                 &(struct shown){ label_of(t, i), figures[i].unit == BYTES ? "MiB" : "",
	                                  value_of(figures[i].unit, first), value_of(figures[i].unit, steady) },
	                 (struct tare_row_look){ .level = 1 });
}

enum { OTHERS = 2 };
static const struct tare_column shown_columns[] = {
	TARE_COLUMN(shown, label, "label", "", TEXT),
	TARE_COLUMN(shown, first, "first", "FIRST", COUNT),
	[OTHERS] = TARE_COLUMN(shown, steady, "steady", "", COUNT),
	TARE_COLUMN(shown, unit, "unit", "", TEXT, .is_quiet = true),
};

static void add_table(struct tare_emit *e, const char *title, const struct tare_training *t)
{
	struct tare_column own[sizeof(shown_columns) / sizeof(shown_columns[0])];

	memcpy(own, shown_columns, sizeof(shown_columns));
	own[OTHERS].head = t->count > 2 ? "MEDIAN OF OTHERS" : "THE OTHER";
	tare_emit_shape(e, TARE_SHAPE_TREE, "training", title, TARE_COLUMNS(own));
	for (int i = 0; i < TARE_TRAINING_NR; i++)
		add_figure(e, t, i);
	tare_emit_table_end(e);
}

/* "8 steps", "4 × 8 steps" of threads alike, "31 steps of 4 threads". */
static void add_steps(struct tare_str *title, const struct tare_training *t)
{
	char text[TARE_UNITS_TEXT_MAX];
	bool is_alike = true;

	for (size_t i = 1; i < t->thread_nr; i++)
		is_alike &= t->counts[i] == t->counts[0];
	if (t->thread_nr < 2)
		tare_str_addf(title, "%s steps", tare_units_count(text, t->count));
	else if (is_alike)
		tare_str_addf(title, "%zu × %s steps", t->thread_nr, tare_units_count(text, t->counts[0]));
	else
		tare_str_addf(title, "%s steps of %zu threads", tare_units_count(text, t->count), t->thread_nr);
}

static void add_title(struct tare_str *title, const struct tare_training *t)
{
	tare_str_add(title, "training on ");
	if (t->device < 0)
		tare_str_add(title, "the CPU · ");
	else
		tare_device_text_place(title, t->device);
	tare_str_add(title, t->device < 0 ? "" : " · ");
	tare_str_addf(title, "%s (pid %lld) · ", t->program, (long long)t->pid);
	add_steps(title, t);
	tare_str_addf(title, ", %s", by_words[t->by]);
}

void tare_training_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	int shown = (int)tare_view_most((size_t)ledger->training_nr, MAX_TRAININGS);

	for (int i = 0; i < shown; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

		add_title(&title, &ledger->trainings[i]);
		add_table(e, tare_str_text(&title), &ledger->trainings[i]);
		tare_training_most_text(e, &ledger->trainings[i]);
		tare_emit_gap(e);
	}
	if (ledger->training_nr > shown) {
		tare_emit_note(e, "training of %d more processes: tare report --json", ledger->training_nr - shown);
		tare_emit_gap(e);
	}
}
