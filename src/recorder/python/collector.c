/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether Python's cyclic collector is at work: a word of the interpreter says so. No version tells where
 * it is, so it is looked for once, by the shape of what is around it, which has not changed from 3.8 to
 * 3.13:
 *
 *   generations[3]    each next, prev, two ints
 *   generation0       points to the first of them
 *   permanent         as a generation
 *   statistics[3]     each three words
 *   collecting        an int, 0 or 1
 *   garbage, callbacks    two lists
 */
#include "recorder/python/interpreter.h"

#include <stddef.h>
#include <stdint.h>

#include "recorder/base/sys.h"
#include "recorder/elf/elfsym.h"
#include "recorder/python/memory.h"
#include "recorder/recorder.h"

enum { GENERATION = 24, FIRST_TO_POINTER = 3 * GENERATION, TO_COLLECTING = 8 + GENERATION + 3 * 24, TO_LISTS = 8 };
enum { SEARCHED = 256 * 1024 };

static bool is_list(uintptr_t slot, uintptr_t list_type)
{
	uint64_t object, type;

	return tare_python_load(slot, &object, TARE_PYTHON_ASK) && object &&
	       tare_python_load((uintptr_t)object + TARE_PYTHON_TYPE, &type, TARE_PYTHON_ASK) && type == list_type;
}

/* `at` holds a pointer to what would be the first generation. */
static const int *collecting_at(uintptr_t at, uintptr_t list_type)
{
	uintptr_t collecting = at + TO_COLLECTING;
	int now;

	if (!tare_python_load_int(collecting, &now, TARE_PYTHON_ASK) || (now != 0 && now != 1) ||
	    !is_list(collecting + TO_LISTS, list_type) || !is_list(collecting + TO_LISTS + 8, list_type))
		return NULL;
	return (const int *)collecting;
}

static const int *search(uintptr_t from, uintptr_t list_type)
{
	uintptr_t at;
	uint64_t word;

	for (at = from & ~(uintptr_t)7; at < from + SEARCHED; at += 8) {
		if ((at == from || at % 4096 == 0) && !tare_sys_is_readable(at & ~(uintptr_t)4095))
			return NULL;
		word = *(const volatile uint64_t *)at;
		if (unlikely(word == at - FIRST_TO_POINTER)) {
			const int *found = collecting_at(at, list_type);

			if (found)
				return found;
		}
	}
	return NULL;
}

/* From 3.9 on in the interpreter, before that in the runtime. */
TARE_COLD static const int *find(const struct tare_python *python, uintptr_t interpreter)
{
	struct tare_elf_object object;
	uintptr_t list_type, runtime;

	if (!tare_elf_object_at((const void *)python->code_type, &object))
		return NULL;
	list_type = (uintptr_t)tare_elf_symbol(&object, "PyList_Type", NULL);
	runtime = (uintptr_t)tare_elf_symbol(&object, "_PyRuntime", NULL);
	if (list_type && python->layout.minor >= 9)
		return search(interpreter, list_type);
	return list_type && runtime && python->layout.minor == 8 ? search(runtime, list_type) : NULL;
}

/* Looked for once in each interpreter that this thread meets: one that was taken down is not read any more. */
TARE_HOT bool tare_python_is_collecting(void)
{
	const struct tare_python *python = tare_python_interpreter();
	uintptr_t interpreter = python ? (uintptr_t)python->first_interpreter() : 0;
	const void *own;

	if (!interpreter)
		return false;
	if (unlikely(tare_thread.collector_interpreter != interpreter)) {
		tare_thread.collecting = find(python, interpreter);
		tare_thread.collector_interpreter = interpreter;
	}
	if (likely(!tare_thread.collecting || !__atomic_load_n(tare_thread.collecting, __ATOMIC_RELAXED)))
		return false;
	own = python->own_state();
	return own && own == python->holder();
}
