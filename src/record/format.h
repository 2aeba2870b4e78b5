/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording, byte for byte. docs/RECORDING.md says the same for people who do not read C.
 *
 * A recording is a folder NAME.tare/:
 *
 *   recording.json    what was run, where, with which versions; how it ended (written by `tare`)
 *   control           one page shared by `tare` and every recorded process: struct tare_control
 *   P-G.events        the log of one process: struct tare_file_header, then records
 *   P-G.events.K      where that log goes on, from K = 1: chunk.h
 *   P-G.ring          the part of that log not yet on disk: struct tare_ring_header, then the lanes of
 *                     its threads; removed once all is written out
 *   tare.events       the log of `tare` itself: witnesses, clocks, symbols
 *   ctl-P-N.events    the log of one `tare ctl`: what it did, and what was in use then
 *
 * P is the process id, G counts its exec generations from 0.
 *
 * THE LOG. A log is one sequence of bytes, addressed by `position` from 0. The byte at position p
 * lies in P-G.events at offset header_bytes + p, or from position chunk_bytes on in one of the files behind
 * that (chunk.h). It is a row of blocks, in the order in which they were drained. Each begins
 * with a LANE record: which lane the block is of, and from which position of that lane on. A byte of
 * the log has one value for ever: a block has its place before it is written, and whoever writes it writes the same.
 * Between blocks there may be zeros, where a block was begun and another drainer was quicker: nothing is
 * missing there. What is missing shows in the positions of the lanes, which leave nothing out.
 * Positions tail .. head of each lane are in the ring, and nowhere else that counts: a reader leaves out
 * what the file has of the lane from `tail` on. A log without LANE records (of `tare` itself, or of 0.1.0) is one
 * row of records.
 *
 * RECORDS. A record starts at a position divisible by 16 and fills whole cells of 16 bytes. Little
 * or big endian as the header says. Its head:
 *
 *   offset size field
 *        0    4 seal    tare_seal(position), in the ring of the position in the lane. A record whose
 *                       seal does not match its position is damage
 *        4    2 kind    enum tare_kind; a reader skips kinds it does not know
 *        6    2 cells   length in cells, head included, 1..4095
 *        8    8 stamp   clock ticks (file header: clock, ticks_per_s)
 *
 * After a record that is not finished a reader looks for the next good seal cell by cell: nothing
 * but that one record is lost.
 *
 * Example: the first record of a log, kind 2 (string), id 1, "cuInit":
 *
 *   54 41 52 45  02 00 02 00  .. .. .. .. .. .. .. ..    seal("TARE" at position 0), 2, 2 cells, stamp
 *   01 00 00 00  06 00 00 00  63 75 49 6e 69 74 00 00    id 1, 6 bytes, "cuInit", padding
 *
 * record.def lists every record with its fields; the structs below are generated from it. Between the header of
 * P-G.events and position 0 stands the schema (schema_text.h): the same list, as the version that wrote the log has
 * it. By it every other version finds the fields, by name.
 *
 * Version 0 may still change. A reader refuses a newer version with a sentence, and damage anywhere
 * costs only what is damaged.
 */
#ifndef TARE_RECORD_FORMAT_H
#define TARE_RECORD_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define TARE_FORMAT_VERSION    0
#define TARE_FORMAT_MAGIC      "TARELOG" /* 8 bytes with its NUL */
#define TARE_RING_MAGIC        "TARELNS"
#define TARE_CONTROL_MAGIC     "TARECTL"
#define TARE_ENDIAN_MARK       0x01020304u
#define TARE_CELL              16u
#define TARE_MAX_CELLS         4095u
#define TARE_HEADER_BYTES      512u
#define TARE_RING_HEADER_BYTES 4096u
#define TARE_READING_STEP      1024u   /* ticks: the unit of reading_before and reading_after */
#define TARE_LONG_READING      0x8000u /* in them: the rest is in this unit */
#define TARE_LONG_READING_STEP (1u << 20)
#define TARE_TID_INSIDE        0x80000000u /* bit of a tid: inside another recorded call of that thread */
#define TARE_NOT_KNOWN         UINT64_MAX  /* in any byte count: "not known", which is not 0 */

