/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's segments and blocks: which there are, what each is for, and their rows. */
#ifndef TARE_LEDGER_TENSORS_H
#define TARE_LEDGER_TENSORS_H

#include "ledger/core/fold.h"

/* What PyTorch's allocator said of itself on a device, and what the books had then. */
struct tare_pool_self_report_fold {
	int process, device;
	struct tare_pool_self_report said;
};

struct tare_pool_use {
	bool is_known;
	int64_t live, partly, held, count;
};

/* A live block at an instant that is no moment: what became of it comes later. */
struct tare_watched {
	struct tare_known_block known;
	TARE_NOT_SAVED struct tare_ledger *out;
	int device; /* tare_device_fold.index, -1: in the memory of the CPU */
};

struct tare_watches {
	struct tare_watched *items;
	size_t count, cap;
	struct tare_known_block *gone; /* those that went since */
	size_t gone_nr, gone_cap;
	struct tare_map gone_at; /* serial → 1 + place in gone */
	struct tare_map open;    /* serials of those that a later fold does not know, while they are live */
};

/* Blocks that an earlier state has, and that went since. */
struct tare_ended_blocks {
	TARE_NOT_SAVED uint64_t known; /* tare_fold.block_serial in that state; 0: there is none, and nothing is noted */
	struct tare_known_block *items;
	size_t count, cap;
};

/* What is in the blocks of one pool (tare_fold_pool_key()), by category. */
struct tare_pool_sums {
	uint64_t pool;
	struct tare_category_sum sums[TARE_CATEGORY_NR];
};

struct tare_pool_list {
	struct tare_pool_sums *items;
	size_t count, cap;
};

/* The part. Blocks and segments themselves are in the books: they are what memory is made up of. */
struct tare_tensors_part {
	struct tare_map call_of; /* calls of modules, each with the one around it */
	uint32_t *calls;
	size_t call_nr, call_cap;
	struct tare_map outer_of; /* outermost calls of modules, each with the site that stands for it */
	TARE_ONLY_FREED struct tare_watches watched;
	TARE_ONLY_FREED struct tare_ended_blocks ended;
	struct tare_pool_self_report_fold *self_reports; /* by time */
	size_t self_report_nr, self_report_cap;
	uint64_t other_stream_blocks;                         /* blocks on another stream than their segment */
	TARE_NOT_SAVED const struct tare_tensors_part *later; /* of tare_fold.later, or NULL */
};

const char *tare_tensors_check(const struct tare_tensors_part *tensors, const struct tare_fold *f);

/* Addresses share their low and their high bits: every bit must reach those that are used (of murmur3). */
static inline uint32_t tare_places_hash(uint64_t address)
{
	address ^= address >> 32;
	address *= UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(address >> 32);
}
/* block_places.c: 1 + the place of the block of an address, 0: there is none */
uint32_t tare_places_find(const struct tare_blocks *b, uint64_t address);
/* It need not be of that address, and is not looked at. */
uint32_t tare_places_guess(const struct tare_blocks *b, uint64_t address);
/* 0: it is the place of the address from now on. Else where there is one already, and nothing is done. */
uint32_t tare_places_put(struct tare_blocks *b, uint64_t address, uint32_t place);
uint32_t tare_places_remove(struct tare_blocks *b, uint64_t address); /* its block is there still */
void tare_places_restore(struct tare_blocks *b);                      /* from the blocks */

/* block.c: live blocks, now and at moments. `kept` is the device's. */
struct tare_live_block *tare_blocks_find(const struct tare_blocks *b, uint64_t address);
/* Has fetched what is needed soon: first of all, and when that has come. */
static inline void tare_blocks_prefetch(const struct tare_blocks *b, uint64_t address)
{
	const struct tare_block_places *p = &b->places;

	if (p->cap)
		__builtin_prefetch(&p->slots[tare_places_hash(address) & (p->cap - 1)], 1);
}
void tare_blocks_prefetch_block(const struct tare_blocks *b, uint64_t address);
/* NULL: there is one at this address. */
struct tare_live_block *tare_blocks_add(struct tare_blocks *b, const struct tare_block *said);
/* What is returned (NULL: there is none) is to be released before the next is added. `serial`: that of the fold. */
struct tare_live_block *tare_blocks_remove(struct tare_blocks *b, uint64_t address, struct tare_taking by,
                                           uint64_t *serial, struct tare_kept_blocks *kept);
