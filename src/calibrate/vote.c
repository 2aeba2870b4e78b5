/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what measurements said of a key, and decides which value is believed. */
#include "calibrate/vote.h"

#include <stdio.h>
#include <string.h>

static bool is_same(const struct tare_message *a, const struct tare_message *b)
{
	return a->value == b->value && a->low == b->low && a->high == b->high && strcmp(a->text, b->text) == 0;
}

void tare_vote_cast(struct tare_vote *vote, const struct tare_message *message)
{
	int i;

	if (message->kind == TARE_MESSAGE_LACK) {
		vote->lacks++;
		snprintf(vote->why, sizeof(vote->why), "%s", message->why);
		return;
	}
	for (i = 0; i < vote->values && !is_same(&vote->said[i], message);)
		i++;
	if (i == TARE_VOTE_PASSES)
		return;
	if (i == vote->values)
		vote->said[vote->values++] = *message;
	vote->times[i]++;
}

void tare_vote_cast_noise(struct tare_vote *vote)
{
	vote->noises++;
}

void tare_vote_cast_failure(struct tare_vote *vote, const char *why)
{
	vote->failures++;
	snprintf(vote->why, sizeof(vote->why), "%s", why);
}

/* Where others were at work, what was quiet may be luck. */
static int enough(const struct tare_vote *vote, int needed)
{
	return vote->noises ? 3 : needed;
}

static int winner(const struct tare_vote *vote, int needed)
{
	int best = -1, i;

	for (i = 0; i < vote->values; i++)
		if (vote->times[i] >= enough(vote, needed) && (best < 0 || vote->times[i] > vote->times[best]))
			best = i;
	return best;
}

const struct tare_message *tare_vote_winner(const struct tare_vote *vote, int needed)
{
	int best = winner(vote, needed);

	return best < 0 ? NULL : &vote->said[best];
}

/* A crash is not asked for twice. */
bool tare_vote_is_settled(const struct tare_vote *vote, int needed)
{
	return winner(vote, needed) >= 0 || vote->lacks >= enough(vote, needed) || vote->failures;
}

static void write_values(const struct tare_vote *vote, enum tare_profile_key key, char *out, size_t size)
{
	char text[TARE_PROFILE_TEXT_MAX];
	size_t at = 0;

	for (int i = 0; i < vote->values && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "it did not repeat: ",
		                       tare_profile_format_number(key, vote->said[i].value, text));
}

void tare_vote_conclude(const struct tare_vote *vote, enum tare_profile_key key, int needed,
                        struct tare_calibration *out)
{
	struct tare_calibrate_key *about = &out->keys[key];
	int best = winner(vote, needed);

	if (tare_profile_rows[key].how == TARE_PROFILE_HOW_GIVEN) {
		about->state = TARE_CALIBRATE_GIVEN;
		snprintf(about->why, sizeof(about->why), "the same for all");
		return;
	}
	if (best >= 0) {
		const struct tare_message *said = &vote->said[best];

		about->state = TARE_CALIBRATE_MEASURED;
		about->low = said->low;
		about->high = said->high;
		about->readings = vote->times[best];
		snprintf(about->why, sizeof(about->why), "%s", said->why);
		if (tare_profile_rows[key].kind == TARE_PROFILE_KIND_TEXT)
			tare_profile_set(&out->profile, key, said->text);
		else
			tare_profile_set_number(&out->profile, key, said->value);
		return;
	}
	if (vote->failures)
		about->state = TARE_CALIBRATE_FAILED;
	else if (vote->noises && vote->lacks < enough(vote, needed))
		about->state = TARE_CALIBRATE_IN_USE;
	else
		about->state = vote->lacks ? TARE_CALIBRATE_LACKS : TARE_CALIBRATE_FAILED;
	if (about->state == TARE_CALIBRATE_IN_USE)
		snprintf(about->why, sizeof(about->why), "GPU in use");
	else if (vote->lacks || vote->failures)
		snprintf(about->why, sizeof(about->why), "%s", vote->why);
	else
		write_values(vote, key, about->why, sizeof(about->why));
}
