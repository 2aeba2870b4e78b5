/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a recording at an instant. What views read, and all they read.
 *
 * Law 1: for every device, used = sum of the leaves + unexplained. `unexplained` is the difference
 * and nothing else: no row is ever adjusted to make it smaller.
 */
#ifndef TARE_LEDGER_LEDGER_H
#define TARE_LEDGER_LEDGER_H

#include "base/str.h"
#include "ledger/category.h"
#include "ledger/coming.h"
#include "ledger/advice/finding.h"
#include "ledger/oom_row.h"
#include "ledger/pinned.h"
#include "ledger/read_back.h"
#include "ledger/saved.h"
#include "ledger/size_sum.h"
#include "ledger/training_mark.h"
#include "record/host_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One row of the tree. Rows stand in display order: a parent before its children. `bytes` of a
 * parent is the sum of its children; only leaves count towards the sum of the device.
 */
struct tare_row {
	const char *path; /* "process:431/context"; '/' inside a name is escaped as "%2F" */
	const char *label;
	const char *library; /* of a part of a library; NULL: `label` has it */
	int parent;          /* index into rows, -1: directly below the device */
	int depth;
	bool leaf;
	bool has_categories; /* live tensors: its children are their categories */
	/* a category of live tensors: the bytes are exact, the evidence is that of the category */
	bool is_category;
	uint64_t pool; /* for the fold: the pool whose live tensors the row has; 0: none */
	enum tare_account account;
	enum tare_evidence evidence; /* evidence of a parent: the weakest of its children */
	bool elastic;
	/* shared a stretch of time with another unknown call: bytes lies in low..high */
	bool contended;
	int64_t bytes, low, high;
	uint64_t count;     /* objects or calls behind it */
	uint64_t driver_ns; /* time the program spent in the driver for the row, so far */
	int64_t pid;        /* -1: no process */
	int64_t generation; /* exec generation; 0 for most */
	int64_t rank;       /* -1: none */
	int rank_at;        /* index into the ledger's ranks, -1: none */
};

/* The name of the library of a row of an account that has libraries. */
static inline const char *tare_row_library(const struct tare_row *row)
{
	return row->library ? row->library : row->label;
}

/*
 * Is it one of the smallest rows that account for a device? Categories of live tensors stand below such a row.
 */
static inline bool tare_row_is_end(const struct tare_row *row)
{
	return row->leaf ? !row->is_category : row->has_categories;
}

/* Blocks of PyTorch's allocator: those that are live at the instant, and all that were allocated until then. */
struct tare_blocks_ledger {
	int64_t bytes, ever_bytes;
	uint64_t count, ever;
};

/* The part of a line's bytes that is in one account, of one owner. */
struct tare_line_part {
	enum tare_account account;
	const char *owner;         /* the library; NULL: not known, or the account has none */
	int64_t bytes, ever_bytes; /* ever: as of the line */
	uint64_t count, ever;
	enum tare_evidence evidence;
};

/*
 * What one place in the program holds: the leaves once more, by where they were asked for. `bytes` of all
 * lines sum to the bytes of all leaves. Blocks lie in memory that some line, mostly another, asked the driver
 * for: `tensors` of all lines sum to the rows of live tensors.
 */
struct tare_ledger_line {
	const char *label;                     /* "/home/me/train.py:87 in forward", "step+0x4f in solver", "no line" */
	const char *stack;                     /* of all frames, innermost first, " < " between; else the label */
	const char *short_label, *short_stack; /* without folders: may be those of several lines */
	/* where each frame ends in `stack` and in `short_stack`; none: the text is one frame */
	const uint32_t *frame_ends, *short_frame_ends;
	int frame_nr;
	/* file of the line; NULL: not known, or it is none of the program */
	const char *file;
	const char *function;
	uint32_t line; /* 0: not known */
	int64_t pid;   /* -1: no process */
	int64_t bytes, low, high;
	uint64_t count, driver_ns;
	enum tare_evidence evidence;
	struct tare_blocks_ledger tensors;
	uint64_t ever; /* of a heap: blocks and mappings that calls there were given until the instant, and their bytes */
	int64_t ever_bytes;
	struct tare_line_part *parts; /* parts of `bytes`; none of what has no line */
	int part_nr;
	int64_t unexplained;          /* what changed inside calls there and no account explains; not in `bytes` */
	int64_t host_anon, host_file; /* made resident inside calls; of the process, the same on every device */
};

