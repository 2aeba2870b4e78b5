/* SPDX-License-Identifier: Apache-2.0 */
/* Limits as they are written on a command line and in the file of a budget. */
#include "view/budget.h"

#include "base/args.h"
#include "base/array.h"
#include "base/file.h"
#include "base/units.h"
#include "ledger/build.h"
#include "ledger/category.h"
#include "view/by.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

static struct tare_budget_limit *add(struct tare_budget *b, struct tare_budget_limit limit)
{
	limit.device = -1;
	return TARE_ADD(b->limits, b->nr, b->cap, limit);
}

static const char *strip(struct tare_arena *arena, const char *text, size_t len)
{
	while (len && strchr(" \t\r", text[0])) {
		text++;
		len--;
	}
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	return tare_arena_strndup(arena, text, len);
}

static int parse_size(const char *text, uint64_t *out, struct tare_err *err)
{
	int rc = text[0] ? tare_units_parse_bytes(text, out) : -EINVAL;

	if (!rc && *out > INT64_MAX)
		rc = -ERANGE;
	if (!rc)
		return 0;
	return tare_err_set(err, TARE_E_USAGE, "'%s' is %s; say a size such as 2GiB or 512MiB", text,
	                    rc == -ERANGE ? "more than any memory" : "no size");
}

/* "@end" behind the name, where it is an instant: names may hold an '@', too. */
static void split_instant(struct tare_budget *b, struct tare_budget_limit *limit)
{
	const char *at = strrchr(limit->name, '@');
	struct tare_instant instant;

	limit->at = "peak";
	if (!at || at == limit->name || tare_instant_parse(at + 1, &instant, NULL))
		return;
	limit->at = at + 1;
	limit->name = tare_arena_strndup(&b->arena, limit->name, (size_t)(at - limit->name));
}

static bool is_category(const char *name)
{
	for (int i = 0; i < TARE_CATEGORY_NR; i++)
		if (!strcmp(name, tare_category_name((enum tare_category)i)))
			return true;
	return false;
}

/* "line:train.py:87": the row of a view. A category needs no view before it. */
static int split_view(struct tare_budget_limit *limit, struct tare_err *err)
{
	const char *colon = strchr(limit->name, ':');
	int by;

	limit->by = is_category(limit->name) ? TARE_BY_CATEGORY : -1;
	limit->row = limit->name;
	if (!colon)
		return 0;
	by = tare_args_choice(TARE_BY_NAMES, limit->name, (size_t)(colon - limit->name));
	if (by < 0)
		return 0;
	if (!(tare_by_infos[by].flags & TARE_BY_BYTES) || tare_by_infos[by].flags & TARE_BY_CHANGES || !colon[1])
		return tare_err_set(err, TARE_E_USAGE, "'%s': rows --by %s have no size of their own to be limited",
		                    limit->name, tare_by_infos[by].name);
	limit->by = by;
	limit->row = colon + 1;
	return 0;
}

static int add_size(struct tare_budget *b, struct tare_budget_limit limit, const char *size, struct tare_err *err)
{
	int rc;

	limit.kind = TARE_LIMIT_SIZE;
	split_instant(b, &limit);
	rc = split_view(&limit, err);
	if (!rc)
		rc = parse_size(size, &limit.bytes, err);
	if (!rc)
		add(b, limit);
	return rc;
}

static int add_growth(struct tare_budget *b, struct tare_budget_limit limit, const char *size, struct tare_err *err)
{
	int rc = parse_size(size, &limit.bytes, err);

	limit.kind = TARE_LIMIT_GROWTH;
	limit.by = -1;
	if (!rc)
		add(b, limit);
	return rc;
}

/* "+2%", "+64MiB". */
static int parse_above(struct tare_budget_limit *limit, const char *text, struct tare_err *err)
{
	const char *number = text + (text[0] == '+');
	char *end;

	if (!text[strcspn(text, "%")])
		return parse_size(number, &limit->bytes, err);
	limit->share = strtod(number, &end) / 100;
	if (end == number || strcmp(end, "%") != 0 || !isfinite(limit->share) || limit->share < 0)
		return tare_err_set(err, TARE_E_USAGE, "'%s' is no part such as +2%%", text);
	return 0;
}

