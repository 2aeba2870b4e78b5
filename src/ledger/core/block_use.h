/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread of a program is doing, as its tensors tell: forward, backward, optimizer, or something
 * else, a section each; and within which calls of modules. A block knows in which section and call it was
 * handed out, and how that stood when it was taken back.
 */
#ifndef TARE_LEDGER_WORK_H
#define TARE_LEDGER_WORK_H

#include "base/map.h"
#include "ledger/saved.h"

#include <stdbool.h>
#include <stdint.h>

#define TARE_MAKERS(X)      X(PROGRAM) X(CALL) X(OPTIMIZER) X(COMMUNICATION) X(REDUCE) X(BUILD) X(DATA)
#define TARE_MAKER_KEY(KEY) TARE_MAKER_##KEY,
enum tare_maker { TARE_MAKERS(TARE_MAKER_KEY) };
#undef TARE_MAKER_KEY

/*
 * What several blocks have in common: how they were handed out, and what a scan said of them. Blocks that a thread was handed out one
 * after another mostly share it, so it is kept apart from them (tensors/block_facts.c).
 */
struct tare_block_facts {
	/* Of what is booked in part: how much; of mapped memory of the CPU: what tells its file from others, 0: not known. */
	int64_t booked;
	uint32_t worker;                       /* 1 + place of the thread that it was handed out to */
	uint32_t section, backwards, forwards; /* how many had begun when it was handed out */
	uint32_t turn;                         /* of its kind of work, which piece it was made in */
	uint32_t call;                         /* in which the block was made, by serial; 0: none */
	uint32_t name, named_by;               /* text of the fold, 0: none; which scan of its process gave it */
	uint32_t shape;                        /* text of the fold: its type and its shape; 0: not known */
	uint32_t module;                       /* of which it is a part, or for which it was made: 1 + place; 0: none */
	uint32_t pass;                         /* the backward pass that made it, of tare_passes; 0: none */
	uint8_t call_depth;
	uint8_t kind, before; /* enum tare_work_kind; before: the last piece of work that was not OTHER */
	uint8_t maker;
	uint8_t role, role_flags;         /* as a scan found it; 0: none did */
	uint8_t beside_training;          /* a parameter: scans that found that of any; more than 255: 255 */
	bool is_trained;                  /* a scan found a gradient of it, or what an optimizer keeps for it */
	bool is_beside;                   /* its thread had told nothing: section and such are the leader's */
	TARE_NOT_SAVED uint8_t unused[3]; /* 0: facts are compared byte by byte */
};
_Static_assert(sizeof(struct tare_block_facts) == 64, "facts have bytes that nobody sets");

/* What was said last when a block was handed out, and after how many changes of its work. */
struct tare_recent_facts {
	uint64_t changes; /* tare_work.changes then */
	uint32_t facts;   /* 1 + the place, 0: nothing */
};

enum { TARE_RECENT_FACTS = 16 };

struct tare_block_facts_list {
	struct tare_block_facts *items; /* a free slot: the next one is in booked */
	size_t count, cap;
	size_t free;                                        /* 1 + the first free slot, 0: none */
	size_t look_at;                                     /* with so many slots those that no block has are looked for */
	struct tare_recent_facts recent[TARE_RECENT_FACTS]; /* by a hash */
};

/* What is true of a block alone. */
enum tare_block_mark {
	TARE_BLOCK_WATCHED = 1,   /* for instants that are not moments, see category.c */
	TARE_BLOCK_BOOKED = 2,    /* all of it */
	TARE_BLOCK_IN_PART = 4,   /* some of it: facts.booked; the rest lies in trials, or outside of segments */
	TARE_BLOCK_UNSEEN = 8,    /* the last scan did not find it */
	TARE_BLOCK_FOR_EACH = 16, /* its line made one for each parameter that is trained … */
	TARE_BLOCK_COPY = 32,     /* … and that is a copy of them, not state of an optimizer */
	/* When it was taken back: */
	TARE_BLOCK_GONE = 64,
	TARE_BLOCK_IN_BACKWARD = 128,
	TARE_BLOCK_IN_SECTION = 256,
	TARE_BLOCK_OUTLIVED_CALL = 512,
	/* the block is there, but its piece of work is not over, and others like it were freed within such a piece */
	TARE_BLOCK_WILL_PASS = 1024,
	TARE_BLOCK_STAYED = 2048, /* when most of what its backward pass left had gone */
	/* before a backward pass; not known of what lived for two of these */
	TARE_BLOCK_FORWARD_FIRST = 4096,
};

/* A backward pass that left blocks. */
struct tare_pass {
	uint32_t number;
	uint32_t live;       /* of its blocks; of a free slot: 1 + the next one, 0: none */
	uint32_t kept, gone; /* by it, and of these after it */
	uint32_t gone_at;    /* passes that had begun when most had */
};

struct tare_passes {
	struct tare_pass *items;
	size_t count, cap;
	uint32_t free, last; /* 1 + a place, 0: none */
	/* site and size → the first pass that left such a block, which then went */
	struct tare_map gone;
	/* site and size of what torch.distributed made and a scan found to be a gradient */
	struct tare_map said;
};

/* Which thread takes a block back, and how: enum tare_tensor_flag. */
struct tare_taking {
	uint32_t tid;
	uint16_t flags;
};

enum { TARE_CALLS = 48, TARE_IN_TURN = 8 };

struct tare_call_now {
	uint32_t call, serial;
};

/* A thread, by its blocks of one process in one memory. */
struct tare_worker {
	uint32_t tid;
	bool is_seen_at_work; /* the thread was seen at a forward, a backward pass or an optimizer */
	bool is_engine;       /* of autograd's: it works for those that begin backward passes */
	uint32_t serves;      /* 1 + place of the one that it works for now; 0: nobody yet */
	uint8_t kind, before;
	uint32_t section, backwards, forwards, optimizers;
	/* Optimizers that work in turn, by the sites of their first blocks: since the first of them was at work last. */
	uint32_t in_turn[TARE_IN_TURN], in_turn_nr;
	uint32_t rounds;                        /* how often that began anew */
	uint32_t forwards_then;                 /* when the last backward pass began */
	struct tare_call_now calls[TARE_CALLS]; /* open ones, the outermost first */
	uint32_t call_nr, call, serials;
	uint32_t last_site;
	int64_t last_bytes;
	uint64_t last_address;
	struct tare_passes passes;
	struct tare_map fates;
};

/* Of the blocks of one process in one memory. */
struct tare_work {
	TARE_SAVED_AS_MANY(count) struct tare_worker *workers;
	size_t count, cap;
	struct tare_map of_tid; /* thread → its place */
	/* 1 + a place; 0: there is none */
	uint32_t leader;  /* the first that told something: others load data for it */
	uint32_t starter; /* that began a backward pass by its last block */
	uint32_t grad;    /* that autograd recorded last */
	uint32_t last;    /* whose block was the last */
	struct tare_block_facts_list facts;
	uint64_t changes; /* of what its threads are doing: counted */
};

#endif
