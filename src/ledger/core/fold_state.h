/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the books, with what everybody may look at; parts keep theirs in structs of their own.
 *
 * Everything that ends up in a row lives in a bucket: the sum for one (device, process, context,
 * account, owner). A change of buckets is an op. What was true at the peak is kept by copying a
 * bucket the first time it changes after the peak was reached, so a new peak costs nothing
 * and one pass is enough.
 */
#ifndef TARE_LEDGER_FOLD_STATE_H
#define TARE_LEDGER_FOLD_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "ledger/build.h"
#include "ledger/core/block_state.h"
#include "ledger/core/change.h"
#include "ledger/core/heap_state.h"
#include "ledger/core/object_state.h"
#include "ledger/core/samples.h"
#include "ledger/core/step.h"
#include "ledger/core/torch_state.h"
#include "ledger/saved.h"
#include "record/host_memory.h"

#define TARE_MIB (INT64_C(1) << 20)

/* A process on a device. */
struct tare_process_on_device {
	struct tare_segments segments;
	struct tare_blocks blocks;            /* of PyTorch */
	struct tare_heap_blocks heap, mapped; /* where the device stands for the heap */
	struct tare_map contexts;             /* handle → 1 + context */
	struct tare_map pages;                /* pages that allocations touch only in part → how many do */
	int64_t managed;                      /* asked for in live managed memory */
	int64_t host_booked;                  /* of its host memory, where that is the device's */
	int created;                          /* contexts so far */
	bool is_contradicted;                 /* by what PyTorch's allocator counts; a note says so once */
	bool is_left;                         /* the process ended and nothing of it is booked any more */
	bool is_removed;                      /* what it had left the books with its end */
	bool is_subdivided;                   /* blocks in its segments were reported */
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
	uint64_t memory[TARE_HOST_NR];
	struct tare_host_tensors tensors;
};

enum { TARE_SITE_MEMO = 256 };

struct tare_process_fold {
	const struct tare_process *process;
	bool is_seen, has_context;
	bool is_ending, is_ended;                  /* its END record came; and every device was settled up to there */
	struct tare_process_on_device **on_device; /* by device; NULL where it never was */
	int on_device_nr;
	struct tare_map live[TARE_FAMILY_NR]; /* handle → object */
	struct tare_map vmm, mapped;          /* vmm.c: handle → reference, address → mapping */
	struct tare_map shared, opened;       /* share.c: address → physical, → 1 + import */
	bool is_vmm_over;                     /* its references are gone */
	struct tare_map origin_of;            /* python, stack id → place in `origins` of the fold */
	struct tare_map site_of;              /* python id, or address → site */
	TARE_NOT_SAVED struct tare_site_memo {
		uint32_t python, site;
	} site_memo[TARE_SITE_MEMO]; /* of stacks that came lately, by the low bits of their ids */
	struct tare_map origins;     /* function → kernel or module, kernel → library */
	struct tare_map large_open, held_sizes, xla_devices, elastic; /* elastic.c */
	struct tare_map thread_streams;                               /* thread → place in streams */
	struct tare_thread_stream *streams;
	size_t stream_nr, stream_cap;
	struct tare_scan_entries scanned;
	struct tare_modules modules;
	int64_t end_ns;                      /* of is_ending */
	bool is_torn_down;                   /* Python frees what is left of it */
	int64_t torn_down_ns;                /* when that began, on the CPU or a device; 0: it did not */
	struct tare_blocks host_blocks;      /* in the memory of the CPU */
	struct tare_map mapped_files;        /* address → what tells the file of the block that comes there next */
	uint32_t steps[TARE_TRAINING_BY_NR]; /* of training, of the thread that made most of them */
	TARE_NOT_SAVED int host_row;         /* in `hosts` of every ledger, -1: none */
	int host_part;                       /* 1 + place in the host's parts; 0: none yet */
	struct tare_host_now host, host_kept[TARE_MOMENT_NR];
	uint32_t host_moment[TARE_MOMENT_NR];
	bool has_first_anon;
	uint64_t first_anon; /* anonymous memory when it was read first */
	/* of its whole life, so the same at every instant; 0: nobody said */
	uint64_t most_resident, most_file; /* most_file: in files and shared memory */
};

static inline void tare_process_torn_down(struct tare_process_fold *p, int64_t t)
{
	if (!p->torn_down_ns)
		p->torn_down_ns = t;
}

/* A process ended; its end waits until every device has settled the calls that were under way. */
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
struct tare_other_process {
	uint32_t pid;
	const char *name; /* NULL: not visible */
	int bucket;       /* -1: none yet */
	int64_t used;     /* as the last list says; 0: not in it */
	int64_t most;     /* of `used`, or of what NVML said about one of ours */
	int64_t extra;    /* what the device gained beyond that when it appeared */
	bool is_seen, is_listed;
	bool is_ours; /* recorded, or cannot be told from one that is */
};

