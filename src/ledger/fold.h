/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder do for each other on the state of a fold; seen by nobody else. */
#ifndef TARE_LEDGER_FOLD_H
#define TARE_LEDGER_FOLD_H

#include "ledger/category.h"
#include "ledger/fold_state.h"

#include <string.h>

/* A record of a checkpoint; it lives until the teller returns. */
typedef void tare_fold_teller(void *arg, const struct tare_event *e, const struct tare_record *rec,
			      size_t size);

/* device.c */
struct tare_device_fold *tare_fold_device(struct tare_fold *f, const struct tare_device *device);
int tare_fold_device_place(const struct tare_fold *f,
			   const struct tare_device_fold *d); /* in a ledger */

/* book.c: buckets */
int tare_fold_bucket(struct tare_fold *f, int context, int account, uint64_t owner);
int tare_fold_bucket_at(struct tare_fold *f, int context, int account, uint64_t owner,
			uint32_t site);
/* A bucket of no process: OTHER, by `owner`, or PAUSED. */
int tare_fold_bucket_of_device(struct tare_fold *f, int device, int account, uint64_t owner);
void tare_fold_book(struct tare_fold *f, int bucket, const struct tare_amount *by);
/* It is about to change: what it was at marks since it did so last stays known. */
static inline void tare_bucket_keep(struct tare_bucket *b, const struct tare_device_fold *d)
{
	if (!memcmp(b->mark, d->mark_nr, sizeof(b->mark)))
		return;
	for (int m = 0; m < TARE_MARK_NR; m++)
		if (b->mark[m] != d->mark_nr[m])
			b->kept[m] = b->now;
	memcpy(b->mark, d->mark_nr, sizeof(b->mark));
}

/* Books blocks, exact, in a bucket of theirs that enters no sum of a device and is no trial. */
static inline void tare_fold_book_blocks(struct tare_fold *f, int bucket, int64_t bytes,
					 int64_t count)
{
	struct tare_bucket *b = &f->buckets[bucket];
	struct tare_device_fold *d = f->devices[b->device];

	tare_bucket_keep(b, d);
	b->now.bytes += bytes;
	b->now.low += bytes;
	b->now.high += bytes;
	b->now.count += count;
	if (b->now.evidence < 1 + TARE_EVIDENCE_EXACT)
		b->now.evidence = 1 + TARE_EVIDENCE_EXACT;
	d->account_now[b->account] += bytes;
	if (b->account == TARE_BUCKET_TENSOR)
		d->live += bytes;
}

void tare_fold_book_bytes(struct tare_fold *f, int bucket, int64_t bytes, enum tare_evidence how);
/* What all sites of the bucket's account and owner in its context hold together. */
int64_t tare_fold_held(const struct tare_fold *f, int bucket);
/*
 * Rule "line falls": what goes without an object that says whose it was is taken from the bucket itself,
 * then from the sites of its account that hold most; what is left makes the bucket negative.
 */
void tare_fold_book_fall(struct tare_fold *f, int bucket, int64_t bytes, enum tare_evidence how);
void tare_fold_book_ops(struct tare_fold *f, const struct tare_op *ops, size_t count);
void tare_fold_op(struct tare_ops *ops, int bucket, const struct tare_amount *by);
void tare_fold_op_bytes(struct tare_fold *f, int bucket, int64_t bytes, int64_t count,
			enum tare_evidence how); /* into f->ops */
const struct tare_amount *tare_fold_amount(const struct tare_fold *f, const struct tare_bucket *b,
					   enum tare_mark m);

/* mark.c: from here on every bucket of the device keeps what it is now, the moment it changes */
void tare_device_mark(struct tare_fold *f, struct tare_device_fold *d, enum tare_mark m, int64_t t);
bool tare_device_peak(struct tare_device_fold *d, int64_t t); /* is this moment its maximum? */

