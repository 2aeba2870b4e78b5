/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EXPR_H
#define TARE_BASE_EXPR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Arithmetic with names: numbers, + - * /, parentheses and {name}. What `--work` and `--maximize`
 * take.
 *
 *     struct tare_expr *e;
 *
 *     if (tare_expr_parse(&e, "{batch}*500", &err))
 *             …
 *     if (tare_expr_eval(e, lookup, arg, &value, &err))
 *             …
 *     tare_expr_free(e);
 */
struct tare_expr;

/* TARE_E_USAGE, with the column and what was expected there. */
int tare_expr_parse(struct tare_expr **out, const char *text, struct tare_err *err);
void tare_expr_free(struct tare_expr *e); /* NULL is fine */

/* The names in it, each once, in the order of their first use. */
size_t tare_expr_name_nr(const struct tare_expr *e);
const char *tare_expr_name(const struct tare_expr *e, size_t i);

/* The value of a name: 0, or an error with `err` filled. */
typedef int tare_expr_lookup(void *arg, const char *name, double *value, struct tare_err *err);

/* Fails as `lookup` does, and with TARE_E_RANGE where the result is no finite number. */
int tare_expr_eval(const struct tare_expr *e, tare_expr_lookup *lookup, void *arg, double *value, struct tare_err *err);

#endif
