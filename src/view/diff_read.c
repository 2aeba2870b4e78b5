/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a report, as rows that can be compared. It may be anything: somebody saved it. */
#include "view/diff.h"

#include "base/array.h"

#include <string.h>

static int add_place(struct tare_diff_side *s, struct tare_diff_place place)
{
	TARE_APPEND(s->places, s->place_nr, s->place_cap) = place;
	return (int)(s->place_nr - 1);
}

static int find_place(const struct tare_diff_side *s, int64_t index)
{
	for (size_t i = 0; i < s->place_nr; i++)
		if (s->places[i].index == index)
			return (int)i;
	return -1;
}

/* The memory of the CPU is one place, whoever has it. */
static int host_place(struct tare_diff_side *s)
{
	int found = find_place(s, -1);

	return found >= 0 ? found : add_place(s, (struct tare_diff_place){ .index = -1, .name = "CPU" });
}

static int find_process(const struct tare_diff_side *s, const char *path, size_t len)
{
	for (size_t i = 0; i < s->process_nr; i++)
		if (strlen(s->processes[i].path) == len && !memcmp(s->processes[i].path, path, len))
			return (int)i;
	return -1;
}

/* "demo (pid 431)" is called "demo". */
static const char *name_of(struct tare_diff_side *s, const char *label)
{
	const char *pid = NULL;

	for (const char *p = strstr(label, " (pid "); p; p = strstr(p + 1, " (pid "))
		pid = p;
	return tare_arena_strndup(&s->arena, label, pid ? (size_t)(pid - label) : strlen(label));
}

static void add_process(struct tare_diff_side *s, const char *path, const char *label, int64_t rank)
{
	if (find_process(s, path, strlen(path)) >= 0)
		return;
	TARE_APPEND(s->processes, s->process_nr, s->process_cap) =
		(struct tare_diff_process){ .path = path, .label = label, .name = name_of(s, label), .rank = rank, .twin = -1 };
}

static void add_item(struct tare_diff_side *s, struct tare_diff_item item)
{
	TARE_APPEND(s->items, s->item_nr, s->item_cap) = item;
}

static int64_t int_of(const struct tare_json_value *v, const char *key, int64_t fallback)
{
	int64_t out;

	return tare_json_get_i64(v, key, &out) ? out : fallback;
}

/* A row of the tree: of the process that its path begins with. */
static void add_account(struct tare_diff_side *s, int place, const struct tare_json_value *row)
{
	const char *path = tare_json_get_str(row, "path");
	const char *label = tare_json_get_str(row, "label");
	const char *account = tare_json_get_str(row, "account");
	uint64_t count = 0;

	if (!path || !path[0])
		return;
	label = label ? label : path;
	if (account && !strcmp(account, "process"))
		add_process(s, path, label, int_of(row, "rank", -1));
	tare_json_get_u64(row, "count", &count);
	add_item(s, (struct tare_diff_item){ .place = place,
	                                     .process = find_process(s, path, strcspn(path, "/")),
	                                     .path = path,
	                                     .label = label,
	                                     .short_label = label,
	                                     .account = account,
	                                     .bytes = int_of(row, "bytes", 0),
	                                     .count = count });
}

static void add_unexplained(struct tare_diff_side *s, int place, const struct tare_json_value *device)
{
	int64_t bytes;

	if (tare_json_get_i64(device, "unexplained_bytes", &bytes))
		add_item(s, (struct tare_diff_item){ .place = place,
		                                     .process = -1,
		                                     .path = "unexplained",
		                                     .label = "unexplained",
		                                     .short_label = "unexplained",
		                                     .account = "unexplained",
		                                     .bytes = bytes });
}

/* Processes of the CPU have no row of their own there. */
static void add_host(struct tare_diff_side *s, const struct tare_json_value *host)
{
	const struct tare_json_value *rows = tare_json_get(host, "accounts");
	const char *name = tare_json_get_str(host, "name"), *path;
	int place = host_place(s);

	for (const struct tare_json_value *r = rows ? rows->first : NULL; r; r = r->next) {
		path = tare_json_get_str(r, "path");
		if (!path)
			continue;
		path = tare_arena_strndup(&s->arena, path, strcspn(path, "/"));
		if (r == rows->first && find_process(s, path, strlen(path)) < 0)
			add_process(s, path, name ? name : path, -1);
		add_account(s, place, r);
	}
}