/* moment.c: the same, and everybody is told */
void tare_fold_mark(struct tare_fold *f, struct tare_device_fold *d, enum tare_mark m, int64_t t);
void tare_fold_peak(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_plateau(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_peak_tensors(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t);

/* pages.c: address space → physical pages. Both return the change of physical bytes. */
int64_t tare_fold_pages_add(struct tare_fold *f, struct tare_place *p, uint64_t at, uint64_t size);
int64_t tare_fold_pages_remove(struct tare_fold *f, struct tare_place *p, uint64_t at,
			       uint64_t size);

/* Every device and process that an event names, the first pass has seen. */
static inline struct tare_device_fold *tare_fold_known_device(const struct tare_fold *f,
							      const struct tare_device *device)
{
	return device->index < f->device_nr ? f->devices[device->index] : NULL;
}

static inline struct tare_process_fold *tare_fold_known_process(const struct tare_fold *f,
								const struct tare_process *p)
{
	return p->index < f->process_nr ? f->processes[p->index] : NULL;
}

/* process.c: processes and their places */
struct tare_process_fold *tare_fold_process_new(struct tare_fold *f, const struct tare_process *p);
static inline struct tare_process_fold *tare_fold_process(struct tare_fold *f,
							  const struct tare_process *p)
{
	struct tare_process_fold *known = tare_fold_known_process(f, p);

	return known ? known : tare_fold_process_new(f, p);
}
struct tare_place *tare_fold_place_new(struct tare_fold *f, int process, int device);
static inline struct tare_place *tare_fold_place(struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = f->processes[process];

	return device < p->place_nr && p->places[device] ? p->places[device]
							 : tare_fold_place_new(f, process, device);
}
int64_t tare_fold_process_bytes(const struct tare_fold *f, const struct tare_device_fold *d,
				int process);
void tare_fold_host(struct tare_fold *f, const struct tare_event *e);
void tare_fold_host_keep(struct tare_fold *f, struct tare_process_fold *p); /* before it changes */
const struct tare_host_now *tare_fold_host_at(const struct tare_fold *f,
					      const struct tare_process_fold *p, enum tare_mark m);
/* Is it the process of that pid, of the machine that the device is in? */
bool tare_fold_peer_is(const struct tare_device_fold *d, const struct tare_process_fold *p,
		       uint32_t pid);
/* It ended in order, or nothing more can come from its log; and did any? */
bool tare_fold_is_over(const struct tare_process_fold *p, int64_t t);
bool tare_fold_is_any_over(const struct tare_fold *f, int64_t t);

/* ended.c: processes that have ended */
void tare_fold_take_ended(struct tare_fold *f, struct tare_device_fold *d, int64_t t, bool is_sure,
			  int64_t *change);
void tare_fold_driver_inherit(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
int64_t tare_fold_end_of(struct tare_fold *f, struct tare_device_fold *d, int64_t t, int process,
			 int64_t beyond);
int64_t tare_fold_leaves_at(const struct tare_fold *f, const struct tare_device_fold *d,
			    int process);
bool tare_fold_is_any_leaving(const struct tare_fold *f, const struct tare_device_fold *d,
			      int64_t t);

/* ends.c: processes that begin and end, and pauses */
void tare_fold_process_begin(struct tare_fold *f, const struct tare_process *p, int64_t t);
void tare_fold_process_end(struct tare_fold *f, int process, int64_t t);
void tare_fold_ends_lift(struct tare_fold *f,
			 struct tare_device_fold *d); /* its cluster is about to be settled */
void tare_fold_ends_pass(struct tare_fold *f, struct tare_device_fold *d, int64_t until);
void tare_fold_ends_finish(struct tare_fold *f); /* what no device has before it any more */
void tare_fold_control(struct tare_fold *f, const struct tare_event *e);

/* context.c */
int tare_fold_context(struct tare_fold *f, int process, int device, uint64_t handle);

/* context_end.c */
void tare_fold_context_begin(struct tare_fold *f, const struct tare_step *s,
			     struct tare_applied *a);
void tare_fold_context_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);

/* live.c: as in object.c, for what may hold blocks */
int tare_fold_object_add(struct tare_fold *f, const struct tare_object_live *o);
int64_t tare_fold_object_remove(struct tare_fold *f, int object);

/* object.c: the live set */
int tare_object_add(struct tare_fold *f, const struct tare_object_live *o);
int tare_fold_object_find(struct tare_fold *f, int process, enum tare_class class, uint64_t handle);
int tare_fold_object_next(const struct tare_fold *f, int object); /* after it; -1: first, last */
int64_t tare_object_remove(struct tare_fold *f, int object);      /* physical bytes given back */
struct tare_grave *tare_fold_grave(struct tare_fold *f, const struct tare_step *s, bool is_made);
void tare_fold_grave_clear(struct tare_grave *g);
void tare_fold_grave_put(struct tare_grave *g, const struct tare_object_live *o);

/* block.c: live blocks, now and at marks. `mark_nr` and `kept` are the device's. */
struct tare_live_block *tare_blocks_find(const struct tare_blocks *b, uint64_t address);
/* Has fetched what is needed soon: first of all, and when that has come. */
static inline void tare_blocks_prefetch(const struct tare_blocks *b, uint64_t address)
{
	tare_map_prefetch(&b->places, address);
}
void tare_blocks_prefetch_block(const struct tare_blocks *b, uint64_t address);
/* NULL: there is one at this address. */
struct tare_live_block *tare_blocks_add(struct tare_blocks *b, const struct tare_block *said,
					const uint32_t mark_nr[TARE_MARK_NR]);
/* What is returned (NULL: there is none) is to be released before the next is added. */
struct tare_live_block *tare_blocks_remove(struct tare_blocks *b, uint64_t address,
					   struct tare_taking by,
					   const uint32_t mark_nr[TARE_MARK_NR],
					   struct tare_kept_blocks kept[TARE_MARK_NR]);
void tare_blocks_release(struct tare_blocks *b, struct tare_live_block *block);
void tare_blocks_free(struct tare_blocks *b);
/*
 * The blocks of a device at a mark, in no order; the caller frees `items`. What they point to is good until
 * the next event. Of a mark inside a span that was folded, the blocks are not known: there are none.
 */
void tare_fold_blocks_at(const struct tare_fold *f, const struct tare_device_fold *d,
			 enum tare_mark m, struct tare_block_list *out);

/* backward_pass.c: what backward passes leave. `backwards`: that have begun; `is_passing`: it goes within its own. */
void tare_passes_add(struct tare_passes *p, struct tare_live_block *b);
void tare_passes_remove(struct tare_passes *p, const struct tare_live_block *b, uint32_t backwards,
			bool is_passing);
bool tare_passes_has_stayed(const struct tare_passes *p, const struct tare_live_block *b,
			    uint32_t backwards);
/* A sweep found it to be a gradient; and was one of its line and size ever? Of what torch.distributed makes. */
void tare_passes_note_said(struct tare_passes *p, const struct tare_live_block *b);
bool tare_passes_was_said(const struct tare_passes *p, const struct tare_live_block *b);
void tare_passes_free(struct tare_passes *p);

/* fate.c: one went, its use is known; and will one that is there go before its piece of work, which goes on, is over? */
void tare_fates_note(struct tare_map *fates, const struct tare_live_block *b);
bool tare_fates_will_pass(const struct tare_map *fates, const struct tare_live_block *b);

/* training_section.c: what the stack of a place says of its tensors */
void tare_work_look_at(struct tare_fold *f, struct tare_site *site);

/* training_section.c: what each thread of the program was doing when blocks came and went */
void tare_work_begin(struct tare_fold *f, struct tare_work *w, struct tare_live_block *b);
void tare_work_end(struct tare_work *w, struct tare_live_block *b, struct tare_taking by);
struct tare_worker *tare_work_thread(struct tare_work *w, uint32_t tid);
struct tare_worker *tare_work_of(const struct tare_work *w, const struct tare_live_block *b);
bool tare_work_has_stayed(const struct tare_work *w, const struct tare_live_block *b);
void tare_work_free(struct tare_work *w);
void tare_work_change(const struct tare_work *work, const struct tare_live_block *b,
		      struct tare_block_change *c);
/* What can be said of a block as if it went now. */
void tare_work_now(const struct tare_work *w, const struct tare_live_block *b,
		   struct tare_use *use);

/* object_scan.c: what the recorder found in the program's objects */
void tare_fold_probe(struct tare_fold *f, const struct tare_event *e);
void tare_fold_sweep(struct tare_fold *f, const struct tare_event *e);

void tare_fold_sweep_settle(struct tare_fold *f, const struct tare_event *e); /* waiting.c, first */

/* category.c, tensor_rows.c: every block with its category, when all is known */
enum tare_rule tare_fold_rule_of(const struct tare_fold *f, const struct tare_live_block *b,
				 const struct tare_work *w);
void tare_fold_tensor_rows(const struct tare_fold *f, const struct tare_device_fold *d,
			   enum tare_mark m, struct tare_arena *memory,
			   struct tare_device_ledger *out);
/* What there was when there was most. */
void tare_tensor_most(const struct tare_fold *f, struct tare_training *row);
/* history_category.c: live tensors over time, by category; device -1: the memory of CPUs */
void tare_tensor_kinds_begin(struct tare_fold *f);
void tare_tensor_kinds_gone(struct tare_fold *f, const struct tare_live_block *b, int device);
void tare_tensor_kinds_finish(struct tare_fold *f);
/* category_rows.c: what the live tensors of each pool are for, as rows below theirs; frees the list */
uint64_t tare_fold_pool_key(int process, enum tare_account account, uint64_t owner);
void tare_fold_category_add(const struct tare_fold *f, struct tare_pool_list *l,
			    const struct tare_live_block *b, enum tare_rule rule);
void tare_fold_category_add_told(struct tare_pool_list *l, const struct tare_told *t);
void tare_fold_category_rows(struct tare_pool_list *l, struct tare_arena *memory,
			     struct tare_device_ledger *out);
void tare_fold_host_category_rows(const struct tare_category_sum *sums, struct tare_arena *memory,
				  struct tare_host_ledger *out);
/* folded_sum.c: blocks at a peak that was folded, in sums */
void tare_fold_told(struct tare_fold *f, const struct tare_event *e);
const struct tare_told *tare_fold_told_next(const struct tare_fold *f, int device, enum tare_mark m,
					    size_t *at);
/* accounts.c: as tare_row_path_add(); parent NULL: none */
const char *tare_fold_row_path(struct tare_arena *memory, const char *parent, const char *segment);
/* At another instant: what became of the blocks is not known yet; `finish` makes the rows. */
void tare_fold_watch(struct tare_fold *f, struct tare_device_fold *d, struct tare_ledger *out);
void tare_fold_host_rows(const struct tare_fold *f, enum tare_mark m, struct tare_ledger *out);
void tare_fold_watch_host(struct tare_fold *f, struct tare_ledger *out);
void tare_fold_block_gone(struct tare_fold *f, const struct tare_live_block *b);
void tare_fold_watch_finish(struct tare_fold *f);

/* block.c: of the memory of the CPU, of one process */
void tare_fold_host_blocks_at(const struct tare_fold *f, int process, enum tare_mark m,
			      struct tare_block_list *out);

/* segment.c: what PyTorch's allocator has from the driver, and tensor.c: how it is made up */
void tare_fold_segment_add(struct tare_fold *f, int bucket, uint64_t at, uint64_t size, int graph);
void tare_fold_segment_remove(struct tare_fold *f, int process, int device, uint64_t at);
int tare_segments_place(const struct tare_segments *s,
			uint64_t at); /* of the last that begins there or before, -1 */
/* Returns the bucket of live tensors that it moves; -1: it is a trial's. */
int tare_fold_segment_move(struct tare_fold *f, struct tare_segment *s, uint32_t site,
			   int64_t bytes, int64_t count);
void tare_fold_segment_handed(struct tare_fold *f, const struct tare_segment *s, uint32_t site,
			      int64_t bytes);
void tare_fold_segment_collected(struct tare_fold *f, const struct tare_segment *s, int64_t bytes);
void tare_fold_segment_hold(struct tare_fold *f, int process); /* a graph came or went */
/* As tare_fold_blocks_at(); the segments are copies without `live`. */
size_t tare_fold_segments_at(const struct tare_fold *f, const struct tare_device_fold *d,
			     enum tare_mark m, struct tare_segment **out);
/* Before all segments of a context go, or of all contexts (-1): every block is looked at once, not once for each of them. */
void tare_fold_take_back_blocks(struct tare_fold *f, struct tare_device_fold *d, int process,
				int context);
void tare_fold_take_back_all(struct tare_fold *f, struct tare_device_fold *d, struct tare_place *p,
			     struct tare_segment *s);
void tare_tensor_block(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e,
		       struct tare_block *out);
/* The block that was handed out; NULL: one was taken back, or none was. */
struct tare_live_block *tare_tensor_take(struct tare_fold *f, struct tare_device_fold *d,
					 const struct tare_block *b);

/* waiting.c: blocks and moments that wait for calls */
void tare_fold_tensor(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
/* Takes it in when the calls before it are settled. */
void tare_fold_wait(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b,
		    bool is_folded);
void tare_fold_tensor_flush(struct tare_fold *f, struct tare_device_fold *d);
/* Before anything else than a block is looked at. */
static inline void tare_fold_tensor_catch_up(struct tare_fold *f)
{
	if (f->ahead)
		tare_fold_tensor_flush(f, f->ahead);
}
struct tare_pool_use tare_fold_tensor_use(const struct tare_fold *f,
					  const struct tare_device_fold *d, int process,
					  enum tare_account account, uint64_t owner,
					  enum tare_mark m);

/* host_tensor.c: tensors in the memory of the CPU */
void tare_host_wait(struct tare_fold *f, const struct tare_event *e);
/* Does one wait that is before t? When it is; and takes it in: the block, NULL: one went. */
bool tare_host_next(struct tare_fold *f, int64_t t, int64_t *at);
struct tare_live_block *tare_host_take(struct tare_fold *f);
void tare_host_show(struct tare_fold *f, int64_t t); /* instants before t see what there is now */
void tare_host_mark_end(struct tare_fold *f, int64_t t);
void tare_host_mark(struct tare_fold *f, enum tare_mark m, int64_t t); /* a device came to it */
void tare_host_forget(struct tare_fold *f, struct tare_process_fold *p);
void tare_host_load(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e);
void tare_fold_peak_host(struct tare_fold *f, int64_t t);

/* waiting.c: the same, when the calls before are settled */
void tare_fold_host_tensor(struct tare_fold *f, const struct tare_event *e);
/* Blocks wait for calls whose outcome is not known yet: takes in those before t, or all that need not wait. */
void tare_fold_host_until(struct tare_fold *f, int64_t t);
void tare_fold_host_settle(struct tare_fold *f);
void tare_fold_host_finish(struct tare_fold *f);
void tare_fold_host_tensor_end(struct tare_fold *f, struct tare_process_fold *p,
			       int64_t t); /* of them all */
void tare_fold_host_load(struct tare_fold *f, const struct tare_event *e);
void tare_fold_host_end(struct tare_fold *f, int64_t t);
/* host_lines.c: pre: the processes of the ledger have their tensors, as of that mark */
void tare_fold_host_lines(const struct tare_fold *f, enum tare_mark m, struct tare_ledger *out);

/* apply.c: the known part of a step; its ops are in f->ops afterwards */
void tare_fold_apply(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);

/* pool.c: asynchronous pools that say what they have */
uint64_t tare_fold_pool_owner(struct tare_fold *f, uint64_t maker, uint64_t number);
void tare_fold_pool(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_pool_own(struct tare_fold *f, const struct tare_object_live *o,
			struct tare_amount *own);
/* vmm.c: physical memory by its references */
void tare_fold_vmm(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_vmm_import(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_vmm_map(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_vmm_forget(struct tare_fold *f, int process);
int tare_fold_physical_add(struct tare_fold *f, const struct tare_physical *p);
void tare_fold_physical_remove(struct tare_fold *f, int physical);

/* share.c: memory that several processes have */
#define TARE_OWNER_SHARED "shared" /* row of what its process let go, and somebody unknown holds */
void tare_fold_export(struct tare_fold *f, const struct tare_step *s, int physical);
void tare_fold_physical_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a,
			    int physical);
int tare_fold_import_add(struct tare_fold *f, const struct tare_step *s, int64_t bytes);
void tare_fold_import_size(struct tare_fold *f, int import, int64_t bytes);
void tare_fold_import_end(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a,
			  int import);
void tare_fold_ipc(struct tare_fold *f, const struct tare_step *s, struct tare_applied *a);
void tare_fold_share_freed(struct tare_fold *f, const struct tare_step *s, uint64_t at,
			   int64_t bytes);
void tare_fold_share_given(struct tare_fold *f, const struct tare_step *s);
/* `limit` of an end that a checkpoint tells: somebody has it of whom nothing is known. */
enum { TARE_TOLD_LENT = 1, TARE_TOLD_ALLOCATION };
int64_t tare_fold_share_quiet(struct tare_fold *f, const struct tare_device_fold *d,
			      int64_t change);
void tare_fold_share_end(struct tare_fold *f, int process);

/* local.c: local memory of a context, for so much of a thread; and the other way round */
int64_t tare_fold_local_need(const struct tare_fold *f, const struct tare_context *c,
			     int64_t local);
int64_t tare_fold_local_of(const struct tare_fold *f, const struct tare_context *c);

/* weigh.c: the measured part */
void tare_fold_weigh(struct tare_fold *f, struct tare_step *s, const struct tare_applied *a,
		     int64_t bytes, int64_t low, int64_t high);
void tare_fold_launch_unweighed(struct tare_fold *f, const struct tare_step *s,
				const struct tare_applied *a);
void tare_fold_limit(struct tare_fold *f, const struct tare_step *s, const struct tare_applied *a);
int64_t tare_fold_managed_touch(struct tare_fold *f, struct tare_device_fold *d, int process,
				int64_t change);

/* between_calls.c: readings, and what changes between calls */
int64_t tare_fold_normal(struct tare_fold *f, struct tare_device_fold *d, uint64_t used, int source,
			 int64_t now);
int tare_fold_step_source(const struct tare_device_fold *d, const struct tare_step *s);
void tare_fold_quiet(struct tare_fold *f, struct tare_device_fold *d, int64_t t, int64_t change,
		     int64_t explained);
void tare_fold_reading(struct tare_fold *f, struct tare_device_fold *d, int64_t from, int64_t t,
		       uint64_t used,
		       int source); /* it was taken some time between `from` and `t` */
void tare_fold_reading_flush(struct tare_fold *f, struct tare_device_fold *d);
enum { TARE_OUT_OF_TIME_NS = 100000000 }; /* how far a witness's stamp may be wrong */
void tare_fold_reading_check(struct tare_fold *f, struct tare_device_fold *d,
			     const struct tare_step *s);

/* other_process.c: processes that are not recorded */
void tare_fold_peer(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
bool tare_fold_peer_is_recorded(const struct tare_fold *f, const struct tare_device_fold *d,
				uint32_t pid);
int tare_fold_peer_known(struct tare_device_fold *d, uint32_t pid); /* its place; made if new */
bool tare_fold_peer_has_moved(const struct tare_fold *f, const struct tare_device_fold *d);
int64_t tare_fold_peer_list(struct tare_fold *f, struct tare_device_fold *d, int64_t change);
int64_t tare_fold_peer_level(struct tare_fold *f, struct tare_device_fold *d, uint64_t level);
bool tare_fold_peer_is_told(const struct tare_fold *f, const struct tare_device_fold *d,
			    const struct tare_step *s);

/* load.c: what a checkpoint says. CARRY records name host memory by these accounts. */
enum {
	TARE_CARRY_UNEXPLAINED = 247,
	TARE_CARRY_COLLECTED = 248,
	TARE_CARRY_TRIED = 249,
	TARE_CARRY_HANDED = 250,
	TARE_CARRY_HELD = 251,
	TARE_CARRY_PARTLY = 252,
	TARE_CARRY_TENSOR = 253,
	TARE_CARRY_PINNED = 254,
	TARE_CARRY_REGISTERED = 255
};
static inline bool tare_fold_is_folded(const struct tare_event *e)
{
	return e->process && e->process->fold_ns > 0 && e->at_ns <= e->process->fold_ns;
}
int tare_carry_of_account(int account); /* also of a TARE_BUCKET_… */
void tare_fold_carry(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
void tare_fold_carry_step(struct tare_fold *f, struct tare_device_fold *d,
			  const struct tare_step *s);
void tare_fold_carry_reading(struct tare_fold *f, struct tare_device_fold *d, int64_t t,
			     uint64_t used, int source);

/*
 * unexplained.c: what changed inside a call, and no account explains, is of the line that called; `context`
 * -1: of what no line is known
 */
void tare_fold_unexplained(struct tare_fold *f, struct tare_device_fold *d,
			   const struct tare_step *s, int context, int64_t bytes);
int64_t tare_fold_unexplained_in(const struct tare_fold *f, int context);

/* cluster.c: calls that overlap */
void tare_fold_cluster_add(struct tare_fold *f, struct tare_device_fold *d,
			   const struct tare_step *s);
/* Nothing that comes at t can overlap its calls any more, and no reading behind them is needed. */
bool tare_fold_cluster_is_complete(const struct tare_device_fold *d, int64_t t);
void tare_fold_cluster_close(struct tare_fold *f, struct tare_device_fold *d);
void tare_fold_cluster_close_by(struct tare_fold *f, struct tare_device_fold *d, int64_t t,
				uint64_t used, int source);

/* overlap.c: a cluster of more than one */
void tare_fold_overlap(struct tare_fold *f, struct tare_device_fold *d);

/* Accounts whose rows have names: a bucket for each. The others have one per context. */
static inline bool tare_account_is_named(int account)
{
	return account == TARE_ACCOUNT_ALLOCATION || account == TARE_ACCOUNT_POOL ||
	       account == TARE_ACCOUNT_POOL_IDLE || account == TARE_ACCOUNT_VMM ||
	       account == TARE_ACCOUNT_IPC || account == TARE_BUCKET_TENSOR ||
	       account == TARE_BUCKET_PARTLY || account == TARE_BUCKET_HELD ||
	       account == TARE_BUCKET_HANDED || account == TARE_ACCOUNT_TRIAL ||
	       account == TARE_BUCKET_TRIED || account == TARE_BUCKET_COLLECTED;
}

/* Accounts that have a bucket for each owner: those, and kernel code, of which only a line tells whose it is. */
static inline bool tare_account_has_owner(int account)
{
	return tare_account_is_named(account) || account == TARE_ACCOUNT_CODE;
}

/* Is it memory of the device? */
static inline bool tare_bucket_is_device(const struct tare_bucket *b)
{
	return b->account < TARE_ACCOUNT_NR;
}

/* line_name.c: what of no site is called after its account */
void tare_fold_line_name(const struct tare_fold *f, uint32_t site, enum tare_account account,
			 struct tare_arena *memory, struct tare_ledger_line *l);

/* lines.c: the same sums as in the rows, by site */
void tare_fold_lines(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_mark m,
		     int64_t t, struct tare_arena *memory, struct tare_device_ledger *out);

/* stream.c: on which streams PyTorch's segments are */
void tare_fold_stream(struct tare_fold *f, const struct tare_device_fold *d,
		      const struct tare_event *e);
struct tare_on_stream tare_fold_stream_of(const struct tare_process_fold *p,
					  const struct tare_device_fold *d,
					  const struct tare_rec_tensor *r);
void tare_fold_segment_on(struct tare_fold *f, struct tare_segment *s,
			  const struct tare_on_stream *on);
struct tare_stream tare_fold_stream_named(const struct tare_on_stream *on);
void tare_fold_stream_tell(const struct tare_fold *f, int64_t t, tare_fold_teller *teller,
			   void *arg);

/* pool_rows.c: PyTorch's segments, one by one */
void tare_fold_pool_rows(const struct tare_fold *f, const struct tare_device_fold *d,
			 enum tare_mark m, struct tare_arena *memory,
			 struct tare_device_ledger *out);

/* pool_self_report.c: what PyTorch's allocator says of itself: 1 + the place of what is to be compared, 0: nothing is */
size_t tare_fold_pool_witness(struct tare_fold *f, struct tare_device_fold *d,
			      const struct tare_event *e);
void tare_fold_pool_witness_look(struct tare_fold *f,
				 int witness); /* the books are as they were then */
/* Of each process the last before `t`. */
void tare_fold_pool_witness_rows(const struct tare_fold *f, const struct tare_device_fold *d,
				 enum tare_mark m, int64_t t, struct tare_arena *memory,
				 struct tare_device_ledger *out);

/*
 * snapshot.c: what happened up to when casts doubt on what is shown: at the end everything, however long before the
 * device changed last.
 */
int64_t tare_fold_doubt_ns(const struct tare_fold *f, enum tare_mark m, int64_t t);
int64_t tare_fold_doubt_ns_of(const struct tare_instant *at, const struct tare_ledger *l);

/* rows.c, snapshot.c */
void tare_fold_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_mark m,
		    int64_t t, struct tare_arena *memory, struct tare_device_ledger *out);
void tare_fold_snapshot(struct tare_fold *f, const struct tare_device_fold *d, enum tare_mark m,
			int64_t t, struct tare_ledger *out);
void tare_fold_snapshot_begin(struct tare_fold *f, const char *at, struct tare_ledger *out);
void tare_fold_snapshot_hosts(struct tare_fold *f, enum tare_mark m, struct tare_ledger *out);
void tare_fold_snapshot_end(struct tare_fold *f, const struct tare_instant *at,
			    struct tare_ledger *out);

/* paused.c: what came while recording was paused, in the books of a device */
int tare_fold_paused_bucket(struct tare_fold *f, struct tare_device_fold *d);
int64_t tare_fold_paused_bytes(const struct tare_fold *f, const struct tare_device_fold *d);
int64_t tare_fold_paused_change(struct tare_fold *f, struct tare_device_fold *d, int64_t t,
				int64_t change);

/* owner.c: who asked and where, from the stacks. A record of a checkpoint gets the ids of its place. */
void tare_site_save(const struct tare_fold *f, uint32_t site, struct tare_event *e,
		    uint32_t *python, uint32_t *stack);
struct tare_origin tare_fold_origin(struct tare_fold *f, struct tare_process_fold *p,
				    const struct tare_event *e);
/* "train.py:87 in forward"; NULL: not known */
/* What stands for a place without a Python line. */
void tare_fold_site_add_native(struct tare_str *out, const struct tare_site *site);
const char *tare_fold_site_name(const struct tare_fold *f, uint32_t site, bool is_full,
				struct tare_arena *memory);
uint32_t tare_fold_site(struct tare_fold *f, struct tare_process_fold *p,
			const struct tare_event *e);
uint32_t tare_fold_site_of_backward(struct tare_fold *f, struct tare_process_fold *p,
				    const struct tare_process *process);
bool tare_fold_tensor_is_pool(const struct tare_fold *f, uint64_t owner);
bool tare_fold_tensor_is_segment(const struct tare_fold *f, int bucket);
uint64_t tare_fold_owner_named(struct tare_fold *f, const char *name); /* NULL: not known */
uint64_t tare_fold_text(struct tare_fold *f,
			const char *text); /* 0: none; of f->owners: less one */
const char *tare_fold_text_of(const struct tare_fold *f, uint64_t id); /* NULL: none */

/* take.c: the two passes over the events */
void tare_fold_look_ahead(struct tare_fold *f);
void tare_fold_run(struct tare_fold *f);

/* build.c: the fold without its last step; the caller frees it */
void tare_fold_begin(struct tare_fold *f, const struct tare_ledger_source *source,
		     const struct tare_ledger_opts *opts);
void tare_fold_end(struct tare_fold *f);

/* elastic.c: memory taken because the card had room; the first pass sees and then decides */
void tare_fold_elastic_see(struct tare_fold *f, const struct tare_event *e);
void tare_fold_elastic_decide(struct tare_fold *f);
enum tare_account tare_fold_elastic_account(const struct tare_fold *f, const struct tare_step *s);

/* facts.c: what advice needs and rows do not tell. `bytes`: what the call was measured to take */
void tare_facts_note_call(struct tare_fold *f, const struct tare_step *s, int context);
void tare_facts_note_bytes(struct tare_fold *f, const struct tare_step *s, int context,
			   int64_t bytes);
void tare_facts_note_heap(struct tare_fold *f, int context, int64_t bytes, int64_t t);
const char *tare_facts_stack(const struct tare_context *c, size_t i, int64_t *local);
void tare_facts_free(struct tare_facts *facts);

/* advise.c: what can be done about a device */
void tare_fold_advise(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_mark m,
		      int64_t t, const struct tare_ledger *ledger, struct tare_device_ledger *out);

/* checkpoint_point.c: the last moment up to `until` at which a recording can be cut */
int64_t tare_fold_cut(const struct tare_ledger_source *source, int64_t until);

/* note.c */
void tare_fold_note(struct tare_fold *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* notes.c: sentences */
void tare_fold_notes_of_calls(struct tare_fold *f);
void tare_fold_notes(struct tare_fold *f);

#endif
