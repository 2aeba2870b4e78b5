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
#define TELL_BEGIN(name) tare_##name##_begin(&f->parts->name, f);
	TARE_PARTS_BEGIN(TELL_BEGIN)
}

void tare_parts_event(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
#define TELL_EVENT(name, KIND)                                                                                         \
	if (e->kind == TARE_KIND_##KIND)                                                                                   \
		tare_##name##_event(&f->parts->name, f, d, e);
	TARE_PARTS_EVENT(TELL_EVENT)
}

void tare_parts_phases(struct tare_fold *f)
{
	for (size_t i = 0; i < f->phase_changes.count; i++) {
		const struct tare_phase_change *c = &f->phase_changes.items[i];

#define TELL_PHASE(name) tare_##name##_phase(&f->parts->name, f, c);
		TARE_PARTS_PHASE(TELL_PHASE)
	}
	f->phase_changes.count = 0;
}

void tare_parts_rebase(struct tare_fold *f, const struct tare_device_fold *d, int64_t shift)
{
#define TELL_REBASE(name) tare_##name##_rebase(&f->parts->name, d, shift);
	TARE_PARTS_REBASE(TELL_REBASE)
}

void tare_parts_finish(struct tare_fold *f)
{
#define TELL_FINISH(name) tare_##name##_finish(&f->parts->name, f);
	TARE_PARTS_FINISH(TELL_FINISH)
}

void tare_parts_device_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                            struct tare_arena *memory, struct tare_device_ledger *out)
{
#define TELL_DEVICE_ROWS(name) tare_##name##_device_rows(&f->parts->name, f, d, m, t, memory, out);
	TARE_PARTS_DEVICE_ROWS(TELL_DEVICE_ROWS)
}

void tare_parts_doubt(const struct tare_fold *f, int64_t t, struct tare_ledger *out)
{
#define TELL_DOUBT(name) tare_##name##_doubt(&f->parts->name, f, t, out);
	TARE_PARTS_DOUBT(TELL_DOUBT)
}

void tare_parts_rows(const struct tare_fold *f, struct tare_ledger *out)
{
#define TELL_ROWS(name) tare_##name##_rows(&f->parts->name, f, out);
	TARE_PARTS_ROWS(TELL_ROWS)
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
#define CHECK(name) check(#name, tare_##name##_check(&f->parts->name, f));
	TARE_PARTS(CHECK)
}
#endif
