/* SPDX-License-Identifier: Apache-2.0 */
/* Touching memory that is a file of somebody else's, who may cut it short at any time. */
#ifndef TARE_SESSION_BUS_GUARD_H
#define TARE_SESSION_BUS_GUARD_H

#include <stdbool.h>

/*
 * Calls work(arg). False: it met a page of a mapped file that is not there any more (SIGBUS), and was left there and
 * then; it must hold nothing that it would have to give back. One thread at a time.
 */
bool tare_bus_guard(void (*work)(void *arg), void *arg);

#endif
