/* SPDX-License-Identifier: Apache-2.0 */
#include "base/args.h"
#include "test.h"

struct options {
	const char *out;
	bool force, json;
	int64_t count;
	double ratio;
	uint64_t cap;
	int64_t interval;
	int by;
	struct tare_operands env;
	bool secret;
	struct tare_arg_part ranks;
};

/* clang-format off */
static const struct tare_opt opts[] = {
	TARE_OPT(options, out, "output", 'o', STRING, "REC", "where the recording goes"),
	TARE_OPT(options, force, "force", 'f', FLAG, NULL, "overwrite"),
	TARE_OPT(options, json, "json", 'j', FLAG, NULL, "print JSON"),
	TARE_OPT(options, count, "count", 'n', INT, "N", "how many"),
	TARE_OPT(options, ratio, "ratio", 0, NUMBER, "X", "how much"),
	TARE_OPT(options, cap, "cap", 0, BYTES, "SIZE", "size limit"),
	TARE_OPT(options, interval, "interval", 0, DURATION, "TIME", "how often"),
	TARE_OPT(options, by, "by", 'b', CHOICE, "account|owner|phase", "one row per what"),
	TARE_OPT(options, env, "env", 'e', LIST, "NAME", "keep a variable"),
	{ .name = "secret", .kind = TARE_ARG_FLAG, .offset = offsetof(struct options, secret),
	  .help = "hidden", .is_hidden = true },
	TARE_OPT_END,
};
/* clang-format on */

static const struct tare_command report = {
	.name = "report",
	.synopsis = "show a ledger",
	.operands = "REC",
	.opts = opts,
	.min_operands = 1,
	.max_operands = 2,
	.examples = "  tare report x.tare",
	.description = "First.\n\nSecond -x.",
};
static const struct tare_command run = {
	.name = "run",
	.synopsis = "record CMD",
	.operands = "CMD",
	.opts = opts,
	.min_operands = 1,
	.is_rest = true,
};

static struct options o;
static struct tare_operands rest;
static struct tare_err err;