static int read_devices(struct tare_diff_side *s, const struct tare_json_value *report, bool is_tree,
                        bool is_of_tensors, struct tare_err *err)
{
	const struct tare_json_value *devices = tare_json_get(report, "devices"), *rows;

	if (!devices || devices->type != TARE_JSON_ARRAY)
		return tare_err_set(err, TARE_E_FORMAT, "this is JSON, but not what tare report --json prints");
	for (const struct tare_json_value *d = devices->first; d; d = d->next) {
		struct tare_diff_place place = { .index = int_of(d, "index", 0),
			                             .name = tare_json_get_str(d, "name"),
			                             .uuid = tare_json_get_str(d, "uuid"),
			                             .host = tare_json_get_str(d, "host"),
			                             .is_heap = tare_json_get_bool(d, "heap", false) };
		int at;

		place.is_counted = !is_of_tensors && tare_json_get_i64(d, "used_bytes", &place.used) &&
		                   tare_json_get(d, "unexplained_bytes") &&
		                   tare_json_get(d, "unexplained_bytes")->type != TARE_JSON_NULL;
		at = add_place(s, place);
		s->is_simulated |= tare_json_get_bool(d, "simulated", false);
		rows = tare_json_get(d, "accounts");
		/* The processes are needed for every view. */
		for (const struct tare_json_value *r = rows ? rows->first : NULL; r; r = r->next) {
			size_t before = s->item_nr;

			add_account(s, at, r);
			if (!is_tree)
				s->item_nr = before;
		}
		if (!is_of_tensors)
			add_unexplained(s, at, d);
	}
	return 0;
}

/* Which member of a row is its name, and which member sums up: a module also holds the bytes of the modules in it. */
struct keys {
	const char *label, *root, *bytes, *count;
};

static struct keys keys_of(int by)
{
	if (by == TARE_BY_MODULE)
		return (struct keys){ "module", "root", "own_bytes", "own_count" };
	return (struct keys){ "label", NULL, "bytes", "count" };
}

/* Several models may have modules of one path. */
static const char *label_of(struct tare_diff_side *s, const struct tare_json_value *row, const struct keys *keys)
{
	const char *label = tare_json_get_str(row, keys->label);
	const char *root = keys->root ? tare_json_get_str(row, keys->root) : NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (!label || !root || !strcmp(label, root))
		return label;
	tare_str_addf(&text, "%s: %s", root, label);
	label = tare_arena_strdup(&s->arena, tare_str_text(&text));
	return label;
}

static int process_by_label(const struct tare_diff_side *s, const char *label)
{
	for (size_t i = 0; i < s->process_nr; i++)
		if (!strcmp(s->processes[i].label, label))
			return (int)i;
	return -1;
}

/* "/home/me/train.py:87 in forward" is "train.py:87 in forward" on a screen. */
static const char *short_label_of(const char *label, const struct tare_json_value *row)
{
	const char *file = tare_json_get_str(row, "file");
	const char *name = file ? strrchr(file, '/') : NULL;

	if (!name || strncmp(label, file, strlen(file)) != 0)
		return label;
	return label + (name - file) + 1;
}

/* "/a/train.py:87 in forward < /a/main.py:3 in <module>" without "/a/": a program may lie elsewhere the next time. */
static const char *bare_label_of(struct tare_diff_side *s, const char *label)
{
	TARE_FREED_BY(tare_str_free) struct tare_str bare = { 0 };

	for (const char *p = label; *p;) {
		const char *end = strstr(p, " < "), *next = end ? end + 3 : p + strlen(p);
		size_t name = strcspn(p, " ");

		while (name && p[name - 1] != '/')
			name--;
		tare_str_add_n(&bare, p + name, (size_t)(next - p) - name);
		p = next;
	}
	return tare_arena_strdup(&s->arena, tare_str_text(&bare));
}