void tare_blocks_release(struct tare_blocks *b, struct tare_live_block *block);
/* One that is live: was it at that moment? All are now. */
static inline bool tare_block_was_live(const struct tare_live_block *b, const struct tare_kept_blocks *kept,
                                       enum tare_moment m)
{
	return m == TARE_MOMENT_NOW || b->serial <= kept->at[m];
}
/* The same of one that is not any more. */
static inline bool tare_block_is_kept(const struct tare_kept_block *k, const struct tare_kept_blocks *kept,
                                      enum tare_moment m)
{
	return m != TARE_MOMENT_NOW && k->block.serial <= kept->at[m] && kept->at[m] < k->gone;
}

/*
 * block_walk.c: the blocks that were live at a moment, in no order. `process`: of that one alone, -1: of all. What is returned
 * (NULL: there is no more) is good until the next event.
 */
struct tare_block_walk tare_block_walk_of(const struct tare_fold *f, int device, int process, enum tare_moment m);
const struct tare_live_block *tare_block_walk_next(struct tare_block_walk *w);
struct tare_known_block tare_block_walk_known(const struct tare_block_walk *w, const struct tare_live_block *b);

/* block_facts.c: what blocks have in common. pre of the first: the block was handed out. */
static inline const struct tare_block_facts *tare_block_facts_of(const struct tare_work *w,
                                                                 const struct tare_live_block *b)
{
	return &w->facts.items[b->facts - 1];
}
static inline struct tare_known_block tare_known(const struct tare_work *w, const struct tare_live_block *b)
{
	return (struct tare_known_block){ *b, *tare_block_facts_of(w, b) };
}
uint32_t tare_block_facts_put(struct tare_block_facts_list *facts, const struct tare_block_facts *said);
void tare_block_facts_change(struct tare_work *w, struct tare_live_block *b, const struct tare_block_facts *said);
/* Before a block is handed out; `kept` may have blocks of other processes, too. */
static inline bool tare_block_facts_are_full(const struct tare_block_facts_list *facts)
{
	return !facts->free && facts->count >= facts->look_at;
}
void tare_block_facts_make_room(struct tare_blocks *b, const struct tare_kept_blocks *kept, int process);
/* What of a block is booked: all but what lies in trials, or outside of segments. */
int64_t tare_block_booked(const struct tare_live_block *b, const struct tare_block_facts *facts);
static inline uint16_t tare_booked_mark(const struct tare_live_block *b, int64_t booked)
{
	return booked == b->bytes ? TARE_BLOCK_BOOKED : booked ? TARE_BLOCK_IN_PART : 0;
}
void tare_block_book(struct tare_work *w, struct tare_live_block *b, int64_t booked);

/* backward_pass.c: what backward passes leave. `backwards`: that have begun; `is_passing`: it goes within its own. */
/* Of a block that is handed out in a backward pass: 1 + the place of the pass. */
uint32_t tare_passes_add(struct tare_passes *p, uint32_t number);
void tare_passes_remove(struct tare_passes *p, const struct tare_live_block *b, const struct tare_block_facts *facts,
                        uint32_t backwards, bool is_passing);
bool tare_passes_has_stayed(const struct tare_passes *p, const struct tare_live_block *b,
                            const struct tare_block_facts *facts, uint32_t backwards);
/* A scan found it to be a gradient; and was one of its line and size ever? Of what torch.distributed makes. */
void tare_passes_note_said(struct tare_passes *p, const struct tare_live_block *b,
                           const struct tare_block_facts *facts);
bool tare_passes_was_said(const struct tare_passes *p, const struct tare_live_block *b);

/* fate.c: one went, its use is known; and will one that is there go before its piece of work, which goes on, is over? */
void tare_fates_note(struct tare_map *fates, const struct tare_live_block *b, const struct tare_block_facts *facts);
bool tare_fates_will_pass(const struct tare_map *fates, const struct tare_live_block *b,
                          const struct tare_block_facts *facts);

/* site_work.c: what the stack of a place says of its tensors */
/* nr: its number; 0: it has none */
void tare_work_look_at(struct tare_tensors_part *tensors, struct tare_site *site, uint32_t nr);

/* training_section.c: what each thread of the program was doing when blocks came and went; booked: see struct tare_block_facts */
void tare_work_begin(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_work *w,
                     struct tare_live_block *b, const struct tare_block *said, int64_t booked);
