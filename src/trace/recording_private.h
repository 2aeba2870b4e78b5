/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of recording*.c share. */
#ifndef TARE_TRACE_RECORDING_PRIVATE_H
#define TARE_TRACE_RECORDING_PRIVATE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "base/owned.h"
#include "base/str.h"
#include "store/store.h"
#include "trace/clockmap.h"
#include "trace/recording.h"
#include "trace/reorder.h"

/* One recording folder; a folder of folders has several. */
struct tare_rfolder {
	const char *path;                                                       /* as the user gave it, or below it */
	const char *spool;                                                      /* where its logs really lie, or NULL */
	const struct tare_json_value *json;                                     /* recording.json, or NULL */
	TARE_OWNED_BY(tare_store_close) struct tare_store *store, *spool_store; /* the segments in either, or NULL */
	uint64_t lost_in_memory;               /* records that went with rings without a file; nobody knows whose */
	TARE_OWNED_BY(tare_hold_end) int hold; /* trace/hold.h: nothing is removed meanwhile; -1: none */
	TARE_OWNED struct tare_map processes;  /* generation << 32 | pid → struct tare_rprocess */
	TARE_OWNED struct tare_map newest;     /* pid → 1 + its highest generation */
};

TARE_FREES(tare_rfolder_free, tare_rfolder);

struct tare_rdevice {
	struct tare_device public;
	uint64_t used_stamp; /* of the record that `used` is from */
};

/*
 * Parts of a log that are in order: a lane of a process, what is in no lane, or a run of blocks of segments.
 */
struct tare_rstream {
	struct tare_log *log; /* read by this stream only, or by blocks */
	bool is_log_shared;   /* a stream before this one has it, and closes it */
	struct tare_rprocess *process;
	struct tare_range *ranges;
	size_t range_nr, range_cap;
	struct tare_lag lag;
	bool is_run; /* of blocks of segments; else what is read of the log is made into blocks */
	struct tare_store_cursor run;
	struct tare_reorder *reorder;
	/* What follows is of the block that is read (stream.c). */
	struct tare_record bound;              /* stands for the first record until the first block is read … */
	bool is_waiting;                       /* … which it is not yet */
	bool has_structs;                      /* records that come many at once lie as the structs of this version */
	bool is_outline, is_begun;             /* begun: an event of which others are left out was given */
	const struct tare_record_block *block; /* NULL: none is read yet */
	size_t at;                             /* of its records, the next */
	size_t run_at;                         /* of its runs, the first that is not behind … */
	size_t run_begin;                      /* … and a record before which none is in a run */
	struct tare_rec_tensor tensor;         /* of a run, the record that is `next` … */
	struct tare_rec_tensor referred;       /* … and one that tare_block_run.refer() asked for */
	int64_t *times;                        /* of each */
	bool are_times_in_order;
	int64_t *again;                   /* of an outline: when one comes that makes it needless; INT64_MAX: none does */
	const struct tare_record **heads; /* of a run of the heap */
	uint64_t *columns;                /* of a run of tensors of a log */
	size_t time_cap, again_cap, head_cap, column_cap;
	uint32_t segment;            /* of the block; 0: none */
	uint16_t kind;               /* that `next` was of */
	struct tare_log_record next; /* if has_next */
	bool has_next;
	int64_t next_ns;
	int number;
};

/* The strings may stand behind the line, and the lines behind the stack: first the ids are kept. */
struct tare_rline {
	uint32_t file, function, line;
};
struct tare_rline_stack {
	struct tare_line_stack public; /* filled in when all records are read */
	const uint64_t *ids;
};

