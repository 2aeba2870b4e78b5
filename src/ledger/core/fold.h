/* SPDX-License-Identifier: Apache-2.0 */
/* The books: what everybody may ask of the state of a fold, and change in it. */
#ifndef TARE_LEDGER_CORE_FOLD_H
#define TARE_LEDGER_CORE_FOLD_H

#include "ledger/category.h"
#include "ledger/core/fold_state.h"
#include "ledger/core/peak.h"

#include <string.h>

/* device.c */
struct tare_device_fold *tare_fold_device(struct tare_fold *f, const struct tare_device *device);
int tare_fold_device_place(const struct tare_fold *f, const struct tare_device_fold *d); /* in a ledger */

/* book.c: buckets */
int tare_fold_bucket(struct tare_fold *f, int context, int account, uint64_t owner);
int tare_fold_bucket_at(struct tare_fold *f, int context, int account, uint64_t owner, uint32_t site);
/* A bucket of no process: OTHER, by `owner`, or PAUSED. */
int tare_fold_bucket_of_device(struct tare_fold *f, int device, int account, uint64_t owner);
void tare_buckets_all_changed(struct tare_fold *f); /* or may have: which of them did is in no state */
void tare_fold_book(struct tare_fold *f, int bucket, const struct tare_amount *by);
/* Before the bucket changes: what it was at moments since its last change stays known. */
void tare_bucket_keep_moments(struct tare_bucket *b, const struct tare_device_fold *d);
static inline void tare_bucket_keep(struct tare_bucket *b, const struct tare_device_fold *d)
{
	if (memcmp(b->moment, d->moment_nr, sizeof(b->moment)) != 0)
		tare_bucket_keep_moments(b, d);
}

/* Books blocks, exact, in a bucket of theirs on the device, which enters no sum of it and is no trial. */
static inline void tare_fold_book_blocks(struct tare_fold *f, int bucket, struct tare_device_fold *d, int64_t bytes,
                                         int64_t count)
{
	struct tare_bucket *b = &f->buckets[bucket];

	tare_bucket_keep(b, d);
	f->changed[bucket] = 1;
	b->now.bytes += bytes;
	if (b->least > b->now.bytes)
		b->least = b->now.bytes;
	b->now.low += bytes;
	b->now.high += bytes;
	b->now.count += count;
	if (b->now.evidence < 1 + TARE_EVIDENCE_EXACT)
		b->now.evidence = 1 + TARE_EVIDENCE_EXACT;
	d->account_now[b->account] += bytes;
}

/* An amount that has the same bounds as itself, of so many pieces. */
void tare_fold_book_counted(struct tare_fold *f, int bucket, int64_t bytes, int64_t count, enum tare_evidence how);
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
const struct tare_amount *tare_fold_amount(const struct tare_fold *f, const struct tare_bucket *b, enum tare_moment m);

/* moment.c: from here on every bucket of the device keeps what it is now, the moment it changes */
void tare_device_set_moment(struct tare_fold *f, struct tare_device_fold *d, enum tare_moment m, int64_t t);

/* pages.c: address space → physical pages. Both return the change of physical bytes. */
int64_t tare_fold_pages_add(struct tare_fold *f, struct tare_process_on_device *p, uint64_t at, uint64_t size);
int64_t tare_fold_pages_remove(struct tare_fold *f, struct tare_process_on_device *p, uint64_t at, uint64_t size);

/* Every device and process that an event names, the first pass has seen. */
static inline struct tare_device_fold *tare_fold_known_device(const struct tare_fold *f,
                                                              const struct tare_device *device)
{
	return device->index < f->device_nr ? f->devices[device->index] : NULL;
}

static inline struct tare_process_fold *tare_fold_known_process(const struct tare_fold *f, const struct tare_process *p)
{
	return p->index < f->process_nr ? f->processes[p->index] : NULL;
}

/* process.c: processes and their places */
struct tare_process_fold *tare_fold_process_new(struct tare_fold *f, const struct tare_process *p);
static inline struct tare_process_fold *tare_fold_process(struct tare_fold *f, const struct tare_process *p)
{
	struct tare_process_fold *known = tare_fold_known_process(f, p);

	return known ? known : tare_fold_process_new(f, p);
}
struct tare_process_on_device *tare_fold_process_on_new(struct tare_fold *f, int process, int device);
static inline struct tare_process_on_device *tare_fold_process_on(struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = f->processes[process];

	return device < p->on_device_nr && p->on_device[device] ? p->on_device[device]
	                                                        : tare_fold_process_on_new(f, process, device);
}
int64_t tare_fold_process_bytes(const struct tare_fold *f, const struct tare_device_fold *d, int process);
void tare_fold_host(struct tare_fold *f, const struct tare_event *e);
void tare_fold_host_most(struct tare_fold *f, const struct tare_event *e);  /* of an END */
void tare_fold_host_keep(struct tare_fold *f, struct tare_process_fold *p); /* before it changes */
const struct tare_host_now *tare_fold_host_at(const struct tare_fold *f, const struct tare_process_fold *p,
                                              enum tare_moment m);