enum tare_stream_kind {
	TARE_STREAM_NOT_KNOWN,
	TARE_STREAM_DEFAULT,
	TARE_STREAM_OF_POOL,  /* of those that PyTorch makes itself */
	TARE_STREAM_EXTERNAL, /* the program's: `id` is its handle in the driver */
	TARE_STREAM_OTHER,    /* of a version of PyTorch that numbers them in another way */
};

struct tare_stream {
	enum tare_stream_kind kind;
	uint64_t id;     /* as PyTorch numbers it */
	uint32_t number; /* number in PyTorch's pool of streams of this priority, from 0 */
	int priority;    /* a smaller number is a higher priority */
};

/*
 * One segment of PyTorch's allocator: an allocation, or one mapping of an expandable segment. What is not in
 * blocks of it is stuck if a block is in it, else held for graphs, or can be given back.
 */
struct tare_pool_segment {
	int64_t pid, generation;
	uint64_t address;
	int64_t bytes, live; /* live: in blocks */
	uint64_t blocks;
	bool is_expandable;
	bool is_trial;                /* rule "trial": its bytes, and its blocks, are in the row of trials */
	bool is_of_graph;             /* taken while a graph was captured … */
	bool is_held;                 /* … of a pool that a graph still needs */
	uint32_t graph_pool;          /* its number, as tare_graph.pool; 0: not known, or of no graph */
	struct tare_stream stream;    /* of its first block … */
	uint64_t other_stream_blocks; /* … and so many blocks were said to be on another */
	/* The block that has been live longest in the segment; no bytes: no block is. */
	uint64_t pin_address;
	int64_t pin_bytes, pin_born_ns;
	/* of a stuck segment; NULL: not known, or not stuck */
	const char *pin_line, *pin_short_line;
};

/* What PyTorch's allocator of one process said of itself, last before the instant: at safe points only. */
struct tare_pool_self_report {
	int64_t pid, generation, t_ns;
	int64_t allocated, reserved;
	int64_t active, requested, inactive_split; /* -1: it does not say */
	bool is_compared;                          /* with what the books had then: */
	int64_t live, segments;
};

/* Blocks on a device that Python's cyclic collector freed. */
struct tare_collected_ledger {
	uint64_t blocks; /* until the instant */
	int64_t bytes;
	/* bytes of blocks at a peak or the end that the collector freed later; -1: not known */
	int64_t waiting;
};

/* A module of a program (torch.nn.Module) that has tensors, or one inside of it has. */
struct tare_module_row {
	const char *path;                     /* "layer4.2.conv3", "teacher.0"; else its name, or class */
	const char *name;                     /* the last part of it */
	const char *class;                    /* NULL: not known */
	const struct tare_module_row *parent; /* NULL: it is in no other that is known */
	int64_t pid;
	uint32_t number; /* tells it from others of its process; in the order in which they were seen */
	uint32_t order;  /* among those of its parent, as the program has them */
	bool is_found;   /* by a look through the program's objects; else only its class is known */
};

/* A block of PyTorch's allocator that is live at the instant. */
struct tare_tensor_row {
	const char *name;                     /* "layer4.2.conv3.weight", "exp_avg of conv1.weight"; NULL: not known */
	const char *shape;                    /* "float32 [64, 3, 7, 7]"; NULL: not known */
	const char *line, *short_line;        /* where the block was allocated; NULL: not known */
	const struct tare_module_row *module; /* whose it is, or for which it was made; NULL: none */
	bool is_of_backward;                  /* it was made in a backward pass */
	enum tare_rule rule;
	uint64_t count;         /* 1 */
	int64_t bytes, born_ns; /* born: since the start, -1: not known */
	uint64_t address;       /* 0: not known */
	int64_t pid;
};

struct tare_tensor_rows {
	struct tare_tensor_row *items; /* the largest first */
	int count;
};

/* The smaller card that a device stood for (--vram, --card). */
struct tare_card_ledger {
	bool is_there;
	bool has_profile;         /* a context and local memory count as on that card */
	const char *name;         /* name of the profile's GPU; "": --vram */
	uint64_t total, reserved; /* programs have total - reserved */
	uint64_t used;            /* what counts on the card at this instant */
	uint64_t context;         /* has_profile: what a context takes on that card */
	uint32_t multiprocessors, threads_per_multiprocessor;
};