struct tare_other_process_read {
	int other;
	uint64_t used;
};

struct tare_device_fold {
	const struct tare_device *device;
	int index;
	bool is_measured;              /* a reading came */
	bool will_be_measured;         /* there is a reading, sooner or later */
	int64_t used, used_start, sum; /* sum: of all buckets */
	int64_t last_ns;               /* of the last change or reading */
	int buckets, before;           /* list; bucket of what was in use before the recording */

	int primary; /* enum tare_source whose readings are `used`; 0: none yet */
	bool source_known[4];
	int64_t source_offset[4];

	uint32_t moment_nr[TARE_MOMENT_NR];
	int64_t moment_used[TARE_MOMENT_NR], moment_live[TARE_MOMENT_NR], moment_ns[TARE_MOMENT_NR];
	bool has_moment[TARE_MOMENT_NR];

	struct tare_steps cluster;
	struct tare_thread_end *threads;
	size_t thread_nr, thread_cap;
	int64_t cluster_until;
	int64_t weighed_until, unweighed_until; /* ends of its calls with and without readings */
	bool has_closing;                       /* the reading that comes after the cluster is known */
	int64_t closing_ns, closing_used;
	int closing_source;

	int64_t driver_left; /* what starting the driver took, in the row of driver_of, which is gone */
	int driver_of;
	size_t end_next;   /* of `ends`: the first that it has not passed */
	int64_t worked_ns; /* until when the program took something here */

	int64_t max_begin;                      /* of what came so far, to tell who is late */
	TARE_NOT_SAVED int64_t max_begin_then;  /* the same, where this fold began … */
	TARE_NOT_SAVED int64_t max_begin_seen;  /* … and where the first pass got to */
	struct tare_steps taken;                /* steps behind the moment of the state that this fold goes on from */
	TARE_ONLY_FREED struct tare_steps late; /* by begin */
	TARE_NOT_SAVED size_t late_next;

	bool has_reading, has_list; /* waiting for each other */
	int64_t reading_ns, reading_used;
	uint64_t reading_peers; /* TARE_NOT_KNOWN: a list tells, or nobody */
	int reading_source;
	uint32_t list;
	int list_of; /* the process whose log it stands in */
	int64_t list_ns;
	struct tare_other_process_read *reads;
	size_t read_nr, read_cap;
	struct tare_other_process *others;
	size_t other_nr, other_cap;
	int64_t live; /* in blocks */
	/* waiting for the cluster to be settled */
	struct tare_block *blocks;
	size_t block_nr, block_cap;
	struct tare_kept_blocks kept_blocks;
	struct tare_kept_segments kept_segments[TARE_MOMENT_NR];
	bool is_level_known;
	int64_t level;            /* in use by processes that are not recorded, as last told */
	int64_t unexplained_open; /* changed between calls since the last list, and nobody knows why */
	int64_t unexplained_between, unexplained_inside; /* sizes of what nobody knows, between calls and inside */
	bool is_pid_mismatch;

	int paused;         /* bucket of what was taken while recording was paused, -1: none yet */
	bool is_pause_open; /* there was a pause since the last reading */

	struct tare_high_water own_peak; /* of what is booked, other processes apart */

	TARE_NOT_SAVED int instant_next; /* timed instants before it have their snapshot */
	struct tare_samples samples;
	TARE_NOT_SAVED struct tare_kinds kinds;

	int64_t account_now[TARE_NOW_NR]; /* sums of its buckets */
	bool has_recent;                  /* the books were at `recent` since the last look */
	struct tare_high_water recent;    /* beyond used_start */
};

struct tare_timed {
	int64_t t_ns;
	int device; /* only this one is at its instant then; -1: all are */
	struct tare_ledger *out;
};

