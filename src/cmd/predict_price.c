/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the cards that fit to take: by the prices that the user gave, else by memory. Tare knows no prices. */
#include "cmd/predict.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRICES_MAX = 256 };

/* "CARD=PRICE", or of a file "CARD PRICE". */
static int add_price(char *text, const char *separators, const char *of, struct tare_predict_prices *out,
                     struct tare_err *err)
{
	char *price = text + strcspn(text, separators), *end = NULL;
	double value = 0;

	if (*price && price != text) {
		*price++ = '\0';
		price += strspn(price, separators);
		value = strtod(price, &end);
	}
	if (!end || end == price || end[strspn(end, " \t\r")] || !isfinite(value) || value < 0)
		return tare_err_set(
			err, TARE_E_USAGE,
			"predict: --prices %s: it takes cards with their prices, as l4=0.8,h200=3.5, or a file with a card and its price on each line",
			of);
	if (out->count == PRICES_MAX)
		return tare_err_set(err, TARE_E_USAGE, "predict: --prices: more than %d cards", PRICES_MAX);
	out->items[out->count++] = (struct tare_predict_price){ text, value };
	return 0;
}

static int read_prices(const char *path, struct tare_arena *memory, struct tare_predict_prices *out,
                       struct tare_err *err)
{
	struct tare_str text = { 0 };
	char *rest, *line;
	int rc = tare_file_read(&text, path, 1 << 20, err);

	if (rc)
		return rc;
	rest = tare_arena_strdup(memory, tare_str_text(&text));
	tare_str_free(&text);
	while (!rc && (line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t\r");
		if (*line && *line != '#')
			rc = add_price(line, " \t=", path, out, err);
	}
	return rc;
}

int tare_predict_parse_prices(const struct tare_operands *given, struct tare_arena *memory,
                              struct tare_predict_prices *out, struct tare_err *err)
{
	int rc = 0;

	out->items = tare_arena_alloc(memory, PRICES_MAX * sizeof(*out->items));
	for (size_t i = 0; i < given->count && !rc; i++) {
		char *rest = tare_arena_strdup(memory, given->items[i]), *pair;

		if (!strchr(rest, '='))
			rc = read_prices(given->items[i], memory, out, err);
		else
			while (!rc && (pair = strsep(&rest, ",")))
				rc = add_price(pair, "=", given->items[i], out, err);
	}
	return rc;
}

static double price_of(const struct tare_predict_prices *prices, const char *card)
{
	for (size_t i = 0; i < prices->count; i++)
		if (!strcmp(prices->items[i].card, card))
			return prices->items[i].price;
	return NAN;
}

/*
 * Of several cards that fit the cheapest, or without prices the one with least memory; -1: there is only one card, or none fits. `price`:
 * NaN where none is known.
 */
static int predict_choose(const struct tare_predict_card *cards, size_t n, const struct tare_predict_prices *prices,
                          double *price)
{
	int best = -1;

	*price = NAN;
	for (size_t i = 0; i < n && n > 1; i++) {
		double own = price_of(prices, cards[i].card);

		if (!cards[i].fits || (prices->count && isnan(own)))
			continue;
		if (best < 0 || (prices->count ? own < *price : cards[i].total < cards[best].total)) {
			best = (int)i;
			*price = own;
		}
	}
	return best;
}

void tare_predict_choose_print(struct tare_emit *e, const struct tare_predict_card *cards, size_t n,
                               const struct tare_predict_prices *prices)
{
	double price;
	int best = predict_choose(cards, n, prices, &price);

	if (best < 0) {
		tare_emit_null(e, "choice");
		return;
	}
	tare_emit_open(e, "choice", '{');
	tare_emit_str(e, "card", cards[best].card);
	tare_emit_str(e, "by", prices->count ? "price" : "memory");
	tare_emit_number(e, "price", price);
	tare_emit_close(e);
	if (prices->count)
		tare_emit_note(e, "the cheapest that fits, by your prices: %s (%g)", cards[best].name, price);
	else
		tare_emit_note(e, "the smallest that fits: %s", cards[best].name);
}