/* Words parted by blanks. */
static int parse(const struct tare_command *cmd, const char *line)
{
	static char copy[512];
	static char *argv[32];
	int argc = 0;

	o = (struct options){ .by = -1 };
	err = (struct tare_err){ 0 };
	snprintf(copy, sizeof(copy), "%s %s", cmd->name, line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	return tare_args_parse(cmd, argc, argv, &o, &rest, &err);
}

TEST(every_kind_and_every_spelling)
{
	CHECK_INT(parse(&report, "-fj --output=a --count 7 --ratio .5 --cap 2GiB --interval 20ms "
	                         "--by owner x.tare"),
	          TARE_ARGS_GO);
	CHECK(o.force && o.json && !o.secret);
	CHECK_STR(o.out, "a");
	CHECK_INT(o.count, 7);
	CHECK(o.ratio == .5);
	CHECK_INT(o.cap, INT64_C(2) << 30);
	CHECK_INT(o.interval, 20000000);
	CHECK_INT(o.by, 1);
	CHECK_INT(rest.count, 1);
	CHECK_STR(rest.items[0], "x.tare");
	CHECK(!rest.items[1]);
	tare_operands_free(&rest);

	CHECK_INT(parse(&report, "x -n-3 -fob y --secret -e A -eB --env=C"), TARE_ARGS_GO);
	CHECK_INT(o.count, -3);
	CHECK_STR(o.out, "b");
	CHECK(o.secret);
	CHECK_INT(rest.count, 2);
	CHECK_INT(o.env.count, 3);
	CHECK_STR(o.env.items[2], "C");
	tare_operands_free(&o.env);
	tare_operands_free(&rest);
}

TEST(rest_starts_at_the_first_operand)
{
	CHECK_INT(parse(&run, "-f python -n x --help"), TARE_ARGS_GO);
	CHECK_INT(rest.count, 4);
	CHECK_STR(rest.items[0], "python");
	CHECK_STR(rest.items[3], "--help");
	tare_operands_free(&rest);
	CHECK_INT(parse(&run, "-- -weird --force"), TARE_ARGS_GO);
	CHECK_INT(rest.count, 2);
	CHECK(!o.force);
	tare_operands_free(&rest);
	CHECK_INT(parse(&run, "prog -- -f"), TARE_ARGS_GO);
	CHECK_INT(rest.count, 3);
	tare_operands_free(&rest);
}

static const struct tare_opt part_opts[] = {
	TARE_OPT(options, ranks, "ranks", 'r', PART, "K of N", "some of many"),
	TARE_OPT(options, force, "force", 'f', FLAG, NULL, "overwrite"),
	TARE_OPT_END,
};
static const struct tare_command parts = {
	.name = "parts",
	.operands = "CMD",
	.opts = part_opts,
	.min_operands = 1,
	.is_rest = true,
};

static void parse_part(const char *line, int64_t part, int64_t whole)
{
	CHECK_INT(parse(&parts, line), TARE_ARGS_GO);
	CHECK_INT(o.ranks.part, part);
	CHECK_INT(o.ranks.whole, whole);
	CHECK(o.force);
	CHECK_STR(rest.items[0], "prog");
	tare_operands_free(&rest);
}

TEST(a_part_is_one_word_or_three)
{
	char *argv[] = { "parts", "--ranks", "2 of 64", "of", "x", NULL };

	parse_part("--ranks 2 of 64 -f prog of 7", 2, 64);
	parse_part("-f -r 64 of 64 -- prog", 64, 64);
	CHECK_INT(tare_args_parse(&parts, 5, argv, &o, &rest, &err), TARE_ARGS_GO);
	CHECK_INT(o.ranks.part, 2);
	CHECK_STR(rest.items[0], "of");
	tare_operands_free(&rest);
}

TEST(a_part_that_is_none_is_named)
{
	static const char *const bad[] = { "2",       "2 of x", "2 of 64x", "0 of 4", "5 of 4",
		                               "-1 of 4", "2 of",   "a of b",   "2of",    "99999999999999999999 of 4" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *argv[] = { "parts", "--ranks", (char *)bad[i], "prog", NULL };

		err = (struct tare_err){ 0 };
		CHECK_INT(tare_args_parse(&parts, 4, argv, &o, &rest, &err), TARE_E_USAGE);
		CHECK_HAS(err.text, "--ranks wants two whole numbers such as 2 of 64");
		CHECK_HAS(err.text, bad[i]);
	}
	CHECK_INT(parse(&parts, "--ranks 3 of 2 prog"), TARE_E_USAGE);
	CHECK_STR(err.text, "parts: --ranks wants two whole numbers such as 2 of 64, the first no larger than the second, "
	                    "not \"3 of 2\" (out of range)");
}

TEST(a_dash_alone_is_an_operand)
{
	CHECK_INT(parse(&report, "-"), TARE_ARGS_GO);
	CHECK_STR(rest.items[0], "-");
	tare_operands_free(&rest);
}

TEST(help_stops_parsing)
{
	CHECK_INT(parse(&report, "--help --nonsense"), TARE_ARGS_HELP);
	CHECK_INT(parse(&report, "-fh"), TARE_ARGS_HELP);
}

static void refuse(const char *line, const char *message)
{
	CHECK_INT(parse(&report, line), TARE_E_USAGE);
	CHECK_INT(err.code, TARE_E_USAGE);
	CHECK_STR(err.text, message);
}

TEST(mistakes_are_named)
{
	refuse("--jsn x", "report: there is no option --jsn; did you mean --json?");
	refuse("--ouptut=x x", "report: there is no option --ouptut; did you mean --output?");
	refuse("--secrets x", "report: there is no option --secrets; see tare report --help");
	refuse("-x r", "report: there is no option -x; see tare report --help");
	refuse("-fx r", "report: there is no option -x; see tare report --help");
	refuse("--json=1 x", "report: --json takes no value; see tare report --help");
	refuse("x --cap", "report: --cap needs a value; see tare report --help");
	refuse("x -o", "report: -o needs a value; see tare report --help");
	refuse("x -n 1x", "report: --count wants a whole number, not \"1x\"");
	refuse("x -n 99999999999999999999",
	       "report: --count wants a whole number, not \"99999999999999999999\" (out of range)");
	refuse("x --ratio no", "report: --ratio wants a number, not \"no\"");
	refuse("x --cap big", "report: --cap wants a size such as 8GiB or 512m, not \"big\"");
	refuse("x --interval 3x", "report: --interval wants a time such as 2s or 500ms, not \"3x\"");
	refuse("x --by line", "report: --by wants account|owner|phase, not \"line\"");
	refuse("", "report: REC is missing; see tare report --help");
	refuse("a b c", "report: \"c\" is one operand too many; see tare report --help");
}

TEST(help_text)
{
	struct tare_str s = { 0 };

	tare_args_help_within(&report, SIZE_MAX, &s);
	CHECK_HAS(tare_str_text(&s), "usage: tare report [OPTION]… REC\n\nshow a ledger\n\nFirst.\n\nSecond -x.\n\n");
	CHECK_HAS(tare_str_text(&s), "\n  -o, --output REC            where the recording goes\n");
	CHECK_HAS(tare_str_text(&s), "\n  -b, --by account|owner|phase\n                           "
	                             "   one row per what\n");
	CHECK_HAS(tare_str_text(&s), "\n  -h, --help                  print this and exit\n\n  tare report x.tare\n");
	CHECK(!strstr(tare_str_text(&s), "secret"));
	tare_str_free(&s);
}

TEST(man_page_names_every_option)
{
	struct tare_str s = { 0 };

	tare_args_man(&report, &s);
	CHECK_HAS(tare_str_text(&s), ".SH SYNOPSIS\ntare report [OPTION]… REC\n");
	CHECK_HAS(tare_str_text(&s), ".TP\n\\-o, \\-\\-output REC\nwhere the recording goes\n");
	CHECK_HAS(tare_str_text(&s), "First.\n.PP\nSecond \\-x.\n");
	CHECK(!strstr(tare_str_text(&s), "secret"));
	tare_str_free(&s);
}

TEST(completion_names_commands_options_and_words)
{
	const struct tare_command *cmds[] = { &report, &run, NULL };
	struct tare_str s = { 0 };

	tare_args_bash(cmds, &s);
	CHECK_HAS(tare_str_text(&s), "words=\"report run \"");
	CHECK_HAS(tare_str_text(&s), "--by) words=\"account owner phase\" ;;");
	CHECK_HAS(tare_str_text(&s), "--output --force --json");
	tare_str_free(&s);
}

TEST(completions_of_zsh_and_fish_name_the_same)
{
	const struct tare_command *cmds[] = { &report, &run, NULL };
	struct tare_str zsh = { 0 }, fish = { 0 };

	tare_args_zsh(cmds, &zsh);
	CHECK_HAS(tare_str_text(&zsh), "_tare_commands=\"report run\"");
	CHECK_HAS(tare_str_text(&zsh), "--by|-b) values=\"account owner phase\" ;;");
	CHECK_HAS(tare_str_text(&zsh), " '--output:where the recording goes' ");
	CHECK(!strstr(tare_str_text(&zsh), "secret"));
	tare_args_fish(cmds, &fish);
	CHECK_HAS(tare_str_text(&fish), "set -g _tare_commands report run\n");
	CHECK_HAS(tare_str_text(&fish), "complete -c tare -n '_tare_in report' -l by -s b -x -a 'account owner phase' -d ");
	CHECK_HAS(tare_str_text(&fish), " -l output -s o -r -d 'where the recording goes'\n");
	CHECK(!strstr(tare_str_text(&fish), "secret"));
	tare_str_free(&zsh);
	tare_str_free(&fish);
}
