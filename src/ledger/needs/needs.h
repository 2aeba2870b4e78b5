/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorded processes needed of a device over time: all that is booked, without what PyTorch's allocator can
 * give back at once. The course is kept as stretches of time, each with its most, its least and by how much it fell,
 * so how much came on top of what stays is known for any row of stretches. A stretch begins where much more or much
 * less is needed at once, as where a server takes its cache, and where a graph comes or goes; of very many, later ones are put
 * together.
 */
#ifndef TARE_LEDGER_NEEDS_H
#define TARE_LEDGER_NEEDS_H

#include "ledger/core/fold.h"

struct tare_needs_device {
	uint32_t end_nr;  /* of the moment of the end behind which a stretch began last */
	size_t until_end; /* stretches before that one; 0: there is none */
	int device;       /* tare_device.index */
	int64_t least;    /* since the last stretch began */
	int64_t first_ns[TARE_COMING_NR];
	bool is_apart; /* what comes next is of a stretch of its own */
	struct tare_need *items;
	size_t count, cap;
};

/* The part. */
struct tare_needs_part {
	TARE_SAVED_AS_MANY(count) struct tare_needs_device *devices;
	size_t count, cap;
};

void tare_needs_call(struct tare_needs_part *p, const struct tare_fold *f,
                     const struct tare_step *s); /* f->ops are its */
void tare_needs_used(struct tare_needs_part *p, const struct tare_fold *f, const struct tare_device_fold *d, int64_t t);
void tare_needs_gone(struct tare_needs_part *p, const struct tare_fold *f, const struct tare_object_live *o);
void tare_needs_note(struct tare_needs_part *p, const struct tare_device_fold *d, int64_t t);
static inline void tare_needs_block(struct tare_needs_part *p, const struct tare_fold *f,
                                    const struct tare_block_change *c)
{
	if (c->device >= 0 && c->born_ns >= 0)
		tare_needs_note(p, f->devices[c->device], c->born_ns);
}
void tare_needs_device_rows(const struct tare_needs_part *p, const struct tare_fold *f,
                            const struct tare_device_fold *d, enum tare_moment m, int64_t t, struct tare_arena *memory,
                            struct tare_device_ledger *out);
const char *tare_needs_check(const struct tare_needs_part *p, const struct tare_fold *f);

#endif