#define TARE_LAST_GENERATION UINT32_MAX /* of a pid, whichever it was */

/* The first four bytes of a record at this position. */
static inline uint32_t tare_seal(uint64_t position)
{
	uint32_t cell = (uint32_t)(position / TARE_CELL);

	return (cell * 2654435761u) ^ 0x45524154u;
}

/* The position that a seal is of: its low 36 bits. 244002641 × 2654435761 is 1 modulo 2^32. */
static inline uint64_t tare_seal_position(uint32_t seal)
{
	return (uint64_t)(uint32_t)((seal ^ 0x45524154u) * 244002641u) * TARE_CELL;
}

struct tare_record {
	uint32_t seal;
	uint16_t kind;
	uint16_t cells;
	uint64_t stamp;
};

/*
 * Every enumeration of the format is one map of X(value, KEY, word, meaning), so that what `tare dump`
 * prints and what a reader tests for come from one list. Values are never reused.
 */

/* What wrote a log. */
#define TARE_ROLE_MAP(X)                                                                                               \
	X(1, PROGRAM, "program", "a recorded process")                                                                     \
	X(2, TARE, "tare", "`tare` itself: witnesses, clocks, symbols")

/* What ticks a stamp counts. Only logs with the same clock and boot id can be put in one order. */
#define TARE_CLOCK_MAP(X)                                                                                              \
	X(1, TSC, "tsc", "x86 time stamp counter")                                                                         \
	X(2, CNTVCT, "cntvct", "arm64 virtual counter")                                                                    \
	X(3, MONOTONIC_NS, "monotonic-ns", "CLOCK_MONOTONIC in ns")

#define TARE_ROLE_VALUE(value, key, word, meaning) TARE_ROLE_##key = value,
enum tare_role { TARE_ROLE_MAP(TARE_ROLE_VALUE) };
#define TARE_CLOCK_VALUE(value, key, word, meaning) TARE_CLOCK_##key = value,
enum tare_clock { TARE_CLOCK_MAP(TARE_CLOCK_VALUE) };

/* Offsets 0..511 of P-G.events; also kept in the ring's first page, so either file can be read alone. */
struct tare_file_header {
	char magic[8];         /* TARELOG */
	uint32_t endian;       /* 0x01020304 */
	uint32_t version;      /* of the format */
	uint32_t header_bytes; /* where position 0 lies in the file */
	uint32_t role;         /* enum tare_role */
	uint32_t clock;        /* enum tare_clock */
	uint32_t pid;          /* as the process itself sees it */
	uint32_t ppid;
	uint32_t generation;         /* exec generations of this pid before it */
	uint64_t pid_namespace;      /* inode of /proc/self/ns/pid, 0 where unknown */
	uint64_t start_ticks;        /* field 22 of /proc/self/stat: tells a reused pid apart */
	uint64_t ticks_per_s;        /* of the clock; 0: take it from clock records */
	uint64_t first_stamp;        /* when the log began … */
	uint64_t first_monotonic_ns; /* … on CLOCK_MONOTONIC */
	uint64_t first_realtime_ns;  /* … in ns since 1970 */
	uint64_t base;               /* position p lies at header_bytes + p - base; below are none */
	uint8_t boot_id[16];         /* /proc/sys/kernel/random/boot_id */
	char tool[32];               /* version of Tare, NUL terminated */
	char host[64];               /* name of the machine */
	char program[128];           /* basename of the executable */
	uint32_t has_lanes;          /* 1: the log is a row of blocks; 0: of records */
	char script[64];             /* of a Python program: what it is called, as record/script.h finds it */
	uint32_t schema;             /* sum of the text behind this header; 0: there is none */
	uint32_t chunk_bytes;        /* of the log in each file; 0: all of it is in P-G.events */
	uint8_t reserved[100];
};
_Static_assert(sizeof(struct tare_file_header) == TARE_HEADER_BYTES, "file header layout");

