/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint in the making: shared by the files that save its parts. */
#ifndef TARE_LEDGER_CHECKPOINT_PRIVATE_H
#define TARE_LEDGER_CHECKPOINT_PRIVATE_H

#include "ledger/save/save.h"

#define US INT64_C(1000)

/* When the parts of a group are stamped, before its reading. */
enum {
	AT_START = 24,
	AT_CONTEXT_END = 11,
	AT_CONTEXT_NEW = 10,
	AT_FALL = 9,
	AT_RISE = 8,
	AT_OBJECT = 7,
	AT_IMPORT = 6,
	AT_RELEASE = 5,
	AT_LOCAL = 4,
	AT_WITNESS = 3,
	AT_LEVEL = 2,
	GROUP_US = 14, /* how long a group is */
};

union record {
	struct tare_record head;
#define F(type, field, role)
#define TARE_RECORD(id, key, name, cls, fields, tail) struct tare_rec_##name name;
#include "trace/record.def"
#undef TARE_RECORD
#undef F
};

struct item {
	struct tare_event event;
	union record rec;
	size_t order;
};

struct checkpoint {
	struct tare_fold *f;
	const struct tare_process *tare; /* process of the log in which witnesses stand */
	int64_t point;
	struct item *items;
	size_t item_nr, item_cap;
	struct tare_amount *saved; /* by bucket: amounts that the items have so far */
	bool *is_saved;            /* by context: the items have it so far */
	int64_t *group_ns;         /* by device and moment: the time of its group */
};

/* checkpoint.c: makes all items */
void tare_checkpoint_fill(struct checkpoint *c);

/* checkpoint_add.c: adds a record */
union record *tare_checkpoint_add(struct checkpoint *c, enum tare_kind kind,
				  const struct tare_process *process,
				  const struct tare_device *device, int64_t t);
struct tare_event *tare_checkpoint_last(struct checkpoint *c);
/*
 * Sets the site of the last record. `python` and `stack` are fields of that record, and ids of the log in
 * which it will stand.
 */
void tare_checkpoint_site(struct checkpoint *c, uint32_t site, uint32_t *python, uint32_t *stack);

/* checkpoint_names.c: pre: the blocks have been saved */
void tare_checkpoint_names(struct checkpoint *c, const struct tare_process_fold *p, int64_t t);

/* checkpoint_blocks.c: blocks at peaks */
void tare_checkpoint_blocks(struct checkpoint *c);

/* checkpoint_vmm.c: memory with references, and what it brings along in buckets */
void tare_checkpoint_vmm(struct checkpoint *c, int64_t t);
void tare_checkpoint_vmm_own(const struct tare_fold *f, struct tare_amount *own);

#endif
