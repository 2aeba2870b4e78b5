/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which communicator of NCCL, and which part of it, memory is for that is asked for now: NCCL marks its calls with NVTX, and says
 * of most of them, at the begin or at the end, for which communicator they are. The number that NCCL has for a communicator is
 * told when it is made; before that it has one of ours already, by the order in which communicators come.
 */
#ifndef TARE_RECORDER_PHASE_COMM_H
#define TARE_RECORDER_PHASE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call of NCCL begins or ends on this thread; `comm`: NCCL's number, 0: not told. */
void tare_comm_push(const char *call, uint64_t comm);
void tare_comm_pop(uint64_t comm);

#define TARE_COMM_NAME_MAX 64
/* Any thread is in a call of NCCL. */
extern uint32_t tare_comm_threads;
/*
 * "communicator 2: collectives": what memory is for that this thread asks for. NCCL's own threads ask on behalf of the only
 * thread of the program that is in a call. False: not known.
 */
bool tare_comm_name_now(char *out, size_t size);
static inline bool tare_comm_name(char *out, size_t size)
{
	return __builtin_expect(__atomic_load_n(&tare_comm_threads, __ATOMIC_RELAXED) != 0, 0) &&
	       tare_comm_name_now(out, size);
}

#endif
