/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the books, with what everybody may look at; parts keep theirs in structs of their own.
 *
 * Everything that ends up in a row lives in a bucket: the sum for one (device, process, context,
 * account, owner). A change of buckets is an op. What was true at the peak is kept by copying a
 * bucket the first time it changes after the peak was reached ("mark"), so a new peak costs nothing
 * and one pass is enough.
 */
#ifndef TARE_LEDGER_FOLD_STATE_H
#define TARE_LEDGER_FOLD_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "ledger/build.h"
#include "ledger/core/block_state.h"
#include "ledger/core/change.h"
#include "ledger/core/samples.h"

#define TARE_MIB (INT64_C(1) << 20)

enum { TARE_COUNTER_STEP = 64 << 10 }; /* by which the counter of a device wavers */

/* How an event's class is sized (class.def). */
enum tare_sizing {
	TARE_SIZING_NONE,
	TARE_SIZING_WEIGHED,
	TARE_SIZING_PAGES,
	TARE_SIZING_EXACT,
	TARE_SIZING_HOST,
};

struct tare_class_info {
	const char *name;
	enum tare_sizing sizing;
	enum tare_account account;
};
extern const struct tare_class_info tare_classes[TARE_CLASS_NR];

/*
 * Buckets that enter no sum of a device, behind the accounts: what a process pinned; what of
 * PyTorch's segments is in blocks, what is cached beside blocks, and what is cached for graphs; and all that
 * was ever handed out in blocks, which never falls.
 */
enum {
	TARE_BUCKET_PINNED = TARE_ACCOUNT_NR,
	TARE_BUCKET_REGISTERED,
	TARE_BUCKET_TENSOR,
	TARE_BUCKET_PARTLY,
	TARE_BUCKET_HANDED,
	TARE_BUCKET_HELD,
	TARE_BUCKET_COLLECTED, /* all that Python's cyclic collector took back in blocks; it never falls */
	TARE_BUCKET_TRIED,       /* in blocks of segments that are trials: in the row of those */
	TARE_BUCKET_UNEXPLAINED, /* what changed inside calls, and no account explains */
	TARE_BUCKET_NR
};

/* What is summed up by kind on every device: buckets by account, and of allocations those that are segments. */
enum { TARE_NOW_CUT = TARE_BUCKET_NR, TARE_NOW_CUT_VMM, TARE_NOW_NR };

/* Processes that a picture tells apart by their tensors on the CPU; the last place is for all others. */
enum { TARE_HOST_PARTS = 12 };

struct tare_amount {
	int64_t bytes, low, high;
	int64_t count;
	int64_t ns;
	uint8_t evidence; /* 1 + the weakest enum tare_evidence that went in; 0: nothing did */
};

static inline bool tare_amount_is_empty(const struct tare_amount *a)
{
	return !a->bytes && !a->low && !a->high && !a->count && !a->ns;
}

static inline void tare_amount_add(struct tare_amount *sum, const struct tare_amount *by)
{
	sum->bytes += by->bytes;
	sum->low += by->low;
	sum->high += by->high;
	sum->count += by->count;
	sum->ns += by->ns;
	if (sum->evidence < by->evidence)
		sum->evidence = by->evidence;
}

/* The most that was in use, and at the first such moment with most of it in blocks of PyTorch's allocator. */
struct tare_most {
	int64_t used, live, ns;
};

struct tare_bucket {
	struct tare_amount now;
	uint32_t mark[TARE_MARK_NR]; /* kept[m] is as of this mark of the device */
	int device, process;         /* process -1: others */
	int context;                 /* -1: others */
	int account;                 /* enum tare_account, or TARE_BUCKET_… */
	bool is_cut;                 /* into blocks that are reported */
	/* of a named account: owner id, 0: not known; OTHER: 0 before the recording, else 1 + peer's place */
	uint64_t owner;
	uint32_t site; /* where in the program it was asked for; 0: not known */
	int next_of_device, next_of_context;   /* -1 ends */
	struct tare_amount kept[TARE_MARK_NR]; /* last: rarely looked at */
};

