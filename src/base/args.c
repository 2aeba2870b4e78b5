/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a command line by a table of options, and says what is wrong with it. */
#include "base/args.h"

#include "base/hint.h"
#include "base/units.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parse {
	const struct tare_command *cmd;
	int argc;
	char **argv;
	int at; /* the next word */
	char *options;
	struct tare_operands *rest;
	struct tare_err *err;
};

static const char help_name[] = "help";

void tare_operands_add(struct tare_operands *list, const char *item)
{
	list->items = tare_xrealloc(list->items, list->count + 2, sizeof(*list->items));
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

void tare_operands_free(struct tare_operands *list)
{
	free(list->items);
	*list = (struct tare_operands){ 0 };
}

int tare_args_choice(const char *choices, const char *word, size_t len)
{
	int index = 0;

	for (const char *p = choices;; p++, index++) {
		size_t n = strcspn(p, "|");

		if (n == len && !memcmp(p, word, n))
			return index;
		p += n;
		if (!*p)
			return -1;
	}
}

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edit distance with a swap of neighbours as one step; words longer than the rows are "far". */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 63 };
	size_t rows[3][MAX + 1], la = strlen(a), lb = strlen(b);
	size_t *before = rows[0], *prev = rows[1], *now = rows[2];

	if (la > MAX || lb > MAX)
		return MAX;
	for (size_t j = 0; j <= lb; j++)
		prev[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *oldest = before;

		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			now[j] = min2(min2(prev[j], now[j - 1]) + 1, prev[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = min2(now[j], before[j - 2] + 1);
		}
		before = prev;
		prev = now;
		now = oldest;
	}
	return prev[lb];
}

const char *tare_args_near_miss(const char *word, const char *(*next)(void *arg, size_t i), void *arg)
{
	size_t best = strlen(word) < 4 ? 2 : 3; /* exclusive */
	const char *found = NULL, *candidate;

	for (size_t i = 0; (candidate = next(arg, i)); i++) {
		size_t d = distance(word, candidate);

		if (d < best) {
			best = d;
			found = candidate;
		}
	}
	return found;
}

static const char *next_visible_option(void *arg, size_t i)
{
	const struct tare_opt *opt = arg;

	for (; opt->kind != TARE_ARG_END; opt++)
		if (!opt->is_hidden && i-- == 0)
			return opt->name;
	return i == 0 ? help_name : NULL;
}

static int usage(const struct parse *p, const char *option, const char *problem)
{
	return tare_err_set(p->err, TARE_E_USAGE, "%s: %s %s; see tare %s --help", p->cmd->name, option, problem,
	                    p->cmd->name);
}

static int unknown_option(const struct parse *p, const char *shown, const char *name)
{
	const char *near = name ? tare_args_near_miss(name, next_visible_option, (void *)p->cmd->opts) : NULL;

	if (near)
		return tare_err_set(p->err, TARE_E_USAGE, "%s: there is no option %s; did you mean --%s?", p->cmd->name, shown,
		                    near);
	return tare_err_set(p->err, TARE_E_USAGE, "%s: there is no option %s; see tare %s --help", p->cmd->name, shown,
	                    p->cmd->name);
}

/* strtoll with "all of it" and range as one answer. */
static int parse_int(const char *text, int64_t *out)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 10);
	if (end == text || *end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*out = v;
	return 0;
}

static int parse_number(const char *text, double *out)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*out = v;
	return 0;
}

/* "2 of 64". */
static int parse_part(const char *text, struct tare_arg_part *out)
{
	long long part, whole;
	int end = 0;

	if (strlen(text) > 40 || sscanf(text, "%lld of %lld%n", &part, &whole, &end) != 2 || text[end])
		return -EINVAL;
	if (part < 1 || whole < part)
		return -ERANGE;
	*out = (struct tare_arg_part){ part, whole };
	return 0;
}

static int wrong_value(const struct parse *p, const struct tare_opt *opt, const char *wanted, const char *value,
                       bool is_range)
{
	TARE_FREED_BY(tare_str_free) struct tare_str more = { 0 };

	if (is_range)
		tare_str_add(&more, " (out of range)");
	else if (opt->kind == TARE_ARG_CHOICE)
		tare_hint_word(&more, value, opt->metavar);
	return tare_err_set(p->err, TARE_E_USAGE, "%s: --%s wants %s, not \"%s\"%s", p->cmd->name, opt->name, wanted, value,
	                    tare_str_text(&more));
}

