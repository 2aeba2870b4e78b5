/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: what a program is at, so that Tare can say which part of it took how much memory.
 *
 *     #include <tare/tare.h>
 *
 *     tare_phase_push("setting precon");
 *     …
 *     tare_phase_pop();
 *
 *     snprintf(name, sizeof(name), "force_graph max_iter=%d", n);
 *     tare_phase_push(name);
 *
 * `tare run -- ./program`, then `tare report REC --by phase`. C99 and C++; this header is all there
 * is, nothing has to be linked. A program that is not recorded runs as before: a call then costs a
 * nanosecond or two. It does something on Linux only; elsewhere the functions are empty.
 *
 * Names are copied. Words like max_iter=800 in a name are its parameters; phases of one name are
 * repeats of one phase.
 */
#ifndef TARE_TARE_H
#define TARE_TARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__linux__) && defined(__GNUC__)

typedef uint64_t tare_phase_record_fn(uint32_t what, uint64_t id, const char *name);

/* Weak without making the program's own use of dlsym weak; a static program has none. */
static void *tare_phase_dlsym_(void *handle, const char *name) __attribute__((weakref("dlsym")));

/* The recorder's function, looked for once per file that includes this; NULL: not recorded. */
__attribute__((unused)) static tare_phase_record_fn *tare_phase_find_(void)
{
	static void *known; /* NULL: not looked for yet; itself: there is none */
	void *found = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (__builtin_expect(!found, 0)) {
		if (tare_phase_dlsym_)
			found = tare_phase_dlsym_((void *)0, "tare_phase_record");
		if (!found)
			found = &known;
		__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	}
	return found == (void *)&known ? (tare_phase_record_fn *)0 : (tare_phase_record_fn *)(uintptr_t)found;
}

__attribute__((unused)) static uint64_t tare_phase_call_(uint32_t what, uint64_t id, const char *name)
{
	tare_phase_record_fn *record = tare_phase_find_();

	return record ? record(what, id, name) : 0;
}
#else
static inline uint64_t tare_phase_call_(uint32_t what, uint64_t id, const char *name)
{
	(void)what;
	(void)id;
	(void)name;
	return 0;
}
#endif

/* A phase begins inside those that this thread has begun and not yet ended. */
static inline void tare_phase_push(const char *name)
{
	tare_phase_call_(1, 0, name);
}

/* The phase that this thread pushed last ends. */
static inline void tare_phase_pop(void)
{
	tare_phase_call_(2, 0, (const char *)0);
}

/* A phase that any thread may end, and that need not nest. The answer is for tare_phase_end(). */
static inline uint64_t tare_phase_begin(const char *name)
{
	return tare_phase_call_(3, 0, name);
}

static inline void tare_phase_end(uint64_t id)
{
	tare_phase_call_(4, id, (const char *)0);
}

/* A moment: the report says what was in use then, and what had changed since the mark before. */
static inline void tare_mark(const char *name)
{
	tare_phase_call_(5, 0, name);
}

#ifdef __cplusplus
}
#endif

#endif
