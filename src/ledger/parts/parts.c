/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the parts of the fold one after the other, as parts.def lists them: of each hook a function that calls it in
 * all parts that have it.
 */
#include "ledger/parts/parts.h"

#include "base/print.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct tare_parts *tare_parts_new(void)
{
	return tare_xcalloc(1, sizeof(struct tare_parts));
}

void tare_parts_begin(struct tare_fold *f)
{
#define TARE_PART_BEGINS(name) tare_##name##_begin(&f->parts->name, f);
#include "ledger/parts/parts.def"
}

void tare_parts_event(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
#define TARE_PART_TAKES(name, KIND)                                                                                    \
	if (e->kind == TARE_KIND_##KIND)                                                                                   \
		tare_##name##_event(&f->parts->name, f, d, e);
#include "ledger/parts/parts.def"
}

void tare_parts_phases(struct tare_fold *f)
{
	for (size_t i = 0; i < f->phase_changes.count; i++) {
		const struct tare_phase_change *c = &f->phase_changes.items[i];

#define TARE_PART_PHASE(name) tare_##name##_phase(&f->parts->name, f, c);
#include "ledger/parts/parts.def"
	}
	f->phase_changes.count = 0;
}

void tare_parts_rebase(struct tare_fold *f, const struct tare_device_fold *d, int64_t shift)
{
#define TARE_PART_REBASE(name) tare_##name##_rebase(&f->parts->name, d, shift);
#include "ledger/parts/parts.def"
}

void tare_parts_finish(struct tare_fold *f)
{
#define TARE_PART_FINISH(name) tare_##name##_finish(&f->parts->name, f);
#include "ledger/parts/parts.def"
}

void tare_parts_device_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                            struct tare_arena *memory, struct tare_device_ledger *out)
{
#define TARE_PART_DEVICE_ROWS(name) tare_##name##_device_rows(&f->parts->name, f, d, m, t, memory, out);
#include "ledger/parts/parts.def"
}

void tare_parts_doubt(const struct tare_fold *f, int64_t t, struct tare_ledger *out)
{
#define TARE_PART_DOUBTS(name) tare_##name##_doubt(&f->parts->name, f, t, out);
#include "ledger/parts/parts.def"
}

void tare_parts_rows(const struct tare_fold *f, struct tare_ledger *out)
{
#define TARE_PART_ROWS(name) tare_##name##_rows(&f->parts->name, f, out);
#include "ledger/parts/parts.def"
}

#ifdef TARE_CHECK
static void check(const char *part, const char *wrong)
{
	if (!wrong)
		return;
	tare_say("the ledger is wrong: %s: %s", part, wrong);
	abort();
}

void tare_parts_check(const struct tare_fold *f)
{
#define TARE_PART_CHECK(name) check(#name, tare_##name##_check(&f->parts->name, f));
#include "ledger/parts/parts.def"
}
#endif
