/* SPDX-License-Identifier: Apache-2.0 */
/* tare predict: what a program would need on a card, with no card there. */
#include "cmd/predict.h"

#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/terminal.h"
#include "cmd/write_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
	struct tare_operands cards;
	const char *largest, *keep;
	int64_t gpus;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(
		options, cards, "card", 0, LIST, "PROFILE",
		"the card: a name as --sim takes it, or several with commas between; again for more (h200)"),
	TARE_OPT(options, gpus, "gpus", 0, INT, "N", "give the program N cards of the kind (1)"),
	TARE_OPT(options, largest, "largest", 0, STRING, "NAME=FROM..TO",
		 "find the largest whole number that fits, for {NAME} in the command"),
	TARE_OPT(options, keep, "keep", 'k', STRING, "FOLDER",
		 "keep the recordings, as FOLDER/CARD.tare; every report reads them"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_predict = {
	.name = "predict",
	.synopsis = "what a program would need on a GPU that is not there",
	.operands = "[--] CMD [ARG]…",
	.description =
		"Runs CMD unmodified on simulated cards: its own framework, allocator and autograd work as ever, every call "
		"of memory is carried out as that card would, and no kernel runs. Then says what it needs at its worst "
		"moment, whether that fits, and where memory runs out if it does not. No GPU and no driver are needed.\n\n"
		"What kernels would have computed is not known: what a program reads back is zeros, and where such a value "
		"decides a size or a loop, so does the prediction. docs/SIMGPU.md says what is exact and what is assumed; "
		"the range that is printed is for that. What CMD prints goes to stderr.\n\n"
		"With --largest CMD runs some times more, on the first card, with {NAME} replaced by numbers of the range: the "
		"need must not fall when the number rises.\n\n"
		"Exit code: 0 if it fits on every card, 3 if not on one of them, 2 for a mistake on the command line, 125 "
		"if CMD used no GPU or Tare itself failed.",
	.examples =
		"tare predict -- python train.py\n"
		"tare predict --card rtx-3060-ti,h200 -- python train.py --batch 3\n"
		"tare predict --card h200 --largest batch=1..4096 -- python train.py --batch {batch}\n"
		"tare predict --card h200 --json -- python train.py",
	.opts = opts,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.is_rest = true,
	.run = tare_cmd_predict,
};

struct range {
	char *name;
	int64_t from, to;
};

static int parse_range(const char *text, struct range *out, struct tare_err *err)
{
	const char *equals = strchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
	char *end;

	if (dots) {
		errno = 0;
		out->from = strtoll(equals + 1, &end, 10);
		if (end == dots) {
			out->to = strtoll(dots + 2, &end, 10);
			if (!*end && end != dots + 2 && !errno && equals != text &&
			    out->from <= out->to) {
				out->name = strndup(text, (size_t)(equals - text));
				return 0;
			}
		}
	}
	return tare_err_set(
		err, TARE_E_USAGE,
		"predict: --largest %s: it takes a name and a range of whole numbers, as batch=1..512",
		text);
}

/* The command with {NAME} replaced; NULL: it is nowhere in it. */
static char **fill(char *const *argv, const char *name, int64_t value)
{
	struct tare_str mark = { 0 };
	char **out;
	size_t n = 0, found = 0;

	while (argv[n])
		n++;
	out = calloc(n + 1, sizeof(*out));
	tare_str_addf(&mark, "{%s}", name);
	for (size_t i = 0; out && i < n; i++) {
		struct tare_str word = { 0 };
		const char *rest = argv[i], *at;

		while ((at = strstr(rest, mark.data))) {
			tare_str_addf(&word, "%.*s%" PRId64, (int)(at - rest), rest, value);
			rest = at + mark.len;
			found++;
		}
		tare_str_add(&word, rest);
		out[i] = tare_str_steal(&word);
	}
	tare_str_free(&mark);
	if (found)
		return out;
	for (size_t i = 0; out && i < n; i++)
		free(out[i]);
	free(out);
	return NULL;
}

static int try_value(const struct tare_predict_options *o, const struct range *range, int64_t value,
		     const char *card, struct tare_arena *memory, struct tare_predict_card *out,
		     struct tare_err *err)
{
	struct tare_predict_options filled = *o;
	char **argv = fill(o->argv, range->name, value);
	int rc;

	if (!argv)
		return tare_err_set(err, TARE_E_USAGE,
				    "predict: --largest %s: {%s} is not in the command",
				    range->name, range->name);
	filled.argv = argv;
	rc = tare_predict_run(&filled, card, memory, out, err);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free(argv);
	return rc;
}

/* By halves: `found` becomes the prediction of the largest that fits, or of the smallest where none does. */
static int search(const struct tare_predict_options *o, const struct range *range, const char *card,
		  struct tare_arena *memory, struct tare_predict_card *found,
		  struct tare_predict_largest *largest, struct tare_err *err)
{
	int64_t low = range->from, high = range->to, next = high;
	struct tare_predict_card got;
	int rc = 0;

	*largest = (struct tare_predict_largest){ range->name, INT64_MIN, INT64_MIN, 0 };
	while (!rc && low <= high) {
		rc = try_value(o, range, next, card, memory, &got, err);
		largest->runs++;
		if (rc)
			break;
		if (got.fits) {
			largest->fits = next;
			*found = got;
			low = next + 1;
		} else {
			if (largest->fits == INT64_MIN)
				*found = got;
			largest->fails = next;
			high = next - 1;
		}
		next = low + (high - low) / 2;
	}
	return rc;
}

/* "a,b" and "c" become three. */
static size_t split_cards(const struct tare_operands *given, struct tare_arena *memory,
			  const char **out, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < given->count; i++) {
		char *text = tare_arena_strdup(memory, given->items[i]), *rest = text, *name;

		while ((name = strsep(&rest, ",")))
			if (*name && n < most)
				out[n++] = name;
	}
	if (!n)
		out[n++] = "h200";
	return n;
}

