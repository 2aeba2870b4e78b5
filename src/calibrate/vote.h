/* SPDX-License-Identifier: Apache-2.0 */
/* What several measurements said of each key, and which value to believe. */
#ifndef TARE_CALIBRATE_VOTE_H
#define TARE_CALIBRATE_VOTE_H

#include "calibrate/calibrate.h"
#include "calibrate/message.h"

#define TARE_VOTE_PASSES 5

struct tare_vote {
	struct tare_message said[TARE_VOTE_PASSES]; /* values that differ */
	int times[TARE_VOTE_PASSES];
	int values, lacks, noises, failures;
	char why[TARE_MESSAGE_TEXT]; /* of the last that was no value */
};

/* A value, or why there is none. */
void tare_vote_cast(struct tare_vote *vote, const struct tare_message *message);
void tare_vote_cast_noise(struct tare_vote *vote);
void tare_vote_cast_failure(struct tare_vote *vote, const char *why);

/* The value that was said `needed` times; NULL: none was. */
const struct tare_message *tare_vote_winner(const struct tare_vote *vote, int needed);
/* Nothing is to be expected of another measurement. */
bool tare_vote_is_settled(const struct tare_vote *vote, int needed);

/* Into the result: the winner, or why there is none. */
void tare_vote_conclude(const struct tare_vote *vote, enum tare_profile_key key, int needed,
                        struct tare_calibration *out);

#endif