/* Calls that the card had no room for, by caller and entry point; of the whole recording. */
struct tare_refusal {
	const char *api, *owner; /* owner NULL: not known */
	uint64_t count;
	uint64_t largest, missing; /* what the largest needed, and how much of that was not there */
	int64_t first_ns;
};

/*
 * The most in use in each of `nr` parts of the time that is known, -1 where it is not: a part of a log is damaged;
 * nr 0: no time is known. Each is width_ns long, but for the last.
 */
struct tare_timeline {
	int64_t from_ns, to_ns, width_ns;
	int64_t *used;
	int nr;
};

/* What a line's forward would need to go backwards, which nothing does there. */
struct tare_retained_line {
	const char *line;
	int64_t bytes;
	uint64_t count;
};

struct tare_device_ledger {
	int index;        /* NVML's index, else the program's */
	const char *host; /* the machine, where a recording is of several; else NULL */
	const char *name;
	char uuid[48];            /* "GPU-xxxxxxxx-…" */
	uint64_t total, reserved; /* TARE_NOT_KNOWN where nobody says */
	uint64_t used;
	uint64_t used_start; /* in use before the recording began */
	int64_t elastic;     /* sum of elastic leaves */
	int64_t unexplained;
	int64_t asleep; /* unmapped, and its addresses are kept: in no sum */
	int64_t t_ns;   /* instant of this device's rows, since the start of the recording */
	int64_t peak_t_ns;
	uint64_t peak_used;
	int64_t own_peak, own_peak_t_ns; /* most that the recorded processes had at once */
	/* WEIGHED: NVML or the driver's counter; INFERRED: no counter */
	enum tare_evidence used_by;
	bool nvml, integrated, simulated;
	bool imported;               /* readings are what another tool printed, of all programs together */
	bool is_heap;                /* no GPU: what programs have from malloc, by its blocks (tare run --host) */
	uint64_t heap_error;         /* standard error of `used`, where not every block was recorded; else 0 */
	struct tare_size_sum *sizes; /* of a heap, the smallest first; they sum to `used` */
	int size_nr;
	struct tare_row *rows;
	int row_nr;
	struct tare_finding *findings; /* what can be done about it, the largest saving first */
	int finding_nr;
	struct tare_ledger_line *lines; /* in no particular order */
	int line_nr;
	struct tare_collected_ledger collected;
	/* the segments with most stuck in them first */
	struct tare_pool_segment *segments;
	int segment_nr;
	struct tare_pool_self_report *self_reports;
	int self_report_nr;
	struct tare_card_ledger card;
	struct tare_refusal *refusals; /* the largest first */
	int refusal_nr;
	struct tare_retained_line *retained; /* tensors of rule "retained" */
	int retained_nr;
	struct tare_tensor_rows tensors;
	struct tare_timeline timeline; /* of the whole recording */
	struct tare_need *needs;       /* the same, by time */
	int need_nr;
	int64_t first_ns[TARE_COMING_NR]; /* when something of each kind came first; -1: never, or not known */
};

/* Accounts of what libraries asked for: each has a row for each of these. */
static inline bool tare_account_has_libraries(enum tare_account account)
{
	return account == TARE_ACCOUNT_ALLOCATION || account == TARE_ACCOUNT_VMM || account == TARE_ACCOUNT_HEAP ||
	       account == TARE_ACCOUNT_MAPPED;
}

/* Is it a GPU? Else it is memory of the host, or a board that has one memory. */
static inline bool tare_device_ledger_is_gpu(const struct tare_device_ledger *d)
{
	return !d->is_heap && !(d->imported && d->integrated);
}

/* What PyTorch asked for in the memory of the CPU: not what of it is resident. */
struct tare_host_tensors {
	bool is_known;
	int64_t bytes, count;         /* blocks of PyTorch's allocator */
	int64_t mapped, mapped_count; /* shared memory and mapped files; may be in several processes */
	int64_t most;                 /* the most of `bytes`, so far */
	/* recording was paused before: tensors that were made meanwhile are not counted */
	bool is_partial;
};

