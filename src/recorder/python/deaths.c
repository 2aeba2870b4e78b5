/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A code object may be at the address of one that has died. Up to 3.11 nothing in it tells the two apart, and from
 * 3.12 on a number in it does, which costs a cache line, and often a page, of each frame of a stack. So the type's
 * function that takes code objects down is led through here, where they are counted, and while none has died
 * nothing of them is read.
 */
#include "recorder/python/interpreter.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "recorder/base/sys.h"
#include "recorder/elf/elfsym.h"
#include "recorder/python/memory.h"
#include "recorder/recorder.h"

/* Of a PyTypeObject, in every version. */
enum { TYPE_NAME = 24, TYPE_DEALLOC = 48 };

typedef void dealloc_fn(void *object);

static struct {
	dealloc_fn **slot;
	dealloc_fn *real;
	uint64_t count;
} the TARE_HOT_DATA;

/* The thread has the GIL, and no frame runs that code any more. */
static void on_death(void *code)
{
	__atomic_add_fetch(&the.count, 1, __ATOMIC_RELAXED);
	the.real(code);
}

/* Adds 0 to the word there, by the kernel: it answers instead of a fault. */
static bool is_writable(uintptr_t at)
{
	uint32_t nobody = 0;

	return tare_sys6(SYS_futex, (long)&nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, (long)at,
	                 FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static bool is_code_type(uintptr_t type)
{
	uint64_t name;

	return tare_python_load(type + TYPE_NAME, &name, TARE_PYTHON_ASK) &&
	       tare_python_may_load(name, sizeof("code"), TARE_PYTHON_ASK) && strcmp((const char *)name, "code") == 0;
}

/* The function is the interpreter's own, so nobody else leads it elsewhere. */
static bool is_own_function(uintptr_t type, uint64_t function)
{
	struct tare_elf_object interpreter, object;

	return tare_elf_object_at((const void *)type, &interpreter) &&
	       tare_elf_object_at((const void *)function, &object) && interpreter.base == object.base;
}

bool tare_python_deaths_start(uintptr_t type)
{
	dealloc_fn **slot = (dealloc_fn **)(type + TYPE_DEALLOC);
	uint64_t real;

	if (!is_code_type(type) || !tare_python_load((uintptr_t)slot, &real, TARE_PYTHON_ASK))
		return false;
	if (real == (uint64_t)(uintptr_t)on_death)
		return true;
	if ((the.slot && the.slot != slot) || !is_own_function(type, real) || !is_writable((uintptr_t)slot))
		return false;
	the.real = (dealloc_fn *)(uintptr_t)real;
	the.slot = slot;
	__atomic_store_n(slot, on_death, __ATOMIC_RELEASE);
	return true;
}

uint64_t tare_python_deaths(void)
{
	return likely(__atomic_load_n(the.slot, __ATOMIC_RELAXED) == on_death)
	           ? __atomic_load_n(&the.count, __ATOMIC_RELAXED)
	           : TARE_PYTHON_DEATHS_UNKNOWN;
}
