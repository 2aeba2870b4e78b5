/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smaller cards that a recording pretends to have (`tare run --vram`, `--card`): the file `vram` in
 * its folder, mapped by every recorded process. docs/VRAM.md says what is done with it.
 *
 * `tare` writes the cards before the program starts. Processes take a slot each and keep in it what
 * they have under way, so that the bytes of one that was killed can be given back by another.
 */
#ifndef TARE_RECORD_VRAM_H
#define TARE_RECORD_VRAM_H

#include <stdint.h>

#define TARE_VRAM_MAGIC   "TAREVRM" /* 8 bytes with its NUL */
#define TARE_VRAM_VERSION 0
#define TARE_VRAM_CARDS   32
#define TARE_VRAM_SLOTS   256

/* One GPU, as programs are to see it. */
struct tare_vram_card {
	uint64_t uuid_high, uuid_low; /* 0, 0: the GPU that the process itself numbers `index` */
	int32_t index;
	uint32_t has_profile;     /* the fields from `context` on are a card's, and not this GPU's */
	uint64_t total, reserved; /* as NVML says them; programs have total - reserved */
	/* what a context takes there, with local memory for stacks of stack_default */
	uint64_t context;
	uint64_t stack_default, stack_align;
	uint64_t local_extra, page; /* local memory: multiprocessors × threads × stack + this, in pages */
	uint32_t multiprocessors, threads_per_multiprocessor;
	char name[64]; /* of the profile's GPU; empty: --vram */
	/*
	 * What calls that are under way may take, in units of TARE_VRAM_UNIT, and a count that moves
	 * when one of them ends: a reading of the device taken before a change of this word may not
	 * hold any more after it.
	 */
	uint64_t word;
	uint64_t reserved0[2];
};

#define TARE_VRAM_UNIT       4096u
#define TARE_VRAM_UNITS_MASK ((UINT64_C(1) << 36) - 1)
#define TARE_VRAM_TIGHT      (UINT64_C(1) << 36) /* a call is under way that may pass the limit by a page */
#define TARE_VRAM_TURN       (UINT64_C(1) << 37)

/* A process. */
struct tare_vram_slot {
	uint32_t pid; /* 0: free */
	uint32_t reserved0;
	uint64_t start_ticks, pid_namespace; /* with the pid: this process and no other */
	struct tare_vram_part {
		uint64_t under_way; /* its part of the card's word, in units */
		int64_t uncounted;  /* what of the device's counter is not to be counted */
	} parts[TARE_VRAM_CARDS];
};

struct tare_vram_file {
	char magic[8];
	uint32_t version;
	uint32_t card_nr;
	uint32_t slot_nr; /* no slot from here on was ever used */
	uint32_t reserved0[11];
	struct tare_vram_card cards[TARE_VRAM_CARDS];
	struct tare_vram_slot slots[TARE_VRAM_SLOTS];
};

#endif
