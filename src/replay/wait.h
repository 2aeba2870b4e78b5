/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_REPLAY_WAIT_H
#define TARE_REPLAY_WAIT_H

#include "replay/check_run.h"

/* 1 + the event that freed a block in that range of addresses, which may have waited for another stream; 0: there is none. pre: malloc_events. */
size_t tare_wait_find(const struct tare_check_run *r, uint64_t begin, uint64_t end, bool is_last);
/* The block that an event frees can be used again behind `until`. False: it waits for longer already, and waits do not explain it. */
bool tare_wait_until(struct tare_trace_device *d, size_t event, size_t until);
void tare_wait_forget(struct tare_trace_device *d);
/* The event of each MALLOC, where waits are looked for, else NULL; caller frees. */
uint32_t *tare_wait_malloc_events(const struct tare_trace *t, const struct tare_trace_device *d);

#endif
