/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the driver keeps of a call that was undone. */
#include "recorder/vram/limits.h"

#include <string.h>

#include "recorder/base/fork.h"

/* Room for as many objects as ever lived at once stays with the context; more of them need more. */
static struct kept {
	uint64_t bytes;
	int live, most;
} table[TARE_LOCAL_CONTEXTS][TARE_KEPT_NR];
TARE_OF_PROCESS(table);

/* NULL: of a context that is not known everything counts. */
static struct kept *here(enum tare_kept kind)
{
	int context = kind == TARE_KEPT_NONE ? -1 : tare_local_current();

	return context < 0 ? NULL : &table[context][kind];
}

static void count_again(struct tare_vram_card *card, int device, struct kept *kept)
{
	tare_vram_add_uncounted(card, device, -(int64_t)__atomic_exchange_n(&kept->bytes, 0, __ATOMIC_ACQ_REL));
}

void tare_kept_charge(const struct tare_limit *limit, enum tare_kept kind)
{
	struct kept *kept = limit->card ? here(kind) : NULL;

	if (kept && __atomic_load_n(&kept->live, __ATOMIC_ACQUIRE) >= __atomic_load_n(&kept->most, __ATOMIC_ACQUIRE))
		count_again(limit->card, limit->device, kept);
}

void tare_kept_count(enum tare_kept kind, int by)
{
	struct kept *kept = here(kind);
	int live, most;

	if (!kept)
		return;
	live = __atomic_add_fetch(&kept->live, by, __ATOMIC_ACQ_REL);
	most = __atomic_load_n(&kept->most, __ATOMIC_ACQUIRE);
	while (live > most &&
	       !__atomic_compare_exchange_n(&kept->most, &most, live, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		continue;
}

void tare_kept_keep(const struct tare_limit *limit, enum tare_kept kind)
{
	struct kept *kept = here(kind);
	uint64_t growth = kept ? tare_limit_growth(limit) : 0;

	if (!growth)
		return;
	__atomic_fetch_add(&kept->bytes, growth, __ATOMIC_ACQ_REL);
	tare_vram_add_uncounted(limit->card, limit->device, (int64_t)growth);
}

void tare_kept_drop(enum tare_kept kind)
{
	int device = tare_limit_device();
	struct tare_vram_card *card = tare_vram_card(device);
	struct kept *kept = here(kind);

	if (card && kept)
		count_again(card, device, kept);
}

void tare_kept_end(struct tare_vram_card *card, int device, int context)
{
	int kind;

	for (kind = TARE_KEPT_NONE + 1; kind < TARE_KEPT_NR; kind++) {
		count_again(card, device, &table[context][kind]);
		table[context][kind].live = table[context][kind].most = 0;
	}
}