/*
 * P-G.ring: one header page, a table of lanes, and the lanes themselves. A thread that records has a lane, in
 * which it alone writes; so nothing that another thread does, or does not do, can delay it.
 *
 * A record counts once `head` of its lane is behind it; from then on neither it nor `head`'s past changes. Drainers,
 * `tare` or the lane's own thread, take positions tail .. head to the log and then advance `tail`. Where in the log
 * they go is decided before they are written, by `plan`: so any number of drainers, however late, write the
 * same bytes to the same place.
 */
struct tare_lane {
	/* Written by the lane's thread. */
	uint32_t tid;         /* of the thread whose lane it is, or was last */
	uint32_t has_no_file; /* its bytes are memory of the process: nobody else can drain it */
	uint64_t head;        /* positions below are published */
	uint64_t lost;        /* records given up, in all … */
	uint64_t lost_told;   /* … and of them those that a LOST record tells of */
	uint64_t lost_first;  /* stamps of those that none tells of … */
	uint64_t lost_last;   /* … the first and the last */
	uint32_t lost_reason; /* enum tare_lost_reason */
	uint32_t reserved0;
	uint64_t reserved1;
	/* Written by drainers, on a cache line of their own. */
	uint64_t tail; /* positions below are in the log */
	uint64_t plan; /* TARE_PLAN_* */
	uint64_t reserved2[6];
};
_Static_assert(sizeof(struct tare_lane) == 128 && offsetof(struct tare_lane, tail) == 64, "lane layout");

/*
 * plan: the block of the log that positions from `tail` on go to. Low 12 bits: its size in cells, without the LANE
 * record at its head; 14 bits: `tail` in cells; 38 bits: where the block begins in the log, in cells.
 * A block is shorter than what those 14 bits tell apart, so a plan for another tail is never taken for this one.
 */
#define TARE_PLAN(begin, tail, size)                                                                                   \
	(((uint64_t)(begin) / TARE_CELL) << 26 | (((tail) / TARE_CELL) & 0x3fff) << 12 | (size) / TARE_CELL)
#define TARE_PLAN_SIZE(plan)  (((plan)&0xfff) * TARE_CELL)
#define TARE_PLAN_TAIL(plan)  (((plan) >> 12 & 0x3fff) * TARE_CELL) /* of it, the low bits */
#define TARE_PLAN_BEGIN(plan) (((plan) >> 26) * TARE_CELL)
#define TARE_PLAN_TAIL_MASK   (0x3fffull * TARE_CELL)
#define TARE_PLAN_BEGIN_MAX   ((1ull << 38) * TARE_CELL)
#define TARE_BLOCK_MAX        (64u << 10) /* with the LANE record */
#define TARE_RING_RECORD_MAX  (16u << 10) /* half of the smallest lane */

#define TARE_LANES_MAX      2048u
#define TARE_LANE_BYTES_MIN (32u << 10)
#define TARE_RING_LANES_AT  (TARE_RING_HEADER_BYTES + TARE_LANES_MAX * sizeof(struct tare_lane))
_Static_assert(TARE_RING_LANES_AT % 4096 == 0, "lanes begin with a page");

struct tare_ring_header {
	char magic[8];
	uint32_t version;
	uint32_t lane_bytes; /* of the first lanes, a power of two: tare_lane_bytes() */
	uint32_t lane_nr;    /* lanes in use so far */
	uint32_t reserved0;
	uint64_t log_end;    /* positions of the log below are given to blocks */
	uint64_t finished;   /* 1: the process ended its log in order */
	uint64_t lost;       /* records of threads that found no lane … */
	uint64_t lost_first; /* … the stamp of the first … */
	uint64_t lost_last;  /* … and of the last */
	struct tare_file_header file;
};
_Static_assert(sizeof(struct tare_ring_header) <= TARE_RING_HEADER_BYTES, "ring header page");

/* A few large lanes for the threads that record most; then small ones for any number. */
#define TARE_LANES_LARGE  4u
#define TARE_LANES_MIDDLE 12u

static inline uint32_t tare_lane_bytes(uint32_t lane_bytes, uint32_t index)
{
	uint32_t bytes = index < TARE_LANES_LARGE                       ? lane_bytes
	                 : index < TARE_LANES_LARGE + TARE_LANES_MIDDLE ? lane_bytes / 4
	                                                                : lane_bytes / 32;

	return bytes > TARE_LANE_BYTES_MIN ? bytes : TARE_LANE_BYTES_MIN;
}

