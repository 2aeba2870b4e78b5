/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the id of a stack that the calling thread had lately again, by the words that were read on the way through it. */
#include "recorder/unwind/seen.h"

#include <stddef.h>

#include "recorder/base/sys.h"
#include "recorder/recorder.h"

/* Few threads ask for much memory; each of these takes some 90 KiB, as far as it is used. */
enum { THREADS = 64 };
static struct tare_seen *all;
static TARE_TLS struct tare_seen *own;
static TARE_TLS bool has_none;

static struct tare_seen *table(void)
{
	struct tare_seen *now = __atomic_load_n(&all, __ATOMIC_ACQUIRE), *made, *none = NULL;

	if (now)
		return now;
	made = tare_sys_mmap(NULL, THREADS * sizeof(*made), PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!made || __atomic_compare_exchange_n(&all, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	tare_sys_munmap(made, THREADS * sizeof(*made)); /* another thread was first */
	return none;
}

/* As of memo.c of Python: a thread is known by where its thread-local variables are. */
TARE_COLD static struct tare_seen *claim(void)
{
	struct tare_seen *seen = table();

	for (size_t i = 0; seen && i < THREADS; i++, seen++) {
		const void *owner = __atomic_load_n(&seen->owner, __ATOMIC_RELAXED);

		if (owner == &own || (!owner && __atomic_compare_exchange_n(&seen->owner, &owner, &own, false, __ATOMIC_RELAXED,
		                                                            __ATOMIC_RELAXED))) {
			seen->is_busy = false; /* the thread before may have left a walk by longjmp */
			return own = seen;
		}
	}
	has_none = true;
	return NULL;
}

TARE_HOT struct tare_seen *tare_seen_take(void)
{
	struct tare_seen *seen = own;

	if (unlikely(!seen) && (has_none || !(seen = claim())))
		return NULL;
	if (unlikely(__atomic_load_n(&seen->is_busy, __ATOMIC_RELAXED)))
		return NULL;
	__atomic_store_n(&seen->is_busy, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	seen->now = NULL;
	return seen;
}

TARE_HOT void tare_seen_give_back(struct tare_seen *seen, uint32_t id, uint32_t log)
{
	struct tare_seen_stack *now;

	if (unlikely(!seen))
		return;
	now = seen->now;
	if (now && !now->id && now->count && now->count <= TARE_SEEN_WORDS) {
		now->log = log;
		now->id = id;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&seen->is_busy, false, __ATOMIC_RELAXED);
}

static inline bool is_from(const struct tare_seen_stack *s, const struct tare_seen_from *from)
{
	return s->from.sp == from->sp && s->from.pc == from->pc && (s->from.fp == from->fp || !s->uses_fp) &&
	       s->from.last == from->last && s->from.unloads == from->unloads && s->from.changes == from->changes;
}

/* Frames belong to other functions: see tare_stack_load(). */
__attribute__((no_sanitize("address"))) static inline bool has_its_words(const struct tare_seen_stack *s,
                                                                         const struct tare_unwind_stack *stack)
{
	const struct tare_seen_word *word = s->words, *end = word + s->count;

	if (s->lowest < stack->begin || s->highest >= stack->end)
		return false;
	while (word < end && *(const volatile uintptr_t *)word->at == word->value)
		word++;
	return word == end;
}

TARE_HOT uint32_t tare_seen_find(struct tare_seen *seen, const struct tare_seen_from *from,
                                 const struct tare_unwind_stack *stack, uint32_t log)
{
	size_t pair = from->sp / 16 % TARE_SEEN_PAIRS;
	struct tare_seen_stack *s;

	for (int i = 0; i < 2; i++) {
		s = &seen->stacks[pair][i];
		if (s->id && s->log == log && is_from(s, from) && has_its_words(s, stack)) {
			seen->older[pair] = (uint8_t)!i;
			seen->now = s;
			return s->id;
		}
	}
	s = &seen->stacks[pair][seen->older[pair]];
	seen->older[pair] ^= 1;
	s->id = s->count = 0;
	s->from = *from;
	s->uses_fp = false;
	s->lowest = UINTPTR_MAX;
	s->highest = 0;
	seen->now = s;
	return 0;
}
