/* SPDX-License-Identifier: Apache-2.0 */
/* What segments.json says of spans of time: how much was in use. It outlives the events of the span. */
#include "store/manifest.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_MOST = 128, INSTANTS_MOST = 192 };

/* Of bytes, and of ns, there never are more: it is damaged. */
#define MOST (INT64_C(1) << 60)

/* A member has the name of a field of struct tare_extent. */
static const struct {
	const char *key;
	size_t at;
} times[] = {
	{ "from_ns", offsetof(struct tare_extent, from_ns) }, { "until_ns", offsetof(struct tare_extent, until_ns) },
	{ "low", offsetof(struct tare_extent, low.used) },    { "low_ns", offsetof(struct tare_extent, low.t_ns) },
	{ "high", offsetof(struct tare_extent, high.used) },  { "high_ns", offsetof(struct tare_extent, high.t_ns) },
};
enum { TIME_NR = sizeof(times) / sizeof(times[0]) };

static int64_t *field(struct tare_extent *x, size_t i)
{
	return (int64_t *)(void *)((char *)x + times[i].at);
}

static bool read_one(const struct tare_json_value *item, struct tare_extent *x)
{
	int64_t device;

	if (!tare_json_get_i64(item, "device", &device) || device < -1 || device > INT32_MAX)
		return false;
	x->device = (int)device;
	for (size_t i = 0; i < TIME_NR; i++)
		if (!tare_json_get_i64(item, times[i].key, field(x, i)) || *field(x, i) < -MOST || *field(x, i) > MOST)
			return false;
	if (x->until_ns < x->from_ns || x->high.used < x->low.used)
		return false;
	x->what = (char *)tare_json_get_str(item, "what"); /* copied when it is added */
	return true;
}

void tare_manifest_read_extents(struct tare_extent_list *out, const struct tare_json_value *list)
{
	if (!list || list->type != TARE_JSON_ARRAY)
		return;
	for (const struct tare_json_value *item = list->first; item; item = item->next) {
		struct tare_extent x = { 0 };

		if (read_one(item, &x))
			tare_extent_add(out, &x);
	}
}

void tare_manifest_write_extents(struct tare_json *j, const struct tare_extent_list *list)
{
	tare_json_open(j, "in_use", '[');
	for (size_t i = 0; i < list->nr; i++) {
		struct tare_extent x = list->items[i];

		tare_json_open(j, NULL, '{');
		tare_json_i64(j, "device", x.device);
		for (size_t k = 0; k < TIME_NR; k++)
			tare_json_i64(j, times[k].key, *field(&x, k));
		if (x.what)
			tare_json_str(j, "what", x.what);
		tare_json_close(j);
	}
	tare_json_close(j);
}

void tare_manifest_tell_extents(struct tare_str *out, int64_t from_ns, const struct tare_extent_list *list)
{
	struct tare_json j = { .out = out };

	tare_json_open(&j, NULL, '{');
	tare_json_i64(&j, "from_ns", from_ns);
	tare_manifest_write_extents(&j, list);
	tare_json_close(&j);
}

bool tare_manifest_hear_extents(struct tare_extent_list *out, int64_t *from_ns, const char *text, size_t size)
{
	const struct tare_json_value *root = NULL;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	bool is_told =
		size && !tare_json_parse(&arena, text, size, &root, NULL) && tare_json_get_i64(root, "from_ns", from_ns);

	if (is_told)
		tare_manifest_read_extents(out, tare_json_get(root, "in_use"));
	return is_told;
}

/* ---- with age ---- */

static size_t count(const struct tare_extent_list *list, bool is_instant)
{
	size_t n = 0;

	for (size_t i = 0; i < list->nr; i++)
		n += (list->items[i].what != NULL) == is_instant;
	return n;
}

static void join(struct tare_extent *x, const struct tare_extent *next)
{
	x->from_ns = next->from_ns < x->from_ns ? next->from_ns : x->from_ns;
	x->until_ns = next->until_ns > x->until_ns ? next->until_ns : x->until_ns;
	x->low = next->low.used < x->low.used ? next->low : x->low;
	x->high = next->high.used > x->high.used ? next->high : x->high;
}

/* The next span of that device; nr: there is none. */
static size_t next_of(const struct tare_extent_list *list, size_t i)
{
	size_t k = i + 1;

	while (k < list->nr && (list->items[k].what || list->items[k].device != list->items[i].device))
		k++;
	return k;
}

static void remove_at(struct tare_extent_list *list, size_t i)
{
	free(list->items[i].what);
	list->nr--;
	for (; i < list->nr; i++)
		list->items[i] = list->items[i + 1];
}

static bool is_same_instant(const struct tare_extent *x, const struct tare_extent *y)
{
	return x->what && y->what && x->device == y->device && !strcmp(x->what, y->what);
}

void tare_manifest_add_extent(struct tare_extent_list *list, const struct tare_extent *x)
{
	for (size_t i = list->nr; x->what && i-- > 0;)
		if (is_same_instant(&list->items[i], x))
			remove_at(list, i);
	tare_extent_add(list, x);
}

/* Of all neighbours those two that are shortest together for their age become one: what is long ago is told in longer spans. */
static bool join_two(struct tare_extent_list *list, int64_t until)
{
	size_t best = list->nr;
	double least = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct tare_extent *x = &list->items[i], *y;
		size_t k = list->items[i].what ? list->nr : next_of(list, i);
		double share;

		if (k == list->nr || list->items[k].until_ns > until)
			continue;
		y = &list->items[k];
		share = (double)(y->until_ns - x->from_ns) / (double)(until - x->from_ns + 1);
		if (best == list->nr || share < least) {
			best = i;
			least = share;
		}
	}
	if (best == list->nr)
		return false;
	join(&list->items[best], &list->items[next_of(list, best)]);
	remove_at(list, next_of(list, best));
	return true;
}

/* Where memory ran out counts for more than the end of a phase. */
static void remove_instant(struct tare_extent_list *list)
{
	size_t found = list->nr;

	for (size_t i = 0; i < list->nr; i++) {
		const char *what = list->items[i].what;

		if (what && (found == list->nr || (what[0] != 'o' && list->items[found].what[0] == 'o')))
			found = i;
	}
	if (found < list->nr)
		remove_at(list, found);
}

void tare_manifest_age_extents(struct tare_extent_list *list, int64_t until)
{
	while (count(list, false) > SPANS_MOST && join_two(list, until))
		;
	while (count(list, true) > INSTANTS_MOST)
		remove_instant(list);
}

void tare_manifest_cut_extents(struct tare_extent_list *list, int64_t from)
{
	for (size_t i = list->nr; i-- > 0;)
		if (list->items[i].until_ns > from)
			remove_at(list, i);
}