/* Where a lane begins in P-G.ring; of TARE_LANES_MAX: how long that can become. */
static inline uint64_t tare_lane_offset(uint32_t lane_bytes, uint32_t index)
{
	uint32_t large = index < TARE_LANES_LARGE ? index : TARE_LANES_LARGE, middle = index - large;

	if (middle > TARE_LANES_MIDDLE)
		middle = TARE_LANES_MIDDLE;
	return TARE_RING_LANES_AT + (uint64_t)large * tare_lane_bytes(lane_bytes, 0) +
	       (uint64_t)middle * tare_lane_bytes(lane_bytes, TARE_LANES_LARGE) +
	       (uint64_t)(index - large - middle) * tare_lane_bytes(lane_bytes, TARE_LANES_MAX);
}

static inline int tare_lane_bytes_are_sane(uint32_t lane_bytes)
{
	return lane_bytes >= TARE_LANE_BYTES_MIN && lane_bytes <= 1u << 26 && (lane_bytes & (lane_bytes - 1)) == 0;
}

/* One page shared by `tare` and the recorded processes. */
struct tare_control {
	char magic[8];
	uint32_t version;
	uint32_t command;      /* the control word, below; set by `tare run --paused` and `tare ctl` */
	uint64_t heartbeat;    /* advanced by `tare` each time it drains */
	uint64_t heartbeat_ns; /* CLOCK_MONOTONIC of that */
	uint64_t processes;    /* logs opened so far */
	uint64_t degraded;     /* processes that could not open a log */
	uint32_t tare_pid;
	uint32_t lane_bytes;   /* wanted size of the first lanes of each ring */
	uint64_t started_ns;   /* CLOCK_MONOTONIC */
	uint64_t lost_records; /* lost with lanes that have no file */
	uint64_t snapshots;    /* asked for so far */
	uint32_t chunk_bytes;  /* wanted size of the files of each log */
	uint32_t makes_room;   /* 1: who may write no more waits, for a while */
	uint64_t log_written;  /* bytes that logs were or soon will be given, and rings */
	uint64_t log_limit;    /* as many may be, so that they can be read in a few seconds; 0: any number */
	uint64_t log_most; /* as many, to keep the cap, before a record is lost; less than log_limit: no more than that */
};

/* The control word: which of these holds, and above its low 8 bits how often that was changed. */
enum tare_control_command { TARE_COMMAND_RECORD = 0, TARE_COMMAND_PAUSE = 1, TARE_COMMAND_STOP = 2 };
#define TARE_COMMAND_OF(word)      ((word)&0xffu)
#define TARE_COMMAND_CHANGES(word) ((word) >> 8)

/* What somebody did with it. */
#define TARE_ACT_MAP(X)                                                                                                \
	X(1, PAUSE, "pause", "from here on only ends of objects are recorded")                                             \
	X(2, RESUME, "resume", "everything is recorded again")                                                             \
	X(3, STOP, "stop", "nothing is recorded any more")                                                                 \
	X(4, SNAPSHOT, "snapshot", "an instant that was given a name")

/* What is known of a block of PyTorch's allocator. */
#define TARE_TENSOR_MAP(X)                                                                                             \
	X(1, FINALIZING, "finalizing", "taken back while the interpreter was taken down")                                  \
	X(2, HOST, "host", "memory of the CPU; `device` is -1")                                                            \
	X(4, BACKWARD, "backward", "handed out or taken back inside of autograd's engine")                                 \
	X(8, GRAD, "grad", "handed out while autograd records what this thread computes")                                  \
	X(16, CAPTURING, "capturing", "not used yet")                                                                      \
	X(32, GC, "gc", "taken back by Python's cyclic collector")                                                         \
	X(64, MAPPED, "mapped", "memory of the CPU that is a mapped file or shared, not of its allocator")                 \
	X(256, ON_DEFAULT, "on-default", "handed out on the default stream of its device; asked for now and then")         \
	X(512, ON_STREAM, "on-stream", "handed out on the stream of its thread's last STREAM record")                      \
	X(1024, IN_MODULE, "in-module", "handed out for the module of its thread's last MODULE record")                    \
	X(2048, IN_GRAPH, "in-graph", "the first since autograd noted a step of this thread to go back through")