static inline int tare_now_cut(const struct tare_bucket *b)
{
	return b->account == TARE_ACCOUNT_VMM ? TARE_NOW_CUT_VMM : TARE_NOW_CUT;
}

/* A place in a program that events come from: a Python stack, else the address of a native owner. */
struct tare_site {
	const struct tare_process *process;
	const struct tare_line_stack *python; /* or NULL, and then … */
	const struct tare_stack *stack;       /* … one that has `pc` */
	uint64_t pc;
	bool is_backward; /* or neither: autograd's engine, on threads that run no Python */

	/* Where its blocks were booked last: in segments of which context and owner, and the buckets. */
	uint64_t segment_owner;
	int segment_context, tensor, handed; /* tensor 0: nowhere yet, for that is a device's own */

	bool is_placed; /* training_section.c: the rest is known */
	uint8_t maker;  /* enum tare_maker */
	bool begins_backward;
	uint32_t call;          /* innermost call of a module, 0: none */
	int64_t outlived_bytes; /* of the last block that outlived such a call */
};

/* What a stack says of an event. */
struct tare_origin {
	uint64_t owner;
	uint32_t site;
};

struct tare_op {
	int bucket;
	struct tare_amount by;
};

struct tare_ops {
	struct tare_op *items;
	size_t count, cap;
};

struct tare_object_live {
	uint64_t handle, asked, granted;
	int process; /* -1: a free slot */
	int device, context, bucket;
	int prev, next; /* in its context */
	int graph;      /* row of the graph it is an exec of or was allocated for, -1: none */
	uint8_t class;
};

/* References of one process to memory: by handles, and by mappings. */
struct tare_refs {
	uint32_t handles, mappings;
};

/* Memory of cuMemCreate, or an allocation that was shared, of the process that made it. */
struct tare_physical {
	uint64_t handle;   /* of an allocation that was shared: its address */
	int64_t bytes;     /* of the device */
	uint64_t identity; /* under which it was exported; 0: it was not */
	int64_t exported_ns;
	int process, device, bucket;
	struct tare_refs refs; /* of that process */
	int holder;            /* import in whose row it is, once it is lent; -1: of nobody known */
	bool is_live, is_lent; /* lent: its own process let go, and another holds it */
	bool is_allocation;    /* booked as one, as long as it is not lent */
};

/* The same in a process that imported it. */
struct tare_import {
	uint64_t handle, identity;
	int64_t bytes; /* 0: not known yet */
	int64_t begin_ns;
	int process, device;
	struct tare_refs refs;
	int origin;               /* physical; -1: not known */
	bool is_live, is_address; /* opened by legacy IPC: `handle` is where */
};

struct tare_mapping {
	uint64_t at, bytes;
	uint64_t ref; /* vmm.c */
	int process;
	int graph; /* row of the capture that it was made in, -1: none */
};

/* One context, from its making to its end. Handle 0 stands for "no context" and never ends. */
struct tare_context {
	uint64_t handle;
	int process, device;
	int number; /* of created ones, from 1 */
	bool is_primary, is_live;
	int64_t local_held;  /* local memory the driver holds for it; -1: not asked yet */
	int64_t heap_wanted; /* size of its device heap that was asked for and not taken yet */
	int bucket_of[TARE_BUCKET_NR]; /* -1: none yet */
	struct tare_map parts; /* (account, owner, site) → bucket, where there is more than one */
	int buckets, objects;  /* lists */
	struct tare_facts *facts;             /* NULL: none yet */
	uint64_t exec_nodes, exec_nodes_high; /* of its executable graphs: now, and the most */
};

/* A stream of PyTorch, as it was said. */
struct tare_on_stream {
	uint64_t id;
	uint16_t ids; /* enum tare_stream_ids */
	bool is_known;
};

