/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fold that stops at any event, is saved, and goes on in another one gives the ledger of a fold that never
 * stopped: not only the same sums, but the same sentences, findings and steps.
 */
#include "ledger/state/state.h"
#include "ledger_world_private.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const char *const instants_at[] = { "peak", "end", "peak:tensors", "peak:host" };
enum { AT_NR = sizeof(instants_at) / sizeof(instants_at[0]), MOMENTS = 3 };

/* ---- the events behind a moment ---- */

struct saved;

struct rest {
	struct world *w;
	size_t at;
	int64_t after, until;
	const struct saved *const *behind; /* states that were made from the one before, up to NULL; or NULL */
};

static bool next_of_rest(void *arg, struct tare_event *e)
{
	struct rest *r = arg;

	while (r->at < world_event_nr(r->w)) {
		const struct tare_event *own = world_event(r->w, r->at++);

		if (own->at_ns <= r->after || own->at_ns > r->until)
			continue;
		*e = *own;
		return true;
	}
	return false;
}

static void rewind_rest(void *arg)
{
	((struct rest *)arg)->at = 0;
}

/* ---- names ---- */

static const struct tare_process *process_at(void *arg, int i)
{
	return world_process_at(arg, i);
}

static const struct tare_device *device_at(void *arg, int i)
{
	return world_device_at(arg, i);
}

static const struct tare_line_stack *python_of(void *arg, const struct tare_process *p, uint32_t id)
{
	for (size_t i = 0; i < world_event_nr(arg); i++) {
		const struct tare_event *e = world_event(arg, i);

		if (e->process == p && e->python && e->python->id == id)
			return e->python;
	}
	return NULL;
}

static const struct tare_stack *stack_of(void *arg, const struct tare_process *p, uint32_t id)
{
	for (size_t i = 0; i < world_event_nr(arg); i++) {
		const struct tare_event *e = world_event(arg, i);

		if (e->process == p && e->stack && e->stack->id == id)
			return e->stack;
	}
	return NULL;
}

/* ---- comparing ---- */

static void check_rows(const struct tare_device_ledger *a, const struct tare_device_ledger *b)
{
	CHECK_INT(b->row_nr, a->row_nr);
	for (int i = 0; i < a->row_nr && i < b->row_nr; i++) {
		CHECK_STR(b->rows[i].path, a->rows[i].path);
		CHECK_INT(b->rows[i].bytes, a->rows[i].bytes);
		CHECK_INT(b->rows[i].evidence, a->rows[i].evidence);
		CHECK_INT(b->rows[i].count, a->rows[i].count);
		CHECK_INT(b->rows[i].contended, a->rows[i].contended);
	}
	CHECK_INT(b->elastic, a->elastic);
	CHECK_INT(b->t_ns, a->t_ns);
	CHECK_INT(b->peak_t_ns, a->peak_t_ns);
	CHECK_INT(b->own_peak, a->own_peak);
	CHECK_INT(b->segment_nr, a->segment_nr);
	CHECK_INT(b->tensors.count, a->tensors.count);
	for (int i = 0; i < a->tensors.count && i < b->tensors.count; i++) {
		CHECK_INT(b->tensors.items[i].bytes, a->tensors.items[i].bytes);
		CHECK_INT(b->tensors.items[i].rule, a->tensors.items[i].rule);
		CHECK_INT(b->tensors.items[i].born_ns, a->tensors.items[i].born_ns);
	}
	CHECK_INT(b->finding_nr, a->finding_nr);
	for (int i = 0; i < a->finding_nr && i < b->finding_nr; i++) {
		CHECK_INT(b->findings[i].advice, a->findings[i].advice);
		CHECK_INT(b->findings[i].bytes, a->findings[i].bytes);
	}
	CHECK_INT((int64_t)b->collected.blocks, (int64_t)a->collected.blocks);
	CHECK_INT(b->collected.waiting, a->collected.waiting);
	CHECK_INT(b->refusal_nr, a->refusal_nr);
}

static bool has_sentence(const struct tare_ledger *l, const char *sentence)
{
	for (int i = 0; i < l->degraded_nr; i++)
		if (!strcmp(l->degraded[i], sentence))
			return true;
	return false;
}

static void check_growths(const struct tare_ledger *a, const struct tare_ledger *b)
{
	CHECK_INT(b->growth_nr, a->growth_nr);
	for (int i = 0; i < a->growth_nr && i < b->growth_nr; i++) {
		const struct tare_growth *x = &a->growths[i], *y = &b->growths[i];

		CHECK_STR(y->what, x->what);
		CHECK_STR(y->line ? y->line : "", x->line ? x->line : "");
		CHECK_INT(y->bytes, x->bytes);
		CHECK_INT(y->per_step, x->per_step);
		CHECK_INT(y->per_second, x->per_second);
		CHECK_INT(y->since_ns, x->since_ns);
		CHECK(y->confidence == x->confidence);
	}
}

