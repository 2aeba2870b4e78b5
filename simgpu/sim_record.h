/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that are under way, for the files that begin, end and show them. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "sim_graph.h"

/* A stream that takes part, as sim_record_key() says, or an event that was recorded in a capture. */
struct sim_part {
	struct sim_part *next;
	const void *handle;
	const void *from; /* of an event: the stream that it was recorded on */
	bool is_joined, has_work;
	struct sim_set last; /* nodes that what comes next waits for */
};

struct sim_capture {
	struct sim_capture *next;
	uint64_t id;
	struct sim_graph *graph;
	const void *origin;
	CUstreamCaptureMode mode;
	const int *thread;
	bool is_invalid;
	bool is_given; /* the graph is one that the program had before */
	struct sim_part *streams, *events;
};

struct sim_part *sim_record_find(struct sim_part *list, const void *handle);
/* What tells streams apart; of the default one of a thread, the thread. */
const void *sim_record_key(CUstream stream);
bool sim_record_is_legacy(CUstream stream);
/* NULL: the stream runs what it is given. */
struct sim_capture *sim_record_of(CUstream stream);
/* A stream that the legacy one would wait for is captured. */
bool sim_record_is_implicit(void);

#endif