/* Is it the process of that pid, of the machine that the device is in? */
bool tare_other_process_is(const struct tare_device_fold *d, const struct tare_process_fold *p, uint32_t pid);
/* The process ended in order, or nothing more can come from its log; and did anything come? */
bool tare_fold_is_over(const struct tare_process_fold *p, int64_t t);
bool tare_fold_is_any_over(const struct tare_fold *f, int64_t t);

/* context.c */
int tare_fold_context(struct tare_fold *f, int process, int device, uint64_t handle);

/* object.c: the live set */
int tare_object_add(struct tare_fold *f, const struct tare_object_live *o);
int tare_fold_object_find(struct tare_fold *f, int process, enum tare_class class, uint64_t handle);
int64_t tare_object_remove(struct tare_fold *f, int object); /* physical bytes given back */
struct tare_undo *tare_fold_undo(struct tare_fold *f, const struct tare_step *s, bool is_made);
void tare_fold_undo_clear(struct tare_undo *g);
void tare_fold_undo_add(struct tare_undo *g, const struct tare_object_live *o);
/* accounts.c: as tare_row_path_add(); parent NULL: none */
const char *tare_fold_row_path(struct tare_arena *memory, const char *parent, const char *segment);

/* share.c: memory that several processes have */
#define TARE_OWNER_SHARED "shared" /* row of what its process let go, and somebody unknown holds */

/* local.c: local memory of a context, for so much of a thread */
int64_t tare_fold_local_need(const struct tare_fold *f, const struct tare_context *c, int64_t local);
enum { TARE_OUT_OF_TIME_NS = 100000000 }; /* how far a witness's stamp may be wrong */
enum { TARE_TOGETHER_NS = 1000000 }; /* a reading and a list of processes that are further apart are of two moments */

/*
 * unexplained.c: what changed inside a call, and no account explains, is of the line that called; `context`
 * -1: of what no line is known
 */
void tare_fold_unexplained(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s, int context,
                           int64_t bytes);
int64_t tare_fold_unexplained_in(const struct tare_fold *f, int context);

/* Accounts whose rows have names: a bucket for each. The others have one per context. */
static inline bool tare_account_is_named(int account)
{
	return account == TARE_ACCOUNT_ALLOCATION || account == TARE_ACCOUNT_POOL || account == TARE_ACCOUNT_POOL_IDLE ||
	       account == TARE_ACCOUNT_VMM || account == TARE_ACCOUNT_IPC || account == TARE_BUCKET_TENSOR ||
	       account == TARE_BUCKET_PARTLY || account == TARE_BUCKET_HELD || account == TARE_BUCKET_EVER_ALLOCATED ||
	       account == TARE_ACCOUNT_TRIAL || account == TARE_BUCKET_TRIED || account == TARE_BUCKET_COLLECTED ||
	       account == TARE_ACCOUNT_HEAP || account == TARE_ACCOUNT_MAPPED || account == TARE_BUCKET_HEAP_SIZED;
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

/* line_name.c: do two sites have the same line of the program? */
bool tare_fold_is_same_line(const struct tare_fold *f, uint32_t a, uint32_t b);
/* line_name.c: what of no site is called after its account */
void tare_fold_line_name(const struct tare_fold *f, uint32_t site, enum tare_account account, struct tare_arena *memory,
                         struct tare_ledger_line *l);

/* paused.c: what came while recording was paused, in the books of a device */
int tare_fold_paused_bucket(struct tare_fold *f, struct tare_device_fold *d);
int64_t tare_fold_paused_bytes(const struct tare_fold *f, const struct tare_device_fold *d);
int64_t tare_fold_paused_change(struct tare_fold *f, struct tare_device_fold *d, int64_t t, int64_t change);

/* owner.c: who asked and where, from the stacks */
struct tare_origin tare_fold_origin(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e);
/* "train.py:87 in forward"; NULL: not known */
/* What stands for a place without a Python line. */
void tare_fold_site_add_native(struct tare_str *out, const struct tare_site *site, bool is_full);
const char *tare_fold_site_name(const struct tare_fold *f, uint32_t site, bool is_full, struct tare_arena *memory);
uint32_t tare_fold_site(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e);
uint32_t tare_fold_site_of_backward(struct tare_fold *f, struct tare_process_fold *p,
                                    const struct tare_process *process);
bool tare_fold_tensor_is_pool(const struct tare_fold *f, uint64_t owner);
bool tare_fold_tensor_is_segment(const struct tare_fold *f, int bucket);
uint64_t tare_fold_owner_named(struct tare_fold *f, const char *name); /* NULL: not known */
uint64_t tare_fold_text(struct tare_fold *f, const char *text);        /* 0: none; of f->owners: less one */
/* What of it the owner itself says that memory is for. */
uint64_t tare_fold_owner_part(struct tare_fold *f, uint64_t owner, const char *part);
const char *tare_fold_text_of(const struct tare_fold *f, uint64_t id); /* NULL: none */

/* pinned.c: memory of the host that the driver locked, and what the program had asked for */
bool tare_pinned_is_rounded(const struct tare_fold *f, uint64_t owner);
struct tare_amount tare_pinned_amount(const struct tare_object_live *o, int sign);
void tare_pinned_note_asked(struct tare_fold *f, int process, uint64_t at, const char *shape);
int64_t tare_pinned_shape_bytes(const char *shape); /* "int8 [2053, 1089536]"; 0: not known */

/* note.c */
void tare_fold_note(struct tare_fold *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
