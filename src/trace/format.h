/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording, byte for byte. docs/RECORDING.md says the same for people who do not read C.
 *
 * A recording is a folder NAME.tare/:
 *
 *   recording.json    what was run, where, with which versions; how it ended (written by `tare`)
 *   control           one page shared by `tare` and every recorded process: struct tare_control
 *   P-G.events        the log of one process: struct tare_file_header, then records
 *   P-G.ring          the part of that log not yet on disk: struct tare_ring_header, then the ring;
 *                     removed once it has been written out
 *   tare.events       the log of `tare` itself: witnesses, clocks, symbols
 *   checkpoint.events what older spans were folded into, when the cap made that necessary
 *
 * P is the process id, G counts its exec generations from 0.
 *
 * THE LOG. A log is one sequence of bytes, addressed by `position` from 0. The byte at position p
 * lies in P-G.events at offset header_bytes + p, whoever wrote it and however often. So writing is
 * idempotent: `tare`, which drains the ring, and the recorded threads, which drain it themselves
 * when nobody else does, may write the same range twice and change nothing. Positions between the
 * end of the file and ring.head are in the ring, at offset position % ring_bytes.
 *
 * RECORDS. A record starts at a position divisible by 16 and fills whole cells of 16 bytes. Little
 * or big endian as the header says. Its head:
 *
 *   offset size field
 *        0    4 seal    tare_seal(position): written last. A record whose seal does not match its
 *                       position was not finished (its thread was killed) or is damage
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
 * record.def lists every record with its fields; the structs below are generated from it.
 *
 * Version 0 may still change. A reader refuses a newer version with a sentence, and damage anywhere
 * costs only what is damaged.
 */
#ifndef TARE_TRACE_FORMAT_H
#define TARE_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define TARE_FORMAT_VERSION 0
#define TARE_FORMAT_MAGIC "TARELOG" /* 8 bytes with its NUL */
#define TARE_RING_MAGIC "TARERNG"
#define TARE_CONTROL_MAGIC "TARECTL"
#define TARE_ENDIAN_MARK 0x01020304u
#define TARE_CELL 16u
#define TARE_MAX_CELLS 4095u
#define TARE_HEADER_BYTES 512u
#define TARE_RING_HEADER_BYTES 4096u
#define TARE_NOT_KNOWN UINT64_MAX /* in any byte count: "not known", which is not 0 */

/* The first four bytes of a record at this position. */
static inline uint32_t tare_seal(uint64_t position)
{
	uint32_t cell = (uint32_t)(position / TARE_CELL);

	return (cell * 2654435761u) ^ 0x45524154u;
}

struct tare_record {
	uint32_t seal;
	uint16_t kind;
	uint16_t cells;
	uint64_t stamp;
};

/* What wrote a log. */
enum tare_role { TARE_ROLE_PROGRAM = 1, TARE_ROLE_TARE = 2, TARE_ROLE_CHECKPOINT = 3 };

/* What ticks a stamp counts. Only logs with the same clock and boot id can be put in one order. */
enum tare_clock { TARE_CLOCK_TSC = 1, TARE_CLOCK_CNTVCT = 2, TARE_CLOCK_MONOTONIC_NS = 3 };

/* Offsets 0..511 of P-G.events; also kept in the ring's first page, so either file can be read alone. */
struct tare_file_header {
	char magic[8];
	uint32_t endian;
	uint32_t version;
	uint32_t header_bytes; /* where position 0 lies in the file */
	uint32_t role;
	uint32_t clock;
	uint32_t pid; /* as the process itself sees it */
	uint32_t ppid;
	uint32_t generation; /* exec generations of this pid before it */
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid, 0 where unknown */
	uint64_t start_ticks; /* field 22 of /proc/self/stat: tells a reused pid apart */
	uint64_t ticks_per_s; /* of the clock; 0: take it from clock records */
	uint64_t first_stamp;
	uint64_t first_monotonic_ns;
	uint64_t first_realtime_ns;
	uint64_t base; /* positions below it were folded into checkpoint.events */
	uint8_t boot_id[16];
	char tool[32]; /* version of Tare, NUL terminated */
	char host[64];
	char program[128]; /* basename of the executable */
	uint8_t reserved[176];
};
_Static_assert(sizeof(struct tare_file_header) == TARE_HEADER_BYTES, "file header layout");

/*
 * First page of P-G.ring. `head` is advanced by the process's threads (compare and swap: a thread
 * owns the range it won), `tail` by whoever drains. head - tail never exceeds ring_bytes.
 */
