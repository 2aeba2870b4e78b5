/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_FUZZ_SEEDS_H
#define TARE_TESTS_FUZZ_SEEDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * An input of fuzz_reader is a whole recording: a head, then five files one after another. What
 * the sizes leave over belongs to the last one. Of the ring there are only the parts that are not empty:
 * FUZZ_RING_HEAD bytes of its header, FUZZ_LANES lanes of its table, then what lies behind the table.
 */
struct fuzz_head {
	uint8_t flags;
	uint8_t reserved[3];
	uint32_t events, chunk, ring, tare; /* sizes of 431-0.events, 431-0.events.1, 431-0.ring, tare.events */
};

enum {
	/* Before reading, give every record the seal of its place: so that damage gets past the seal. */
	FUZZ_RESEAL = 1,
	FUZZ_CONTROL = 2, /* the last file is `control`, not recording.json */
	FUZZ_MAX = 1 << 17,
	FUZZ_RING_HEAD = 640,
	FUZZ_LANES = 2,
	FUZZ_SEED_MAX = 64,
	FUZZ_TEXT_NR = 18, /* kinds of text of fuzz_texts.c */
};

/* Fills `out` (FUZZ_MAX bytes) and returns the size. n < fuzz_seed_nr(), which is at most FUZZ_SEED_MAX. */
size_t fuzz_seed(int n, uint8_t *out);
int fuzz_seed_nr(void);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