static int predict(const struct options *o, char *const *argv, struct tare_str *out, int *code,
		   struct tare_err *err)
{
	enum { MOST = 32 };
	struct tare_predict_options how = { o->keep, o->gpus ? o->gpus : 1, argv, tare_cmd_record };
	struct tare_predict_card cards[MOST];
	struct tare_predict_largest largest = { 0 };
	struct tare_arena memory = { 0 };
	struct range range = { 0 };
	const char *names[MOST];
	enum tare_emit_format format;
	struct tare_emit e;
	size_t n = 0, i;
	int rc = tare_format_choose(&o->format, "predict", &format, err);

	if (!rc && (o->gpus < 0 || o->gpus > 64))
		rc = tare_err_set(err, TARE_E_USAGE, "predict: --gpus takes 1 to 64");
	if (!rc && o->largest)
		rc = parse_range(o->largest, &range, err);
	if (!rc && o->keep && mkdir(o->keep, 0777) != 0 && errno != EEXIST)
		rc = tare_err_set_errno(err, errno, "%s: the folder for recordings cannot be made",
					o->keep);
	if (!rc)
		n = split_cards(&o->cards, &memory, names, MOST);
	for (i = 0; i < n && !rc; i++) {
		if (i == 0 && range.name)
			rc = search(&how, &range, names[i], &memory, &cards[i], &largest, err);
		else if (range.name)
			rc = try_value(&how, &range,
				       largest.fits == INT64_MIN ? range.from : largest.fits,
				       names[i], &memory, &cards[i], err);
		else
			rc = tare_predict_run(&how, names[i], &memory, &cards[i], err);
	}
	if (!rc) {
		tare_emit_begin(&e, format, out);
		e.style = tare_terminal_style(stdout);
		tare_predict_print(&e, cards, (int)n, &largest);
		tare_emit_end(&e);
		*code = TARE_EXIT_OK;
		for (i = 0; i < n; i++)
			if (!cards[i].fits)
				*code = TARE_EXIT_NO_FIT;
	}
	free(range.name);
	tare_arena_free(&memory);
	return rc;
}

int tare_cmd_predict(int argc, char **argv)
{
	struct options o = { .format = TARE_FORMAT_DEFAULTS };
	struct tare_operands rest = { 0 };
	struct tare_str out = { 0 };
	struct tare_err err = { 0 };
	int code = tare_cmd_parse(&tare_command_predict, argc, argv, &o, &rest), rc;

	if (code >= 0)
		return code;
	rc = predict(&o, (char *const *)rest.items, &out, &code, &err);
	if (!rc)
		rc = tare_cmd_write_file("-", &out, &err);
	tare_str_free(&out);
	tare_operands_free(&o.cards);
	tare_operands_free(&rest);
	return rc ? tare_cmd_fail(&err) : code;
}