/* What the last STREAM record of a thread said. */
struct tare_thread_stream {
	struct tare_on_stream on;
	uint32_t tid;
	int device;
};

/* What PyTorch's allocator took from the driver, and how much of it is in blocks. */
struct tare_segment {
	uint64_t at, size, owner;
	struct tare_on_stream on;
	uint32_t otherwise; /* blocks that were said to be on another stream */
	int64_t live;
	int context, process;
	int graph;    /* row of the capture that it was taken in, -1: none */
	bool is_held; /* a graph of that capture's pool is still there */
	bool is_expandable;
	bool is_trial;               /* rule "trial" */
	int partly;                  /* its bucket of that account; 0: not looked for yet */
	uint32_t mark[TARE_MARK_NR]; /* of the device, when it became this */
};

struct tare_segments { /* by address */
	struct tare_segment *items;
	size_t count, cap;
};

/* What was one at a mark, and is not any more; as of blocks. */
struct tare_kept_segments {
	struct tare_segment *items;
	size_t count, cap;
	uint32_t mark;
};

/* A block that was handed out, or taken back (no bytes). */
struct tare_block {
	uint64_t address;
	int64_t bytes, t, born_ns;
	int process;
	uint32_t site, tid;
	uint16_t flags;           /* enum tare_tensor_flag */
	struct tare_on_stream on; /* handed out */
	int look;   /* it is none: 1 + what a part looks at when the calls before are settled */
	int looker; /* which part: enum tare_looker */
};

/* A process on a device. */
struct tare_place {
	struct tare_segments segments;
	struct tare_blocks blocks; /* of PyTorch */
	struct tare_map contexts;  /* handle → 1 + context */
	struct tare_map pages;     /* pages that allocations touch only in part → how many do */
	int64_t managed;           /* asked for in live managed memory */
	int created;               /* contexts so far */
	bool is_contradicted;      /* by what PyTorch's allocator counts; it is told once */
	bool is_left;              /* the process ended and nothing of it is booked any more */
	bool is_removed;           /* what it had left the books with its end */
	bool is_cut;               /* blocks in its segments were reported */
};

enum tare_family {
	TARE_FAMILY_ADDRESS,
	TARE_FAMILY_HOST,
	TARE_FAMILY_REGISTERED,
	TARE_FAMILY_OTHER, /* one per class from here on */
	TARE_FAMILY_NR = TARE_FAMILY_OTHER + TARE_CLASS_NR
};

struct tare_host_now {
	bool is_read;
	uint64_t anon, file, shmem, swap, peak, pss;
	struct tare_host_tensors tensors;
};

/* One thing that a look through a program's objects found. */
struct tare_probed {
	uint64_t at, of;
	uint32_t name; /* text of the fold */
	uint8_t role, flags;
};

struct tare_probes { /* since the last SWEEP */
	struct tare_probed *items;
	size_t count, cap;
	uint32_t sweeps;
};

enum { TARE_SITE_MEMO = 256 };

struct tare_process_fold {
	const struct tare_process *process;
	bool is_seen, has_context;
	bool is_ending,
		is_ended; /* its END record came; and every device was settled up to there */
	struct tare_place **places; /* by device; NULL where it never was */
	int place_nr;
	struct tare_map live[TARE_FAMILY_NR]; /* handle → object */
	struct tare_map vmm, mapped;          /* vmm.c: handle → reference, address → mapping */
	struct tare_map shared, opened;       /* share.c: address → physical, → 1 + import */
	bool is_vmm_over;                     /* its references are gone */
	struct tare_map origin_of; /* python, stack id → place in `origins` of the fold */
	struct tare_map site_of;   /* python id, or address → site */
	struct tare_site_memo {
		uint32_t python, site;
	} site_memo[TARE_SITE_MEMO]; /* of stacks that came lately, by the low bits of their ids */
	struct tare_map origins;     /* function → kernel or module, kernel → library */
	struct tare_map large_open, held_sizes, xla_devices, elastic; /* elastic.c */
	struct tare_map thread_streams; /* thread → place in streams */
	struct tare_thread_stream *streams;
	size_t stream_nr, stream_cap;
	struct tare_probes probes;
	int64_t end_ns;                 /* of is_ending */
	bool is_torn_down;              /* Python frees what is left of it */
	struct tare_blocks host_blocks; /* in the memory of the CPU */
	int host_row;                   /* in `hosts` of every ledger, -1: none */
	int host_part;                  /* 1 + place in the host's parts; 0: none yet */
	struct tare_host_now host, host_kept[TARE_MARK_NR];
	uint32_t host_mark[TARE_MARK_NR];
};