static int store(const struct parse *p, const struct tare_opt *opt, const char *value)
{
	void *field = p->options + opt->offset;
	const char *wanted = opt->metavar;
	int rc = 0, index;

	switch (opt->kind) {
	case TARE_ARG_STRING:
		*(const char **)field = value;
		return 0;
	case TARE_ARG_LIST:
		tare_operands_add(field, value);
		return 0;
	case TARE_ARG_CHOICE:
		index = tare_args_choice(opt->metavar, value, strlen(value));
		if (index < 0)
			rc = -EINVAL;
		else
			*(int *)field = index;
		break;
	case TARE_ARG_INT:
		rc = parse_int(value, field);
		wanted = "a whole number";
		break;
	case TARE_ARG_NUMBER:
		rc = parse_number(value, field);
		wanted = "a number";
		break;
	case TARE_ARG_BYTES:
		rc = tare_units_parse_bytes(value, field);
		wanted = "a size such as 8GiB or 512m";
		break;
	case TARE_ARG_DURATION:
		rc = tare_units_parse_duration(value, field);
		wanted = "a time such as 2s or 500ms";
		break;
	case TARE_ARG_PART:
		rc = parse_part(value, field);
		wanted = "two whole numbers such as 2 of 64, the first no larger than the second";
		break;
	case TARE_ARG_FLAG:
	case TARE_ARG_END:
		return tare_err_set(p->err, TARE_E_INTERNAL, "option table of %s: --%s", p->cmd->name, opt->name);
	}
	return rc ? wrong_value(p, opt, wanted, value, rc == -ERANGE) : 0;
}

/* The value of an option is the next word; of a part the next three, if they say one. */
static int store_next(struct parse *p, const struct tare_opt *opt)
{
	char **words = p->argv + p->at;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (opt->kind != TARE_ARG_PART || p->argc - p->at < 3 || strcmp(words[1], "of") != 0 || strchr(words[0], ' '))
		return store(p, opt, p->argv[p->at++]);
	tare_str_addf(&text, "%s of %s", words[0], words[2]);
	p->at += 3;
	return store(p, opt, tare_str_text(&text));
}

static const struct tare_opt *find_long(const struct tare_command *cmd, const char *name, size_t len)
{
	for (const struct tare_opt *o = cmd->opts; o->kind != TARE_ARG_END; o++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct tare_opt *find_letter(const struct tare_command *cmd, char letter)
{
	for (const struct tare_opt *o = cmd->opts; o->kind != TARE_ARG_END; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static int parse_long(struct parse *p, const char *word)
{
	const char *name = word + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct tare_opt *opt = find_long(p->cmd, name, len);
	TARE_FREED_BY(tare_str_free) struct tare_str shown = { 0 };
	int rc;

	if (!opt && len == sizeof(help_name) - 1 && !memcmp(name, help_name, len))
		return TARE_ARGS_HELP;
	tare_str_add_n(&shown, word, len + 2);
	if (!opt) {
		rc = unknown_option(p, tare_str_text(&shown), tare_str_text(&shown) + 2);
	} else if (opt->kind == TARE_ARG_FLAG) {
		rc = eq ? usage(p, tare_str_text(&shown), "takes no value") : 0;
		if (!rc)
			*(bool *)(p->options + opt->offset) = true;
	} else if (eq) {
		rc = store(p, opt, eq + 1);
	} else if (p->at < p->argc) {
		rc = store_next(p, opt);
	} else {
		rc = usage(p, tare_str_text(&shown), "needs a value");
	}
	return rc;
}

static int parse_letters(struct parse *p, const char *word)
{
	for (const char *l = word + 1; *l; l++) {
		const struct tare_opt *opt = find_letter(p->cmd, *l);
		char shown[3] = { '-', *l, '\0' };

		if (!opt && *l == 'h')
			return TARE_ARGS_HELP;
		if (!opt)
			return unknown_option(p, l == word + 1 ? word : shown, NULL);
		if (opt->kind == TARE_ARG_FLAG) {
			*(bool *)(p->options + opt->offset) = true;
			continue;
		}
		if (l[1])
			return store(p, opt, l + 1);
		if (p->at < p->argc)
			return store_next(p, opt);
		return usage(p, shown, "needs a value");
	}
	return 0;
}

static int check_operands(const struct parse *p)
{
	const struct tare_command *cmd = p->cmd;

	if (p->rest->count < cmd->min_operands)
		return tare_err_set(p->err, TARE_E_USAGE, "%s: %s is missing; see tare %s --help", cmd->name, cmd->operands,
		                    cmd->name);
	if (!cmd->is_rest && p->rest->count > cmd->max_operands)
		return tare_err_set(p->err, TARE_E_USAGE, "%s: \"%s\" is one operand too many; see tare %s --help", cmd->name,
		                    p->rest->items[cmd->max_operands], cmd->name);
	return 0;
}

int tare_args_parse(const struct tare_command *cmd, int argc, char **argv, void *options, struct tare_operands *rest,
                    struct tare_err *err)
{
	struct parse p = { cmd, argc, argv, 1, options, rest, err };
	bool is_over = false;
	int rc;

	*rest = (struct tare_operands){ 0 };
	while (p.at < argc) {
		const char *word = argv[p.at++];

		if (!is_over && !strcmp(word, "--")) {
			is_over = true;
			continue;
		}
		if (is_over || word[0] != '-' || !word[1]) {
			tare_operands_add(rest, word);
			is_over = is_over || cmd->is_rest;
			continue;
		}
		rc = word[1] == '-' ? parse_long(&p, word) : parse_letters(&p, word);
		if (rc)
			goto fail;
	}
	rc = check_operands(&p);
	if (!rc)
		return TARE_ARGS_GO;
fail:
	tare_operands_free(rest);
	return rc;
}