static void check_trainings(const struct tare_ledger *a, const struct tare_ledger *b)
{
	CHECK_INT(b->training_nr, a->training_nr);
	for (int i = 0; i < a->training_nr && i < b->training_nr; i++) {
		const struct tare_training *x = &a->trainings[i], *y = &b->trainings[i];

		CHECK_INT((int64_t)y->count, (int64_t)x->count);
		CHECK_INT(y->by, x->by);
		CHECK_INT(y->device, x->device);
		for (int k = 0; k < TARE_TRAINING_NR; k++) {
			CHECK_INT(y->first.figures[k], x->first.figures[k]);
			CHECK_INT(y->steady.figures[k], x->steady.figures[k]);
		}
	}
}

static void check_identical(const struct tare_ledger *a, const struct tare_ledger *b)
{
	world_check_same(a, b);
	for (int i = 0; i < a->device_nr && i < b->device_nr; i++)
		check_rows(&a->devices[i], &b->devices[i]);
	for (int i = 0; i < a->host_nr && i < b->host_nr; i++) {
		CHECK_INT(b->hosts[i].category_nr, a->hosts[i].category_nr);
		for (int k = 0; k < a->hosts[i].category_nr; k++)
			CHECK_INT(b->hosts[i].categories[k].bytes, a->hosts[i].categories[k].bytes);
	}
	check_trainings(a, b);
	check_growths(a, b);
	CHECK_INT(b->pause_nr, a->pause_nr);
	CHECK_INT(b->loss_nr, a->loss_nr);
	CHECK_INT(b->rank_nr, a->rank_nr);
	CHECK_INT(b->degraded_nr, a->degraded_nr);
	for (int i = 0; i < a->degraded_nr; i++)
		if (!has_sentence(b, a->degraded[i]))
			test_fail(__FILE__, __LINE__, "missing: %s", a->degraded[i]);
}

/* ---- the check ---- */

struct saved {
	struct tare_str bytes, ended;
	struct tare_ledger_state state;
};

static void save(struct world *w, const struct tare_ledger_names *names, const struct saved *from, int64_t until,
                 struct saved *out)
{
	struct rest rest = { w, 0, from ? from->state.until_ns : INT64_MIN, INT64_MAX, NULL };
	struct tare_ledger_source source = { .next = next_of_rest, .rewind = rewind_rest, .arg = &rest };
	struct tare_ledger_saved saved = { 0 };

	*out = (struct saved){ 0 };
	CHECK_INT(tare_ledger_save(&source, NULL, from ? &from->state : NULL, names, until, &saved), 0);
	out->bytes = saved.state;
	out->ended = saved.ended;
	tare_extent_list_free(&saved.extents);
	out->state = (struct tare_ledger_state){ out->bytes.data, out->bytes.len, until };
}

static void free_saved(struct saved *s)
{
	tare_str_free(&s->bytes);
	tare_str_free(&s->ended);
}

static void build_from(struct world *w, const struct tare_ledger_names *names, const struct saved *from,
                       const char *const *at, int at_nr, struct tare_ledger *out)
{
	struct rest rest = { w, 0, from->state.until_ns, INT64_MAX, NULL };
	struct tare_ledger_source source = { .next = next_of_rest, .rewind = rewind_rest, .arg = &rest };
	struct tare_instant instants[AT_NR];

	for (int i = 0; i < at_nr; i++)
		CHECK_INT(tare_instant_parse(at[i], &instants[i], NULL), 0);
	CHECK_INT(tare_ledger_resume(&source, NULL, &from->state, names, instants, at_nr, out), 0);
}

static void check_from(struct world *w, const struct tare_ledger_names *names, const struct saved *from,
                       const struct tare_ledger *whole)
{
	struct tare_ledger parts[AT_NR];

	build_from(w, names, from, instants_at, AT_NR, parts);
	for (int i = 0; i < AT_NR; i++) {
		printf("# %s from a state at %lld ns\n", instants_at[i], (long long)from->state.until_ns);
		check_identical(&whole[i], &parts[i]);
		tare_ledger_free(&parts[i]);
	}
}

/* ---- a moment before a state, by two folds ---- */

static int reached_further; /* though there was a state behind the moment */

int world_reached_further(void)
{
	return reached_further;
}

static bool reach_further(void *arg)
{
	struct rest *rest = arg;
	bool was_short = rest->until != INT64_MAX;

	rest->until = INT64_MAX;
	rest->at = 0;
	return was_short;
}

/* When the last of the calls ended that began before a moment. */
static int64_t end_of_begun(struct world *w, int64_t t)
{
	int64_t end = t;

	for (size_t i = 0; i < world_event_nr(w); i++) {
		const struct tare_event *e = world_event(w, i);

		if (e->begin_ns - e->reading_before_ns <= t && e->at_ns > end)
			end = e->at_ns;
	}
	return end;
}

