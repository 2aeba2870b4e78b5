/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. A byte of the device is known from the moment that a copy, a fill or a collective wrote it until its memory is
 * freed or an allocator above hands it out again (tareSimForget); a kernel may have written all others. What a copy to the
 * host takes of those is answered by the size of the copy, for that is all that tells what is in it: of 1 byte a flag, of
 * 2 a half, of 8 a whole number, else floats. Of one value the kernel that was launched last tells more (sim_says.c): where that
 * says whether something holds of all elements, it does, as masks that let everything through are what programs have most
 * (and does not with TARE_SIM_ANSWERS=ones, so that the other answers are others for this, too); a count is a whole number,
 * and one that cannot be 0 is one more than it would be. What a loss scale's check found is
 * known by its place (sim_overflow.c): with TARE_SIM_ANSWERS=overflow it found something in the first steps, and all else reads
 * as zeros.
 */
#include "sim_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"
#include "sim_overflow.h"

enum answers { ZEROS, ONES, RANDOM, NANS, OVERFLOWS, ANSWERS_NR };
static const char *const names[ANSWERS_NR] = { "zeros", "ones", "random", "nan", "overflow" };

#define EXPORT __attribute__((visibility("default")))

static enum answers chosen(void)
{
	static int answers = -1;
	const char *value;
	int i;

	if (answers >= 0)
		return (enum answers)answers;
	answers = ZEROS;
	value = getenv("TARE_SIM_ANSWERS");
	for (i = 0; value && i < ANSWERS_NR; i++)
		if (strcmp(value, names[i]) == 0)
			answers = i;
	if (value && *value && strcmp(value, names[answers]) != 0)
		fprintf(stderr,
		        "simulated GPU: TARE_SIM_ANSWERS=%s is not known, so what kernels would have computed reads as "
		        "zeros; it can be zeros, ones, random, nan, overflow\n",
		        value);
	return (enum answers)answers;
}

/* Memory whose bytes are either written by calls that we see, or by kernels. */
static bool is_followed(const struct sim_range *range)
{
	if (!range || range->is_shared)
		return false;
	switch (range->kind) {
	case SIM_RANGE_HEAP:
	case SIM_RANGE_POOL:
	case SIM_RANGE_GRAPH:
	case SIM_RANGE_GLOBAL:
		return true;
	case SIM_RANGE_MAPPED:
		return !sim_physical_is_shared(range->owner);
	default:
		return false;
	}
}

static bool is_host(uint64_t address)
{
	const struct sim_range *range = sim_range_at(address);

	return !range || range->kind == SIM_RANGE_HOST || range->kind == SIM_RANGE_REGISTERED;
}

/* ---- what is known ---- */
void sim_answer_wrote(uint64_t to, uint64_t size)
{
	if (is_followed(sim_range_at(to)))
		sim_known_add(to, size);
}

void sim_answer_share(uint64_t address)
{
	struct sim_range *range = sim_range_at(address);

	if (range)
		range->is_shared = true;
}

void sim_answer_moved(uint64_t to, uint64_t from, uint64_t size)
{
	bool overlaps = to < from + size && from < to + size;
	uint64_t at = from, start, until;

	if (!is_followed(sim_range_at(to)))
		return;
	if (!is_followed(sim_range_at(from)) || overlaps) {
		sim_known_add(to, size);
		return;
	}
	sim_known_remove(to, size);
	for (; sim_known_next(at, from + size, &start, &until); at = until)
		sim_known_add(to + (start - from), until - start);
}

static bool is_known(uint64_t from, uint64_t size)
{
	uint64_t start, until;

	return sim_known_next(from, from + size, &start, &until) && start == from && until == from + size;
}

bool sim_answer_is_read(uint64_t to, uint64_t from, uint64_t size)
{
	return size && is_host(to) && is_followed(sim_range_at(from)) && !is_known(from, size);
}

/* ---- what it reads as ---- */
static unsigned width_of(uint64_t size)
{
	if (size == 1 || size == 2 || size == 8)
		return (unsigned)size;
	return size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
}

/* The same numbers in each run. */
static uint64_t next_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 11;
}

static uint64_t value_of(enum answers answers, unsigned width)
{
	uint64_t random = answers == RANDOM ? next_random() : 0;
	float number = (float)(random & 0xffffff) / 0x1000000;
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	switch (width) {
	case 1:
		return answers == ONES ? 1 : random & 1;
	case 2: /* of both kinds of halves: 0.5 to 1 is one, as are these NaNs */
		return answers == ONES ? 0x3c00 : answers == NANS ? 0x7fff : random ? 0x3800 | (random & 0x3ff) : 0;
	case 8: /* no whole number is a NaN */
		return answers == ONES ? 1 : random & 0xff;
	default:
		return answers == ONES ? 0x3f800000 : answers == NANS ? 0x7fc00000 : bits;
	}
}

static void put(uint64_t to, const void *bytes, uint64_t size, bool is_checked)
{
	if (is_checked)
		memcpy((void *)(uintptr_t)to, bytes, size);
	else
		sim_work_copy_guarded(to, (uint64_t)(uintptr_t)bytes, size, true);
}

/*
 * What a copy is answered with. A loss scale that finds an overflow is halved, so it does not find one for ever: of 52 models on an
 * H200 each had taken a step by the tenth (docs/measurements/simulated.md, "In which steps a loss scale overflows").
 */
static enum answers answers_of(bool is_overflow)
{
	enum { OVERFLOWS_MOST = 9 };
	static unsigned overflows;
	enum answers answers = chosen();

