/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a page without names: every text becomes "name N", the same text the same name, unless it is a word of Tare's own. What
 * is not known to be one is left out, so a member that is new here leaves nothing behind.
 */
#include "view/page.h"

#include "base/json.h"
#include "base/map.h"
#include "ledger/account.h"
#include "ledger/category.h"
#include "ledger/coming.h"
#include "view/rank.h"

#include <string.h>

/* Members whose texts are words of Tare's, of the driver's interface, or numbers. */
static const char *const kept[] = {
	"at",    "by",          "account", "evidence", "used_evidence", "category", "rule",    "reason",
	"known", "advice",      "verdict", "kind",     "steps_by",      "shape",    "address", "api",
	"key",   "pin_address", "stream",  "state",    "settings",      "saving",   "end",
};
/* The same, in lists of one name only. */
static const struct {
	const char *list, *key;
} kept_in[] = {
	{ "kinds", "said" },     { "kinds", "rule" },       { "kinds", "same" },         { "kinds", "why" },
	{ "kinds", "less" },     { "rows", "residue" },     { "categories", "what" },    { "categories", "less" },
	{ "rows", "call" },      { "residue", "residue" },  { "residue", "call" },       { "residue", "gives_back" },
	{ "advice", "less" },    { "tools", "tool" },       { "tools", "word" },         { "tools", "prints" },
	{ "tools", "formula" },  { "tools", "leaves_out" }, { "tools", "counts_twice" }, { "tools", "not_known_because" },
	{ "do_not_add", "one" }, { "do_not_add", "other" }, { "do_not_add", "why" },     { "out_of_memory", "why" },
	{ "coming", "label" },
};
/* Words that stand where names do, too. */
static const char *const words[] = {
	"",
	"peak",
	"end",
	"peak:host",
	"no line",
	"unexplained",
	"granularity",
	"live tensors",
	"tensors on the CPU",
	"cached, to give back",
	"cached, can be given back",
	"cached beside live tensors",
	"resident memory",
	"default stream",
	"tensors",
	"cached",
	"partly",
	"held",
	"trial",
	"idle",
	"as recorded",
};

/* Columns of ranks, by which a rank differs. */
static const char *const parts[] = {
#define X(KEY, NAME, HEAD) NAME,
	TARE_RANK_PART_MAP(X)
#undef X
};

struct names {
	struct tare_strmap numbers;
	struct tare_json out;
};

static bool is_in(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(text, list[i]))
			return true;
	return false;
}

#define IS_IN(TEXT, LIST) is_in(TEXT, LIST, sizeof(LIST) / sizeof((LIST)[0]))

static bool is_kept(const char *list, const char *key)
{
	if (!key)
		return false;
	for (size_t i = 0; list && i < sizeof(kept_in) / sizeof(kept_in[0]); i++)
		if (!strcmp(kept_in[i].list, list) && !strcmp(kept_in[i].key, key))
			return true;
	return IS_IN(key, kept);
}

static bool is_word(const char *text)
{
	for (unsigned i = 0; i < TARE_ACCOUNT_NR; i++)
		if (!strcmp(text, tare_accounts[i].key) || !strcmp(text, tare_accounts[i].label))
			return true;
	for (unsigned i = 0; i < TARE_COMING_NR; i++)
		if (!strcmp(text, tare_coming_key(i)))
			return true;
	for (int i = 0; i < TARE_CATEGORY_NR; i++)
		if (!strcmp(text, tare_category_name((enum tare_category)i)))
			return true;
	return IS_IN(text, words) || IS_IN(text, parts);
}

static void add_name(struct names *n, struct tare_str *out, const char *text)
{
	bool is_new;
	uint64_t *number;

	if (is_word(text)) {
		tare_str_add(out, text);
		return;
	}
	number = tare_strmap_put(&n->numbers, text, &is_new);
	if (is_new)
		*number = n->numbers.count;
	tare_str_addf(out, "name %llu", (unsigned long long)*number);
}

/* A word that has a '/' in it, as a part of a path has it. */
static bool is_part_word(const char *part)
{
	TARE_FREED_BY(tare_str_free) struct tare_str word = { 0 };

	for (const char *p = part; *p; p += strncmp(p, "%2F", 3) ? 1 : 3)
		tare_str_add_char(&word, strncmp(p, "%2F", 3) ? *p : '/');
	return is_word(tare_str_text(&word));
}

/* "process:431/allocations/PyTorch": part by part, so that rows stay below their parents. */
static void add_path(struct names *n, struct tare_str *out, const char *path)
{
	for (const char *p = path;; p++) {
		size_t len = strcspn(p, "/");
		struct tare_str part = { 0 };

		tare_str_add_n(&part, p, len);
		if (!strncmp(tare_str_text(&part), "process:", 8) || is_part_word(tare_str_text(&part)))
			tare_str_add(out, tare_str_text(&part));
		else
			add_name(n, out, tare_str_text(&part));
		tare_str_free(&part);
		p += len;
		if (!*p)
			return;
		tare_str_add_char(out, '/');
	}
}

static void write_text(struct names *n, const struct tare_json_value *v, const char *key)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	bool is_device = key && v->key && !strcmp(key, "devices") && !strcmp(v->key, "name");

	if (is_kept(key, v->key) || is_device)
		tare_str_add(&text, v->text);
	else if (v->key && !strcmp(v->key, "path"))
		add_path(n, &text, v->text);
	else
		add_name(n, &text, v->text);
	tare_json_str(&n->out, v->key, tare_str_text(&text));
}

/* `of`: the member that the list is of, in which it stands. */
static void write_value(struct names *n, const struct tare_json_value *v, const char *of)
{
	switch (v->type) {
	case TARE_JSON_NULL:
		tare_json_null(&n->out, v->key);
		return;
	case TARE_JSON_BOOL:
		tare_json_bool(&n->out, v->key, v->is_true);
		return;
	case TARE_JSON_NUMBER:
		if (!v->is_integer)
			tare_json_number(&n->out, v->key, v->number);
		else if (v->is_negative)
			tare_json_i64(&n->out, v->key, v->i);
		else
			tare_json_u64(&n->out, v->key, v->u);
		return;
	case TARE_JSON_STRING:
		write_text(n, v, of);
		return;
	case TARE_JSON_ARRAY:
	case TARE_JSON_OBJECT:
		tare_json_open(&n->out, v->key, v->type == TARE_JSON_ARRAY ? '[' : '{');
		for (const struct tare_json_value *item = v->first; item; item = item->next)
			write_value(n, item, v->key ? v->key : of);
		tare_json_close(&n->out);
		return;
	}
}

void tare_page_leave_names_out(struct tare_str *data)
{
	struct tare_str text = { 0 };
	struct names n = { .out = { .out = &text } };
	const struct tare_json_value *root;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };

	if (!tare_json_parse(&arena, tare_str_text(data), data->len, &root, NULL))
		write_value(&n, root, NULL);
	tare_str_free(data);
	*data = text;
	tare_strmap_free(&n.numbers);
}
