/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsed by descent into a program for a stack machine: one pass over the text, and an evaluation
 * that needs no recursion.
 */
#include "base/expr.h"

#include "base/array.h"
#include "base/owned.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

enum op { OP_NUMBER, OP_NAME, OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_NEGATE };

struct step {
	enum op op;
	double number;
	size_t name;
};

struct tare_expr {
	char *text;
	struct step *steps;
	size_t step_nr, step_cap;
	char **names;
	size_t name_nr, name_cap;
};

struct parser {
	struct tare_expr *e;
	const char *at;
	int depth;
	struct tare_err *err;
};

static void add_step(struct tare_expr *e, struct step step)
{
	TARE_APPEND(e->steps, e->step_nr, e->step_cap) = step;
}

static size_t name_at(struct tare_expr *e, const char *text, size_t len)
{
	for (size_t i = 0; i < e->name_nr; i++)
		if (strlen(e->names[i]) == len && !memcmp(e->names[i], text, len))
			return i;
	TARE_APPEND(e->names, e->name_nr, e->name_cap) = tare_xstrndup(text, len);
	return e->name_nr - 1;
}

static char peek(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
	return *p->at;
}

static int fail(struct parser *p, const char *what)
{
	return tare_err_set(p->err, TARE_E_USAGE, "%s: column %zu: %s", p->e->text, (size_t)(p->at - p->e->text) + 1, what);
}

static int parse_sum(struct parser *p);

static int parse_name(struct parser *p)
{
	const char *begin = p->at + 1, *end = strchr(begin, '}');

	if (!end)
		return fail(p, "this { has no }");
	if (end == begin)
		return fail(p, "there is no name between { and }");
	add_step(p->e, (struct step){ .op = OP_NAME, .name = name_at(p->e, begin, (size_t)(end - begin)) });
	p->at = end + 1;
	return 0;
}

/* Decimal only: strtod would take "inf", "nan" and "0x1p3" too. */
static int parse_number(struct parser *p)
{
	size_t len = strspn(p->at, "0123456789.");
	char *end;
	double number;

	if (!len || strspn(p->at, ".") == len)
		return fail(p, *p->at ? "expected a number, {name} or (" : "the expression ends too early");
	if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
		return fail(p, "numbers are decimal");
	number = strtod(p->at, &end);
	p->at = end;
	add_step(p->e, (struct step){ .op = OP_NUMBER, .number = number });
	return 0;
}

static int parse_factor(struct parser *p)
{
	char c = peek(p);
	int rc;

	if (p->depth >= DEPTH_MAX)
		return fail(p, "nested too deeply");
	if (c == '{')
		return parse_name(p);
	if (c != '(' && c != '-' && c != '+')
		return parse_number(p);
	p->at++;
	p->depth++;
	rc = c == '(' ? parse_sum(p) : parse_factor(p);
	p->depth--;
	if (rc)
		return rc;
	if (c == '-')
		add_step(p->e, (struct step){ .op = OP_NEGATE });
	if (c != '(')
		return 0;
	if (peek(p) != ')')
		return fail(p, "expected )");
	p->at++;
	return 0;
}

/* A row of operands with one of two operators between them, from the left. */
static int parse_row(struct parser *p, int (*operand)(struct parser *p), const char *signs, enum op first)
{
	int rc = operand(p);

	while (!rc && peek(p) && strchr(signs, *p->at)) {
		enum op op = first + (*p->at++ == signs[1]);

		rc = operand(p);
		add_step(p->e, (struct step){ .op = op });
	}
	return rc;
}

static int parse_product(struct parser *p)
{
	return parse_row(p, parse_factor, "*/", OP_MULTIPLY);
}

static int parse_sum(struct parser *p)
{
	return parse_row(p, parse_product, "+-", OP_ADD);
}

int tare_expr_parse(struct tare_expr **out, const char *text, struct tare_err *err)
{
	struct tare_expr *e = tare_xcalloc(1, sizeof(*e));
	struct parser p = { .e = e, .err = err };
	int rc;

	e->text = tare_xstrdup(text);
	p.at = e->text;
	rc = parse_sum(&p);
	if (!rc && peek(&p))
		rc = fail(&p, "expected + - * / or the end");
	if (rc)
		tare_expr_free(e);
	else
		*out = e;
	return rc;
}

void tare_expr_free(struct tare_expr *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->name_nr; i++)
		free(e->names[i]);
	free(e->names);
	free(e->steps);
	free(e->text);
	free(e);
}

size_t tare_expr_name_nr(const struct tare_expr *e)
{
	return e->name_nr;
}

const char *tare_expr_name(const struct tare_expr *e, size_t i)
{
	return e->names[i];
}

static double apply(enum op op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUBTRACT:
		return a - b;
	case OP_MULTIPLY:
		return a * b;
	default:
		return a / b;
	}
}

int tare_expr_eval(const struct tare_expr *e, tare_expr_lookup *lookup, void *arg, double *value, struct tare_err *err)
{
	TARE_FREED_HERE double *stack = tare_xcalloc(e->step_nr + 1, sizeof(*stack));
	size_t top = 0;
	int rc = 0;

	for (size_t i = 0; i < e->step_nr && !rc; i++) {
		const struct step *s = &e->steps[i];

		if (s->op == OP_NUMBER) {
			stack[top++] = s->number;
		} else if (s->op == OP_NAME) {
			rc = lookup(arg, e->names[s->name], &stack[top++], err);
		} else if (s->op == OP_NEGATE) {
			stack[top - 1] = -stack[top - 1];
		} else {
			top--;
			stack[top - 1] = apply(s->op, stack[top - 1], stack[top]);
		}
	}
	if (!rc && !isfinite(stack[0]))
		rc = tare_err_set(err, TARE_E_RANGE, "%s: the result is no number: a division by 0?", e->text);
	if (!rc)
		*value = stack[0];
	return rc;
}