struct tare_ring_header {
	char magic[8];
	uint32_t version;
	uint32_t ring_bytes; /* a power of two */
	uint64_t head;
	uint64_t pad0[6];
	uint64_t tail; /* on a cache line of its own */
	uint64_t pad1[7];
	uint32_t drain_lock; /* 0, or a stamp of the holder; a hint only: draining twice is harmless */
	uint32_t full_disk; /* writes failed with ENOSPC or EDQUOT, last time */
	uint64_t lost_records; /* given up because ring and disk were full */
	uint64_t lost_reported; /* of them, already in a `lost` record */
	uint64_t finished; /* 1: the process ended its log in order */
	uint64_t pad2[4];
	struct tare_file_header file;
};
_Static_assert(offsetof(struct tare_ring_header, tail) % 8 == 0, "ring tail alignment");
_Static_assert(sizeof(struct tare_ring_header) <= TARE_RING_HEADER_BYTES, "ring header page");

/* One page shared by `tare` and the recorded processes. */
struct tare_control {
	char magic[8];
	uint32_t version;
	uint32_t command; /* enum tare_command, set by `tare` */
	uint64_t heartbeat; /* advanced by `tare` each time it drains */
	uint64_t heartbeat_ns; /* CLOCK_MONOTONIC of that */
	uint64_t processes; /* logs opened so far */
	uint64_t degraded; /* processes that could not open a log */
	uint32_t tare_pid;
	uint32_t ring_bytes; /* wanted size of each ring */
	uint64_t started_ns; /* CLOCK_MONOTONIC */
};
enum tare_command { TARE_COMMAND_RECORD = 0, TARE_COMMAND_PAUSE = 1, TARE_COMMAND_STOP = 2 };

/* What an event did. */
enum tare_effect {
	TARE_EFFECT_NEW = 1, /* `handle` of `class` appeared; stamped after the call */
	TARE_EFFECT_DEL = 2, /* `handle` went; stamped before the call */
	TARE_EFFECT_CHANGE = 3, /* device memory may have changed */
	TARE_EFFECT_UNDO = 4, /* the driver refused the DEL stamped just before, on the same thread */
};

enum tare_event_flag {
	TARE_EVENT_FAILED = 1, /* the driver returned an error */
	TARE_EVENT_WEIGHED = 2, /* `before` and `after` are readings */
	TARE_EVENT_BY_CUDA = 4, /* … of cuMemGetInfo (total - free), not of NVML */
	TARE_EVENT_UNWEIGHED = 8, /* it should have been weighed, but the time allowed for that was used up */
	TARE_EVENT_PEERS = 16, /* `peers_before` and `peers_after` are readings */
	TARE_EVENT_PRIMARY = 32, /* a primary context */
};

enum tare_device_flag {
	TARE_DEVICE_NVML = 1, /* NVML knows this device: readings are its */
	TARE_DEVICE_RESERVE_APART = 2, /* total = free + used + reserved (NVML v2 as measured) */
	TARE_DEVICE_V1 = 4, /* only NVML v1: `used` includes the driver's reserve */
	TARE_DEVICE_INTEGRATED = 8, /* shares the host's memory */
	TARE_DEVICE_PER_PROCESS = 16, /* NVML lists processes with their memory */
	TARE_DEVICE_MIG = 32,
	TARE_DEVICE_SIMULATED = 64,
};

/* What a reading read. */
enum tare_source { TARE_SOURCE_NVML2 = 1, TARE_SOURCE_NVML1 = 2, TARE_SOURCE_CUDA = 3 };

#define TARE_CLASS(id, key, name, sizing, account) TARE_CLASS_##key = id,
enum tare_class {
#include "class.def"
	TARE_CLASS_NR
};
#undef TARE_CLASS

#define TARE_RECORD(id, key, name, fields, tail) TARE_KIND_##key = id,
#define F(type, field)
enum tare_kind {
#include "record.def"
	TARE_KIND_NR
};
#undef F
#undef TARE_RECORD

/* struct tare_rec_event, tare_rec_string, …: head, then the fields in order, without padding. */
#define F(type, field) type field;
#define TARE_RECORD(id, key, name, fields, tail)                                                    \
	struct tare_rec_##name {                                                                    \
		struct tare_record head;                                                            \
		fields                                                                              \
	};
#include "record.def"
#undef TARE_RECORD
#undef F

#endif
