/* SPDX-License-Identifier: Apache-2.0 */
/* What the limit of --vram is made of, by the files beside limits.c. */
#ifndef TARE_RECORDER_VRAM_LIMITS_H
#define TARE_RECORDER_VRAM_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cuda_abi.h"
#include "recorder/vram/limit.h"

/* ask.c: what only this asks of the driver; and without asking, the steps in which it takes memory, as measured on an H200 (`tare calibrate`). */
#define TARE_CUDA_PAGE        (UINT64_C(2) << 20)
#define TARE_CUDA_POOL_STEP   (UINT64_C(32) << 20) /* in which a pool grows */
#define TARE_CUDA_STACK       1024                 /* bytes of local memory per thread that a context comes with */
#define TARE_CUDA_STACK_ALIGN 16u
#define TARE_CUDA_LOCAL_EXTRA (UINT64_C(512) << 10) /* 388 to 512 KiB */

/* What a pool (NULL: the device's current one) must grow by to hand out `bytes` more. */
uint64_t tare_ask_pool_growth(CUmemoryPool pool, int device, uint64_t bytes);
/* The device whose pool it is; one that a program made is taken to be of the current device. */
int tare_ask_pool_device(CUmemoryPool pool);

/* Then an allocation is a node of a graph, and takes nothing now. */
bool tare_ask_is_capturing(CUstream stream, bool ptsz);

/* Can managed memory be moved out of the device again to make room? */
bool tare_ask_moves_managed(int device);

/* Bytes of local memory that a thread of this function needs; 0: not known. */
uint64_t tare_ask_stack(const void *function, int device);

uint64_t tare_ask_threads(int device); /* that can run at once */

/*
 * kept.c: what the driver keeps of a call that was undone: room for streams, for nodes of graphs, code. A card
 * of that size would not have it, so it does not count, and is charged to the next call of its kind that
 * needs more room than any before: it will not have to take it again.
 */
enum tare_kept { TARE_KEPT_NONE, TARE_KEPT_STREAM, TARE_KEPT_GRAPH, TARE_KEPT_CODE, TARE_KEPT_NR };

/* The call is about to run: what does not count for its kind counts again if the call needs it. */
void tare_kept_charge(const struct tare_limit *limit, enum tare_kept kind);
/* Objects of a kind that live in the current context: `by` is 1 or -1. */
void tare_kept_count(enum tare_kept kind, int by);
/* It was undone: what the device still has of it does not count. */
void tare_kept_keep(const struct tare_limit *limit, enum tare_kept kind);
/* What was kept may have gone with a module of the current context: the device's counter tells. */
void tare_kept_drop(enum tare_kept kind);
/* The context (its number in local.c) ended, and all that was kept in it. */
void tare_kept_end(struct tare_vram_card *card, int device, int context);

/*
 * local.c: local memory and contexts, whose size depends on the card: the driver holds so much for each thread
 * that fits on the GPU. With a profile (--card) what this GPU takes does not count, and what that card
 * would take counts instead.
 */
#define TARE_LOCAL_CONTEXTS 64 /* alive at once; of further ones nothing is substituted */

int tare_local_current(void); /* number of the current context, -1: not known */

/* What a context takes on the card that `device` stands for; 0: not known. */
uint64_t tare_local_context(int device);
/* Has the card no room for the context that was just made? */
bool tare_local_is_passed(const struct tare_limit *limit, CUresult result);
void tare_local_begin(const struct tare_limit *limit, CUcontext context);
void tare_local_end(CUcontext context);
void tare_local_end_primary(int device); /* if it is not active any more */

/* What the card takes more when a thread in the current context needs this much. */
uint64_t tare_local_growth(uint64_t stack);
/* It did. `is_limit`: it may also have become less. */
void tare_local_set(const struct tare_limit *limit, uint64_t stack, bool is_limit);

#endif