void tare_work_end(struct tare_work *w, struct tare_live_block *b, struct tare_taking by);
/* Whose passes a block lives through: its thread's, or where that tells nothing, the leader's. */
static inline struct tare_worker *tare_work_of(const struct tare_work *w, const struct tare_block_facts *facts)
{
	struct tare_worker *own = &w->workers[facts->worker - 1];

	return own->is_seen_at_work || !w->leader ? own : &w->workers[w->leader - 1];
}
/* Told of every block. */
static inline void tare_work_change(const struct tare_work *work, const struct tare_live_block *b,
                                    struct tare_block_change *c)
{
	const struct tare_worker *w = &work->workers[tare_block_facts_of(work, b)->worker - 1];

	c->process = b->process;
	c->tid = w->tid;
	c->work = w->kind;
	c->section = w->section;
	c->backwards = w->backwards;
	c->flags = b->flags;
	c->site = b->site;
	c->bytes = b->bytes;
	c->born_ns = b->born_ns;
}
/* What can be said of a block as if it went now. */
void tare_work_now(const struct tare_work *w, struct tare_known_block *b);

/* object_scan.c: what the recorder found in the program's objects */
void tare_fold_scan_entry(struct tare_fold *f, const struct tare_event *e);
void tare_fold_scan(struct tare_fold *f, const struct tare_event *e);

/* trained.c: what such a look says of which parameters are trained, and what is kept for each of them */
void tare_trained_note(struct tare_blocks *blocks, const struct tare_scan_entries *scanned);
/* category.c: one of its blocks has gone. */
void tare_site_note_kept(struct tare_site *site, const struct tare_live_block *b);
/* One that autograd recorded is gone; outer: the site that stands for its outermost call. */
void tare_site_note_recorded(struct tare_site *outer, const struct tare_block_facts *facts,
                             const struct tare_live_block *b);
/* A scan found one of its blocks, which a variable keeps. */
void tare_site_note_variable(struct tare_site *site, const struct tare_known_block *b, const struct tare_work *work);

/*
 * category.c, tensor_rows.c: every block with its category, when all is known; earlier it may not be asked for. Of a block that went the
 * rules see nothing but what tare_rule_sees() leaves: those of which that is the same are for the same.
 */
struct tare_known_block tare_rule_sees(const struct tare_known_block *b);
enum tare_rule tare_fold_rule_of(const struct tare_fold *f, const struct tare_known_block *b,
                                 const struct tare_work *w);
void tare_tensors_device_rows(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                              const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                              struct tare_arena *memory, struct tare_device_ledger *out);
/* What there was when there was most. */
void tare_tensor_most(const struct tare_fold *f, struct tare_training *row, struct tare_arena *memory);
/* history_category.c: live tensors over time, by category; device -1: the memory of CPUs */
void tare_tensor_kinds_begin(struct tare_fold *f);
void tare_tensor_kind_made(struct tare_fold *f, const struct tare_live_block *b, int device);
void tare_tensor_kind_gone(struct tare_fold *f, const struct tare_live_block *b, int device);
static inline void tare_tensor_kinds_made(struct tare_fold *f, const struct tare_live_block *b, int device)
{
	if (f->history_by_category)
		tare_tensor_kind_made(f, b, device);
}
static inline void tare_tensor_kinds_gone(struct tare_fold *f, const struct tare_live_block *b, int device)
{
	if (f->history_by_category)
		tare_tensor_kind_gone(f, b, device);
}
void tare_tensor_kinds_finish(struct tare_fold *f);
/* block_course.c: single blocks over time; device -1: the memory of CPUs. One came, or has gone. */
void tare_block_courses_begin(struct tare_fold *f);
void tare_block_course_change(struct tare_fold *f, const struct tare_live_block *b, int device, bool is_gone);
static inline void tare_block_courses_change(struct tare_fold *f, const struct tare_live_block *b, int device,
                                             bool is_gone)
{
	if (f->block_courses)
		tare_block_course_change(f, b, device, is_gone);
}
void tare_block_courses_finish(struct tare_fold *f);
/* tensor_rows.c: what a row of a block is called; NULL: not known */
const char *tare_tensor_name(const struct tare_fold *f, const struct tare_known_block *b, enum tare_rule rule);
/* category_rows.c: what the live tensors of each pool are for, as rows below theirs; frees the list */
uint64_t tare_fold_pool_key(int process, enum tare_account account, uint64_t owner);
void tare_fold_category_add(const struct tare_fold *f, struct tare_pool_list *l, const struct tare_known_block *b,
                            enum tare_rule rule);
