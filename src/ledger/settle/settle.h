/* SPDX-License-Identifier: Apache-2.0 */
/* What calls and readings change, in order of time; each change is told to the parts. */
#ifndef TARE_LEDGER_SETTLE_H
#define TARE_LEDGER_SETTLE_H

#include "ledger/parts/parts.h"
#include "ledger/rows/rows.h"

/* moment.c: as the functions of the books (core/moment.c, core/peak.h), and the parts are told */
void tare_fold_set_moment(struct tare_fold *f, struct tare_device_fold *d, enum tare_moment m, int64_t t);
void tare_fold_peak(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_plateau(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_peak_tensors(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
/* As long as nothing but blocks changes: with so much in them, or less, plateau() and peak_tensors() do nothing. */
int64_t tare_fold_calm_live(const struct tare_device_fold *d);
void tare_fold_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t);

/* ended.c: processes that have ended */
void tare_fold_remove_process(struct tare_fold *f, struct tare_device_fold *d, int process);
void tare_fold_take_ended(struct tare_fold *f, struct tare_device_fold *d, int64_t t, bool is_sure, int64_t *change);
void tare_fold_driver_inherit(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
int64_t tare_fold_end_of(struct tare_fold *f, struct tare_device_fold *d, int64_t t, const bool *is_leaving,
                         int64_t beyond);
int64_t tare_fold_leaves_at(const struct tare_fold *f, const struct tare_device_fold *d, int process);
bool tare_fold_is_any_leaving(const struct tare_fold *f, const struct tare_device_fold *d, int64_t t);

/*
 * doubt.c: rows that lie between bounds. By how much those of the leaving processes may be off, and settling `bytes` with
 * those of all others; returns what of that was settled.
 */
int64_t tare_fold_doubt_room(const struct tare_fold *f, const struct tare_device_fold *d, const bool *is_leaving,
                             bool is_more);
int64_t tare_fold_doubt_settle(struct tare_fold *f, struct tare_device_fold *d, const bool *is_leaving, int64_t bytes);

/* ends.c: processes that begin and end, and pauses */
void tare_fold_process_begin(struct tare_fold *f, const struct tare_process *p, int64_t t);
void tare_fold_process_end(struct tare_fold *f, int process, int64_t t);
void tare_fold_ends_lift(struct tare_fold *f, struct tare_device_fold *d); /* before its cluster is settled */
void tare_fold_ends_pass(struct tare_fold *f, struct tare_device_fold *d, int64_t until);
void tare_fold_ends_finish(struct tare_fold *f); /* ends that are left when all calls are settled */
void tare_fold_control(struct tare_fold *f, const struct tare_event *e);

/* context_end.c */
void tare_fold_context_begin(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_context_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);

/* live.c: as in core/object.c, with the blocks of segments */
int tare_fold_object_add(struct tare_fold *f, const struct tare_object_live *o);
int64_t tare_fold_object_remove(struct tare_fold *f, int object);

void tare_fold_scan_settle(struct tare_fold *f, const struct tare_event *e); /* waiting.c, before a scan */

/* waiting.c: blocks and moments that wait for calls */
void tare_fold_tensor(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
/* block_run.c: the same for many at once. pre: no call waits to be settled, so no block does. */
void tare_fold_tensors(struct tare_fold *f, struct tare_device_fold *d, const struct tare_process *process,
                       const struct tare_block_run *run);
/* Applies a block when the calls before it are settled. */
void tare_fold_wait(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b);
void tare_fold_tensor_until(struct tare_fold *f, struct tare_device_fold *d, int64_t t); /* those that wait, up to t */
void tare_fold_look(struct tare_fold *f, struct tare_device_fold *d,
                    const struct tare_block *b); /* waiting.c: for a part */
/* tare_fold_advance(), where anything waits for it. */
void tare_fold_advance_past(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
/* As long as it has nothing to do for a moment behind t up to this one, but for what tare_samples_pass() says; else before t. */
int64_t tare_fold_calm_until(const struct tare_fold *f, const struct tare_device_fold *d, int64_t t);
/* Nothing is to be done for a moment t: neither by what waits, up to `calm_until`, nor for a line of time. */
static inline bool tare_fold_is_calm(struct tare_device_fold *d, int64_t calm_until, int64_t t)
{
	return t <= calm_until && tare_samples_pass(&d->samples, t, d->used, d->live);
}

/* waiting.c: blocks in the memory of the CPU */
void tare_fold_host_tensor(struct tare_fold *f, const struct tare_event *e);
/*
 * Blocks wait for calls that are not settled yet. Applies those before t; or all that need not wait.
 */
void tare_fold_host_until(struct tare_fold *f, int64_t t);
void tare_fold_host_settle(struct tare_fold *f);
void tare_fold_host_finish(struct tare_fold *f);
void tare_fold_host_tensor_end(struct tare_fold *f, struct tare_process_fold *p,
                               int64_t t); /* all blocks of the process have gone */
void tare_fold_host_end(struct tare_fold *f, int64_t t);

/* apply.c: the known part of a step; its ops are in f->ops afterwards */
void tare_fold_apply(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);

/* pool.c: asynchronous pools that say what they have */
uint64_t tare_fold_pool_owner(struct tare_fold *f, uint64_t maker, uint64_t number);
void tare_fold_pool(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
/* vmm.c: physical memory by its references */
void tare_fold_vmm(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_vmm_import(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_vmm_map(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_vmm_forget(struct tare_fold *f, int process);
int tare_fold_physical_add(struct tare_fold *f, const struct tare_physical *p);
void tare_fold_physical_remove(struct tare_fold *f, int physical);
void tare_fold_export(struct tare_fold *f, const struct tare_step *s, int physical);
void tare_fold_physical_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a, int physical);
int tare_fold_import_add(struct tare_fold *f, const struct tare_step *s, int64_t bytes);
void tare_fold_import_size(struct tare_fold *f, int import, int64_t bytes);
void tare_fold_import_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a, int import);
void tare_fold_ipc(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_share_freed(struct tare_fold *f, const struct tare_step *s, uint64_t at, int64_t bytes);
void tare_fold_share_given(struct tare_fold *f, const struct tare_step *s);
int64_t tare_fold_share_between_calls(struct tare_fold *f, const struct tare_device_fold *d, int64_t change);
void tare_fold_share_end(struct tare_fold *f, int process);

/* weigh.c: the measured part */
void tare_fold_weigh(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a, int64_t bytes, int64_t low,
                     int64_t high);
void tare_fold_launch_unweighed(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a);
void tare_fold_limit(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a);

/* heap_block.c: rule "heap blocks", and what a process has there goes with it */
void tare_fold_heap(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
/* The same for many at once (heap_run.c). pre: nothing else waits. */
void tare_fold_heap_run(struct tare_fold *f, struct tare_device_fold *d, const struct tare_process *process,
                        const struct tare_heap_run *run);
void tare_fold_heap_end(struct tare_fold *f, int process, int64_t t);

/* heap.c: rule "heap", an imported heap has `asked` less at line stack `parent`, and as much more here */
void tare_fold_heap_move(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a);
int64_t tare_fold_managed_touch(struct tare_fold *f, struct tare_device_fold *d, int process, int64_t change);

/* one_memory.c: rule "one memory", what the host takes of a memory that it shares with the GPU */
void tare_fold_one_memory(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_one_memory_read(struct tare_fold *f, const struct tare_event *e);

/* between_calls.c: readings, and what changes between calls */
int64_t tare_fold_normal(struct tare_fold *f, struct tare_device_fold *d, uint64_t used, int source, int64_t now);
int tare_fold_step_source(const struct tare_device_fold *d, const struct tare_step *s);
void tare_fold_between_calls(struct tare_fold *f, struct tare_device_fold *d, int64_t t, int64_t change,
                             int64_t explained);
void tare_fold_reading(struct tare_fold *f, struct tare_device_fold *d, int64_t from, int64_t t, uint64_t used,
                       int source, uint64_t peers); /* the reading was taken some time between `from` and `t` */
void tare_fold_reading_flush(struct tare_fold *f, struct tare_device_fold *d);
bool tare_fold_list_is_older(const struct tare_device_fold *d, int64_t reading_begin);
void tare_fold_reading_check(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s);

/* other_process.c: processes that are not recorded */
void tare_other_process_take(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
int tare_other_process_find(struct tare_device_fold *d, uint32_t pid); /* its index, added if new */
bool tare_other_processes_have_moved(const struct tare_fold *f, const struct tare_device_fold *d);
int64_t tare_other_processes_take_list(struct tare_fold *f, struct tare_device_fold *d, int64_t change);
int64_t tare_other_processes_take_level(struct tare_fold *f, struct tare_device_fold *d, uint64_t level);
int64_t tare_fold_peer_level_between(struct tare_fold *f, struct tare_device_fold *d, uint64_t level, int64_t change);
bool tare_fold_peer_is_of_use(const struct tare_device_fold *d, uint64_t peers);
bool tare_step_reads_others(const struct tare_fold *f, const struct tare_device_fold *d, const struct tare_step *s);

/* cluster.c: calls that overlap */
void tare_fold_cluster_add(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s);
/*
 * Is the cluster complete: can nothing that comes at t overlap its calls, and is no reading behind them
 * needed?
 */
bool tare_fold_cluster_is_complete(const struct tare_device_fold *d, int64_t t);
void tare_fold_cluster_close(struct tare_fold *f, struct tare_device_fold *d);
void tare_fold_cluster_close_by(struct tare_fold *f, struct tare_device_fold *d, int64_t t, uint64_t used, int source);

/* overlap.c: a cluster of more than one */
void tare_fold_overlap(struct tare_fold *f, struct tare_device_fold *d);

/*
 * elastic.c: memory taken because the card had room: the first pass over the events decides which
 */
struct tare_large {
	int process;
	uint64_t handle, bytes;
	int64_t at, held_ns; /* held_ns -1: to the end, as far as is known */
	enum tare_account account;
	bool is_cudnn, is_piece;
};
void tare_fold_elastic_prepass(struct tare_fold *f, const struct tare_event *e);
void tare_fold_elastic_decide(struct tare_fold *f);
/*
 * Before a state is saved: forgets what the first pass knows from after `until`, which it will find out again.
 */
void tare_fold_elastic_forget(struct tare_fold *f, int64_t until);
enum tare_account tare_fold_elastic_account(const struct tare_fold *f, const struct tare_step *s);

/* asleep.c: memory that was unmapped at addresses which are kept */
void tare_asleep_add(struct tare_fold *f, const struct tare_physical *p, uint64_t at, uint64_t bytes);
/* Something is mapped at those addresses again, they are given back (booked), or their process has ended (with its buckets). */
void tare_asleep_forget(struct tare_fold *f, int process, uint64_t at, uint64_t bytes, bool is_booked);

#endif