struct tare_rprocess {
	struct tare_process public;
	struct tare_rfolder *folder;
	struct tare_clockmap *clock;
	struct tare_file_header header;
	struct tare_log *log;
	uint64_t first_stamp, last_stamp;       /* of all records; first 0: none yet */
	uint64_t read_to;                       /* of its files: behind the last record */
	uint64_t settled_stamp;                 /* growing.c: up to here all is in order */
	uint64_t damage_first, damage_last;     /* if public.is_damaged; first 0: from its begin */
	uint32_t lost_reason;                   /* of the last LOST record */
	TARE_OWNED struct tare_map strings;     /* id → const char * */
	TARE_OWNED struct tare_map stacks;      /* id → const struct tare_stack * */
	TARE_OWNED struct tare_map lines;       /* id → const struct tare_rline * */
	TARE_OWNED struct tare_map line_stacks; /* id → struct tare_rline_stack * */
	TARE_OWNED struct tare_process_device *devices;
	size_t device_cap;
	TARE_OWNED struct tare_object *objects;
	size_t object_cap;
	TARE_OWNED struct tare_symbol *symbols;
	size_t symbol_cap;
};

TARE_FREES(tare_rprocess_free, tare_rprocess);

/* A symbol waits for the log of its process, which may be opened later, or never. */
struct tare_rsymbol {
	const struct tare_rfolder *folder;
	uint32_t pid, generation;
	struct tare_symbol symbol;
};

/* So does what became of it. */
struct tare_rstatus {
	struct tare_rprocess *from;
	struct tare_rec_status rec;
};

struct tare_recording {
	TARE_OWNED struct tare_arena arena;
	TARE_OWNED_BY(tare_stream_close) struct tare_rstream **streams;
	size_t stream_nr, stream_cap;
	TARE_OWNED_BY(tare_rfolder_free) struct tare_rfolder **folders;
	size_t folder_nr, folder_cap;
	TARE_OWNED_BY(tare_rprocess_free) struct tare_rprocess **processes;
	size_t process_nr, process_cap;
	TARE_OWNED_BY(tare_clockmap_free) struct tare_clockmap **clocks;
	size_t clock_nr, clock_cap;
	TARE_OWNED_LIST struct tare_rdevice **devices;
	size_t device_nr, device_cap;
	TARE_OWNED struct tare_strmap device_of; /* key of a device → 1 + index */
	TARE_OWNED struct tare_rsymbol *symbols;
	size_t symbol_nr, symbol_cap;
	TARE_OWNED struct tare_rstatus *statuses;
	size_t status_nr, status_cap;
	TARE_OWNED struct tare_rmark {
		struct tare_snapshot_mark public;
		struct tare_rprocess *from;
		uint64_t stamp;
	} * marks;
	size_t mark_nr, mark_cap;
	TARE_OWNED const char **notes;
	size_t note_nr, note_cap;
	TARE_OWNED const char **remarks;
	size_t remark_nr, remark_cap;
	TARE_OWNED struct tare_strmap noted; /* notes and remarks */
	TARE_OWNED const char **unread;      /* notes on logs that could not be opened … */
	size_t unread_nr, unread_cap;
	uint64_t held;             /* bytes of logs that are in memory */
	struct tare_err short_err; /* a log could not be opened for want of descriptors */
	struct tare_err first_err; /* … and why the first of them could not */
	struct tare_log_reach reach;
	bool is_of_any;  /* of any jobs: nothing is summed up, or the caller knows better */
	bool is_one_log; /* of a folder that may have others */
	bool is_open;
	int64_t zero_ns;          /* time 0 on the monotonic clock of `zero_clock` … */
	int64_t zero_realtime_ns; /* … and in ns since 1970; 0: not known */
	const struct tare_clockmap *zero_clock;
	int64_t last_ns;
	/* trace/recording_state.c: a state that lies in memory; number 0: there is none. */
	struct tare_recording_state lent;
	const void *lent_bytes;
	size_t lent_size;

	/* trace/recording_next.c: the streams that have a next record, a heap; the first one's was given. */
	TARE_OWNED_LIST struct tare_rstream **heap;
	size_t heap_nr;
	int64_t others_ns; /* when the next record of the others is due; until then the first one needs no comparing */
	bool is_started;
	int64_t now_ns;
	struct tare_event nothing; /* what every event begins as: a copy is quicker than zeros */
	TARE_OWNED struct tare_str text;
};

TARE_FREES(tare_recording_forget, tare_recording);

