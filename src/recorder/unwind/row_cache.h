/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was worked out about one instruction, in 64 bits: enough for nearly every frame. The table
 * is read and written by all threads without a lock. An entry is two words, the second the row, the
 * first the key mixed with the row, so a torn entry fits no key. The key holds the epoch: rows
 * learned before an unload are not found any more.
 */
#ifndef TARE_RECORDER_ROW_CACHE_H
#define TARE_RECORDER_ROW_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/elf/objects.h"
#include "recorder/unwind/dwarf_cfi.h"

enum tare_row_kind {
	TARE_ROW_FRAME,     /* the fields below hold */
	TARE_ROW_NO_CFI,    /* code that nobody describes: try the frame pointer */
	TARE_ROW_OUTERMOST, /* nobody called this */
	TARE_ROW_COMPLEX,   /* needs all registers */
};

enum tare_row_base {
	TARE_ROW_FROM_SP, /* CFA = sp + cfa */
	TARE_ROW_FROM_FP, /* CFA = fp + cfa */
	TARE_ROW_READ_FP, /* CFA = what is stored at fp + cfa (realigned stacks) */
};

enum tare_row_fp {
	TARE_ROW_FP_SAME,
	TARE_ROW_FP_AT_CFA, /* saved at CFA + fp */
	TARE_ROW_FP_AT_FP,  /* saved at fp + fp */
};

union tare_unwind_row {
	struct {
		uint64_t kind : 2, base : 2, fp_rule : 2;
		int64_t cfa : 20, ra : 16, fp : 16; /* in words; ra from the CFA */
	};
	uint64_t bits;
};

/* PyTorch has tens of thousands of calls that lead to an allocation. 512 KiB of zero pages, touched as needed. */
enum { TARE_ROW_COUNT = 1 << 15 };

struct tare_row_entry {
	_Atomic uint64_t key, row;
};

/* Returns false when the full row says more than fits. */
bool tare_row_condense(const struct tare_cfi_row *full, union tare_unwind_row *row);

extern struct tare_row_entry tare_row_cache[TARE_ROW_COUNT];

/* What makes keys of this epoch different. Rows that no object vouches for end with any change. */
struct tare_row_salt {
	uint64_t unloads, changes;
};

static inline uint64_t tare_row_mix(uint64_t bits)
{
	return bits * 0x9e3779b97f4a7c15u;
}

static inline struct tare_row_salt tare_row_salt(struct tare_objects_epoch epoch)
{
	return (struct tare_row_salt){ epoch.unloads * 0xc2b2ae3d27d4eb4fu, ~(epoch.changes * 0x165667b19e3779f9u) };
}

static inline struct tare_row_entry *tare_row_entry(uintptr_t ip)
{
	return &tare_row_cache[(ip ^ ip >> 12) % TARE_ROW_COUNT];
}

static inline bool tare_row_find(uintptr_t ip, struct tare_row_salt salt, union tare_unwind_row *row)
{
	struct tare_row_entry *e = tare_row_entry(ip);
	uint64_t key = atomic_load_explicit(&e->key, memory_order_relaxed);

	row->bits = atomic_load_explicit(&e->row, memory_order_relaxed);
	key ^= tare_row_mix(row->bits);
	return key == ip + salt.unloads || key == ip + salt.changes;
}

static inline void tare_row_keep(uintptr_t ip, uint64_t salt, union tare_unwind_row row)
{
	struct tare_row_entry *e = tare_row_entry(ip);

	atomic_store_explicit(&e->row, row.bits, memory_order_relaxed);
	atomic_store_explicit(&e->key, (ip + salt) ^ tare_row_mix(row.bits), memory_order_relaxed);
}

#endif