/* Rows of a view, which have no path: their label is one. */
static void add_row(struct tare_diff_side *s, const struct tare_json_value *row, int by)
{
	const struct keys keys = keys_of(by);
	const char *label = label_of(s, row, &keys);
	int64_t device = int_of(row, "device", -1);
	int place = device < 0 ? host_place(s) : find_place(s, device), process;
	struct tare_diff_item item;
	uint64_t count = 0;

	if (!label || place < 0)
		return;
	tare_json_get_u64(row, keys.count, &count);
	process = by == TARE_BY_PROCESS ? process_by_label(s, label) : -1;
	item = (struct tare_diff_item){ .place = place,
		                            .process = process,
		                            .path = process < 0 ? label : s->processes[process].path,
		                            .label = label,
		                            .short_label = short_label_of(label, row),
		                            .call = tare_json_get_str(row, "call"),
		                            .bare = tare_by_is_line((enum tare_by)by) ? bare_label_of(s, label) : NULL,
		                            .bytes = int_of(row, keys.bytes, 0),
		                            .count = count };
	add_item(s, item);
}

/* A phase: by its path, what it changed. One that used no GPU changed none. */
static void add_change(struct tare_diff_side *s, const struct tare_json_value *row)
{
	const char *path = tare_json_get_str(row, "path"), *label = tare_json_get_str(row, "label");
	int place = find_place(s, int_of(row, "device", -1));
	uint64_t count = 0;
	int64_t bytes;

	if (!path || place < 0 || !tare_json_get_i64(row, "bytes", &bytes))
		return;
	tare_json_get_u64(row, "count", &count);
	add_item(s, (struct tare_diff_item){ .place = place,
	                                     .process = -1,
	                                     .path = path,
	                                     .label = label ? label : path,
	                                     .short_label = path,
	                                     .bytes = bytes,
	                                     .count = count });
}

static int read_rows(struct tare_diff_side *s, const struct tare_json_value *report, int by, struct tare_err *err)
{
	const char *name = tare_by_infos[by].name, *has = tare_json_get_str(report, "by");
	const struct tare_json_value *rows = tare_json_get(report, "rows");

	if (!has || strcmp(has, name) != 0 || !rows)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "this has no rows --by %s; save it with tare report REC --by %s "
		                    "--json, or compare the recording itself",
		                    name, name);
	for (const struct tare_json_value *r = rows->first; r; r = r->next)
		if (tare_diff_is_of_changes(by))
			add_change(s, r);
		else
			add_row(s, r, by);
	return 0;
}

/* The instant that was asked for, or the first instant of the report. */
static const struct tare_json_value *choose(const struct tare_json_value *report, const char *at)
{
	const struct tare_json_value *also = tare_json_get(report, "also");
	const char *label = tare_json_get_str(report, "at.label");

	if (!at || (label && !strcmp(label, at)))
		return report;
	for (const struct tare_json_value *v = also ? also->first : NULL; v; v = v->next) {
		label = tare_json_get_str(v, "at.label");
		if (label && !strcmp(label, at))
			return v;
	}
	return NULL;
}

int tare_diff_read(struct tare_diff_side *s, const struct tare_json_value *report, int by, const char *at,
                   struct tare_err *err)
{
	const struct tare_json_value *chosen = choose(report, at), *hosts;
	bool is_of_tensors = by >= 0 && tare_by_infos[by].flags & (TARE_BY_TENSORS | TARE_BY_CHANGES);
	int rc;

	if (!chosen)
		return tare_err_set(err, TARE_E_NOT_FOUND, "this was saved without the instant %s; its first is %s", at,
		                    tare_json_get_str(report, "at.label") ? tare_json_get_str(report, "at.label")
		                                                          : "not named");
	s->at = tare_json_get_str(chosen, "at.label");
	s->t_ns = int_of(chosen, "at.t_ns", -1);
	s->note = tare_json_get_str(chosen, "note");
	s->degraded = tare_json_get(chosen, "degraded");
	s->notes = tare_json_get(chosen, "notes");
	rc = read_devices(s, chosen, by < 0, is_of_tensors, err);
	hosts = tare_json_get(chosen, "host");
	for (const struct tare_json_value *h = hosts ? hosts->first : NULL; !rc && h && by < 0; h = h->next)
		add_host(s, h);
	if (!rc && by >= 0)
		rc = read_rows(s, chosen, by, err);
	return rc;
}
