/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the stacks that are in the log, which threads change without a lock. */
#include "recorder/log/emit.h"

#include <stddef.h>

#include "recorder/base/sys.h"
#include "recorder/recorder.h"

/* A slot has the id below, and above it what of the hash does not say where the slot is. */
enum {
	FEW = 1 << 14,
	SOME = 1 << 17,
	ALL = 1 << 21,
	ID_BITS = 24,
	LINE = 8, /* slots of a cache line */
	PROBES = 2 * LINE,
};

static uint64_t few[FEW] __attribute__((aligned(64)));
static uint64_t *slots TARE_HOT_DATA = few;
static size_t mask TARE_HOT_DATA = FEW - 1;

void tare_known_stacks_expect(bool are_all)
{
	size_t count = are_all ? ALL : SOME;
	uint64_t *many = tare_sys_mmap(NULL, count * sizeof(*many), PROT_READ | PROT_WRITE,
	                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!many)
		return;
	slots = many;
	mask = count - 1;
}

static inline uint64_t mix(uint64_t hash, uint32_t epoch)
{
	hash = (hash ^ epoch * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static inline uint64_t *slot_of(uint64_t mixed, size_t probe)
{
	return &slots[((mixed & ~(uint64_t)(LINE - 1)) + probe) & mask];
}

TARE_HOT uint32_t tare_known_stack(uint64_t hash, uint32_t epoch)
{
	uint64_t mixed = mix(hash, epoch);

	for (size_t i = 0; i < PROBES; i++) {
		uint64_t slot = __atomic_load_n(slot_of(mixed, i), __ATOMIC_ACQUIRE);

		if (slot && slot >> ID_BITS == mixed >> ID_BITS)
			return (uint32_t)(slot & ((1 << ID_BITS) - 1));
		if (!slot)
			return 0;
	}
	return 0;
}

void tare_known_stack_keep(uint64_t hash, uint32_t epoch, uint32_t id)
{
	uint64_t mixed = mix(hash, epoch), now = mixed >> ID_BITS << ID_BITS | id;

	if (!id || id >> ID_BITS)
		return;
	for (size_t i = 0; i < PROBES; i++) {
		uint64_t empty = 0;

		if (__atomic_compare_exchange_n(slot_of(mixed, i), &empty, now, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	__atomic_store_n(slot_of(mixed, (id * 7u) % PROBES), now, __ATOMIC_RELEASE);
}
