/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the recorder share. The recorder is a guest in somebody's process: read
 * docs/IN_PROCESS.md before changing anything here.
 */
#ifndef TARE_RECORDER_H
#define TARE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define TARE_EXPORT __attribute__((visibility("default")))
#define TARE_TLS    __thread __attribute__((tls_model("initial-exec")))

/*
 * What is read or written at every block of a tensor lies together, data (HOT_DATA) as well as code (HOT): in the step
 * of a model nothing of it is in the caches when a block comes, and each cache line and page more costs more than what
 * is done with it (tests/bench/bench_tensors.py, cold).
 */
#define TARE_HOT      __attribute__((hot))
#define TARE_COLD     __attribute__((cold, noinline)) /* … and what is rarely called, elsewhere */
#define TARE_HOT_DATA __attribute__((section("tare_hot")))

/* Set once, before any thread of the program runs, from the environment. */
struct tare_config {
	bool enabled;
	bool nop;                 /* TARE_TEST_NOP: hooks forward at once, to measure interposition alone */
	bool may_switch;          /* TARE_TEST_NOP=switch: while the program says so, by tare_test_nop() */
	bool no_tensors;          /* TARE_TENSORS=off */
	bool has_limit;           /* TARE_VRAM: the card is smaller than it is */
	bool no_scan, eager_scan; /* TARE_SCAN=off, =eager: for tests, at every block */
	bool no_weigh;            /* TARE_TEST_NO_WEIGH */
	bool simulated;
	/*
	 * TARE_HOST: of the heap 1: every block is recorded; 2^n: of smaller ones on average one in so many bytes; 0: none.
	 */
	uint64_t heap_mean;
	uint32_t stacks;           /* of driver calls, enum tare_stacks: TARE_STACKS */
	uint32_t tensor_stacks;    /* of the blocks of tensors */
	const char *disabled_hook; /* TARE_TEST_DISABLE_HOOK: forwarded, not recorded */
	const char *no_paths;      /* TARE_NO_PATHS: paths.c; NULL: paths are recorded */
	char folder[4000];         /* of the recording, absolute */
	char library[4000];        /* the file that we are */
	/* How LD_PRELOAD names us, and what else of ours, for children with an environment of their own. */
	char preload[4000];
} __attribute__((aligned(64)));
extern struct tare_config tare_config;

/* Which stacks an event gets. */
enum tare_stacks { TARE_STACKS_PYTHON = 1, TARE_STACKS_NATIVE = 2 };

struct tare_place;
struct tare_python_memo;

/* What is known of the calling thread at every record, in one cache line. Each is for the file that is named. */
struct tare_thread {
	int depth;      /* 0 outside; > 0 inside a hooked call or our own work: nested calls pass straight through */
	uint32_t tid;   /* fork.h */
	uintptr_t lane; /* ring/place.h: at rest, or whose writing has it */
	struct tare_place *place;        /* ring/place.c: the one that `lane` tells of */
	uint32_t serial;                 /* ring/place.c: 0: not given yet */
	uint32_t unasked;                /* torch/stream.c: blocks that are not asked about */
	uint32_t backward;               /* torch/autograd.c: nodes at work, one in another */
	bool has_node;                   /* torch/node.c: made one since its last block */
	bool has_no_memo;                /* python/memo.c: there are too many threads … */
	struct tare_python_memo *memo;   /* … else its last stack */
	uintptr_t collector_interpreter; /* python/collector.c: where it was looked for … */
	const int *collecting;           /* … and found; or NULL */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct tare_thread) == 64, "one cache line");
extern TARE_TLS struct tare_thread tare_thread;

/* base/start.c: all parts begin (parts.def), once; safe to call from any hook, any number of times. */
void tare_start_once(void);
void tare_start_with(char **envp); /* the same, with the environment as it was given */

/* start.c: the process ends, in a way of enum tare_how; and its exit code. */
void tare_finish(uint32_t how);
void tare_finish_with(int status);

bool tare_is_vfork_child(void); /* base/fork.c */

#endif
