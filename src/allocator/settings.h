/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_SETTINGS_H
#define TARE_ALLOCATOR_SETTINGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define TARE_ALLOC_MIN_BLOCK     512u
#define TARE_ALLOC_SMALL_MAX     1048576u /* a request of more comes from the large pool */
#define TARE_ALLOC_SMALL_SEGMENT 2097152u
#define TARE_ALLOC_LARGE_SEGMENT 20971520u /* unless the settings say otherwise */
#define TARE_ALLOC_LARGE_MIN     10485760u /* from here on a request has a segment of its own size */
#define TARE_ALLOC_LARGE_ROUND   2097152u
#define TARE_ALLOC_DIVISIONS     16

/* What PYTORCH_CUDA_ALLOC_CONF says, as far as it changes where blocks lie. */
struct tare_alloc_settings {
	uint64_t max_split; /* UINT64_MAX: any block may be split */
	uint64_t max_non_split_rounding;
	uint64_t large_segment;
	double gc_threshold; /* 0: no garbage collection */
	double fraction;     /* of the memory of the device; 1: all */
	bool is_expandable;
	bool is_async; /* backend:cudaMallocAsync, which this library is not */
	uint32_t divisions[TARE_ALLOC_DIVISIONS];
};

/* What changed between versions of PyTorch. */
struct tare_alloc_rules {
	int version;           /* 211 is 2.11 */
	bool is_oldest_first;  /* of equal free blocks the one in the oldest segment, not the one at the lowest address */
	bool is_private_plain; /* private pools have no expandable segments */
	bool is_list_end_included; /* roundup_power2_divisions: '>' begins at the last boundary */
	bool is_one_unrounded;     /* roundup_power2_divisions:1 leaves sizes as they are */
};

/* "2.11", "2.4.1+cu121". */
int tare_alloc_rules_of(const char *version, struct tare_alloc_rules *rules, struct tare_err *err);

void tare_alloc_settings_init(struct tare_alloc_settings *settings);

/* PYTORCH_CUDA_ALLOC_CONF, as that version reads it. What it does not name keeps its value, or goes back to its default. */
int tare_alloc_settings_parse(struct tare_alloc_settings *settings, const char *text,
                              const struct tare_alloc_rules *rules, struct tare_err *err);

/* The bytes that a request takes, and those of a segment made for it. */
uint64_t tare_alloc_round(const struct tare_alloc_settings *settings, const struct tare_alloc_rules *rules,
                          uint64_t asked);
uint64_t tare_alloc_segment_size(const struct tare_alloc_settings *settings, uint64_t size);

#endif
