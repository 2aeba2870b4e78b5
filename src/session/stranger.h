/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever uses the GPU past us. A process that NVML lists, that was started to be recorded and that
 * has no log reached the driver by a route that we do not know: RTLD_DEEPBIND, an LD_PRELOAD taken
 * away. Without this check a recording of it would say that nothing happened.
 */
#ifndef TARE_SESSION_STRANGER_H
#define TARE_SESSION_STRANGER_H

#include <stdbool.h>
#include <sys/types.h>

struct tare_strangers;

struct tare_strangers *tare_strangers_new(const char *folder);
void tare_strangers_free(struct tare_strangers *strangers);

/* For each listed process, each time the list is read. True once for one that is a stranger. */
bool tare_strangers_see(struct tare_strangers *strangers, pid_t pid);
int tare_strangers_count(const struct tare_strangers *strangers);

#endif
