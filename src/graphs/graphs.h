/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of libtare_graphs know of each other. */
#ifndef TARE_GRAPHS_GRAPHS_H
#define TARE_GRAPHS_GRAPHS_H

#include "graphs/arena.h"
#include "graphs/block.h"
#include "graphs/group.h"
#include "tare/tare_graphs.h"

#include <pthread.h>

/* Part of a mapping that lasts beyond its capture. */
struct tare_graphs_kept {
	uint64_t offset, bytes;
};

struct tare_capture {
	uint64_t key;
	uint64_t id; /* never used twice: a recaptured key has a new id */
	struct tare_gpu_mapping *mapping;
	struct tare_template *tmpl;
	struct tare_group *group;
	uint64_t bytes; /* bytes of the mapping that the capture uses */
	uint64_t after; /* id of the capture whose later part this is; 0: none */
	struct tare_graphs_kept *kept;
	size_t kept_nr;
	uint64_t *reads; /* ids of the captures whose memory the graph reads */
	size_t reads_nr;
};

/* What a rehearsal found out. */
struct tare_rehearsal {
	uint64_t key;
	struct tare_item *items;
	size_t items_nr;
};

struct tare_open {                /* the capture that is under way */
	struct tare_capture *capture; /* NULL: no capture is under way */
	unsigned flags;
	CUstream stream;
	struct tare_gpu_blocks blocks;
	bool says_kept; /* the program said what is kept, by tare_graphs_keep() */
};

struct tare_graphs {
	/* of all fields; held across driver calls, so that a switch and its launch are one */
	pthread_mutex_t lock;
	CUcontext context;
	CUdevice device;
	unsigned flags;
	struct tare_gpu_arena arena;
	struct tare_gpu_mapping *shared; /* ONE_RANGE: the mapping of all captures */
	struct tare_groups groups;
	struct tare_capture **captures; /* in order of their keys */
	size_t captures_nr;
	struct tare_rehearsal *rehearsals;
	size_t rehearsals_nr;
	uint64_t last_id;
	struct tare_open open;
	CUevent done;       /* recorded after the last replay */
	bool has_run;       /* `done` was recorded */
	bool is_unordered;  /* a replay runs that `done` does not cover */
	uint64_t stream_id; /* stream of the last replay */
	struct tare_graphs_stats stats;
};

/*
 * graphs.c: takes the lock, sets our context and a relaxed capture mode; tare_leave() restores what was
 * before.
 */
struct tare_enter {
	struct tare_graphs *graphs;
	bool is_pushed;
	int mode;
};
int tare_enter(struct tare_enter *enter, struct tare_graphs *graphs);
int tare_leave(struct tare_enter *enter, int rc); /* returns rc */

/* replay.c */
struct tare_capture *tare_capture_find(const struct tare_graphs *graphs, uint64_t key);
struct tare_capture *tare_capture_by_id(const struct tare_graphs *graphs, uint64_t id);
struct tare_capture *tare_capture_at(const struct tare_graphs *graphs, CUdeviceptr address);
/* Puts what the caller enqueues on the stream behind the last replay, or refuses. */
int tare_replay_order(struct tare_graphs *graphs, CUstream stream);
/*
 * Notes that capture `id` was the last to write what this mapping maps; 0: no capture that can be asked for.
 */
void tare_replay_claim(struct tare_graphs *graphs, const struct tare_gpu_mapping *mapping, uint64_t id);
/*
 * From here on the arena belongs to the stream; what the mapping maps was written by capture `id` (0: by
 * none).
 */
int tare_replay_record(struct tare_graphs *graphs, CUstream stream, const struct tare_gpu_mapping *mapping,
                       uint64_t id);
void tare_replay_wait(struct tare_graphs *graphs); /* until no replay runs */

/* reads.c */
/* Calls `seen` for every chunk in which the capture keeps something, until it returns non-0. */
int tare_capture_each_kept(const struct tare_capture *capture, int (*seen)(size_t chunk, void *arg), void *arg);

/* The capture gets no chunk in which the other keeps something. */
int tare_reads_avoid(struct tare_capture *capture, const struct tare_capture *other);
/*
 * At the end of the open capture: finds what the capture keeps; and what it reads, whose chunks it then
 * avoids.
 */
int tare_reads_find_kept(struct tare_graphs *graphs, struct tare_capture *capture);
int tare_reads_find(struct tare_graphs *graphs, struct tare_capture *capture);

/* capture.c */
/* 0, or ORDER: no capture is open. */
int tare_open_check(const struct tare_graphs *graphs, const char *what);
/* Frees a capture that is in no list, after waiting for all replays. */
void tare_capture_free(struct tare_graphs *graphs, struct tare_capture *capture);

#endif