struct tare_host_ledger {
	int64_t pid, generation;
	const char *name;
	uint64_t rss; /* anon, file and shmem together; TARE_NOT_KNOWN where not read, as what follows */
	TARE_HOST_MEMORY(TARE_HOST_FIELD)
	/* the most of the process's whole life, whatever the instant; peak_file: in files and shared memory, 0 where not read */
	uint64_t peak_rss, peak_file;
	uint64_t pinned, registered; /* asked for through the driver */
	struct tare_pinned pinned_sum;
	struct tare_pinned_line *pinned_lines; /* the largest first; they sum to pinned_sum */
	int pinned_line_nr;
	int64_t pinned_on_card; /* what mapping it takes of GPUs: the rows hostmap */
	struct tare_host_tensors tensors;
	enum tare_evidence evidence; /* evidence of `tensors` */
	/* sums of `tensors.bytes` by category; none where the blocks are not known */
	struct tare_category_sum *categories;
	int category_nr;
	/* where `tensors.bytes` were asked for, in their `tensors` */
	struct tare_ledger_line *lines;
	int line_nr;
	struct tare_tensor_rows blocks; /* a row for each block */
};

/* Tensors in shared memory and mapped files, each piece once, however many processes map it. */
struct tare_shared_ledger {
	int64_t bytes, count;
	struct tare_ledger_line *lines; /* what mapped them first: in `tensors` of each */
	int line_nr;
};

enum tare_rank_end {
	TARE_RANK_RUNS,   /* it had not ended when the recording was read */
	TARE_RANK_EXITED, /* `code` is its exit code, -1: not known */
	TARE_RANK_SIGNAL, /* `code` is the signal */
	TARE_RANK_KILLED, /* it stopped without an END record, by a signal that is not known */
};

/* A rank of a distributed job: one process and its children. The same at every instant. */
struct tare_rank_ledger {
	int rank, local, world, attempt; /* local, world: -1 where not known */
	const char *job, *launcher, *host;
	int64_t pid;              /* pid of its first process */
	int process_nr;           /* processes that used a GPU */
	int64_t first_ns, end_ns; /* when it began and ended; of a killed one, the time of its last record */
	enum tare_rank_end end;
	int code;
	bool is_failed; /* exit code not 0, a signal, killed */
	bool is_oom;    /* killed, and the OOM killer was at work */
	bool is_first;  /* the first of its job to fail */
};

/*
 * One phase of the program, its repeats together; a phase inside another one has that as its parent. What a
 * phase changed is what the device changed while the phase was open, whoever did it.
 */
struct tare_phase_part {
	enum tare_account account;
	int64_t bytes; /* change */
};

struct tare_phase_on_device {
	int index;                       /* as tare_device_ledger.index */
	uint64_t repeats;                /* repeats that the sums are of */
	int64_t used_before, used_after; /* at the begin of the first, at the end of the last */
	int64_t change, change_min, change_max;
	int64_t own, own_min, own_max; /* the change without the changes of the phases inside */
	int64_t peak, peak_t_ns;
	struct tare_phase_part *parts; /* accounts that changed, the largest first */
	int part_nr;
};

enum tare_phase_kind { TARE_PHASE_NESTED, TARE_PHASE_RANGE, TARE_PHASE_MOMENT };

struct tare_phase_row {
	const char *name, *path; /* the path has the names around it, parted by '/' */
	const char *domain;      /* domain of NVTX; NULL: none */
	const char *source;      /* "nvtx", "tare.h", "line" */
	enum tare_phase_kind kind;
	int parent, depth; /* parent: index, -1: none; parents stand before their children */
	const char *program;
	int64_t pid, generation;
	uint64_t repeats, unclosed;
	uint32_t threads; /* threads that the phase was on */
	int64_t first_t_ns, last_t_ns, ns;
	struct tare_phase_on_device *devices;
	int device_nr;
	/* Resident of the process (anonymous, and of files), as it was read now and then: at the end, and the most; -1: no
	   reading fell into it. The change of all repeats is known if one fell into each. */
	uint64_t resident_readings;
	int64_t resident_after, resident_change, resident_most, resident_most_t_ns;
	bool resident_is_known, resident_change_is_known;
};

/* Records of a process that are missing, those of one thread and one reason together. */
struct tare_loss {
	int64_t pid, generation;
	const char *program;
	uint32_t tid;     /* 0: of several threads, or not known */
	uint64_t records; /* 0: nobody knows how many */
	int64_t from_ns, to_ns;
	const char *reason; /* "disk-full" */
	const char *why;    /* the end of a sentence with "because" */
	bool is_of_tare;    /* readings of `tare` itself: what programs did is known all the same */
};

