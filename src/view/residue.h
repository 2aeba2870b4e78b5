/* SPDX-License-Identifier: Apache-2.0 */
/* What is still there of a GPU's memory, whose it is, and which call gives it back: the leaves of a ledger by residue.def. */
#ifndef TARE_VIEW_RESIDUE_H
#define TARE_VIEW_RESIDUE_H

#include "base/emit.h"
#include "ledger/ledger.h"

#include <stddef.h>

#define TARE_RESIDUE(KEY, key, ACCOUNT, name, label, whose, WHEN, call) TARE_RESIDUE_##KEY,
enum tare_residue {
#include "view/residue.def"
	TARE_RESIDUE_NR
};

/* When a call gives memory back. */
enum tare_residue_when {
	TARE_RESIDUE_NOW,
	TARE_RESIDUE_LATER, /* when something else has gone first */
	TARE_RESIDUE_END,   /* only with the process */
	TARE_RESIDUE_NONE,  /* it is not the program's, or nobody knows */
};

struct tare_residue_info {
	const char *key, *label, *whose, *call;
	enum tare_residue_when when;
};
extern const struct tare_residue_info tare_residues[TARE_RESIDUE_NR];
const char *tare_residue_when_name(unsigned when);

/* What is there of one kind, and of one owner. */
struct tare_residue_row {
	enum tare_residue kind;
	const char *label, *whose;
	int64_t bytes;
	uint64_t count;
	enum tare_evidence evidence; /* the weakest */
};

/* Of one device: the rows and `unexplained` sum to what is used of it. */
struct tare_residue_rows {
	struct tare_residue_row *rows; /* those that a call gives back first; of these the largest first */
	size_t count, cap;
	int64_t kept; /* of live tensors: parameters, buffers, state of optimizers */
};

/* The kind of a row. */
enum tare_residue tare_residue_of(const struct tare_device_ledger *device, const struct tare_row *row);
void tare_residue_build(struct tare_residue_rows *out, const struct tare_device_ledger *device);
void tare_residue_free(struct tare_residue_rows *rows);

/*
 * Has the program given back most of its tensors from `before` to `after`? Of what it keeps, its parameters, buffers and the state of its
 * optimizers, a fifth is there at most, and at least 64 MiB have gone: of less there is nothing to ask, as a context alone is
 * eight times that. Activations do not count: they go in every step.
 */
bool tare_residue_is_given_back(const struct tare_device_ledger *before, const struct tare_device_ledger *after);

/* residue_show.c: the member "residue" of a ledger. */
void tare_residue_json(struct tare_emit *e, const struct tare_ledger *ledger);
/* "asleep: 64.0 MiB …" below a device that has any; people only. */
void tare_residue_asleep(struct tare_emit *e, const struct tare_ledger *ledger,
                         const struct tare_device_ledger *device);
/* For each device whose tensors most have gone by the last instant: what stays. */
void tare_residue_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

#endif
