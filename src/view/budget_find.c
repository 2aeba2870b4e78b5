/* SPDX-License-Identifier: Apache-2.0 */
/* The figure that a limit is about, out of the JSON of a report: of each place (GPU, CPU) the one nearest to the limit. */
#include "view/budget.h"

#include "base/hint.h"
#include "base/sat.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "view/by.h"

#include <stdlib.h>
#include <string.h>

enum { CPU = -1, NAMES_MAX = 12 };

/* Sums that are members of a device, or of a process of the CPU. */
static const struct sum {
	const char *name, *list, *key;
} sums[] = {
	{ "used", "devices", "used_bytes" },       { "need", "devices", "need_bytes" },
	{ "elastic", "devices", "elastic_bytes" }, { "unexplained", "devices", "unexplained_bytes" },
	{ "resident", "host", "peak_rss_bytes" },  { "pinned", "host", "pinned_bytes" },
};

enum { SUMS = sizeof(sums) / sizeof(sums[0]) };

/* What was added up, place by place. */
struct place {
	int64_t device, bytes, tensor_bytes;
};

struct found {
	struct place *places;
	size_t nr;
	bool is_any;
	struct tare_str names; /* what rows there are, "a, b, c" */
	size_t name_nr;
};

static const struct tare_json_value *items(const struct tare_json_value *v, const char *key)
{
	const struct tare_json_value *list = tare_json_get(v, key);

	return list ? list->first : NULL;
}

static int64_t number(const struct tare_json_value *v, const char *key, int64_t fallback)
{
	int64_t out;

	return tare_json_get_i64(v, key, &out) ? out : fallback;
}

static void add_to(struct found *f, int64_t device, int64_t bytes, int64_t tensor_bytes)
{
	size_t i = 0;

	while (i < f->nr && f->places[i].device != device)
		i++;
	if (i == f->nr) {
		f->places = tare_xrealloc(f->places, f->nr + 1, sizeof(*f->places));
		f->places[f->nr++] = (struct place){ .device = device };
	}
	f->places[i].bytes = tare_sat_add(f->places[i].bytes, bytes);
	f->places[i].tensor_bytes = tare_sat_add(f->places[i].tensor_bytes, tensor_bytes);
	f->is_any = true;
}

static void add_name(struct found *f, const char *name)
{
	if (f->name_nr++ < NAMES_MAX)
		tare_str_addf(&f->names, "%s%s", f->names.len ? ", " : "", name);
}

/* A limit of |bytes|: what is unexplained may be less than nothing. */
static void settle(struct tare_budget_limit *l, int64_t device, int64_t bytes)
{
	int64_t size = tare_sat_abs(bytes);

	if (l->is_known && size <= tare_sat_abs(l->found))
		return;
	l->is_known = true;
	l->found = bytes;
	l->most = (int64_t)l->bytes;
	l->device = device;
	l->state = size > l->most ? TARE_LIMIT_OVER : TARE_LIMIT_OK;
}

static bool find_sum(struct tare_budget_limit *l, const struct tare_json_value *report)
{
	const struct sum *sum = NULL;
	int64_t bytes;

	for (int i = 0; i < SUMS; i++)
		if (!strcmp(l->row, sums[i].name))
			sum = &sums[i];
	if (!sum)
		return false;
	l->state = TARE_LIMIT_UNKNOWN;
	l->why = items(report, sum->list) ? "nothing counted it there" : "no GPU was used";
	for (const struct tare_json_value *d = items(report, sum->list); d; d = d->next) {
		if (!tare_json_get_i64(d, sum->key, &bytes)) {
			l->is_known = false;
			l->state = TARE_LIMIT_UNKNOWN;
			return true;
		}
		settle(l, number(d, "index", CPU), bytes);
	}
	if (l->is_known)
		l->why = NULL;
	return true;
}

/* Only the topmost rows of that name count: their children are in them. */
static void add_tree(struct found *f, const char *name, const struct tare_json_value *owner)
{
	const char *inside = NULL;

	for (const struct tare_json_value *r = items(owner, "accounts"); r; r = r->next) {
		const char *path = tare_json_get_str(r, "path");
		const char *label = tare_json_get_str(r, "label");
		const char *account = tare_json_get_str(r, "account");
		const char *last = path ? strrchr(path, '/') : NULL;

		if (!path || !label || !account)
			continue;
		if (inside && !strncmp(path, inside, strlen(inside)) && path[strlen(inside)] == '/')
			continue;
		if (!last || strcmp(account, "process") == 0)
			last = path;
		if (strcmp(account, name) && strcmp(label, name) && strcmp(last + 1, name))
			continue;
		inside = path;
		add_to(f, number(owner, "index", CPU), number(r, "bytes", 0), 0);
	}
}

