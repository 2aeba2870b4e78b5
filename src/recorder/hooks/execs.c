/* SPDX-License-Identifier: Apache-2.0 */
/* A table of executable graphs, with what each was seen to take. */
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/first.h"
#include "recorder/hooks/graphs.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "record/clock.h"

#define SLOTS  16384u /* a power of two; further ones are weighed like functions, and not counted */
#define PROBES 32u
#define GONE   ((const void *)1) /* a slot that was used: looking goes on behind it */

static struct tare_exec execs[SLOTS];
TARE_OF_PROCESS(execs);

static uint32_t slot_of(const void *handle)
{
	return (uint32_t)(((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 40);
}

struct tare_exec *tare_exec_find(const void *handle)
{
	uint32_t i;

	if (unlikely(!handle || handle == GONE))
		return NULL; /* a slot without an exec has these */
	for (i = 0; i < PROBES; i++) {
		struct tare_exec *exec = &execs[(slot_of(handle) + i) & (SLOTS - 1)];
		const void *old = __atomic_load_n(&exec->handle, __ATOMIC_ACQUIRE);

		if (likely(old == handle))
			return exec;
		if (!old)
			break;
	}
	return NULL;
}

void tare_exec_add(const void *handle)
{
	uint32_t i;

	tare_exec_remove(handle); /* its end went by unseen */
	for (i = 0; i < PROBES; i++) {
		struct tare_exec *exec = &execs[(slot_of(handle) + i) & (SLOTS - 1)];
		const void *old = __atomic_load_n(&exec->handle, __ATOMIC_ACQUIRE);

		/* What was in a slot was cleared when its exec went. */
		if ((!old || old == GONE) &&
		    __atomic_compare_exchange_n(&exec->handle, &old, handle, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
	}
}

void tare_exec_remove(const void *handle)
{
	struct tare_exec *exec = tare_exec_find(handle);

	if (!exec)
		return;
	__atomic_store_n(&exec->launches, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&exec->epoch, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&exec->handle, GONE, __ATOMIC_RELEASE);
}

void tare_exec_changed(const void *handle)
{
	struct tare_exec *exec = tare_exec_find(handle);

	if (exec)
		__atomic_store_n(&exec->epoch, 0, __ATOMIC_RELEASE);
	else
		tare_first_forget(handle);
}

/* Records how often each was launched. */
void tare_execs_end(void)
{
	struct tare_rec_graph rec;
	uint32_t i;

	memset(&rec, 0, sizeof(rec));
	rec.tid = tare_sys_gettid();
	rec.flags = TARE_GRAPH_FLAG_LAUNCHES;
	for (i = 0; i < SLOTS; i++) {
		const void *handle = __atomic_load_n(&execs[i].handle, __ATOMIC_ACQUIRE);

		if (!handle || handle == GONE)
			continue;
		rec.exec = (uint64_t)(uintptr_t)handle;
		rec.launches = __atomic_load_n(&execs[i].launches, __ATOMIC_RELAXED);
		tare_emit_graph(&rec, tare_clock_ticks());
	}
}