void tare_fold_category_rows(struct tare_pool_list *l, struct tare_arena *memory, struct tare_device_ledger *out);
void tare_fold_host_category_rows(const struct tare_category_sum *sums, struct tare_arena *memory,
                                  struct tare_host_ledger *out);
/* At another instant: what became of the blocks is not known yet; `finish` makes the rows. */
void tare_tensors_shown(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                        struct tare_ledger *out);
void tare_tensors_host_rows(const struct tare_tensors_part *tensors, const struct tare_fold *f, enum tare_moment m,
                            struct tare_ledger *out);
void tare_fold_watch_host(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_ledger *out);
void tare_fold_block_gone(struct tare_tensors_part *tensors, struct tare_fold *f, const struct tare_work *w,
                          const struct tare_live_block *b);
void tare_tensors_finish(struct tare_tensors_part *tensors, struct tare_fold *f);
/*
 * later_fate.c: of a fold that shows a moment. All that is shown is watched: the later fold, which has not run yet, tells what becomes of
 * those that it has; and do all others have an end?
 */
void tare_tensors_await(struct tare_tensors_part *tensors, struct tare_fold *f);
static inline bool tare_tensors_are_known(const struct tare_tensors_part *tensors)
{
	return tensors->watched.open.count == 0;
}
/* Of a fold that goes on from a state with so many blocks and is saved again (state/ended.c): which of these go. */
void tare_ended_begin(struct tare_tensors_part *tensors, uint64_t serial);
void tare_ended_note(struct tare_ended_blocks *ended, const struct tare_work *w, const struct tare_live_block *b);
/* The later fold's block of a watched one; false: it had gone before. */
bool tare_tensors_later(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                        const struct tare_watched *w, struct tare_known_block *out);
/* The rule of a block of `f` that had gone before the later fold began, by what that knows of its thread and line. */
enum tare_rule tare_tensors_rule_later(const struct tare_fold *f, const struct tare_known_block *b, int device);
const struct tare_work *tare_tensors_work(const struct tare_fold *f, int process, int device);
static inline enum tare_rule tare_tensors_rule(const struct tare_fold *f, const struct tare_known_block *b, int device)
{
	return tare_fold_rule_of(f, b, tare_tensors_work(f, b->block.process, device));
}

/* segment.c: what PyTorch's allocator has from the driver, and tensors.c: how it is made up */
void tare_fold_segment_add(struct tare_fold *f, int bucket, uint64_t at, uint64_t size, int graph);
/* Memory of the device at an address is about to go. */
void tare_tensors_unmap(struct tare_tensors_part *tensors, struct tare_fold *f, int process, int device, uint64_t at);
int tare_segments_place(const struct tare_segments *s, uint64_t at); /* of the last that begins there or before, -1 */
/* `d` is the device that it is on. Returns the bucket of live tensors that it moves; -1: it is a trial's. */
int tare_fold_segment_move(struct tare_fold *f, struct tare_device_fold *d, struct tare_segment *s, uint32_t site,
                           int64_t bytes, int64_t count);
void tare_fold_segment_allocated(struct tare_fold *f, struct tare_device_fold *d, const struct tare_segment *s,
                                 uint32_t site, int64_t bytes);
void tare_fold_segment_collected(struct tare_fold *f, struct tare_device_fold *d, const struct tare_segment *s,
                                 int64_t bytes);
void tare_fold_segment_hold(struct tare_fold *f, int process); /* a graph came or went */
/* As tare_fold_blocks_at(); the segments are copies without `live`. */
size_t tare_fold_segments_at(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                             struct tare_segment **out);
/* Before all segments of a context go, or of all contexts (-1): every block is looked at once, not once for each of them. */
void tare_tensors_leave(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d, int process,
                        int context);
void tare_fold_free_segment_blocks(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                                   struct tare_process_on_device *p, struct tare_segment *s);
void tare_tensor_block(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e,
                       struct tare_block *out);
/* Of a process on the device. `segment`: tare_segments_place() of its address. False: none was handed out, as it lies in no segment. */
bool tare_tensor_hand_out(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                          struct tare_process_on_device *p, const struct tare_block *b, int segment,
                          struct tare_block_change *c);
void tare_tensor_take_back(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                           struct tare_process_on_device *p, uint64_t address, int segment, struct tare_taking by);
uint32_t tare_tensor_site(struct tare_fold *f, struct tare_process_fold *p,
                          const struct tare_event *e); /* where one was handed out; 0: not known */