/* How PyTorch makes the id of a stream (c10::StreamId); 0 is the default stream in all of them. */
#define TARE_STREAM_IDS_MAP(X)                                                                                         \
	X(1, OLD, "old", "up to 1.9: 5 bits of number, then the kind, 1 - priority")                                       \
	X(2, POINTER, "pointer", "from 1.10: 3 bits of kind, 5 of number; no kind: the driver's handle")                   \
	X(3, ODD, "odd", "from 2.1: a 1, 4 bits of kind, 5 of number; if even the driver's handle")

/* What a SCANNED record tells of. */
#define TARE_SCANNED_MAP(X)                                                                                            \
	X(1, MODULE, "module", "`name` is a module of module `of`")                                                        \
	X(2, PARAMETER, "parameter", "`name` is a parameter of module `of`")                                               \
	X(3, BUFFER, "buffer", "`name` is a buffer of module `of`")                                                        \
	X(4, GRADIENT, "gradient", "gradient of the tensor at `of`")                                                       \
	X(5, STATE, "state", "what an optimizer calls `name` of the tensor at `of`")                                       \
	X(6, TENSOR, "tensor", "a tensor that Python holds")                                                               \
	X(7, GATHERED, "gathered", "where the sharded parameter at `of` is whole, for a while")

#define TARE_SCANNED_FLAG_MAP(X)                                                                                       \
	X(1, LEAF, "leaf", "not the result of an operation that autograd follows")                                         \
	X(2, REQUIRES_GRAD, "requires-grad", "it is to get a gradient, or passes one on")                                  \
	X(4, KEPT, "kept", "in a list, a dictionary or an object that variable `name` has")

#define TARE_SCAN_MAP(X)                                                                                               \
	X(1, CUT, "cut", "there were more objects than are told")                                                          \
	X(2, GRADIENTS, "gradients", "each tensor that has a gradient told of it")                                         \
	X(4, MODULES, "modules", "only modules were looked at, and what they have")

/* What an event did. */
#define TARE_EFFECT_MAP(X)                                                                                             \
	X(1, NEW, "new", "`handle` of `class` appeared; stamped after the call")                                           \
	X(2, DEL, "del", "`handle` went; stamped before the call")                                                         \
	X(3, CHANGE, "change", "device memory may have changed; stamped after the call")                                   \
	X(4, UNDO, "undo", "the driver refused the DEL stamped just before, on the same thread")

#define TARE_EVENT_MAP(X)                                                                                              \
	X(1, FAILED, "failed", "the driver returned an error")                                                             \
	X(2, WEIGHED, "weighed", "`before` and `after` are readings")                                                      \
	X(4, BY_CUDA, "by-cuda", "… of cuMemGetInfo (total - free), not of NVML")                                          \
	X(8, UNWEIGHED, "unweighed", "should have been weighed; the time allowed for it was used up")                      \
	X(16, PEERS, "peers", "`peers_before` and `peers_after` are readings")                                             \
	X(32, PRIMARY, "primary", "a primary context")                                                                     \
	X(64, REFUSED, "refused", "no room on the card of --vram: Tare's answer, the driver never saw it")                 \
	X(128, POOL_TOLD, "pool-told", "a capture: its object is `parent`, its pool `asked`, `granted`")                   \
	X(256, BACKWARD, "backward", "one of autograd's threads, without Python (of an import)")