struct tare_fold {
	TARE_NOT_SAVED const struct tare_ledger_source *source;
	int64_t page, weigh;
	TARE_NOT_SAVED struct tare_arena arena;
	struct tare_device_fold **devices; /* by tare_device.index; NULL: not seen */
	int device_nr;
	struct tare_process_fold **processes; /* by tare_process.index; NULL: not seen */
	int process_nr;
	struct tare_bucket *buckets;
	size_t bucket_nr, bucket_cap;
	TARE_ONLY_FREED uint8_t *changed; /* of each bucket: 1 since it changed, until growth has looked */
	TARE_NOT_SAVED size_t changed_cap;
	struct tare_context *contexts;
	size_t context_nr, context_cap;
	struct tare_object_live *objects;
	size_t object_nr, object_cap;
	int object_free; /* list through `next`, -1: empty */
	struct tare_physical *physicals;
	size_t physical_nr, physical_cap, physical_free; /* none is free below the last */
	struct tare_import *imports;
	size_t import_nr, import_cap;
	struct tare_mapping *mappings;
	size_t mapping_nr, mapping_cap;
	struct tare_asleep *asleep;
	size_t asleep_nr, asleep_cap;
	struct tare_strmap owner_ids;
	const char **owners;
	size_t owner_nr, owner_cap;
	struct tare_site no_site;
	TARE_NOT_SAVED bool is_over; /* all events are in */
	struct tare_site *sites;     /* from 1 */
	size_t site_nr, site_cap;
	struct tare_origin *origins;
	size_t origin_nr, origin_cap;
	struct tare_map undo_of; /* thread → 1 + place */
	struct tare_undo *undos;
	size_t undo_nr, undo_cap;
	TARE_ONLY_FREED struct tare_ops ops; /* scratch of one step */
	struct tare_capture_group *groups;   /* rows of graphs: what is taken while one is captured is theirs */
	size_t group_nr, group_cap;
	size_t group_pool_nr;
	uint64_t block_serial; /* of the last block that was handed out or taken back */
	uint32_t host_moment_nr[TARE_MOMENT_NR];
	struct tare_host_fold {              /* host_tensor.c */
		int64_t live, most;              /* bytes in blocks of all processes: now, and at peak:host */
		bool has_moment[TARE_MOMENT_NR]; /* by what the host shows, not by a device */
		int64_t moment_ns[TARE_MOMENT_NR];
		struct tare_kept_blocks kept;
		struct tare_block *queue; /* in order of time; those before queue_at are taken in */
		size_t queue_at, queue_nr, queue_cap;
		TARE_NOT_SAVED int timed_next; /* timed instants before it have their tensors */
		struct tare_samples samples;
		TARE_NOT_SAVED struct tare_kinds kinds;
		int64_t parts[TARE_HOST_PARTS]; /* of `live` */
		int part_nr;
	} host;
	int64_t max_begin_all;
	TARE_NOT_SAVED int64_t max_begin_all_seen;         /* where the first pass got to */
	struct tare_map called_until;                      /* process and thread → end of its last call */
	TARE_ONLY_FREED struct tare_map called_until_seen; /* the same, where the first pass got to */
	struct tare_end *ends;
	size_t end_nr, end_cap, end_next;
	int64_t worked_ns; /* the last of all devices */
	int64_t last_ns;
	int64_t seen_ns;                                    /* of the last event of all, known from the start */
	int64_t first_ns;                                   /* of the first that has to do with memory, or with phases */
	int64_t known_ns;                                   /* up to which the events are not there: a cap made them go */
	TARE_NOT_SAVED const struct tare_ledger_kept *kept; /* as of struct tare_ledger_opts */
	bool opened_gpu;

	bool is_paused;  /* recording, for the moment */
	size_t pause_nr; /* pauses that are over, or never were */

	TARE_ONLY_FREED struct tare_timed *timed; /* by t_ns */
	TARE_NOT_SAVED int timed_nr;
	TARE_NOT_SAVED int host_next; /* timed instants before it have their hosts */

	struct tare_large *large; /* elastic.c: what the first pass saw */
	size_t large_nr, large_cap;

	TARE_SAVED_ONE struct tare_parts *parts; /* parts.h; the books do not look inside */
	TARE_ONLY_FREED struct tare_phase_changes phase_changes;
	TARE_NOT_SAVED bool keeps_history;                  /* for a state that is saved */
	TARE_NOT_SAVED bool is_from_state;                  /* the fold goes on from a state */
	TARE_NOT_SAVED struct tare_memory_history *history; /* that was asked for, or NULL */
	TARE_NOT_SAVED const struct tare_memory_history *history_by_category;
	TARE_NOT_SAVED struct tare_memory_history *lines_of_heap;
	TARE_NOT_SAVED struct tare_block_courses *block_courses; /* that were asked for, or NULL */
	TARE_NOT_SAVED struct tare_step_curves *step_curves;     /* that were asked for, or NULL */
	TARE_NOT_SAVED const char *lines;                        /* of tare_ledger_opts, as … */
	TARE_NOT_SAVED bool without_heap_lines;
	TARE_NOT_SAVED bool without_tensors;
	TARE_NOT_SAVED bool without_stacks;
	TARE_NOT_SAVED struct tare_line_names *line_names;
	TARE_NOT_SAVED bool is_brief;
	TARE_NOT_SAVED struct tare_phase_watch *watches;
	TARE_NOT_SAVED int watch_nr;
	/* of a fold that shows a moment (src/ledger/two_folds.c): it knows what came after; else NULL */
	TARE_NOT_SAVED struct tare_fold *later;

	/* for the notes */
	uint64_t unweighed, unknown_frees, missed_frees;
	const char **notes;
	size_t note_nr, note_cap;
};

#endif