/* What a thread's last DEL took away: an UNDO brings it back. */
struct tare_grave {
	struct tare_object_live *objects;
	size_t object_nr, object_cap;
	struct tare_ops ops;
	int context; /* that ended, -1: none */
	uint64_t handle;
};

/* An EVENT, with what the fold needs of it. */
struct tare_step {
	int process, device; /* device -1: none */
	uint32_t tid;
	uint8_t effect, class;
	uint16_t flags;
	bool is_folded; /* out of a checkpoint */
	uint64_t owner;
	uint32_t site;      /* where what it makes was asked for; of what goes: 0 */
	uint32_t call_site; /* where it was called */
	int64_t begin, end;
	int64_t reading_before, reading_after; /* how far off its readings may be; 0: not told */
	int64_t weigh_begin, weigh_end;        /* between which they are */
	const char *phase;    /* path of the one that was open around it; NULL: none, not known */
	int64_t local_growth; /* LAUNCH: not yet booked; -1: not computed yet */
	uint64_t context, handle, parent, asked, granted, before, after, peers_before, peers_after;
	uint64_t local, limit;
	const char *name; /* of the function, the recording's; or NULL */
};

/* A point at which the driver may give memory back; nothing else happens in it. */
static inline bool tare_step_is_sync(const struct tare_step *s)
{
	return s->class == TARE_CLASS_POOL && s->effect == TARE_EFFECT_CHANGE && !s->handle &&
	       !s->parent && !s->asked;
}

/* Rule "taking": what makes something gives nothing back, so a fall inside is somebody else's. */
static inline bool tare_step_only_takes(const struct tare_step *s)
{
	return !(s->flags & TARE_EVENT_FAILED) &&
	       (s->effect == TARE_EFFECT_NEW || s->class == TARE_CLASS_DRIVER);
}

/* What cuCtxSetLimit calls them. */
enum { TARE_LIMIT_STACK_SIZE = 0, TARE_LIMIT_MALLOC_HEAP_SIZE = 2 };

/* What a step did, apart from what was measured. */
struct tare_applied {
	int64_t known;   /* sum of its ops */
	bool takes_rest; /* what was measured beyond the known goes to `bucket` */
	int bucket;      /* -1: none */
	int context;
	int64_t ended_unexplained; /* what was unexplained in the context that it ended */
	int graph;                 /* row that the call is about, -1: none */
	int capture;               /* row that is being captured by it, -1: none */
	bool changes_graphs;       /* one came or went: what is held for them has to be looked at */
	bool sets_used;            /* what is in use after it is shown with the graph */
};

/* A graph, as others need to know it. */
struct tare_capture_group {
	int process;
	uint32_t pool; /* of the framework, from 1; 0: of none */
	bool is_there; /* what is held for it may be used */
};

/* A process ended; it waits until every device has settled the calls that were under way. */
struct tare_end {
	int process;
	int64_t t;
};

struct tare_thread_end {
	int process;
	uint32_t tid;
	int64_t end, until; /* of its calls; until: with their readings */
	size_t last;        /* step in the cluster */
};

struct tare_steps {
	struct tare_step *items;
	size_t count, cap;
};

