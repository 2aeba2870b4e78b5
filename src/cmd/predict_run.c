/* SPDX-License-Identifier: Apache-2.0 */
/* A program on one simulated card: recorded by a process of its own, then read at its worst moment. */
#include "cmd/predict.h"

#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/profiles.h"
#include "ledger/build.h"
#include "session/child.h"
#include "sweep/machine.h"
#include "trace/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* `tare record` in a child. Its stdout is ours to answer on, so the program's goes to stderr. */
static int record(const struct tare_predict_options *o, const char *sim, const char *recording,
		  int *status, struct tare_err *err)
{
	size_t n = 0, count = 0;
	char **argv;
	pid_t child;

	while (o->argv[count])
		count++;
	argv = calloc(count + 10, sizeof(*argv));
	if (!argv)
		return tare_err_set_errno(err, ENOMEM, "predict: the command is too long");
	argv[n++] = (char *)"record";
	argv[n++] = (char *)"--sim";
	argv[n++] = (char *)sim;
	argv[n++] = (char *)"--quiet";
	argv[n++] = (char *)"-f";
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)recording;
	argv[n++] = (char *)"--";
	memcpy(argv + n, o->argv, count * sizeof(*argv));
	n += count;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		_exit(o->record((int)n, argv));
	}
	free(argv);
	if (child < 0)
		return tare_err_set_errno(err, errno, "predict: no process can be started");
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return tare_err_set_errno(err, errno,
						  "predict: the program was lost sight of");
	return 0;
}

/* The device that needs most. */
static const struct tare_device_ledger *largest(const struct tare_ledger *ledger)
{
	const struct tare_device_ledger *best = NULL;

	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];

		if (tare_device_ledger_is_gpu(d) && d->simulated &&
		    (!best || d->peak_used > best->peak_used))
			best = d;
	}
	return best;
}

static void assume(struct tare_predict_card *card, const char *what, int64_t bytes,
		   const char *rule)
{
	if (card->assumed_nr < (int)(sizeof(card->assumed) / sizeof(card->assumed[0])))
		card->assumed[card->assumed_nr++] =
			(struct tare_predict_assumed){ what, rule, bytes };
}

static int64_t bytes_of(const struct tare_device_ledger *d, enum tare_account account)
{
	int64_t bytes = 0;

	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].account == account && tare_row_is_end(&d->rows[i]))
			bytes += d->rows[i].bytes;
	return bytes;
}

/*
 * How far off the figure may be: of 62 trainings that were measured on an H200 and 19 on an H100 the worst was 3.04 % below
 * (docs/measurements/simulated.md). Of a card that nobody measured, context and code may be another's by a quarter.
 */
static void take_range(struct tare_predict_card *card, const struct tare_device_ledger *d)
{
	int64_t off = card->need / 100 * 4, own = 0;

	assume(card, "workspaces of libraries", off,
	       "as the libraries say without a card, or by rule: within 4 %");
	if (!card->is_measured) {
		own = (bytes_of(d, TARE_ACCOUNT_CONTEXT) + bytes_of(d, TARE_ACCOUNT_CODE)) / 4;
		assume(card, "context and code", own,
		       "nobody measured this card: within a quarter");
	}
	card->low = card->need - off - own;
	card->high = card->need + off + own;
}

static void take_oom(struct tare_predict_card *card, const struct tare_ledger *ledger,
		     struct tare_arena *memory)
{
	card->refused = card->missing = -1;
	for (int i = 0; i < ledger->oom_nr; i++) {
		const struct tare_oom *oom = &ledger->ooms[i];

		if (oom->device < 0)
			continue;
		card->is_out_of_memory = true;
		card->line =
			oom->short_source ? tare_arena_strdup(memory, oom->short_source) : NULL;
		card->refused = (int64_t)(oom->segment ? oom->segment : oom->asked);
		if (oom->free <= INT64_MAX)
			card->missing = card->refused - (int64_t)oom->free;
		return;
	}
}

