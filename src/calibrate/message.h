/* SPDX-License-Identifier: Apache-2.0 */
/* What the process that calls the driver tells `tare`. Each goes through the pipe in one piece. */
#ifndef TARE_CALIBRATE_MESSAGE_H
#define TARE_CALIBRATE_MESSAGE_H

#include <limits.h>
#include <stdint.h>

enum tare_probe {
#define TARE_PROBE(NAME, WHAT) TARE_PROBE_##NAME,
#include "calibrate/probe.def"
	TARE_PROBES
};

enum tare_message_kind {
	TARE_MESSAGE_STARTED, /* the driver: `value` cuInit took; `text`: the UUID; `why`: the scale */
	TARE_MESSAGE_FAILED,  /* to start: `why` */
	TARE_MESSAGE_BEGIN,   /* of probe `probe` */
	TARE_MESSAGE_VALUE,   /* of key `key`, or `text` of one that is text */
	TARE_MESSAGE_LACK,    /* of key `key`: `why` not */
	TARE_MESSAGE_END,     /* of probe `probe`; `why`: the last call of it that failed */
	TARE_MESSAGE_NOISE,   /* likewise, and what it said cannot be believed */
	TARE_MESSAGE_DONE,
};

#define TARE_MESSAGE_TEXT 160

struct tare_message {
	int32_t kind, probe, key, reserved;
	uint64_t value, low, high;
	char text[96];
	char why[TARE_MESSAGE_TEXT]; /* evidence of a value, too */
};
_Static_assert(sizeof(struct tare_message) <= PIPE_BUF, "it would not go in one piece");

#endif
