/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that many worlds begin with. */
#include "ledger_world.h"

#define BASE UINT64_C(0x7f0000000000)

struct world *world_started(void)
{
	struct world *w = world_new();

	CALL(w, .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = 1 * MS, .end = 2 * MS, .weigh = true,
	     .before = 100 * MIB, .after = 103 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 3 * MS, .end = 4 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 103 * MIB, .after = 626 * MIB);
	return w;
}

void world_alloc(struct world *w, int64_t t, uint64_t address, uint64_t bytes, int64_t before, int64_t change)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = address,
	     .context = 0xc0, .asked = bytes, .granted = bytes, .weigh = true, .before = before, .after = before + change,
	     .owner = "/usr/lib/libcublas.so.12");
}

void world_release(struct world *w, int64_t t, uint64_t address, int64_t before, int64_t change)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 10, .handle = address,
	     .context = 0xc0, .weigh = true, .before = before, .after = before + change);
}

void world_torch_context(struct world *w)
{
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB, .after = 600 * MIB);
}

void world_segment(struct world *w, int64_t t, uint64_t at, int64_t size, int64_t before)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = at,
	     .context = 0xc0, .asked = (uint64_t)size, .granted = (uint64_t)size, .weigh = true, .before = before,
	     .after = before + size, .owner = WORLD_C10_CUDA);
}

struct world *world_torch_pool(void)
{
	struct world *w = world_new();

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_tensor(w, 3 * MS + 20, BASE, 12 * MIB);
	world_tensor(w, 4 * MS, BASE + 12 * MIB, 4 * MIB);
	world_segment(w, 5 * MS, BASE + 100 * MIB, 20 * MIB, 620 * MIB);
	world_tensor(w, 5 * MS + 20, BASE + 105 * MIB, 5 * MIB);
	world_tensor(w, 6 * MS, BASE + 105 * MIB, 0);
	return w;
}