/* recording.c */
void tare_recording_add_note(struct tare_recording *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tare_recording_add_remark(struct tare_recording *r, const char *text);
/* recording_killed.c: pre: it is known how processes ended. */
void tare_recording_note_killed(struct tare_recording *r);
struct tare_rprocess *tare_recording_find(const struct tare_rfolder *folder, uint32_t pid, uint32_t generation);
struct tare_rprocess *tare_recording_add_process(struct tare_recording *r, struct tare_rfolder *folder, uint32_t pid,
                                                 uint32_t generation);
/* A stamp on the monotonic clock of r->zero_clock, and since the recording started. */
int64_t tare_recording_monotonic_ns(const struct tare_recording *r, const struct tare_rprocess *p, uint64_t stamp);
int64_t tare_recording_ns(const struct tare_recording *r, const struct tare_rprocess *p, uint64_t stamp);

/* recording_find.c: calls tare_recording_add_log() for every log below the paths. */
int tare_recording_find_logs(struct tare_recording *r, const char *const *paths, size_t path_nr, const char *job,
                             struct tare_err *err);

/* Length of the name without ".events" or ".ring"; 0: not a log. */
size_t tare_log_stem(const char *name);

/* recording_job.c: which of the recordings at `paths` are of one job; the others become NULL. USAGE where they are of several. */
int tare_recording_choose_job(char **paths, size_t path_nr, const char *job, struct tare_err *err);

/* recording_index.c: the first pass. */
void tare_recording_add_log(struct tare_recording *r, struct tare_rfolder *folder, const struct tare_store *store,
                            const char *path);

/* A record that came later: what the first pass makes of it. */
void tare_recording_index(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec);
struct tare_rline_stack *tare_recording_find_line_stack(const struct tare_rprocess *p,
                                                        uint32_t id); /* pre: it is there */

/* What could not be opened at all. */
void tare_recording_add_unread(struct tare_recording *r, const struct tare_err *err);

/* recording_objects.c */
void tare_recording_settle_objects(struct tare_rprocess *p);
uint32_t tare_object_identity(const char *path, const uint64_t build_id[2]);
/* recording_settle.c: after the last log, before the first event. */
void tare_recording_settle(struct tare_recording *r);
/* Fills in the lines of a stack; false: not all are there. */
bool tare_recording_settle_lines(struct tare_recording *r, const struct tare_rprocess *p, struct tare_rline_stack *s);
/*
 * Time 0 of a folder read alone (NULL: of all of them), on the monotonic clock of r->zero_clock: when `tare` began; without its
 * log, when the first process did.
 */
int64_t tare_recording_begin_ns(const struct tare_recording *r, const struct tare_rfolder *folder);

/* recording_names.c: gives processes, in order by now, the names that people know them by. */
void tare_recording_name_processes(struct tare_recording *r);

/* recording_run.c: tare_block_run.refer and such, of runs whose `recording` is a struct tare_recording and `process` a struct tare_rprocess */
void tare_recording_refer_to_block(const struct tare_block_run *run, size_t i, struct tare_event *e);
void tare_recording_refer_to_phase(const struct tare_phase_run *run, size_t i, struct tare_event *e);
void tare_recording_refer_to_heap(const struct tare_heap_run *run, size_t i, struct tare_event *e);

/* What a process knows by an id, in one of its maps; NULL: nothing. */
static inline const void *tare_recording_look_up(const struct tare_map *map, uint32_t id)
{
	uint64_t *slot = id ? tare_map_get(map, id) : NULL;

	return slot ? (const void *)(uintptr_t)*slot : NULL;
}

/* recording_next.c: what the record of e->kind, e->rec and its times refers to is filled in. */
void tare_recording_refer(const struct tare_recording *r, const struct tare_rprocess *p, struct tare_event *e);

/* The event that a record of a process is, with what that refers to. */
void tare_recording_make_event(struct tare_recording *r, const struct tare_rprocess *p,
                               const struct tare_log_record *rec, int64_t at_ns, struct tare_event *e);

/* recording_device.c */
void tare_recording_add_device(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *rec);

#endif
