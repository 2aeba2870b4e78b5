/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever uses the GPU past us. A process that NVML lists, that was started to be recorded and that
 * has no log reached the driver by a route that we do not know: RTLD_DEEPBIND, an LD_PRELOAD taken
 * away. Without this check a recording of it would say that nothing happened.
 */
#ifndef TARE_SESSION_UNRECORDED_H
#define TARE_SESSION_UNRECORDED_H

#include <stdbool.h>
#include <sys/types.h>

struct tare_unrecorded;

struct tare_unrecorded *tare_unrecorded_new(const char *folder);
void tare_unrecorded_free(struct tare_unrecorded *unrecorded);

/* For each listed process, each time the list is read. True once for one that is unrecorded. */
bool tare_unrecorded_add(struct tare_unrecorded *unrecorded, pid_t pid);
int tare_unrecorded_count(const struct tare_unrecorded *unrecorded);

#endif