/* What a call of class graph exec, stream capture or graph memory does: low half of `limit`. */
#define TARE_GRAPH_CALL_MAP(X)                                                                                         \
	X(1, BEGIN, "begin", "a capture of stream `handle`, in the mode of the high half of `limit`")                      \
	X(2, END, "end", "the capture of stream `handle` gave graph `parent`; 0: it was invalid")                          \
	X(3, CREATE, "create", "graph `handle`, empty or a clone of `parent`")                                             \
	X(4, INSTANTIATE, "instantiate", "exec `handle` of graph `parent`")                                                \
	X(5, UPLOAD, "upload", "of exec `handle`")                                                                         \
	X(6, LAUNCH, "launch", "of exec `handle`, its first or the first after a change")                                  \
	X(7, UPDATE, "update", "of exec `handle`, to what graph `parent` does; 0: of one node")                            \
	X(8, DESTROY, "destroy", "of exec `handle`")                                                                       \
	X(9, TRIM, "trim", "of the memory that allocation nodes left")

/* What is known of a graph. */
#define TARE_GRAPH_FLAG_MAP(X)                                                                                         \
	X(1, NODES, "nodes", "its nodes were counted")                                                                     \
	X(2, CAPPED, "capped", "but it has too many: `nodes` is right, the kinds are of the first")                        \
	X(4, LAUNCHES, "launches", "`launches` is known")                                                                  \
	X(8, RESERVED, "reserved", "`reserved` is known")                                                                  \
	X(16, POOL_ID, "pool-id", "the id of its pool is known")

/* How a graph came to be. */
#define TARE_GRAPH_STATE_MAP(X)                                                                                        \
	X(1, CAPTURED, "captured", "by capturing a stream")                                                                \
	X(2, BUILT, "built", "node by node")                                                                               \
	X(3, CAPTURING, "capturing", "its capture never ended, or has not yet")                                            \
	X(4, INVALID, "invalid", "its capture failed")

/* Ordinal of the device record that stands for the heap of a process: no GPU has such a number. */
enum { TARE_HEAP_ORDINAL = 1000 };

#define TARE_DEVICE_MAP(X)                                                                                             \
	X(1, NVML, "nvml", "NVML knows this device: readings are its")                                                     \
	X(2, RESERVE_APART, "reserve-apart", "total = free + used + reserved (NVML v2 as measured)")                       \
	X(4, V1, "v1", "only NVML v1: `used` includes the driver's reserve")                                               \
	X(8, INTEGRATED, "integrated", "shares the host's memory")                                                         \
	X(16, PER_PROCESS, "per-process", "NVML lists processes with their memory")                                        \
	X(32, MIG, "mig", "a part of a GPU (MIG)")                                                                         \
	X(64, SIMULATED, "simulated", "the simulated GPU")                                                                 \
	X(128, IMPORTED, "imported", "readings are what another tool printed")                                             \
	X(256, HEAP, "heap", "no GPU: what programs have from malloc and its kin")

/* Where memory of the host is from. */
#define TARE_HEAP_SOURCE_MAP(X)                                                                                        \
	X(0, MALLOC, "malloc", "malloc or one of its kin: calloc, realloc, aligned_alloc …")                               \
	X(1, MMAP, "mmap", "mmap, of no file")                                                                             \
	X(2, MREMAP, "mremap", "mremap: of no file if what it took away was")                                              \
	X(3, RESERVE, "reserve", "mmap, of no file, and nobody may touch it: addresses only")                              \
	X(4, MPROTECT, "mprotect", "mprotect made it usable: what of it was reserved counts")

/* How mapped memory goes. */
#define TARE_HEAP_GOES_MAP(X)                                                                                          \
	X(0, UNMAPPED, "unmapped", "nothing is mapped there any more, or something else")                                  \
	X(1, MOVED, "moved", "mremap took it away, and the HEAP_BLOCK record of it comes next of this thread")             \
	X(2, CLOSED, "closed", "mprotect forbids to touch it; it is still reserved")

/* How a block of the heap went. */
#define TARE_HEAP_MAP(X)                                                                                               \
	X(1, FINALIZING, "finalizing", "Python was taking the program down")                                               \
	X(2, MOVING, "moving", "to realloc, which has made another of it: the next block of this thread")

/* What a reading read. */
#define TARE_SOURCE_MAP(X)                                                                                             \
	X(1, NVML2, "nvml2", "nvmlDeviceGetMemoryInfo_v2")                                                                 \
	X(2, NVML1, "nvml1", "nvmlDeviceGetMemoryInfo")                                                                    \
	X(3, CUDA, "cuda", "cuMemGetInfo")