static bool ended(void *arg, size_t i, struct tare_str *out)
{
	const struct rest *rest = arg;

	if (!rest->behind || !rest->behind[i])
		return false;
	tare_str_cut(out, 0);
	tare_str_add_n(out, rest->behind[i]->ended.data, rest->behind[i]->ended.len);
	return true;
}

/* `from` NULL: the fold of the moment begins with the recording. `behind`: states from there to the newest, and NULL; or NULL. */
static void check_moment(struct world *w, const struct tare_ledger_names *names, const struct saved *from,
                         const struct saved *const *behind, const struct saved *newest, int64_t t)
{
	struct rest rests[] = { { w, 0, from ? from->state.until_ns : INT64_MIN,
		                      end_of_begun(w, (behind ? behind[0] : newest)->state.until_ns), behind },
		                    { w, 0, newest->state.until_ns, INT64_MAX, NULL } };
	struct tare_ledger_source then = { .next = next_of_rest, .rewind = rewind_rest, .arg = &rests[0] };
	struct tare_ledger_source last = { .next = next_of_rest, .rewind = rewind_rest, .arg = &rests[1] };
	struct tare_ledger_span spans[] = { { &then, from ? &from->state : NULL, reach_further, ended },
		                                { &last, &newest->state, NULL, NULL } };
	struct tare_instant at = { .kind = TARE_INSTANT_TIME, .t_ns = t, .text = "then" };
	struct tare_ledger whole, twice;

	printf("# at %lld ns, between states at %lld and %lld ns\n", (long long)t,
	       from ? (long long)from->state.until_ns : -1, (long long)newest->state.until_ns);
	world_build_at(w, &at, &whole);
	CHECK_INT(tare_ledger_resume_twice(&spans[0], &spans[1], NULL, names, &at, 1, &twice), 0);
	if (behind && rests[0].until == INT64_MAX)
		reached_further++;
	check_identical(&whole, &twice);
	tare_ledger_free(&whole);
	tare_ledger_free(&twice);
}

/* The ith of MOMENTS in begin..end-1, however far these are apart. */
static int64_t moment_in(int64_t begin, int64_t end, int i)
{
	int64_t span = end - 1 - begin;

	return begin + span / MOMENTS * i + span % MOMENTS * i / MOMENTS;
}

static void check_moments(struct world *w, const struct tare_ledger_names *names, const struct saved *from,
                          const struct saved *newest)
{
	int64_t begin = from ? from->state.until_ns : 0, end = newest->state.until_ns;

	for (int i = 0; i < MOMENTS && begin < end; i++)
		check_moment(w, names, from, NULL, newest, moment_in(begin, end, i));
}

/* Of moments between the first two of three states, of which each was made from the one before. */
static void check_chain(struct world *w, const struct tare_ledger_names *names, const struct saved *first,
                        const struct saved *second)
{
	int64_t begin = first->state.until_ns, end = second->state.until_ns,
			last = world_event(w, world_event_nr(w) - 1)->at_ns;
	struct saved third;
	const struct saved *behind[] = { second, &third, NULL };

	if (end + 1 >= last)
		return;
	save(w, names, second, end + (last - end) / 2, &third);
	for (int i = 0; i < MOMENTS; i++)
		check_moment(w, names, first, behind, &third, moment_in(begin, end, i));
	free_saved(&third);
}

static struct tare_ledger_names names_of(struct world *w)
{
	return (struct tare_ledger_names){ w,          world_process_nr(w), world_device_nr(w),
		                               process_at, device_at,           python_of,
		                               stack_of };
}

struct tare_ledger world_ledger_from_state(struct world *w, int64_t until, const char *at)
{
	struct tare_ledger_names names = names_of(w);
	struct tare_ledger l;
	struct saved from;

	world_link_up(w);
	save(w, &names, NULL, until, &from);
	build_from(w, &names, &from, &at, 1, &l);
	free_saved(&from);
	return l;
}

void world_check_states(struct world *w, int cuts)
{
	struct tare_ledger_names names = names_of(w);
	struct tare_ledger whole[AT_NR];
	struct saved last = { 0 };
	size_t nr = world_event_nr(w);

	if (!nr)
		return;
	world_build(w, NULL, instants_at, AT_NR, whole);
	for (int i = 0; i < cuts; i++) {
		int64_t until = world_event(w, nr * (size_t)(i + 1) / (size_t)(cuts + 1))->at_ns;
		struct saved now, chained;

		save(w, &names, NULL, until, &now);
		check_from(w, &names, &now, whole);
		check_moments(w, &names, NULL, &now);
		if (last.bytes.len)
			check_moments(w, &names, &last, &now);
		if (last.bytes.len && last.state.until_ns < until) { /* a state from a state */
			save(w, &names, &last, until, &chained);
			check_from(w, &names, &chained, whole);
			check_chain(w, &names, &last, &chained);
			free_saved(&chained);
		}
		free_saved(&last);
		last = now;
	}
	free_saved(&last);
	for (int i = 0; i < AT_NR; i++)
		tare_ledger_free(&whole[i]);
}