static void take_degraded(struct tare_predict_card *card, const struct tare_ledger *ledger,
			  struct tare_arena *memory)
{
	card->degraded =
		tare_arena_alloc(memory, (size_t)ledger->degraded_nr * sizeof(*card->degraded));
	for (int i = 0; i < ledger->degraded_nr; i++)
		card->degraded[card->degraded_nr++] =
			tare_arena_strdup(memory, ledger->degraded[i]);
}

static int read_recording(const char *path, struct tare_predict_card *card,
			  struct tare_arena *memory, struct tare_err *err)
{
	struct tare_instant peak = { 0 };
	struct tare_recording *recording;
	const struct tare_device_ledger *d;
	struct tare_ledger ledger;
	int rc = tare_recording_open(&recording, path, err);

	if (rc)
		return rc;
	tare_instant_parse("peak", &peak, NULL);
	tare_ledger_of_recording(recording, &(struct tare_ledger_opts){ .without_tensors = true },
				 &peak, 1, &ledger);
	d = largest(&ledger);
	if (d) {
		card->name = tare_arena_strdup(memory, d->name);
		card->total = (int64_t)d->total;
		card->room = (int64_t)(d->total - d->reserved);
		card->need = (int64_t)d->used - d->elastic;
		take_range(card, d);
		take_oom(card, &ledger, memory);
		take_degraded(card, &ledger, memory);
		card->fits = !card->is_out_of_memory && card->need <= card->room;
	} else
		rc = tare_err_set(
			err, TARE_E_NOT_FOUND,
			"predict: the program used no GPU%s; what it printed stands above%s%s",
			card->exit_code ? ", and failed" : "", ledger.degraded_nr ? ": " : "",
			ledger.degraded_nr ? ledger.degraded[0] : "");
	tare_ledger_free(&ledger);
	tare_recording_close(recording);
	return rc;
}

/* NAME or the path of a profile, without what cannot stand in a file's name. */
static void name_recording(struct tare_str *out, const char *folder, const char *card)
{
	const char *slash = strrchr(card, '/');

	tare_str_addf(out, "%s/%s.tare", folder, slash ? slash + 1 : card);
}

int tare_predict_run(const struct tare_predict_options *o, const char *card,
		     struct tare_arena *memory, struct tare_predict_card *out, struct tare_err *err)
{
	struct tare_str recording = { 0 }, sim = { 0 };
	char folder[] = "/tmp/tare-predict-XXXXXX", path[PATH_MAX];
	struct tare_profile profile;
	int rc = tare_profiles_path(card, path, sizeof(path), err), status = 0;

	*out = (struct tare_predict_card){ .card = card, .refused = -1, .missing = -1 };
	if (!rc)
		rc = tare_profiles_read(path, &profile, err);
	if (rc)
		return rc;
	out->is_measured = profile.measured;
	if (!o->keep && !mkdtemp(folder))
		return tare_err_set_errno(err, errno, "%s: no folder can be made for the recording",
					  folder);
	name_recording(&recording, o->keep ? o->keep : folder, card);
	tare_str_add(&sim, card);
	if (o->gpus > 1)
		tare_str_addf(&sim, ":%lld", (long long)o->gpus);
	rc = record(o, tare_str_text(&sim), tare_str_text(&recording), &status, err);
	out->exit_code = tare_child_exit_code(status);
	if (!rc && out->exit_code >= TARE_EXIT_FAILED && out->exit_code <= TARE_EXIT_NOT_FOUND &&
	    access(tare_str_text(&recording), F_OK) != 0)
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "predict: %s could not be run",
				  o->argv[0]);
	if (!rc)
		rc = read_recording(tare_str_text(&recording), out, memory, err);
	if (o->keep)
		out->recording = tare_arena_strdup(memory, tare_str_text(&recording));
	else
		tare_machine_remove(folder);
	tare_str_free(&recording);
	tare_str_free(&sim);
	return rc;
}