/* A process that is not recorded, on one device. */
struct tare_peer_now {
	uint32_t pid;
	const char *name; /* NULL: not visible */
	int bucket;       /* -1: none yet */
	int64_t used;     /* as the last list says; 0: not in it */
	int64_t most;     /* of `used`, or of what NVML said about one of ours */
	int64_t extra;    /* what the device gained beyond that when it appeared */
	bool is_seen, is_listed;
	bool is_ours; /* recorded, or cannot be told from one that is */
};

struct tare_peer_read {
	int peer;
	uint64_t used;
};

struct tare_device_fold {
	const struct tare_device *device;
	int index;
	bool is_measured;              /* a reading came */
	bool will_be_measured;         /* one is there, sooner or later */
	int64_t used, used_start, sum; /* sum: of all buckets */
	int64_t last_ns;               /* of the last change or reading */
	int buckets, before;           /* list; bucket of what was in use before the recording */

	int primary; /* enum tare_source whose readings are `used`; 0: none yet */
	bool source_known[4];
	int64_t source_offset[4];

	uint32_t mark_nr[TARE_MARK_NR];
	int64_t mark_used[TARE_MARK_NR], mark_live[TARE_MARK_NR], mark_ns[TARE_MARK_NR];
	bool is_marked[TARE_MARK_NR];
	bool is_told[TARE_MARK_NR]; /* folded_sum.c: what there was then, in sums */

	struct tare_steps cluster;
	struct tare_thread_end *threads;
	size_t thread_nr, thread_cap;
	int64_t cluster_until;
	int64_t weighed_until, unweighed_until; /* ends of its calls with and without readings */
	bool has_closing; /* the reading that comes after the cluster is known */
	int64_t closing_ns, closing_used;
	int closing_source;

	int64_t driver_left; /* what starting the driver took, in the row of driver_of, which is gone */
	int driver_of;
	size_t end_next;   /* of `ends`: the first that it has not passed */
	int64_t worked_ns; /* until when the program took something here */

	int64_t max_begin;      /* of what came so far, to tell who is late */
	int64_t max_begin_then; /* the same, where this fold began */
	struct tare_steps
		taken; /* steps behind the moment of the state that this fold goes on from */
	struct tare_steps late; /* by begin */
	size_t late_next;

	bool has_reading, has_list; /* waiting for each other */
	int64_t reading_ns, reading_used;
	int reading_source;
	bool is_list_folded;
	uint32_t list;
	int list_of; /* the process whose log it stands in */
	struct tare_peer_read *reads;
	size_t read_nr, read_cap;
	struct tare_peer_now *peers;
	size_t peer_nr, peer_cap;
	int64_t live; /* in blocks */
	/* waiting for the cluster to be settled, or a moment (tare_fold.ahead) */
	struct tare_block *blocks;
	size_t block_nr, block_cap;
	struct tare_kept_blocks kept_blocks;
	struct tare_kept_segments kept_segments[TARE_MARK_NR];
	bool is_level_known;
	int64_t level;      /* in use by processes that are not recorded, as last told */
	int64_t quiet_open; /* changed between calls since the last list, and nobody knows why */
	int64_t quiet_sum, inside_sum; /* sizes of what nobody knows, between calls and inside */
	bool is_pid_mismatch;

	int paused;         /* bucket of what was taken while recording was paused, -1: none yet */
	bool is_pause_open; /* there was a pause since the last reading */

	struct tare_most own_peak; /* of what is booked, other processes apart */

	int instant_next; /* timed instants before it have their snapshot */
	struct tare_samples samples;
	struct tare_kinds kinds;

	int64_t account_now[TARE_NOW_NR]; /* sums of its buckets */
	bool has_recent;                  /* it was at `recent` since somebody looked */
	struct tare_most recent;          /* beyond used_start */
};

struct tare_timed {
	int64_t t_ns;
	int device; /* only this one is at its instant then; -1: all are */
	struct tare_ledger *out;
};