/* A time in which nothing but ends of objects was recorded; or, after a stop, nothing at all. */
struct tare_pause_ledger {
	int64_t from_ns, to_ns; /* to: -1: until the end */
	bool is_stop;
};

/* What one owner allocated while a graph was captured. */
struct tare_graph_part {
	const char *label; /* NULL: not known */
	int64_t bytes;
};

/*
 * A graph, from its capture on. Its bytes are part of the rows of the device: of `execs`, `memory`, and of
 * what the owners of allocations have.
 */
struct tare_graph {
	uint64_t number; /* 1, 2, … in the order in which their captures began */
	uint64_t count;  /* graphs that the row stands for: more than one in the last of very many */
	int device;      /* as tare_device_ledger.index; -1: none was current */
	int64_t pid, generation;
	enum tare_graph_state state;
	uint32_t flags; /* enum tare_graph_flag */
	int64_t begin_ns, end_ns;
	uint64_t nodes, kinds[TARE_NODE_NR]; /* with TARE_GRAPH_FLAG_NODES */
	int64_t ask_ns;                      /* what counting them cost */
	/* Measured around its calls; what destroying gave back is negative. */
	int64_t at_instantiate, at_upload, at_launch, at_update, at_destroy;
	int64_t doubt;                                /* by how much their sum may be wrong, either way */
	int64_t memory;                               /* by how much its allocation nodes made their pool grow: exact */
	int64_t allocated;                            /* bytes allocated while the graph was captured */
	int64_t by_others;                            /* of that, by threads that did not begin the capture */
	int64_t held;                                 /* of what was allocated by cuMemAlloc then, what is still there */
	TARE_NOT_SAVED struct tare_graph_part *parts; /* of `allocated`, the largest first */
	TARE_NOT_SAVED int part_nr;
	uint32_t pool;   /* number of the framework's pool it allocated from, 0: not known */
	bool is_private; /* no other graph of the recording allocated from it */
	uint64_t stream; /* stream on which the capture began */
	/* number of that stream among those captured by the process, from 1; 0: not captured */
	uint32_t stream_number;
	const char *phase, *source; /* NULL: not known */
	/* in use on the device after the graph was captured and instantiated; TARE_NOT_KNOWN */
	uint64_t used_after;
	uint64_t execs, alive, updates, refused;
	/* number of the graph whose executable graph was made to do this one's work */
	uint32_t in_exec_of;
	uint64_t launches;  /* with TARE_GRAPH_FLAG_LAUNCHES */
	uint64_t unweighed; /* calls that should have been weighed and were not */
};

/* What could be saved on a device, from what was measured. */
#define TARE_GRAPH_SAVING(KEY, key, advice) TARE_GRAPH_SAVING_##KEY,
enum tare_graph_saving_kind {
#include "ledger/advice/graph_savings.def"
	TARE_GRAPH_SAVING_NR
};

struct tare_graph_saving {
	enum tare_graph_saving_kind kind;
	int device;     /* as tare_device_ledger.index */
	uint64_t count; /* pools, streams or executable graphs that could be saved */
	/* bytes that they take, and bytes that are needed; the difference could be saved */
	int64_t have, need;
};
/* The key of a saving for scripts, and the finding that tells of it. */
const char *tare_graph_saving_key(enum tare_graph_saving_kind kind);
struct tare_finding tare_graph_saving_finding(const struct tare_graph_saving *saving);
const char *tare_graph_state_name(enum tare_graph_state state);

/* Bytes of the GPU that the executable graphs of a graph took. */
static inline int64_t tare_graph_exec_bytes(const struct tare_graph *g)
{
	return g->at_instantiate + g->at_upload + g->at_launch + g->at_update;
}

/* A step of training, or what is usual of many. */
#define TARE_TRAINING(KEY, key, unit, is_gpu, label) TARE_TRAINING_##KEY,
enum tare_training_figure {
#include "ledger/training/training.def"
	TARE_TRAINING_NR
};

struct tare_training_step {
	int64_t figures[TARE_TRAINING_NR];
};

