/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_RECORDING_H
#define TARE_TRACE_RECORDING_H

#include "base/err.h"
#include "trace/event.h"
#include "trace/log.h"

/*
 * A recording opened for reading: all its logs in one order of time.
 *
 *     struct tare_recording *rec;
 *     struct tare_event e;
 *
 *     if (tare_recording_open(&rec, path, &err))
 *             return tare_cmd_fail(&err);
 *     while (tare_recording_next(rec, &e))
 *             …
 *     tare_recording_close(rec);
 *
 * The recording may still be written: what is there when it is opened is what is read. Damage is
 * skipped and counted (tare_process, tare_recording_notes), never an error.
 */
struct tare_recording;

/*
 * `path`: a folder NAME.tare, a folder of such folders (the ranks of one job), or one .events file.
 * Fails if there is no log at all that can be read: NOT_FOUND, FORMAT, NEWER, DENIED, EMPTY; and with USAGE if the
 * recordings below are not of one job.
 */
int tare_recording_open(struct tare_recording **out, const char *path, struct tare_err *err);

/*
 * The same for several paths at once, which are then one recording: the ranks of one job. `job`: only
 * what belongs to it, NULL: everything. USAGE where they are of more than one job, of none that is known, or of several runs.
 */
int tare_recording_open_all(struct tare_recording **out, const char *const *paths, size_t path_nr, const char *job,
                            struct tare_err *err);
/* The same of any jobs: for who sums nothing up, or knows that they are of one run. */
int tare_recording_open_any(struct tare_recording **out, const char *const *paths, size_t path_nr,
                            struct tare_err *err);
/*
 * Which of several paths are ranks of one job: group[i] is the number of the group that path i is in, and
 * what is returned how many there are. A program on its own is a group, and so is each run of a job.
 */
size_t tare_recording_group(const char *const *paths, size_t n, size_t *group);
/* The same, of its logs only what `reach` says; it may come out without any log that has a record. */
int tare_recording_open_scope(struct tare_recording **out, const char *path, const struct tare_log_reach *reach,
                              struct tare_err *err);
void tare_recording_close(struct tare_recording *r); /* NULL is fine */

/*
 * The next record in order of time: every kind except STRING, STACK, LINE, OBJECT, CLOCK, SYMBOL,
 * LAUNCH and STATUS, whose content is in struct tare_process and struct tare_event already. False at the end.
 */
bool tare_recording_next(struct tare_recording *r, struct tare_event *e);
/*
 * Where the last event was a TENSOR with a device: what follows it, as far as it is of the same log, kind and device, and not later than
 * `until_ns`. They count as asked for. False: nothing of this kind follows, or it has to be asked for one by one.
 */
bool tare_recording_run(struct tare_recording *r, int64_t until_ns, struct tare_block_run *run);
/* The same where it was a PHASE: what follows it, as far as it is of the same log and kind. */
bool tare_recording_phase_run(struct tare_recording *r, int64_t until_ns, struct tare_phase_run *run);
/* The same behind a HEAP_BLOCK or HEAP_FREED, of these kinds. */
bool tare_recording_heap_run(struct tare_recording *r, int64_t until_ns, struct tare_heap_run *run);
/* The same record as its log has it, instead: nothing is looked up. `log` is the one that it stands in. */
bool tare_recording_next_record(struct tare_recording *r, const struct tare_process **process,
                                const struct tare_log **log, struct tare_log_record *rec);
/* The log of a process, which the recording reads too: after reading it, rewind the recording. NULL: it has none. */
struct tare_log *tare_recording_log(const struct tare_process *process);
void tare_recording_rewind(struct tare_recording *r); /* the next event is the first again */
/*
 * The same, but what follows may be an outline: of blocks of tensors and of the heap, of phases and modules (TENSOR, HEAP_…, PHASE, MODULE) between two other
 * events only the first of the recording, and the last on each device, of the heap, of phases and of modules of each process; and of those
 * nothing counts but when and where they were. It is what somebody needs who looks for everything else, and much quicker.
 */
void tare_recording_outline(struct tare_recording *r);

/*
 * States of a fold that lie beside the segments, the older first: of all events up to a moment, as far as segments up to a
 * number have them. None where several recordings are read as one.
 */
struct tare_recording_state {
	uint32_t number;
	int64_t until_ns;
};
size_t tare_recording_state_nr(const struct tare_recording *r);
/*
 * Another, which lies in memory for as long as the recording is open, and is the newest from then on; where a newer one is beside the
 * segments, or none can be, it is not taken.
 */
void tare_recording_lend_state(struct tare_recording *r, const struct tare_recording_state *state, const void *bytes,
                               size_t size);
/* States of moments whose events went, numbered behind the others: for these moments alone. */
size_t tare_recording_kept_nr(const struct tare_recording *r);
/* How much was in use from one state to the next, also where the events went; NULL: that is not known. */
struct tare_extent_list;
const struct tare_extent_list *tare_recording_extents(const struct tare_recording *r);
struct tare_recording_state tare_recording_state(const struct tare_recording *r, size_t i);
/*
 * The moment up to which events went to keep the recording under its cap: of what was before, only states know. -1: none
 * went. Where several recordings are read as one, the latest such moment of any.
 */