struct tare_fold {
	const struct tare_ledger_source *source;
	int64_t page, weigh;
	struct tare_arena arena;
	struct tare_device_fold **devices; /* by tare_device.index; NULL: not seen */
	int device_nr;
	struct tare_process_fold **processes; /* by tare_process.index; NULL: not seen */
	int process_nr;
	struct tare_bucket *buckets;
	size_t bucket_nr, bucket_cap;
	struct tare_context *contexts;
	size_t context_nr, context_cap;
	struct tare_object_live *objects;
	size_t object_nr, object_cap;
	int object_free; /* list through `next`, -1: empty */
	struct tare_physical *physicals;
	size_t physical_nr, physical_cap, physical_free; /* none is free below the last */
	struct tare_map told_physicals;                  /* number in a checkpoint → physical */
	struct tare_import *imports;
	size_t import_nr, import_cap;
	struct tare_mapping *mappings;
	size_t mapping_nr, mapping_cap;
	struct tare_strmap owner_ids;
	const char **owners;
	size_t owner_nr, owner_cap;
	struct tare_site no_site;
	bool is_over;            /* all events are in */
	struct tare_site *sites; /* from 1 */
	size_t site_nr, site_cap;
	struct tare_origin *origins;
	size_t origin_nr, origin_cap;
	struct tare_map graves; /* thread → 1 + place */
	struct tare_grave *grave_items;
	size_t grave_nr, grave_cap;
	struct tare_ops ops; /* scratch of one step */
	/* its blocks wait for nothing but the memory that they need */
	struct tare_device_fold *ahead;
	struct tare_capture_group
		*groups; /* rows of graphs: what is taken while one is captured is theirs */
	size_t group_nr, group_cap;
	size_t group_pool_nr;
	uint64_t block_serial; /* of the last block that was handed out or taken back */
	uint32_t host_mark_nr[TARE_MARK_NR];
	struct tare_host_fold {     /* host_tensor.c */
		int64_t live, most; /* bytes in blocks of all processes: now, and at peak:host */
		bool is_marked[TARE_MARK_NR]; /* by what the host shows, not by a device */
		bool is_told[TARE_MARK_NR];   /* as of a device */
		int64_t mark_ns[TARE_MARK_NR];
		struct tare_kept_blocks kept;
		struct tare_block *queue; /* in order of time; those before queue_at are taken in */
		size_t queue_at, queue_nr, queue_cap;
		int timed_next; /* timed instants before it have their tensors */
		struct tare_samples samples;
		struct tare_kinds kinds;
		int64_t parts[TARE_HOST_PARTS]; /* of `live` */
		int part_nr;
	} host;
	int64_t max_begin_all;
	struct tare_end *ends;
	size_t end_nr, end_cap, end_next;
	int64_t worked_ns; /* the last of all devices */
	int64_t last_ns;
	int64_t seen_ns;  /* of the last event of all, known from the start */
	int64_t first_ns; /* of the first that has to do with memory, or with phases */
	int64_t known_ns; /* up to which everything was folded */
	bool opened_gpu;

	bool is_paused;  /* recording, for the moment */
	size_t pause_nr; /* that are over, or were never */

	struct tare_timed *timed; /* by t_ns */
	int timed_nr;
	int host_next; /* timed instants before it have their hosts */

	struct tare_large *large; /* elastic.c: what the first pass saw */
	size_t large_nr, large_cap;

	int64_t told_ns; /* until when it was folded */

	struct tare_parts *parts; /* parts.h; the books do not look inside */
	struct tare_phase_changes phase_changes;
	bool keeps_course;          /* for a state that is saved */
	struct tare_course *course; /* that was asked for, or NULL */
	const struct tare_course *course_by_category;
	const char *lines; /* of tare_ledger_opts, as … */
	bool without_tensors;
	struct tare_phase_watch *watches;
	int watch_nr;

	/* for the notes */
	uint64_t unweighed, unknown_frees, missed_frees;
	const char **notes;
	size_t note_nr, note_cap;
};

#endif
