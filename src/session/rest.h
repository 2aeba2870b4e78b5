/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left in logs when a program has ended is made small by a process of its own while `tare` reads the recording for its report:
 * nothing is removed that the report may read before the report is done.
 */
#ifndef TARE_SESSION_REST_H
#define TARE_SESSION_REST_H

struct tare_roll;
struct tare_rest;

/*
 * Nobody writes the recording any more, and it is going to be read. `roll` belongs to the caller, and is of no use afterwards.
 * NULL: no such process could be made.
 */
struct tare_rest *tare_rest_begin(struct tare_roll *roll);
/* It is read: what replaces the logs may take their place. Waits for that, some seconds at most. NULL is fine. */
void tare_rest_end(struct tare_rest *rest);

#endif
