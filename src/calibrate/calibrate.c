/* SPDX-License-Identifier: Apache-2.0 */
/* Runs probes until every constant of a GPU has a value that repeats. */
#include "calibrate/calibrate.h"

#include "base/now.h"
#include "base/self_path.h"
#include "base/str.h"
#include "base/temp_folder.h"
#include "base/xalloc.h"
#include "calibrate/vote.h"
#include "calibrate/worker.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 30000 /* the driver of a machine with many GPUs takes its time */
#define PROBE_MS 20000
#define TOTAL_NS INT64_C(18000000000) /* no pass is begun that would end later */

static const struct {
	const char *what;
} probes[TARE_PROBES] = {
#define TARE_PROBE(NAME, WHAT) [TARE_PROBE_##NAME] = { WHAT },
#include "calibrate/probe.def"
};

/* Which probe finds a key. */
static const int probe_of[TARE_PROFILE_KEYS] = {
#define TARE_PROFILE(KEY, KIND, HOW, WITHIN, PROBE, FALLBACK, MEANING) [TARE_PROFILE_##KEY] = TARE_PROBE_##PROBE,
#include "profile/profile.def"
};

struct calibration {
	struct tare_worker_job job;
	struct tare_vote votes[TARE_PROFILE_KEYS];
	int needed;
	char *state; /* folder of the simulated machine that is ours */
	struct tare_calibration *out;
	struct tare_err *err;
};

/* ---- one pass ---- */
/* What one probe said, until its end says whether it can be believed. */
struct pass {
	struct tare_message said[TARE_PROFILE_KEYS];
	bool has_said[TARE_PROFILE_KEYS];
	int probe; /* that runs */
	int next;  /* where to go on if it does not come back */
	bool is_done;
};

static int patience_ms(int ms)
{
	const char *test = getenv("TARE_TEST_CALIBRATE_MS");

	return test && *test ? atoi(test) : ms;
}

static bool is_believed(const struct tare_message *end, enum tare_profile_key key)
{
	return end->kind == TARE_MESSAGE_END || tare_profile_rows[key].how < TARE_PROFILE_HOW_WEIGHED;
}

/* Why a probe has not said a key: what its last failed call or another key of it says. */
static const char *why_silent(const struct pass *pass, const struct tare_message *end)
{
	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		if (probe_of[key] == pass->probe && pass->has_said[key] && pass->said[key].kind == TARE_MESSAGE_LACK)
			return pass->said[key].why;
	return *end->why ? end->why : "the readings fit no rule";
}

static void end_probe(struct calibration *c, struct pass *pass, const struct tare_message *end)
{
	for (int key = 0; key < TARE_PROFILE_KEYS; key++) {
		struct tare_message lack = { .kind = TARE_MESSAGE_LACK };

		if (probe_of[key] != pass->probe)
			continue;
		if (!is_believed(end, (enum tare_profile_key)key)) {
			tare_vote_cast_noise(&c->votes[key]);
		} else if (pass->has_said[key]) {
			tare_vote_cast(&c->votes[key], &pass->said[key]);
		} else {
			snprintf(lack.why, sizeof(lack.why), "%s", why_silent(pass, end));
			tare_vote_cast(&c->votes[key], &lack);
		}
	}
}

/* Whatever it had said is lost: it may have said it of a driver that was broken already. */
static void lose_probe(struct calibration *c, int probe, const char *how)
{
	struct tare_str why = { 0 };

	tare_str_addf(&why, "%s while %s", how, probes[probe].what);
	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		if (probe_of[key] == probe)
			tare_vote_cast_failure(&c->votes[key], tare_str_text(&why));
	tare_str_free(&why);
}

static void take_message(struct calibration *c, struct pass *pass, const struct tare_message *message)
{
	switch (message->kind) {
	case TARE_MESSAGE_STARTED:
		snprintf(c->out->scale, sizeof(c->out->scale), "%s", message->why);
		break;
	case TARE_MESSAGE_BEGIN:
		memset(pass->has_said, 0, sizeof(pass->has_said));
		pass->probe = message->probe;
		pass->next = message->probe + 1;
		break;
	case TARE_MESSAGE_VALUE:
	case TARE_MESSAGE_LACK:
		pass->said[message->key] = *message;
		pass->has_said[message->key] = true;
		break;
	case TARE_MESSAGE_END:
	case TARE_MESSAGE_NOISE:
		end_probe(c, pass, message);
		pass->probe = -1;
		break;
	case TARE_MESSAGE_DONE:
		pass->is_done = true;
		break;
	default:
		break;
	}
}

static int refuse(struct calibration *c, const char *why)
{
	return tare_err_set(c->err, TARE_E_UNSUPPORTED,
	                    "calibrate: no GPU can be measured here: %s; tare doctor checks this machine, "
	                    "tare calibrate --sim h200 measures the simulated GPU",
	                    why);
}

