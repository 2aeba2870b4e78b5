/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads from memory of the interpreter. Until its layout has been checked, the kernel is asked first
 * whether an address can be read, so that a wrong offset is found out instead of being a fault.
 */
#ifndef TARE_RECORDER_PYTHON_MEMORY_H
#define TARE_RECORDER_PYTHON_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/base/peek.h"

enum tare_python_trust { TARE_PYTHON_ASK, TARE_PYTHON_TRUST };

static inline bool tare_python_may_load(uintptr_t at, size_t size, enum tare_python_trust trust)
{
	return trust == TARE_PYTHON_TRUST || tare_peek_may((const void *)at, size);
}

static inline bool tare_python_load(uintptr_t at, uint64_t *out, enum tare_python_trust trust)
{
	if ((trust == TARE_PYTHON_ASK && at % 8) || !tare_python_may_load(at, 8, trust))
		return false;
	*out = *(const volatile uint64_t *)at;
	return true;
}

static inline bool tare_python_load_int(uintptr_t at, int *out, enum tare_python_trust trust)
{
	if ((trust == TARE_PYTHON_ASK && at % 4) || !tare_python_may_load(at, 4, trust))
		return false;
	*out = *(const volatile int *)at;
	return true;
}

static inline bool tare_python_load_byte(uintptr_t at, uint8_t *out, enum tare_python_trust trust)
{
	if (!tare_python_may_load(at, 1, trust))
		return false;
	*out = *(const volatile uint8_t *)at;
	return true;
}

/* Of a layout that was checked. */
static inline uint64_t tare_python_word(uintptr_t at)
{
	return *(const uint64_t *)at;
}

static inline uint32_t tare_python_half(uintptr_t at)
{
	return *(const uint32_t *)at;
}

#endif
