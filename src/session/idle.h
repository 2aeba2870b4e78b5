/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a processor that we may use has had nothing to do of late. */
#ifndef TARE_SESSION_IDLE_H
#define TARE_SESSION_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* {0} knows nothing yet. */
struct tare_idle {
	uint64_t idle, at_ns; /* of all processors that we may use, in ticks, when it was read last */
	bool was_idle, is_read;
};

/* Of the time since it was asked last. False also where a cgroup shares out the time of processors: what we take there the program lacks. */
bool tare_idle_is(struct tare_idle *idle, uint64_t now_ns);

#endif