static void name_tree(struct found *f, const struct tare_json_value *owner)
{
	for (const struct tare_json_value *r = items(owner, "accounts"); r; r = r->next) {
		const char *account = tare_json_get_str(r, "account");
		const char *path = tare_json_get_str(r, "path");

		if (account && path && strcmp(account, "process") != 0 &&
		    !strstr(strchr(path, '/') ? strchr(path, '/') + 1 : "", "/"))
			add_name(f, account);
	}
}

static bool is_account(const char *name)
{
	for (unsigned i = 0; i < TARE_ACCOUNT_NR; i++)
		if (tare_accounts[i].key[0] && !strcmp(tare_accounts[i].key, name))
			return true;
	return false;
}

/* "train.py:87" is "/home/me/train.py:87 in forward". A part of a name is none. */
static bool is_line(const char *label, const char *row)
{
	const char *in = strstr(label, " in ");
	size_t len = in ? (size_t)(in - label) : strlen(label), end = strlen(row);

	return len >= end && !strncmp(label + len - end, row, end) &&
	       (len == end || row[0] == '/' || label[len - end - 1] == '/');
}

static void add_view(struct found *f, struct tare_budget_limit *l, const struct tare_json_value *report)
{
	for (const struct tare_json_value *r = items(report, "rows"); r; r = r->next) {
		const char *label = tare_json_get_str(r, "label");
		bool is_it;

		if (!label)
			continue;
		is_it = !strcmp(label, l->row) || (l->by == TARE_BY_LINE && is_line(label, l->row));
		add_name(f, label);
		if (!is_it)
			continue;
		add_to(f, number(r, "device", CPU), number(r, "bytes", 0), number(r, "tensor_bytes", 0));
		if (l->by == TARE_BY_LINE && !l->source) {
			l->source = tare_json_get_str(r, "file");
			l->source_line = (uint64_t)number(r, "line", 0);
		}
	}
}

static int no_such_row(const struct tare_budget_limit *l, struct found *f, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str hint = { 0 };

	if (l->by < 0)
		for (int i = 0; i < SUMS; i++)
			add_name(f, sums[i].name);
	tare_hint_word(&hint, l->row, tare_str_text(&f->names));
	tare_err_set(err, TARE_E_USAGE, "no %s is called '%s' at %s%s; there %s: %s%s",
	             l->by < 0 ? "row" : tare_by_infos[l->by].name, l->row, l->at, tare_str_text(&hint),
	             f->name_nr == 1 ? "is" : "are", f->name_nr ? tare_str_text(&f->names) : "none",
	             f->name_nr > NAMES_MAX ? " …" : "");
	return TARE_E_USAGE;
}

static int find_row(struct tare_budget_limit *l, const struct tare_json_value *report, struct tare_err *err)
{
	const char *note = l->by >= 0 ? tare_json_get_str(report, "note") : NULL;
	struct found f = { 0 };
	int rc = 0;

	for (const struct tare_json_value *d = items(report, "devices"); l->by < 0 && d; d = d->next)
		add_tree(&f, l->row, d);
	for (const struct tare_json_value *h = items(report, "host"); l->by < 0 && h; h = h->next)
		add_tree(&f, l->row, h);
	if (l->by >= 0)
		add_view(&f, l, report);
	for (size_t i = 0; i < f.nr; i++)
		settle(l, f.places[i].device,
		       f.places[i].bytes > f.places[i].tensor_bytes ? f.places[i].bytes : f.places[i].tensor_bytes);
	if (!f.is_any && note) {
		l->state = TARE_LIMIT_UNKNOWN;
		l->why = note;
	} else if (!f.is_any && (l->by == TARE_BY_CATEGORY || (l->by < 0 && is_account(l->row)))) {
		settle(l, CPU, 0); /* there is such a thing, and the program had none of it then */
	} else if (!f.is_any) {
		for (const struct tare_json_value *d = items(report, "devices"); l->by < 0 && d; d = d->next)
			name_tree(&f, d);
		rc = no_such_row(l, &f, err);
	}
	tare_str_free(&f.names);
	free(f.places);
	return rc;
}