/* One process through all wanted probes from pass->next on. */
static int run_worker(struct calibration *c, struct pass *pass)
{
	struct tare_probe_worker worker = { 0 };
	struct tare_message message;
	char how[TARE_MESSAGE_TEXT];
	bool is_started = false;
	int rc = tare_worker_probe(&worker, &c->job, pass->next, c->err);

	if (rc)
		return rc;
	pass->probe = -1;
	while (rc == 0 && !pass->is_done) {
		if (!tare_worker_next(&worker, &message, patience_ms(is_started ? PROBE_MS : START_MS), how, sizeof(how))) {
			if (pass->probe < 0)
				rc = refuse(c, how);
			else
				lose_probe(c, pass->probe, how);
			break;
		}
		is_started = true;
		if (message.kind == TARE_MESSAGE_FAILED)
			rc = refuse(c, message.why);
		else
			take_message(c, pass, &message);
	}
	tare_worker_finish(&worker);
	return rc;
}

/* A process that has the driver open: what that takes is for all that come after it. */
static int start_first(struct calibration *c, struct tare_probe_worker *first)
{
	struct tare_message message;
	char how[TARE_MESSAGE_TEXT];
	int rc = tare_worker_hold(first, &c->job, c->err);

	if (rc)
		return rc;
	if (!tare_worker_next(first, &message, patience_ms(START_MS), how, sizeof(how)))
		rc = refuse(c, how);
	else if (message.kind == TARE_MESSAGE_FAILED)
		rc = refuse(c, message.why);
	c->job.first_init = message.value;
	if (rc)
		tare_worker_finish(first);
	return rc;
}

static int run_pass(struct calibration *c)
{
	struct pass *pass = tare_xcalloc(1, sizeof(*pass));
	struct tare_probe_worker first;
	int rc = start_first(c, &first);

	if (rc == 0) {
		while (rc == 0 && !pass->is_done && pass->next < TARE_PROBES)
			rc = run_worker(c, pass);
		tare_worker_finish(&first);
	}
	free(pass);
	return rc;
}

/* ---- all passes ---- */
/* Which probes have something left to find; false: none has. */
static bool want_probes(struct calibration *c)
{
	bool is_any = false;

	memset(c->job.is_wanted, 0, sizeof(c->job.is_wanted));
	for (int key = 0; key < TARE_PROFILE_KEYS; key++) {
		const struct tare_message *best = tare_vote_winner(&c->votes[key], c->needed);

		if (best && tare_profile_rows[key].kind != TARE_PROFILE_KIND_TEXT) {
			tare_profile_set_number(&c->job.known, (enum tare_profile_key)key, best->value);
			c->job.is_known[key] = true;
		}
		if (tare_profile_rows[key].how == TARE_PROFILE_HOW_GIVEN || tare_vote_is_settled(&c->votes[key], c->needed))
			continue;
		c->job.is_wanted[probe_of[key]] = is_any = true;
	}
	return is_any;
}

/* A slow machine gets one pass: what is quiet is then believed, as with --quick. */
static int run_passes(struct calibration *c)
{
	int64_t begin = tare_now_ns(CLOCK_MONOTONIC), last = 0;
	int rc = 0;

	for (int i = 0; i < TARE_VOTE_PASSES && rc == 0 && want_probes(c); i++) {
		int64_t at = tare_now_ns(CLOCK_MONOTONIC);

		if (at + last - begin > TOTAL_NS) {
			c->needed = 1;
			break;
		}
		rc = run_pass(c);
		last = tare_now_ns(CLOCK_MONOTONIC) - at;
	}
	return rc;
}

/* ---- the simulated GPU ---- */

/* Its processes meet in a folder: that of TARE_SIM_DIR, or one of our own. */
static int find_sim(struct calibration *c, const char *profile)
{
	const char *state = getenv("TARE_SIM_DIR");
	char folder[PATH_MAX];
	int rc;

	if (tare_self_path(TARE_SELF_SIM_DIR, folder, sizeof(folder)))
		return tare_err_set(c->err, TARE_E_NOT_FOUND, "%s: the simulated GPU is not there; install tare again", folder);
	c->job.driver = tare_str_format("%s/libcuda.so.1", folder);
	c->job.nvml = tare_str_format("%s/libnvidia-ml.so.1", folder);
	c->job.sim_profile = tare_xstrdup(profile);
	if (state && *state)
		return 0;
	rc = tare_temp_folder_make(NULL, "tare-calibrate-XXXXXX", &c->state, c->err);
	if (rc)
		return rc;
	c->job.sim_state = tare_xstrdup(c->state);
	return 0;
}

int tare_calibrate(const struct tare_calibrate_options *options, struct tare_calibration *out, struct tare_err *err)
{
	struct calibration *c = tare_xcalloc(1, sizeof(*c));
	int64_t begin = tare_now_ns(CLOCK_MONOTONIC);
	int rc = 0;

	memset(out, 0, sizeof(*out));
	tare_profile_set_fallbacks(&out->profile);
	c->out = out;
	c->err = err;
	c->needed = options->is_quick ? 1 : 2;
	c->job.device = options->device;
	c->job.known = out->profile;
	if (options->sim)
		rc = find_sim(c, options->sim);
	if (rc == 0)
		rc = run_passes(c);
	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		tare_vote_conclude(&c->votes[key], (enum tare_profile_key)key, c->needed, out);
	tare_temp_folder_remove(c->state);
	out->ns = tare_now_ns(CLOCK_MONOTONIC) - begin;
	free(c->job.driver);
	free(c->job.nvml);
	free(c->job.sim_profile);
	free(c->job.sim_state);
	free(c);
	return rc;
}