/* Why records were given up. */
#define TARE_LOST_MAP(X)                                                                                               \
	X(1, DISK_FULL, "disk-full", "the disk was full, or a limit on files or the disk was reached")                     \
	X(2, NOT_WRITTEN, "not-written", "the log could not be written, for another reason")                               \
	X(3, NO_LANE, "no-lane", "more threads recorded at once than a log has lanes")                                     \
	X(4, TOO_LONG, "too-long", "a record was longer than one can be")                                                  \
	X(5, IN_MEMORY, "in-memory", "the disk had no room for the ring, so it went with the process")                     \
	X(6, DAMAGED, "damaged", "a part of the log is damaged or missing")                                                \
	X(7, CAP, "cap", "the program recorded more than could be compacted in time, and the recording has a cap")

/* How a process ended, as its END record says. */
#define TARE_HOW_MAP(X)                                                                                                \
	X(1, EXIT, "exit", "exit, or return from main")                                                                    \
	X(2, QUICK, "_exit", "_exit, _Exit or quick_exit")                                                                 \
	X(3, EXEC, "exec", "another program took its place")                                                               \
	X(4, DESTRUCTOR, "destructor", "libraries were being unloaded")

/* What a PHASE record says. */
#define TARE_PHASE_MAP(X)                                                                                              \
	X(1, PUSH, "push", "a phase begins inside those of its thread")                                                    \
	X(2, POP, "pop", "the thread's innermost one ends")                                                                \
	X(3, BEGIN, "begin", "a range begins; it may end on another thread")                                               \
	X(4, END, "end", "the range `id` ends")                                                                            \
	X(5, MARK, "mark", "a moment")

/* Who marked a phase. */
#define TARE_PHASE_SOURCE_MAP(X)                                                                                       \
	X(1, TARE_H, "tare.h", "tare.h, or the Python module tare")                                                        \
	X(2, NVTX, "nvtx", "NVTX")                                                                                         \
	X(3, LINE, "line", "a line of a Python program (tare run --phase)")                                                \
	X(4, PRINT, "print", "a figure that the program printed (tare import)")                                            \
	X(5, TORCH, "torch", "an annotation in a memory snapshot of PyTorch (tare import)")