/* "/home/me/train.py:87 in step". */
static void say_source(struct tare_budget *b, struct tare_budget_limit *l, const char *label)
{
	const char *in = strstr(label, " in "), *colon;

	label = tare_arena_strndup(&b->arena, label, in ? (size_t)(in - label) : strlen(label));
	colon = strrchr(label, ':');
	if (!colon)
		return;
	l->source = tare_arena_strndup(&b->arena, label, (size_t)(colon - label));
	l->source_line = strtoull(colon + 1, NULL, 10);
}

/* Where no steps are known, so much a second is all that is. */
static const char *say_rate(struct tare_budget *b, const char *what, const struct tare_json_value *growth)
{
	char rate[TARE_UNITS_TEXT_MAX];
	struct tare_str text = { 0 };
	const char *said;

	tare_units_human(rate, (uint64_t)number(growth, "bytes_per_second", 0));
	tare_str_addf(&text, "%s grows by %s a second, and nobody knows by how much a step", what, rate);
	said = tare_arena_strdup(&b->arena, tare_str_text(&text));
	tare_str_free(&text);
	return said;
}

static void take_growth(struct tare_budget *b, struct tare_budget_limit *l, const struct tare_json_value *growth)
{
	const char *line = tare_json_get_str(growth, "line");
	const char *what = line ? line : tare_json_get_str(growth, "what");

	l->is_known = tare_json_get_i64(growth, "bytes_per_step", &l->found);
	l->device = number(growth, "device", CPU);
	l->why = l->is_known || !what ? what : say_rate(b, what, growth);
	l->source = NULL;
	if (line)
		say_source(b, l, line);
}

/* Does that one say more of the limit than what was found before? What exceeds it does, then what nobody knows, then the most; rows come by their rate. */
static bool tells_more(const struct tare_budget_limit *l, enum tare_limit_state state, bool is_known, int64_t bytes)
{
	static const int weights[] = { [TARE_LIMIT_OK] = 0, [TARE_LIMIT_UNKNOWN] = 1, [TARE_LIMIT_OVER] = 2 };

	if (state != l->state)
		return weights[state] > weights[l->state];
	return is_known && (!l->is_known || bytes > l->found);
}

/* What grows beside the steps has no size per step: it is more than none, and whether it is more than some nobody knows. */
static void find_growth(struct tare_budget *b, struct tare_budget_limit *l, const struct tare_json_value *report)
{
	l->is_known = true;
	l->most = (int64_t)l->bytes;
	l->state = TARE_LIMIT_OK;
	for (const struct tare_json_value *g = items(report, "growth"); g; g = g->next) {
		int64_t bytes = 0;
		bool is_known = tare_json_get_i64(g, "bytes_per_step", &bytes);
		enum tare_limit_state state = is_known ? TARE_LIMIT_OK : TARE_LIMIT_UNKNOWN;

		if (is_known ? bytes > l->most : !l->bytes)
			state = TARE_LIMIT_OVER;
		if (!tells_more(l, state, is_known, bytes))
			continue;
		take_growth(b, l, g);
		l->state = state;
	}
}

static bool has_simulated(const struct tare_json_value *report)
{
	const struct tare_json_value *devices = tare_json_get(report, "devices");

	for (const struct tare_json_value *d = devices ? devices->first : NULL; d; d = d->next)
		if (tare_json_get_bool(d, "simulated", false))
			return true;
	return false;
}

int tare_budget_find(struct tare_budget *b, struct tare_budget_limit *limit, const struct tare_json_value *report,
                     struct tare_err *err)
{
	b->is_simulated |= has_simulated(report);
	if (limit->kind == TARE_LIMIT_GROWTH) {
		find_growth(b, limit, report);
		return 0;
	}
	if (limit->by < 0 && find_sum(limit, report))
		return 0;
	return find_row(limit, report, err);
}

size_t tare_budget_count(const struct tare_budget *b, enum tare_limit_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < b->nr; i++)
		n += b->limits[i].state == state;
	return n;
}