	if (is_overflow && (answers == ONES || answers == OVERFLOWS))
		return overflows++ < OVERFLOWS_MOST ? ONES : ZEROS;
	return answers == OVERFLOWS ? ZEROS : answers;
}

/* What the kernel that was launched last says of one value of so many bytes; false: nothing. */
static bool is_said(enum answers answers, uint64_t size, uint64_t *value)
{
	enum sim_says says = sim_says_last();

	if (says == SIM_SAYS_ALL && size == 1)
		*value = answers == RANDOM ? next_random() & 1 : answers != ONES;
	else if ((says == SIM_SAYS_NUMBER || says == SIM_SAYS_SOME) && (size == 4 || size == 8))
		*value = value_of(answers, 8) + (says == SIM_SAYS_SOME);
	else
		return false;
	return true;
}

/* Who may know more of a place in the program than the size of a copy tells; it fills the bytes in, or returns 0. */
static int (*knower)(void *to, uint64_t size);

static bool is_told(void *values, uint64_t size)
{
	int (*ask)(void *to, uint64_t size) = __atomic_load_n(&knower, __ATOMIC_ACQUIRE);

	return ask && ask(values, size);
}

/* `offset`: from the begin of a copy of `whole` bytes, so that a value keeps its place. */
static void answer(uint64_t to, uint64_t size, uint64_t offset, uint64_t whole, bool is_checked, enum answers answers)
{
	unsigned width = width_of(whole);
	unsigned char values[4096] = { 0 };
	uint64_t skip = offset % width, n;

	if (size == whole && size <= sizeof(values) && is_told(values, size)) {
		put(to, values, size, is_checked);
		return;
	}
	if (size == whole && is_said(answers, whole, &n)) {
		put(to, &n, size, is_checked);
		return;
	}
	if (answers == ZEROS && is_checked) {
		memset((void *)(uintptr_t)to, 0, size);
		return;
	}
	while (size) {
		for (n = 0; answers != ZEROS && n < sizeof(values); n += width) {
			uint64_t value = value_of(answers, width);

			memcpy(values + n, &value, width);
		}
		n = sizeof(values) - skip < size ? sizeof(values) - skip : size;
		put(to, values + skip, n, is_checked);
		to += n;
		size -= n;
		skip = 0;
	}
}

static __thread uint64_t read_bytes; /* in the call under way */
static __thread bool read_overflow;  /* it is what a loss scale's check found */

void sim_answer_read(uint64_t to, uint64_t from, uint64_t size, bool is_checked,
                     void (*copy)(uint64_t to, uint64_t from, uint64_t size))
{
	uint64_t at = from, end = from + size, start, until;
	enum answers answers;

	read_overflow = sim_overflow_is(from, size);
	answers = answers_of(read_overflow);
	while (at < end) {
		bool is_any = sim_known_next(at, end, &start, &until);
		uint64_t stop = is_any ? start : end;

		if (stop > at)
			answer(to + (at - from), stop - at, at - from, size, is_checked, answers);
		read_bytes += stop - at;
		if (is_any)
			copy(to + (start - from), start, until - start);
		at = is_any ? until : end;
	}
}

/* ---- for those who listen, and for allocators and libraries above ---- */
static void (*listener)(uint64_t bytes, int is_overflow);

EXPORT void tareSimListen(void (*read)(uint64_t bytes, int is_overflow));
EXPORT void tareSimAnswerWith(int (*answer)(void *to, uint64_t size));
EXPORT void tareSimForget(uint64_t address, uint64_t size);
EXPORT int tareSimIsKnown(uint64_t address, uint64_t size);
EXPORT int tareSimPeek(void *to, uint64_t from, uint64_t size);

/*
 * `read` is called after each call that brought the program something that a kernel would have computed: so many bytes, and
 * whether that is what a loss scale's check for numbers that are not finite found.
 */
void tareSimListen(void (*read)(uint64_t bytes, int is_overflow))
{
	__atomic_store_n(&listener, read, __ATOMIC_RELEASE);
}

/* `answer` is asked first what a copy of what a kernel would have computed brings, under the lock: it calls no driver. */
void tareSimAnswerWith(int (*answer)(void *to, uint64_t size))
{
	__atomic_store_n(&knower, answer, __ATOMIC_RELEASE);
}

void sim_answer_tell(void)
{
	void (*told)(uint64_t bytes, int is_overflow) = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
	uint64_t bytes = read_bytes;

	if (!bytes)
		return;
	read_bytes = 0;
	if (told)
		told(bytes, read_overflow);
}

/* An allocator above hands this out: what lay there before is nobody's any more. */
void tareSimForget(uint64_t address, uint64_t size)
{
	if (!sim_look())
		return;
	sim_known_remove(address, size);
	sim_overflow_forget(address, size);
	sim_unlock();
}

/* Is all of it what was written for real? 1 also of memory that is not ours. */
int tareSimIsKnown(uint64_t address, uint64_t size)
{
	int known = 1;

	if (!sim_look())
		return known;
	known = !is_followed(sim_range_at(address)) || is_known(address, size);
	sim_unlock();
	return known;
}

/* A copy to the host of a library that carries on what is there: the program learns nothing by it. 0: done. */
int tareSimPeek(void *to, uint64_t from, uint64_t size)
{
	int result = 1; /* CUDA_ERROR_INVALID_VALUE */
	uint64_t told = read_bytes;

	if (!sim_look())
		return result;
	if (sim_range_at(from) ? sim_memory_is_on_device(from, size) : from != 0) {
		sim_memory_move((uint64_t)(uintptr_t)to, from, size);
		result = 0;
	}
	sim_unlock();
	read_bytes = told;
	return result;
}