static int add_baseline(struct tare_budget *b, struct tare_budget_limit limit, const char *above, struct tare_err *err)
{
	int rc = 0;

	limit.kind = TARE_LIMIT_BASELINE;
	limit.by = -1;
	limit.at = "peak";
	if (!limit.baseline[0])
		rc = tare_err_set(err, TARE_E_USAGE, "baseline: name a recording, or what tare report --json saved");
	if (!rc && above)
		rc = parse_above(&limit, above, err);
	if (!rc)
		add(b, limit);
	return rc;
}

/* "good.json +2%", the path as the budget's folder has it. */
static int add_baseline_of_file(struct tare_budget *b, struct tare_budget_limit limit, const char *text,
                                struct tare_err *err)
{
	const char *plus = strrchr(text, '+'), *slash = strrchr(limit.file, '/');
	const char *path = text, *above = NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str whole = { 0 };

	if (plus && plus > text && strchr(" \t", plus[-1])) {
		path = strip(&b->arena, text, (size_t)(plus - text));
		above = plus;
	}
	if (slash && path[0] && path[0] != '/')
		tare_str_add_n(&whole, limit.file, (size_t)(slash + 1 - limit.file));
	tare_str_add(&whole, path);
	limit.baseline = tare_arena_strdup(&b->arena, tare_str_text(&whole));
	return add_baseline(b, limit, above, err);
}

int tare_budget_add(struct tare_budget *b, const char *text, const char *file, unsigned line, struct tare_err *err)
{
	const char *equals = strrchr(text, '='), *value;
	struct tare_budget_limit limit = { .file = file, .line = line };

	limit.name = strip(&b->arena, text, equals ? (size_t)(equals - text) : 0);
	if (!limit.name[0])
		return tare_err_set(err, TARE_E_USAGE, "'%s': say NAME=SIZE, such as activation=2GiB", text);
	value = strip(&b->arena, equals + 1, strlen(equals + 1));
	if (file && !strcmp(limit.name, "growth"))
		return add_growth(b, limit, value, err);
	if (file && !strcmp(limit.name, "baseline"))
		return add_baseline_of_file(b, limit, value, err);
	return add_size(b, limit, value, err);
}

int tare_budget_add_growth(struct tare_budget *b, const char *size, struct tare_err *err)
{
	return add_growth(b, (struct tare_budget_limit){ .name = "growth" }, size, err);
}

int tare_budget_add_baseline(struct tare_budget *b, const char *path, const char *above, struct tare_err *err)
{
	return add_baseline(b, (struct tare_budget_limit){ .name = "baseline", .baseline = path }, above, err);
}

static int read_lines(struct tare_budget *b, const char *text, const char *path, struct tare_err *err)
{
	unsigned number = 0;
	int rc = 0;

	for (const char *p = text, *end; !rc && *p; p = end + (*end == '\n')) {
		size_t len = strcspn(p, "\n");
		const char *line = strip(&b->arena, p, strcspn(p, "#\n"));

		end = p + len;
		number++;
		if (line[0])
			rc = tare_budget_add(b, line, path, number, err);
	}
	if (rc)
		tare_err_prefix(err, "%s:%u", path, number);
	return rc;
}

int tare_budget_read(struct tare_budget *b, const char *path, struct tare_err *err)
{
	struct tare_str text = { 0 };
	size_t before = b->nr;
	int rc = tare_file_read_input(&text, path, FILE_MAX, err);

	if (!rc && strlen(tare_str_text(&text)) != text.len)
		rc = tare_err_set(err, TARE_E_USAGE, "%s is no text: it has a byte 0", path);
	else if (!rc)
		rc = read_lines(b, tare_str_text(&text), path, err);
	if (!rc && b->nr == before)
		rc = tare_err_set(err, TARE_E_USAGE, "%s limits nothing; say NAME = SIZE, such as used = 8GiB", path);
	tare_str_free(&text);
	if (rc)
		err->code = TARE_E_USAGE;
	return rc;
}
