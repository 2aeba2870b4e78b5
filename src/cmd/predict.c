/* SPDX-License-Identifier: Apache-2.0 */
/* tare predict: what a program would need on a card, with no card there. */
#include "cmd/predict.h"

#include "cmd/answer_at.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/run_options.h"
#include "cmd/start_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --check-answers. */
#define CHECK_NAMES "auto|always|never"
enum check { CHECK_AUTO, CHECK_ALWAYS, CHECK_NEVER };
enum { CARDS_MAX = 32 };
/* --caches. */
#define CACHES_NAMES "fresh|own"
enum caches { CACHES_FRESH, CACHES_OWN };
#define AUTO_NS (INT64_C(60) * 1000000000)
/* Of --gpus and --ranks: 0 is a number, and wrong. */
#define NOT_GIVEN INT64_MIN

struct options {
	struct tare_operands cards, grid, prices, answers_at;
	const char *largest, *keep;
	int64_t gpus, ranks;
	struct tare_arg_part part;
	int answers, check_answers, caches; /* -1: not given */
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, cards, "card", 0, LIST, "PROFILE",
	         "the card: a name as --sim takes it, or several with commas between; again for more (h200)"),
	TARE_OPT(options, gpus, "gpus", 0, INT, "N", "give the program N cards of the kind (1)"),
	TARE_OPT(
		options, ranks, "ranks", 0, INT, "N",
		"run CMD as N ranks, each on a card of its own, as torchrun would start them; a CMD that starts ranks itself "
		"(torchrun, accelerate, deepspeed, mpirun, srun) gets the N cards"),
	TARE_OPT(options, part, "ranks-simulated", 0, PART, "K of N", TARE_RANKS_HELP),
	TARE_OPT(options, largest, "largest", 0, STRING, "NAME=FROM..TO",
	         "find the largest whole number that fits, for {NAME} in the command"),
	TARE_OPT(
		options, grid, "grid", 0, LIST, "NAME=A,B,…",
		"run CMD for each of the values, for {NAME} in the command; again for more: all combinations, on each card"),
	TARE_OPT(
		options, prices, "prices", 0, LIST, "CARD=PRICE|FILE",
		"your prices, of any unit: say which card that fits is the cheapest; a file has a card and its price on each line"),
	TARE_OPT(options, answers, "answers", 0, CHOICE, TARE_ANSWER_NAMES,
	         "what CMD gets where it reads back what a kernel would have computed (zeros)"),
	TARE_OPT(options, answers_at, "answer-at", 0, LIST, "FILE:LINE=VALUE", TARE_ANSWER_AT_HELP),
	TARE_OPT(
		options, check_answers, "check-answers", 0, CHOICE, CHECK_NAMES,
		"where such values were read back, run CMD on the first card once more with others, and say whether they decide "
		"anything: auto if the first run took a minute at most (auto)"),
	TARE_OPT(
		options, caches, "caches", 0, CHOICE, CACHES_NAMES,
		"where torch.compile and Triton look for what they compiled before: fresh, in empty folders, as on a new machine, for they "
		"take memory to time kernels; own, where CMD does without tare (fresh)"),
	TARE_OPT(options, keep, "keep", 'k', STRING, "FOLDER",
	         "keep the recordings, as FOLDER/CARD.tare; every report reads them"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_predict = {
	.name = "predict",
	.synopsis = "say what a program would need on a GPU that is not there",
	.operands = "[--] CMD [ARG]…",
	.description =
		"Runs CMD unmodified on simulated cards: its own framework, allocator and autograd work as ever, every call "
		"of memory is carried out as that card would, and no kernel runs. Then says what it needs at its worst "
		"moment, whether that fits, and where memory runs out if it does not. No GPU and no driver are needed.\n\n"
		"What kernels would have computed is not known: what a program reads back is zeros, and where such a value "
		"decides a size or a loop, so does the prediction. docs/SIMGPU.md says what is exact and what is assumed; the "
		"range that is printed allows for that. What CMD prints goes to stderr.\n\n"
		"With --ranks N CMD is one rank: it runs N times at once, with RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and "
		"MASTER_PORT set, and what is said is of the card that needs most.\n\n"
		"With --largest CMD runs several times, on the first card, with {NAME} replaced by numbers of the range: what "
		"it needs must not fall when the number rises.\n\n"
		"With --grid a table has a row for each combination and card. Of several cards one that fits is named: the "
		"cheapest by --prices, else the one with least memory.\n\n"
		"Exit code: 0 if it fits on every card, 3 if not on one of them, 1 if CMD failed for another reason than "
		"memory, 2 for a mistake on the command line, 125 if CMD ended well and used no GPU, could not be run, or "
		"Tare itself failed.",
	.examples =
		"tare predict -- python train.py\n"
		"tare predict --card rtx-3060-ti,h200 -- python train.py --batch 3\n"
		"tare predict --card h200 --largest batch=1..4096 -- python train.py --batch {batch}\n"
		"tare predict --card l4,a10,h200 --grid batch=1,8,64 --grid len=512,2048 -- python train.py --batch {batch} --len {len}\n"
		"tare predict --card h200 --ranks 2 -- python train.py\n"
		"tare predict --card l4,h200 --prices l4=0.8,h200=3.5 -- python train.py\n"
		"tare predict --card h200 --json -- python train.py",
	TARE_OPTIONS(opts, struct options, .gpus = NOT_GIVEN, .ranks = NOT_GIVEN, .answers = -1, .check_answers = -1,
	             .caches = -1, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.is_rest = true,
	.run = tare_cmd_predict,
};

/* "a,b" and "c" become three. */
static int split_cards(const struct tare_operands *given, struct tare_arena *memory, const char **out, size_t *n,
                       struct tare_err *err)
{
	*n = 0;
	for (size_t i = 0; i < given->count; i++) {
		char *text = tare_arena_strdup(memory, given->items[i]), *rest = text, *name;

		while ((name = strsep(&rest, ","))) {
			if (!*name)
				return tare_err_set(err, TARE_E_USAGE, "predict: --card \"%s\": a name is empty; give one such as h200",
				                    given->items[i]);
			if (*n == CARDS_MAX)
				return tare_err_set(err, TARE_E_USAGE, "predict: --card %s: it takes %d cards at most", name,
				                    CARDS_MAX);
			out[(*n)++] = name;
		}
	}
	if (!*n)
		out[(*n)++] = "h200";
	return 0;
}

/* Cards, and with --largest the value: each is run once, the first as often as the search needs. */
static int run_cards(struct tare_predict_options *how, const char *largest_text, const char *const *names, size_t n,
                     struct tare_arena *memory, struct tare_predict_card *cards, struct tare_predict_largest *largest,
                     struct tare_err *err)
{
	struct tare_predict_range range = { 0 };
	struct tare_predict_value value;
	char *const *argv = how->argv;
	size_t i;
	int rc = 0;

	if (largest_text) {
		rc = tare_predict_parse_range(largest_text, argv, memory, &range, err);
		if (!rc)
			rc = tare_predict_search(how, &range, names[0], memory, &cards[0], largest, err);
		if (rc)
			return rc;
		value = tare_predict_number(range.name, largest->fits == INT64_MIN ? range.from : largest->fits, memory);
		how->argv = tare_predict_fill(argv, &value, 1, memory);
	}
	for (i = largest_text ? 1 : 0; i < n && !rc; i++)
		rc = tare_predict_run(how, names[i], memory, &cards[i], err);
	return rc;
}

static int ask_answers(const struct options *o, const struct tare_predict_options *how, size_t n,
                       struct tare_arena *memory, struct tare_predict_card *cards, struct tare_err *err)
{
	enum check check = o->check_answers < 0 ? CHECK_AUTO : (enum check)o->check_answers;

	if (check == CHECK_NEVER || !cards[0].read_back_nr || (check == CHECK_AUTO && cards[0].ns > AUTO_NS))
		return 0;
	return tare_predict_ask_answers(how, memory, cards, n, err);
}

static bool is_number(int64_t value, int64_t most)
{
	return value == NOT_GIVEN || (value > 0 && value <= most);
}

static int check_options(const struct options *o, struct tare_err *err)
{
	char *answers_at;

	if (tare_answer_at_join(&o->answers_at, &answers_at, err) != 0)
		return err->code;
	free(answers_at);
	if (!is_number(o->gpus, TARE_START_RANKS_MOST))
		return tare_err_set(err, TARE_E_USAGE, "predict: --gpus takes 1 to %d", TARE_START_RANKS_MOST);
	if (!is_number(o->ranks, TARE_START_RANKS_MOST))
		return tare_err_set(err, TARE_E_USAGE, "predict: --ranks takes 1 to %d", TARE_START_RANKS_MOST);
	if (o->gpus != NOT_GIVEN && o->gpus < o->ranks)
		return tare_err_set(err, TARE_E_USAGE,
		                    "predict: --ranks %lld needs as many GPUs, and --gpus gives %lld: leave --gpus out",
		                    (long long)o->ranks, (long long)o->gpus);
	if (o->largest && o->grid.count)
		return tare_err_set(
			err, TARE_E_USAGE,
			"predict: --largest searches one number and --grid tries all that it is given; take one of them");
	if (o->keep && o->grid.count)
		return tare_err_set(
			err, TARE_E_USAGE,
			"predict: --keep keeps one recording for each card, and a grid has many; run the cell of interest without --grid");
	if (o->keep && mkdir(o->keep, 0777) != 0 && errno != EEXIST)
		return tare_err_set_errno(err, errno, "%s: the folder for recordings cannot be made", o->keep);
	return 0;
}

static int64_t gpus_of(const struct options *o)
{
	int64_t gpus = o->ranks > o->part.part ? o->ranks : o->part.part;

	return o->gpus != NOT_GIVEN ? o->gpus : gpus > 0 ? gpus : 1;
}

static void print(struct tare_cmd_call *c, const struct options *o, const struct tare_predict_card *cards, size_t n,
                  const struct tare_predict_largest *largest, const struct tare_predict_prices *prices)
{
	struct tare_emit e;

	tare_cmd_begin(c, &e);
	if (o->grid.count)
		tare_predict_grid_print(&e, cards, n, prices);
	else
		tare_predict_print(&e, cards, (int)n, largest, prices);
	tare_emit_end(&e);
}

static int record(int argc, char **argv)
{
	return tare_cmd_call(&tare_command_record, argc, argv);
}

int tare_cmd_predict(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	char *const *argv = (char *const *)c->rest.items;
	struct tare_predict_options how = {
		.keep = o->keep,
		.gpus = gpus_of(o),
		.ranks = o->ranks != NOT_GIVEN && !tare_starts_ranks(argv) ? o->ranks : 0,
		.part = o->part,
		.argv = argv,
		.answers_at = &o->answers_at,
		.answers = o->answers < 0 ? NULL : tare_answer_names[o->answers],
		.has_own_caches = o->caches == CACHES_OWN,
		.record = record,
	};
	struct tare_predict_largest largest = { 0 };
	struct tare_predict_prices prices = { 0 };
	struct tare_predict_card *cards = NULL;
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };
	const char *names[CARDS_MAX];
	size_t n = 0;
	int rc = check_options(o, err);

	if (!rc)
		rc = tare_predict_parse_prices(&o->prices, &memory, &prices, err);
	if (!rc)
		rc = split_cards(&o->cards, &memory, names, &n, err);
	if (!rc && o->grid.count) {
		rc = tare_predict_grid(&how, &o->grid, names, &n, &memory, &cards, err);
	} else if (!rc) {
		cards = tare_arena_alloc(&memory, n * sizeof(*cards));
		rc = run_cards(&how, o->largest, names, n, &memory, cards, &largest, err);
		if (!rc)
			rc = ask_answers(o, &how, n, &memory, cards, err);
	}
	if (!rc) {
		print(c, o, cards, n, &largest, &prices);
		for (size_t i = 0; i < n; i++)
			if (cards[i].has_failed && c->code == TARE_EXIT_OK)
				c->code = TARE_EXIT_LIMIT;
			else if (!cards[i].fits && !cards[i].has_failed)
				c->code = TARE_EXIT_NO_FIT;
	}
	return rc;
}