struct tare_pool_use tare_fold_tensor_use(const struct tare_fold *f, const struct tare_device_fold *d, int process,
                                          enum tare_account account, uint64_t owner, enum tare_moment m);

/* host_tensor.c: tensors in the memory of the CPU */
void tare_host_wait(struct tare_fold *f, const struct tare_event *e);
/* Does one wait that is before t? When it is; and takes it in: the block, NULL: one went. */
bool tare_host_next(struct tare_fold *f, int64_t t, int64_t *at);
struct tare_live_block *tare_host_take(struct tare_tensors_part *tensors, struct tare_fold *f);
void tare_host_show(struct tare_tensors_part *tensors, struct tare_fold *f,
                    int64_t t); /* instants before t see what there is now */
void tare_host_tear_down(struct tare_fold *f, struct tare_process_fold *p,
                         int64_t t); /* Python takes the program down */
void tare_host_set_end(struct tare_fold *f, int64_t t);
void tare_host_set_moment(struct tare_fold *f, enum tare_moment m); /* a device came to it */
void tare_host_forget(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_process_fold *p);
/* host_lines.c: pre: the processes of the ledger have their tensors, as of that moment */
void tare_fold_host_lines(const struct tare_fold *f, enum tare_moment m, struct tare_ledger *out);

/* module.c: modules of programs, and which one a block is for */
void tare_modules_take(struct tare_fold *f, const struct tare_event *e);
/* 1 + place of the one that the flags of a block that is handed out refer to; 0: none */
uint32_t tare_modules_of_block(const struct tare_modules *m, const struct tare_rec_tensor *r);
uint32_t tare_modules_find(const struct tare_modules *m, uint64_t at); /* the same, of an address */
/* A scan is over: which tensor belongs to which module or parameter, by what it found; `is_whole`: what it did not find is gone. */
void tare_modules_name(const struct tare_fold *f, struct tare_modules *m, const struct tare_scan_entries *scanned,
                       bool is_whole);
bool tare_module_is_wrapper(const char *name);
/* Rows of modules, each once; see tare_tensor_row.module. */
const struct tare_module_row *tare_module_row_of(struct tare_map *rows, const struct tare_fold *f,
                                                 struct tare_arena *memory, int process, uint32_t module);

/* growth_by_step.c: adds what grows in steps that are too quick to be seen in columns of time */
void tare_tensors_growth(const struct tare_fold *f, struct tare_ledger *out);
/* module_growth.c: the module of each that grows, where it has one */
void tare_modules_of_growth(const struct tare_fold *f, struct tare_growth *growths, int nr, struct tare_arena *memory);

/* What is recorded of streams and modules. */
void tare_tensors_event(struct tare_tensors_part *tensors, struct tare_fold *f, const struct tare_device_fold *d,
                        const struct tare_event *e);
/* stream.c: on which streams PyTorch's segments are */
void tare_fold_stream(struct tare_fold *f, const struct tare_device_fold *d, const struct tare_event *e);
struct tare_on_stream tare_fold_stream_of(const struct tare_process_fold *p, const struct tare_device_fold *d,
                                          const struct tare_rec_tensor *r);
void tare_fold_segment_on(struct tare_tensors_part *tensors, struct tare_segment *s, const struct tare_on_stream *on);
struct tare_stream tare_fold_stream_named(const struct tare_on_stream *on);

/* pool_rows.c: PyTorch's segments, one by one */
void tare_fold_pool_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                         struct tare_arena *memory, struct tare_device_ledger *out);

/* pool_self_report.c: what PyTorch's allocator says of itself: 1 + the place of what is to be compared, 0: nothing is */
size_t tare_tensors_ask(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_device_fold *d,
                        const struct tare_event *e);
void tare_tensors_look(struct tare_tensors_part *tensors, struct tare_fold *f,
                       size_t witness); /* the books are as they were then */
/* Of each process the last before `t`. */
void tare_fold_self_report_rows(const struct tare_tensors_part *tensors, const struct tare_fold *f,
                                const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                                struct tare_arena *memory, struct tare_device_ledger *out);

/* mapped_file.c: what mapped memory is; of the block that comes next at an address (0: not known); rows of a moment */
void tare_mapped_file_take(struct tare_fold *f, const struct tare_event *e);
uint64_t tare_mapped_file_of_next(struct tare_process_fold *p, uint64_t address);
void tare_mapped_file_rows(const struct tare_fold *f, enum tare_moment m, struct tare_ledger *out);

#endif
