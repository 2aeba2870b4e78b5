/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing records: names, stacks and objects once each, events as they come.
 */
#ifndef TARE_RECORDER_EMIT_H
#define TARE_RECORDER_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* The id under which a text stands in the log; writes it the first time. 0: nothing is recorded. */
uint32_t tare_emit_string(const char *text);
/* The same of a path, or what the log gets of it. */
uint32_t tare_emit_path(const char *path);

/* The calling thread's native stack, from the first frame outside the recorder. 0: none. */
uint32_t tare_emit_stack(void);

/*
 * The ids of a source line (strings of its file and function, 0: no line) and of a stack of such ids,
 * innermost first, as they stand in the log; written the first time. 0: nothing is recorded. `hash` tells the
 * stack from all others.
 */
uint32_t tare_emit_line(uint32_t file, uint32_t function, uint32_t line);
uint32_t tare_emit_line_stack(uint64_t hash, const uint64_t *lines, uint32_t depth);
uint32_t tare_emit_line_stack_known(uint64_t hash); /* 0: the log does not have it */

/* Copies `event` (all but its head) into the log with this stamp. */
void tare_emit_event(const struct tare_rec_event *event, uint64_t stamp);

void tare_emit_pool(const struct tare_rec_pool *pool, uint64_t stamp);
void tare_emit_rss(const struct tare_rec_rss *rss, uint64_t stamp);
void tare_emit_tensor(const struct tare_rec_tensor *tensor, uint64_t stamp);
bool tare_emit_stream(const struct tare_rec_stream *stream); /* false: it is not in the log */
void tare_emit_oom(const struct tare_rec_oom *oom);
void tare_emit_probe(const struct tare_rec_probe *probe);
void tare_emit_pool_witness(const struct tare_rec_pool_witness *said, uint64_t stamp);
void tare_emit_sweep(const struct tare_rec_sweep *sweep);

void tare_emit_phase(const struct tare_rec_phase *phase, uint64_t stamp);
void tare_emit_mempool(const struct tare_rec_mempool *pool);
void tare_emit_graph(const struct tare_rec_graph *graph, uint64_t stamp);
void tare_emit_device(const struct tare_rec_device *device, const char *name);
void tare_emit_card(const struct tare_rec_card *card, const char *name);
void tare_emit_aside(int device, int64_t bytes);
void tare_emit_degraded(const char *sentence);
void tare_emit_launch(const char *text, uint32_t bytes);
void tare_emit_status(int status); /* as exit() was given it */
void tare_emit_reading(struct tare_rec_reading *reading,
		       uint64_t since); /* since: before it was taken */
void tare_emit_clock(void);
void tare_emit_end(uint32_t how);

#endif