#define TARE_EFFECT_VALUE(value, key, word, meaning) TARE_EFFECT_##key = value,
enum tare_effect { TARE_EFFECT_MAP(TARE_EFFECT_VALUE) };
#define TARE_EVENT_VALUE(value, key, word, meaning) TARE_EVENT_##key = value,
enum tare_event_flag { TARE_EVENT_MAP(TARE_EVENT_VALUE) };
#define TARE_TENSOR_VALUE(value, key, word, meaning) TARE_TENSOR_##key = value,
enum tare_tensor_flag { TARE_TENSOR_MAP(TARE_TENSOR_VALUE) };
#define TARE_STREAM_IDS_VALUE(value, key, word, meaning) TARE_STREAM_IDS_##key = value,
enum tare_stream_ids { TARE_STREAM_IDS_MAP(TARE_STREAM_IDS_VALUE) };
#define TARE_SCANNED_VALUE(value, key, word, meaning) TARE_SCANNED_##key = value,
enum tare_scanned_role { TARE_SCANNED_MAP(TARE_SCANNED_VALUE) };
enum tare_scanned_flag { TARE_SCANNED_FLAG_MAP(TARE_SCANNED_VALUE) };
#define TARE_SCAN_VALUE(value, key, word, meaning) TARE_SCAN_##key = value,
enum tare_scan_flag { TARE_SCAN_MAP(TARE_SCAN_VALUE) };
#define TARE_DEVICE_VALUE(value, key, word, meaning) TARE_DEVICE_##key = value,
enum tare_device_flag { TARE_DEVICE_MAP(TARE_DEVICE_VALUE) };
#define TARE_HEAP_VALUE(value, key, word, meaning) TARE_HEAP_##key = value,
enum tare_heap_flag { TARE_HEAP_MAP(TARE_HEAP_VALUE) };
#define TARE_HEAP_OF_VALUE(value, key, word, meaning) TARE_HEAP_OF_##key = value,
enum tare_heap_source { TARE_HEAP_SOURCE_MAP(TARE_HEAP_OF_VALUE) };
#define TARE_HEAP_GOES_VALUE(value, key, word, meaning) TARE_HEAP_GOES_##key = value,
enum tare_heap_goes { TARE_HEAP_GOES_MAP(TARE_HEAP_GOES_VALUE) };
#define TARE_SOURCE_VALUE(value, key, word, meaning) TARE_SOURCE_##key = value,
enum tare_source { TARE_SOURCE_MAP(TARE_SOURCE_VALUE) };
#define TARE_LOST_VALUE(value, key, word, meaning) TARE_LOST_##key = value,
enum tare_lost_reason { TARE_LOST_MAP(TARE_LOST_VALUE) };
#define TARE_HOW_VALUE(value, key, word, meaning) TARE_HOW_##key = value,
enum tare_how { TARE_HOW_MAP(TARE_HOW_VALUE) };
#define TARE_PHASE_VALUE(value, key, word, meaning) TARE_PHASE_##key = value,
enum tare_phase_what { TARE_PHASE_MAP(TARE_PHASE_VALUE) };
#define TARE_PHASE_BY_VALUE(value, key, word, meaning) TARE_PHASE_BY_##key = value,
enum tare_phase_source { TARE_PHASE_SOURCE_MAP(TARE_PHASE_BY_VALUE) };
#define TARE_ACT_VALUE(value, key, word, meaning) TARE_ACT_##key = value,
enum tare_act { TARE_ACT_MAP(TARE_ACT_VALUE) };
#define TARE_GRAPH_CALL_VALUE(value, key, word, meaning) TARE_GRAPH_CALL_##key = value,
enum tare_graph_call { TARE_GRAPH_CALL_MAP(TARE_GRAPH_CALL_VALUE) };
#define TARE_GRAPH_FLAG_VALUE(value, key, word, meaning) TARE_GRAPH_FLAG_##key = value,
enum tare_graph_flag { TARE_GRAPH_FLAG_MAP(TARE_GRAPH_FLAG_VALUE) };
#define TARE_GRAPH_STATE_VALUE(value, key, word, meaning) TARE_GRAPH_STATE_##key = value,
enum tare_graph_state { TARE_GRAPH_STATE_MAP(TARE_GRAPH_STATE_VALUE) };

/* Kinds of graph nodes: indices into the counts of a graph, in the order of node.def. */
#define TARE_NODE(key, field, name) TARE_NODE_##key,
enum tare_node {
#include "record/node.def"
	TARE_NODE_NR
};

/* What is done with records of a kind, and what the value of a field means. */
#define TARE_RECORD_CLASS(key, is_event, is_schema, meaning) TARE_RECORD_CLASS_##key,
enum tare_record_class {
#include "record/record_class.def"
};

#define TARE_FIELD_ROLE(key, look, unit, absent, meaning) TARE_FIELD_##key,
enum tare_field_role {
#include "record/field_role.def"
	TARE_FIELD_NR
};

#define TARE_CLASS(id, key, name, sizing, account) TARE_CLASS_##key = id,
enum tare_class {
#include "record/class.def"
	TARE_CLASS_NR
};

#define TARE_RECORD(id, key, name, cls, fields, tail) TARE_KIND_##key = id,
#define F(type, field, role)
enum tare_kind {
#include "record/record.def"
};

/* One more than the largest id: the rows are not in its order. */
#define TARE_RECORD(id, key, name, cls, fields, tail) char name[id + 1];
union tare_kind_ids {
#include "record/record.def"
};
enum { TARE_KIND_NR = sizeof(union tare_kind_ids) };

/* struct tare_rec_event, tare_rec_string, …: head, then the fields in order, without padding. */
#define F(type, field, role) type field;
#define TARE_RECORD(id, key, name, cls, fields, tail)                                                                  \
	struct tare_rec_##name {                                                                                           \
		struct tare_record head;                                                                                       \
		fields                                                                                                         \
	};
#include "record/record.def"

#endif
