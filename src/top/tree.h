/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on the GPUs of this machine, as rows below rows: GPU, processes, what their ledgers say. The bytes of a row are the sum of the
 * rows below it that are its parts; what is left is a row of its own, so that the sum of a GPU is what nvidia-smi shows.
 */
#ifndef TARE_TOP_TREE_H
#define TARE_TOP_TREE_H

#include "base/arena.h"
#include "top/course.h"
#include "top/find.h"
#include "top/machine.h"

enum tare_top_kind {
	TARE_TOP_GPU,     /* what is in use on it */
	TARE_TOP_CPU,     /* PyTorch's tensors in the memory of the host */
	TARE_TOP_PROCESS, /* what a process has of it */
	TARE_TOP_PART,    /* a row of its ledger */
	TARE_TOP_LISTED, /* what NVML's list says of a process that has a ledger: the driver's own part of it is not in the list */
	TARE_TOP_UNEXPLAINED, /* in use, and in no process that can be seen */
	TARE_TOP_LEFT_OUT,    /* processes that the filter leaves out */
	TARE_TOP_LINES,       /* the same bytes once more, by the lines that asked for them */
	TARE_TOP_LINE,
	TARE_TOP_RESERVED,
	TARE_TOP_FREE,
};
const char *tare_top_kind_name(enum tare_top_kind kind);

struct tare_top_row {
	enum tare_top_kind kind;
	const char *label, *evidence; /* never NULL */
	int level, parent;            /* parent: -1 of a GPU */
	uint64_t key;                 /* the same for the same thing in the next tree */
	int64_t bytes;
	bool is_known; /* `bytes` are */
	bool is_part;  /* they count in the row above */
	bool has_children, is_closed_at_first;
	int64_t total;             /* GPU: of the card; -1: not known */
	int64_t pid;               /* as it is seen here; -1: none */
	uint64_t steps;            /* of training that ended; 0: not known */
	const char *path;          /* of a ledger's row; or NULL */
	int gpu;                   /* its number; -1: none */
	const char *uuid, *source; /* GPU: who says so: "NVML", "recording" */
	bool is_simulated;
	const struct tare_follow *follow;        /* whose ledger it is; or NULL */
	const struct tare_device_ledger *device; /* PROCESS on a GPU: the part of that ledger; or NULL */
	int64_t recorded_pid;                    /* its pid there */
	const struct tare_top_course *course;    /* or NULL */
};

enum tare_top_sort { TARE_TOP_BY_SIZE, TARE_TOP_BY_NAME, TARE_TOP_BY_PID, TARE_TOP_SORT_NR };

struct tare_top_tree {
	struct tare_arena memory;
	struct tare_top_row *rows; /* a row stands before those below it */
	size_t count, cap;
	struct tare_map courses; /* key → struct tare_top_course */
	uint64_t turn;
	size_t process_nr, recorded_nr; /* processes on GPUs, each GPU's alone */
};

struct tare_top_wish {
	enum tare_top_sort sort;
	const char *filter; /* only processes that have it in their name, pid or recording; "" all */
};

void tare_top_tree_build(struct tare_top_tree *tree, const struct tare_finder *found,
                         const struct tare_top_machine *machine, const struct tare_top_wish *wish, int64_t now_ns);
void tare_top_tree_free(struct tare_top_tree *tree);

#endif
