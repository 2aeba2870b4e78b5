/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that reach `tare` and are the command's: each is passed on that it has not got by itself. */
#ifndef TARE_SESSION_FORWARD_H
#define TARE_SESSION_FORWARD_H

#include "session/child.h"

/* Whoever signals processes one by one needs a moment for all of them. */
enum { TARE_FORWARD_GRACE_MS = 30 };

/* Blocks all signals; from here on they are read. */
void tare_forward_start(struct tare_child *child);

/* What came until now, also what we inherited as pending: to a child that has all of them blocked. */
void tare_forward_all(struct tare_child *child);

/* What came before a moment, and the sibling has not seen. */
void tare_forward_turn(struct tare_child *child);

/* The child has ended: what came until now was for it, what comes is for `tare` itself. */
void tare_forward_end(struct tare_child *child);

#endif