int64_t tare_recording_dropped_ns(const struct tare_recording *r);
/* The recordings that are read as one, and the same of each. */
size_t tare_recording_folder_nr(const struct tare_recording *r);
int64_t tare_recording_folder_dropped_ns(const struct tare_recording *r, size_t i, const char **path);
/* Adds those that have dropped events: "A (before 1.0 s), B (before 2.0 s)" */
struct tare_str;
void tare_recording_name_dropped(const struct tare_recording *r, struct tare_str *out);
/* Its bytes are added to `out`. False: it is damaged or gone. */
bool tare_recording_read_state(const struct tare_recording *r, size_t i, struct tare_str *out);
/* What became of blocks since the state before it; empty: that is not known. */
void tare_recording_read_ended(const struct tare_recording *r, size_t i, struct tare_str *out);
/*
 * From the next rewind on segments that have only what such a state knows are passed over, without reading them. NULL: all
 * are read again.
 */
void tare_recording_skip(struct tare_recording *r, const struct tare_recording_state *known);
/*
 * From the next rewind on events of other kinds may be left out, where segments tell without being read that they have only
 * such. nr 0: all are wanted again. At most 4 kinds.
 */
void tare_recording_want(struct tare_recording *r, const uint16_t *kinds, size_t nr);
/*
 * From the next rewind on events up to the moment of a state in memory may be left out, where they lie at the begin of what files have, or
 * together in segments up to its number. NULL: all are read again.
 */
void tare_recording_pass_over(struct tare_recording *r, const struct tare_recording_state *known);
/* The highest number of its segments; 0: there are none, or several recordings are read as one. */
uint32_t tare_recording_newest_segment(const struct tare_recording *r);
/* The segment that the last event was in; 0: in none. */
uint32_t tare_recording_segment(const struct tare_recording *r);
/* When the last event was that segments up to a number have. */
int64_t tare_recording_segments_end_ns(const struct tare_recording *r, uint32_t number);
/* When the first event was that segments behind a number have; INT64_MAX: they have none. */
int64_t tare_recording_segments_begin_ns(const struct tare_recording *r, uint32_t number);
/* Up to here no record that is still to come changes which time a stamp is. INT64_MIN: that is not known. */
int64_t tare_recording_settled_ns(const struct tare_recording *r);

/* What a process names by an id; NULL: there is no such. */
const struct tare_stack *tare_recording_stack(const struct tare_process *process, uint32_t id);
/* All of them, in no order; `at` is 0 before. NULL: there is none more. */
const struct tare_stack *tare_process_next_stack(const struct tare_process *process, size_t *at);
const struct tare_line_stack *tare_recording_line_stack(const struct tare_process *process, uint32_t id);
const struct tare_line_stack *tare_process_next_line_stack(const struct tare_process *process, size_t *at);

/* Processes in the order of their first stamp, `tare` itself included (look at role). */
int tare_recording_process_nr(const struct tare_recording *r);
const struct tare_process *tare_recording_process(const struct tare_recording *r, int index);
int tare_recording_device_nr(const struct tare_recording *r);
const struct tare_device *tare_recording_device(const struct tare_recording *r, int index);
bool tare_recording_is_simulated(const struct tare_recording *r); /* one of its GPUs was not there */

/* Snapshots that were asked for, in order of time. */
struct tare_snapshot_mark {
	uint32_t number;
	const char *name; /* "": none was given */
	int64_t at_ns;
};
int tare_recording_snapshot_nr(const struct tare_recording *r);
const struct tare_snapshot_mark *tare_recording_snapshot(const struct tare_recording *r, int index);

/* Sentences on what is missing or damaged, and what was recorded as degraded, each once. */
int tare_recording_note_nr(const struct tare_recording *r);
const char *tare_recording_note(const struct tare_recording *r, int index);
/* Sentences on where its figures come from: of an imported recording. Nothing is wrong with it. */
int tare_recording_remark_nr(const struct tare_recording *r);
const char *tare_recording_remark(const struct tare_recording *r, int index);

/* Those of them that are about a log which could not be opened at all. */
int tare_recording_unread_nr(const struct tare_recording *r);
const char *tare_recording_unread(const struct tare_recording *r, int index);

/* What `tare run --phase` asked for, FILE:LINE, one per line; NULL: nothing. */
const char *tare_recording_phases(const struct tare_recording *r);

/* Date of time 0 in ns since 1970, 0 if not known; when the last record was made. */
int64_t tare_recording_started_realtime_ns(const struct tare_recording *r);
int64_t tare_recording_last_ns(const struct tare_recording *r);

/* The time of a stamp of this process's log. */
int64_t tare_recording_time_ns(const struct tare_recording *r, const struct tare_process *process, uint64_t stamp);
/* The first stamp of this process's log that is not before `ns`. */
uint64_t tare_recording_stamp(const struct tare_recording *r, const struct tare_process *process, int64_t ns);

/* The first and the last stamp of a process's records that belong in the order of time; 0: it has none. */
void tare_recording_stamps(const struct tare_process *process, uint64_t *first, uint64_t *last);

/* It was never closed in order: being written now, or `tare` was killed. */
bool tare_recording_is_open(const struct tare_recording *r);

#endif