/* By what the steps of a program are known. */
enum tare_training_by {
	TARE_TRAINING_PHASES,
	TARE_TRAINING_OPTIMIZER,
	TARE_TRAINING_ROUNDS, /* of several optimizers, each at work once */
	TARE_TRAINING_BACKWARDS,
	TARE_TRAINING_BY_NR
};

/* A process that trains on a device, or on the CPU. Of the whole recording. */
struct tare_training {
	int64_t pid, generation;
	const char *program;
	int device; /* as tare_device_ledger.index; -1: the CPU */
	enum tare_training_by by;
	uint64_t count;
	const uint64_t *counts; /* steps of each thread that trains */
	size_t thread_nr;
	struct tare_training_step first, steady; /* steady: the median of the others, figure by figure */
	struct tare_training_mark *marks;        /* in order of time */
	size_t mark_nr;
	const char *
		/* "peak:tensors", "peak:host": the moment of `most`, which is what the process had then */
		most_at;
	int64_t most_ns;
	/* nothing where the blocks of then are not known */
	struct tare_category_sum most[TARE_CATEGORY_NR];
	struct tare_tensor_rows modules; /* the same: a row for what a module has by a rule, without a name */
	int64_t fed_bytes; /* of its input, what was made before the first step and stays: perhaps all data, not a batch */
	int process, memory; /* for the fold: its tare_process.index; tare_device.index, -1: the CPU */
};

/* What grows for as long as the recording goes on, and is never given back. Of the whole recording. */
struct tare_growth {
	int64_t pid, generation;
	const char *program;
	int device;                      /* as tare_device_ledger.index; -1: memory of the CPU */
	const char *what;                /* "tensors", "streams and events", "resident memory" */
	const char *line, *short_line;   /* NULL: not known, or not of one */
	const char *stack, *short_stack; /* by which most of it came, as of a line */
	const char *module;              /* by its path, which most of it is for; NULL: none */
	int process, fold_device;        /* where the fold has them; fold_device: -1: the CPU */
	bool is_of_blocks;               /* PyTorch's */
	bool is_resident;                /* what of a process is in memory, whoever asked for it */
	bool is_of_python;               /* what Python maps for its small objects */
	bool has_steps;                  /* `per_step` is known */
	int64_t bytes;                   /* by so much in all */
	int64_t per_step, per_second;
	int64_t since_ns;
	double confidence; /* 0 to 1 */
};

struct tare_ledger {
	const char *at; /* "peak", "end", "12.5s" */
	int64_t t_ns;   /* -1 at `peak`, where each device has its own */
	struct tare_device_ledger *devices;
	int device_nr;
	struct tare_host_ledger *hosts;
	int host_nr;
	struct tare_shared_ledger shared;
	/* by job, attempt and rank; none for a program on its own */
	struct tare_rank_ledger *ranks;
	int rank_nr;
	struct tare_loss *losses; /* of the whole recording, by process, thread and reason */
	int loss_nr;
	struct tare_pause_ledger *pauses;
	int pause_nr;
	/* By device, then by number. At `peak` and `end`: those of the whole recording. */
	struct tare_graph *graphs;
	int graph_nr;
	struct tare_graph_saving *savings;
	int saving_nr;
	struct tare_oom *ooms; /* of the whole recording, by time */
	int oom_nr;
	struct tare_read_back *read_backs; /* of the whole recording, the most frequent first */
	int read_back_nr;
	struct tare_training *trainings; /* where steps are known */
	int training_nr;
	struct tare_growth *growths; /* the fastest first */
	int growth_nr;
	const char **degraded; /* sentences */
	int degraded_nr;
	const char **notes; /* sentences on where the figures of an imported recording come from */
	int note_nr;
	bool opened_gpu;                    /* some process called cuInit with success */
	struct tare_timeline host_timeline; /* tensors on the CPU, of all processes */
	struct tare_phase_row *phases;      /* of the whole recording, in order, whatever the instant */
	int phase_nr;
	void *memory; /* memory of everything above; NULL in a ledger written by hand */
};

/* "/", unless the path is empty, and a segment in which '/' and '%' are escaped. */
void tare_row_path_add(struct tare_str *path, const char *segment);

/*
 * The owner that a library belongs to (owners.def): "libcublasLt" is cuBLAS; a library in no row has its own
 * name.
 */
const char *tare_owner_name(const char *library);

#endif
