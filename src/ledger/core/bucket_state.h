/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets, amounts in them, and the places in a program that they are of. */
#ifndef TARE_LEDGER_BUCKET_STATE_H
#define TARE_LEDGER_BUCKET_STATE_H

#include "base/sat.h"
#include "ledger/build.h"

enum { TARE_COUNTER_STEP = 64 << 10 }; /* by which the counter of a device wavers */

/* How an event's class is sized (class.def). */
enum tare_sizing {
	TARE_SIZING_NONE,
	TARE_SIZING_WEIGHED,
	TARE_SIZING_PAGES,
	TARE_SIZING_EXACT,
	TARE_SIZING_HOST,
};

struct tare_class_info {
	const char *name;
	enum tare_sizing sizing;
	enum tare_account account;
};
extern const struct tare_class_info tare_classes[TARE_CLASS_NR];

/*
 * Buckets that enter no sum of a device, behind the accounts: what a process pinned, by line (pinned.c: `high` is what of that
 * it is known of what the program asked for, and `low` is what it asked for); what of
 * PyTorch's segments is in blocks, what is cached beside blocks, and what is cached for graphs; and all that
 * was ever handed out in blocks, which never falls.
 */
enum {
	TARE_BUCKET_PINNED = TARE_ACCOUNT_NR,
	TARE_BUCKET_REGISTERED,
	TARE_BUCKET_TENSOR,
	TARE_BUCKET_PARTLY,
	TARE_BUCKET_EVER_ALLOCATED,
	TARE_BUCKET_HELD,
	TARE_BUCKET_COLLECTED,   /* all that Python's cyclic collector took back in blocks; this never falls */
	TARE_BUCKET_TRIED,       /* in blocks of segments that are trials: in the row of those */
	TARE_BUCKET_VARIANCE,    /* of what stands for others in a heap that was sampled, in KiB² */
	TARE_BUCKET_UNEXPLAINED, /* what changed inside calls, and no account explains */
	/* no buckets: what is summed up by kind, of allocations those that are segments (their numbers are kept in states) */
	TARE_NOW_SUBDIVIDED,
	TARE_NOW_SUBDIVIDED_VMM,
	TARE_BUCKET_ASLEEP,     /* unmapped, and its addresses are kept (asleep.c) */
	TARE_BUCKET_HEAP_SIZED, /* what is in the heap, by its size: a bucket for each power of two */
	TARE_BUCKET_NR
};

/* What is summed up by kind on every device: buckets by account, and of allocations those that are segments. */
enum { TARE_NOW_NR = TARE_BUCKET_NR };

/* Processes that a picture tells apart by their tensors on the CPU; the last place is for all others. */
enum { TARE_HOST_PARTS = 12 };

struct tare_amount {
	int64_t bytes, low, high;
	int64_t count;
	int64_t ns;
	int64_t ever, ever_bytes; /* of a heap: all that calls asked for until now, which never falls */
	uint8_t evidence;         /* 1 + the weakest enum tare_evidence that went in; 0: nothing did */
};

static inline bool tare_amount_is_empty(const struct tare_amount *a)
{
	return !a->bytes && !a->low && !a->high && !a->count && !a->ns;
}

static inline void tare_amount_add(struct tare_amount *sum, const struct tare_amount *by)
{
	sum->bytes += by->bytes;
	sum->low += by->low;
	sum->high += by->high;
	sum->count += by->count;
	sum->ns = tare_sat_add(sum->ns, by->ns);
	sum->ever += by->ever;
	sum->ever_bytes = tare_sat_add(sum->ever_bytes, by->ever_bytes);
	if (sum->evidence < by->evidence)
		sum->evidence = by->evidence;
}

/* The most that was in use, and at the first such moment with most of it in blocks of PyTorch's allocator. */
struct tare_high_water {
	int64_t used, live, ns;
};

struct tare_bucket {
	struct tare_amount now;
	int64_t least;                   /* of now.bytes, in the column of time that is under way (growth) */
	uint32_t moment[TARE_MOMENT_NR]; /* kept[m] is as of this moment of the device */
	int device, process;             /* process -1: others */
	int context;                     /* -1: others */
	int account;                     /* enum tare_account, or TARE_BUCKET_… */
	bool is_subdivided;              /* into blocks, which are reported */
	/* of a named account: owner id, 0: not known; OTHER: 0 before the recording, else 1 + place of the other process */
	uint64_t owner;
	uint32_t site;                           /* where in the program it was asked for; 0: not known */
	int next_of_device, next_of_context;     /* -1 ends */
	struct tare_amount kept[TARE_MOMENT_NR]; /* last: rarely looked at */
};

static inline int tare_now_subdivided(const struct tare_bucket *b)
{
	return b->account == TARE_ACCOUNT_VMM ? TARE_NOW_SUBDIVIDED_VMM : TARE_NOW_SUBDIVIDED;
}

/* A place in a program that events come from: a Python stack, else the address of a native owner. */
struct tare_site {
	const struct tare_process *process;
	const struct tare_line_stack *python; /* or NULL, and then … */
	const struct tare_stack *stack;       /* … the whole native one … */
	uint64_t pc;                          /* … from this address on, which is the owner's */
	bool is_backward;                     /* or neither: autograd's engine, on threads that run no Python */

	/* In its blocks in the memory of the CPU: now, and the least in the column of time that is under way (growth). */
	int64_t host_bytes, least;

	/* Where its blocks were booked last: in segments of which context and owner, and the buckets. */
	uint64_t segment_owner;
	int segment_context, tensor, ever_allocated; /* tensor 0: nowhere yet */

	bool is_placed; /* training_section.c: the rest is known */
	uint8_t maker;  /* enum tare_maker */
	bool begins_backward;
	uint32_t call;          /* innermost call of a module, 0: none */
	int64_t outlived_bytes; /* of the last block that outlived such a call */
	/* The last of its blocks, the largest so far, how often that changed; how many went behind a larger one, and otherwise. */
	int64_t last_bytes, largest_bytes;
	uint32_t largest_nr, replaced, other_ends;
	bool keeps_for_parameter, keeps_copies; /* as its blocks that lasted were, struct tare_use says which */
	uint32_t kept_as;                       /* text of the fold: the variable that keeps those that lasted; 0: none */
	bool keeps_graphs;                      /* of autograd, with some of these */
	uint32_t outer; /* the site that stands for all in the same outermost call of a module; 0: in none */
	/*
	 * Where this one stands for others: of their blocks that were made while autograd records how many there were, went
	 * in a backward pass, and went otherwise before they lasted.
	 */
	uint32_t recorded, taken_back, brief;
};

/* What a stack says of an event. */
struct tare_origin {
	uint64_t owner;
	uint32_t site;
};

struct tare_op {
	int bucket;
	struct tare_amount by;
};

struct tare_ops {
	struct tare_op *items;
	size_t count, cap;
};

#endif
