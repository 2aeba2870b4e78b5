/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program reads back from the device that a kernel would have computed. No kernel runs, so nobody knows it: the
 * program gets an answer, zeros unless TARE_SIM_ANSWERS says otherwise, and whoever listens is told.
 */
#ifndef SIM_ANSWER_H
#define SIM_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

/* ---- which bytes of the device were written for real: sim_known.c ---- */
void sim_known_add(uint64_t start, uint64_t size);
void sim_known_remove(uint64_t start, uint64_t size);
/* The first piece of [at, end) that is known; false: none is. */
bool sim_known_next(uint64_t at, uint64_t end, uint64_t *start, uint64_t *until);

/* ---- what is known of kernels by their names: sim_says.c ---- */
enum sim_says {
	SIM_SAYS_NOTHING,
	SIM_SAYS_ALL,      /* whether something holds of all elements of a tensor */
	SIM_SAYS_COUNT,    /* the sum of whole numbers, so of flags: for how many it holds */
	SIM_SAYS_EQUAL,    /* whether two numbers are alike: behind a count, whether it holds of all */
	SIM_SAYS_OVERFLOW, /* whether a number is not finite (sim_overflow.c) */
	SIM_SAYS_NUMBER,   /* how many there are, a whole number of any width */
	SIM_SAYS_SOME,     /* the same of what there is at least one of: different values of a tensor */
};
enum sim_says sim_answer_says(const char *kernel);
/* This thread launches a kernel: one value that it reads next is that kernel's. */
void sim_answer_launched(enum sim_says says);
enum sim_says sim_says_last(void);

/* ---- what copies and fills do to that ---- */
/* A write of real values. */
void sim_answer_wrote(uint64_t to, uint64_t size);
/* A copy between two places of the device: what was known is, at its new place. */
void sim_answer_moved(uint64_t to, uint64_t from, uint64_t size);
/* Another process may write there as well: everything counts as known from now on. */
void sim_answer_share(uint64_t address);
/* Would a copy from there to here bring to the host what a kernel computed? */
bool sim_answer_is_read(uint64_t to, uint64_t from, uint64_t size);
/*
 * Such a copy: `copy` is called for each piece that is known, the others get an answer. `is_checked`: memory at `to`
 * is there.
 */
void sim_answer_read(uint64_t to, uint64_t from, uint64_t size, bool is_checked,
                     void (*copy)(uint64_t to, uint64_t from, uint64_t size));
/* At the end of each call, without the lock: tells the listener. */
void sim_answer_tell(void);

#endif
