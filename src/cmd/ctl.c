/* SPDX-License-Identifier: Apache-2.0 */
/* `tare ctl`: tells a recording that runs what to do, and says how it stands. */
#include "base/emit.h"
#include "base/hint.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "session/control.h"

#include <string.h>
#include <unistd.h>

struct options {
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_ctl = {
	.name = "ctl",
	.synopsis = "pause, resume or stop a recording while it runs, or name an instant of it",
	.operands = "REC|PID ACTION [NAME]",
	.words = "pause|resume|snapshot|stop|status",
	.description =
		"REC is the folder of a recording that runs, PID the process of its tare or of a recorded program; an ACTION "
		"alone is for the newest NAME.tare here. ACTION is one of:\n\n"
		"pause: from now on only ends of objects are recorded (frees, destroyed contexts), so that the ledger does "
		"not keep what is gone. What the device gains or loses otherwise is in one row of the report, \"while "
		"recording was paused\". The recorded program does nothing more than look at one word per call.\n\n"
		"resume: everything is recorded again.\n\n"
		"snapshot: reads memory, processes and host memory now, and gives this instant a name: tare report REC --at "
		"snapshot:1, or --at snapshot:NAME.\n\n"
		"stop: recording ends for good, and so does the report; the program runs on.\n\n"
		"status: says whether the recording runs, is paused or was stopped. This is the default ACTION.\n\n"
		"tare run --paused starts a recording paused. The exit code is 0, 2 for a mistake on the command line, 125 if "
		"there is nothing to command.",
	.examples = "tare run --paused -o train.tare -- python train.py\n"
				"tare ctl train.tare resume\n"
				"tare ctl train.tare snapshot before-epoch-2\n"
				"tare ctl 4711 pause\n"
				"tare ctl snapshot before-epoch-2",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 1,
	.max_operands = 3,
	.progress = "waiting",
	.run = tare_cmd_ctl,
};

/* What can be done, `status` besides. */
static const struct {
	enum tare_act act;
	const char *word;
	const char *done, *already;
} actions[] = {
	{ TARE_ACT_PAUSE, "pause", "paused", "is paused already" },
	{ TARE_ACT_RESUME, "resume", "resumed", "is recording already" },
	{ TARE_ACT_STOP, "stop", "stopped", "was stopped already" },
	{ TARE_ACT_SNAPSHOT, "snapshot", "", "" },
};
enum { ACTION_NR = sizeof(actions) / sizeof(actions[0]), STATUS = ACTION_NR, UNKNOWN };

static int find_action(const char *word)
{
	int i = 0;

	if (!word || strcmp(word, "status") == 0)
		return STATUS;
	while (i < ACTION_NR && strcmp(actions[i].word, word) != 0)
		i++;
	return i < ACTION_NR ? i : UNKNOWN;
}

static const char *state_name(const struct tare_controlled *c)
{
	switch (TARE_COMMAND_OF(__atomic_load_n(&c->page->command, __ATOMIC_ACQUIRE))) {
	case TARE_COMMAND_RECORD:
		return "recording";
	case TARE_COMMAND_PAUSE:
		return "paused";
	default:
		return "stopped";
	}
}

static void print_status(struct tare_cmd_call *call, const struct tare_controlled *c)
{
	struct tare_emit e;

	tare_emit_begin(&e, call->format, &call->out);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_str(&e, "recording", c->path);
	tare_emit_str(&e, "state", state_name(c));
	tare_emit_flag(&e, "has_tare", c->has_tare);
	tare_emit_uint(&e, "processes", c->running);
	tare_emit_uint(&e, "snapshots", c->page->snapshots);
	tare_emit_note(&e, "%s: %s%s · %llu process%s of it run%s · %llu snapshot%s", c->path, state_name(c),
	               c->has_tare ? "" : ", its tare was killed", (unsigned long long)c->running,
	               c->running == 1 ? "" : "es", c->running == 1 ? "s" : "", (unsigned long long)c->page->snapshots,
	               c->page->snapshots == 1 ? "" : "s");
	tare_emit_end(&e);
}

static int act(struct tare_controlled *c, int action, const char *name, struct tare_str *out, struct tare_err *err)
{
	uint32_t number;
	int rc = tare_control_act(c, actions[action].act, name, &number, err);

	if (rc)
		return rc;
	tare_text_add_name(out, c->path);
	if (actions[action].act == TARE_ACT_SNAPSHOT) {
		tare_str_addf(out, ": snapshot:%u%s", (unsigned)number, *name ? " " : "");
		tare_text_add_name(out, name);
	} else {
		tare_str_addf(out, ": %s", number ? actions[action].done : actions[action].already);
	}
	tare_str_add_char(out, '\n');
	return 0;
}

static int no_action(const char *word, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str hint = { 0 };

	tare_hint_word(&hint, word, "pause|resume|snapshot|stop|status");
	tare_err_set(err, TARE_E_USAGE, "ctl: '%s' is no action; say pause, resume, snapshot, stop or status%s", word,
	             tare_str_text(&hint));
	return TARE_E_USAGE;
}

static int check(const struct tare_operands *rest, int action, struct tare_err *err)
{
	if (action == UNKNOWN)
		return no_action(rest->items[1], err);
	if (rest->count == 3 && (action == STATUS || actions[action].act != TARE_ACT_SNAPSHOT))
		return tare_err_set(err, TARE_E_USAGE, "ctl: only a snapshot has a name; leave out '%s'", rest->items[2]);
	if (rest->count == 3 && (strlen(rest->items[2]) > 100 || !rest->items[2][0]))
		return tare_err_set(err, TARE_E_USAGE, "ctl: the name of a snapshot has 1 to 100 characters");
	return 0;
}

/* Does a word mean a recording, even one that is not there? Else it may be the name of a snapshot. */
static bool is_recording(const char *word)
{
	size_t len = strlen(word);

	return access(word, F_OK) == 0 || strchr(word, '/') || !word[strspn(word, "0123456789")] ||
	       (len > 5 && !strcmp(word + len - 5, ".tare"));
}

/*
 * Into the order REC ACTION NAME. `tare ctl pause REC`, as other commands have it, is meant the same way, and an action alone
 * is for the newest recording here.
 */
static int arrange(struct tare_operands *rest, struct tare_arena *names, struct tare_err *err)
{
	bool is_first = access(rest->items[0], F_OK) != 0 && find_action(rest->items[0]) != UNKNOWN;
	struct tare_operands all = { 0 };
	size_t used = 0;
	int rc = 0;

	if (!is_first)
		return 0;
	if (rest->count > 1 && (is_recording(rest->items[1]) || strcmp(rest->items[0], "snapshot") != 0))
		tare_operands_add(&all, rest->items[used = 1]);
	else
		rc = tare_newest_add(&all, names, false, "ctl", err);
	for (size_t i = 0; i < rest->count && !rc; i++)
		if (!used || i != used)
			tare_operands_add(&all, rest->items[i]);
	tare_operands_free(rest);
	*rest = all;
	return rc;
}

int tare_cmd_ctl(struct tare_cmd_call *call, void *options, struct tare_err *err)
{
	const struct tare_operands *rest = &call->rest;
	struct tare_controlled c;
	int rc = arrange(&call->rest, &call->names, err), action;

	(void)options;
	if (rc)
		return rc;
	action = find_action(rest->count > 1 ? rest->items[1] : NULL);
	rc = check(rest, action, err);
	if (!rc)
		rc = tare_control_open(&c, rest->items[0], err);
	if (rc)
		return rc;
	if (action == STATUS)
		print_status(call, &c);
	else
		rc = act(&c, action, rest->count > 2 ? rest->items[2] : "", &call->out, err);
	tare_control_close(&c);
	return rc;
}
