/* SPDX-License-Identifier: Apache-2.0 */
/* How far each log of a folder is settled: nothing new is written below. What is settled may be read and given back. */
#ifndef TARE_SESSION_SETTLED_H
#define TARE_SESSION_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

struct tare_settled;

/* Settles every log that has a ring now. What was read of these logs before may not be all there is. */
struct tare_settled *tare_settled_new(const char *folder);
void tare_settled_free(struct tare_settled *settled); /* NULL is fine */

/*
 * The stamp of the oldest record of the log that may come behind what is settled of it; UINT64_MAX: none that was there when
 * it was settled.
 */
uint64_t tare_settled_oldest(const struct tare_settled *settled, const char *log);

/*
 * Every record of the log that is older lies in the log's files, or is on its way: a thread that takes a stamp has not told anybody
 * what it did before its record can be seen. UINT64_MAX: nobody writes the log.
 */
uint64_t tare_settled_whole(const struct tare_settled *settled, const char *log);

/* `log`: the path of a log. `has_ring`: it has one, so its process may still write. */
uint64_t tare_settled_below(const struct tare_settled *settled, const char *log, bool has_ring);

#endif
