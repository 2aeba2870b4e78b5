/* SPDX-License-Identifier: Apache-2.0 */
/* Learns which code objects call modules of PyTorch, and finds them in a stack. */
#include "recorder/python/calls.h"

#include "recorder/python/interpreter.h"
#include "recorder/python/stack.h"
#include "recorder/python/walk.h"
#include "recorder/recorder.h"

/* `number`: what tells the code object from another one at its address, later. */
enum { CALLS = 4 };
static struct call {
	uintptr_t code;
	uint64_t number;
} calls[CALLS];

/* 0: nothing tells it. */
static uint64_t number_of(const struct tare_python *p, const struct tare_python_age *age, uintptr_t code)
{
	uint32_t version;

	if (age->deaths != TARE_PYTHON_DEATHS_UNKNOWN)
		return age->deaths + 1;
	version = p->has_versions ? tare_python_half(code + p->layout.version) : 0;
	return version ? version ^ age->interpreter : 0;
}

/* Two threads may take one place: what one of them has written there then is not found, or learnt again. */
TARE_COLD static void keep(uintptr_t code, uint64_t number)
{
	static uint32_t next;
	int i;

	for (i = 0; i < CALLS; i++)
		if (__atomic_load_n(&calls[i].code, __ATOMIC_RELAXED) == code)
			break;
	if (i == CALLS)
		i = (int)(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % CALLS);
	__atomic_store_n(&calls[i].number, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&calls[i].code, code, __ATOMIC_RELEASE);
	__atomic_store_n(&calls[i].number, number, __ATOMIC_RELEASE);
}

static inline bool is_learnt(uintptr_t code, uint64_t *number)
{
	for (int i = 0; i < CALLS; i++) {
		if (__atomic_load_n(&calls[i].code, __ATOMIC_RELAXED) != code)
			continue;
		*number = __atomic_load_n(&calls[i].number, __ATOMIC_ACQUIRE);
		return __atomic_load_n(&calls[i].code, __ATOMIC_RELAXED) == code;
	}
	return false;
}

void tare_python_call_learn(const struct tare_python *p, const struct tare_python_age *age, uintptr_t code)
{
	uint64_t number = number_of(p, age, code), known;

	if (number && !(is_learnt(code, &known) && known == number))
		keep(code, number);
}

TARE_HOT uint64_t tare_python_call_module(const struct tare_python *p, uint64_t frame)
{
	uint64_t object = tare_python_word(frame + p->layout.locals) & ~UINT64_C(7);

	return object && tare_python_word(object + TARE_PYTHON_TYPE) != p->cell_type ? object : 0;
}

TARE_HOT uint64_t tare_python_call_find(const struct tare_python *p, const struct tare_python_age *age, uint64_t frame)
{
	uint64_t module = 0, number;
	int looked = 0;

	for (; frame && !module && looked < TARE_PYTHON_FRAMES; looked++) {
		uintptr_t code = tare_python_code_of(tare_python_word(frame + p->layout.code));

		if (is_learnt(code, &number) && number && number == number_of(p, age, code))
			module = tare_python_call_module(p, frame);
		frame = tare_python_word(frame + p->layout.back);
	}
	return module;
}
