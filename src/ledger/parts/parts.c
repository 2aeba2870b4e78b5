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

void tare_parts_free(struct tare_parts *p)
{
	if (!p) /* of a state that could not be read */
		return;
#define TARE_PART(name) tare_##name##_free(&p->name);
#include "ledger/parts/parts.def"
	free(p);
}

void tare_parts_begin(struct tare_fold *f)
{
#define TARE_PART_BEGINS(name) tare_##name##_begin(&f->parts->name, f);
#include "ledger/parts/parts.def"
}

void tare_parts_prepass(struct tare_fold *f, const struct tare_event *e)
{
#define TARE_PART_PREPASS(name) tare_##name##_prepass(&f->parts->name, f, e);
#include "ledger/parts/parts.def"
}

void tare_parts_event(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
#define TARE_PART_TAKES(name, KIND)                                                                                    \
	if (e->kind == TARE_KIND_##KIND)                                                                                   \
		tare_##name##_event(&f->parts->name, f, d, e);
#include "ledger/parts/parts.def"
}

void tare_parts_end(struct tare_fold *f, int process, int64_t t)
{
#define TARE_PART_ENDS(name) tare_##name##_end(&f->parts->name, f, process, t);
#include "ledger/parts/parts.def"
}

void tare_parts_left(struct tare_fold *f, const struct tare_device_fold *d, int process)
{
#define TARE_PART_LEFT(name) tare_##name##_left(&f->parts->name, f, d, process);
#include "ledger/parts/parts.def"
}

void tare_parts_ended(struct tare_fold *f, int process)
{
#define TARE_PART_ENDED(name) tare_##name##_ended(&f->parts->name, f, process);
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

void tare_parts_close(struct tare_fold *f)
{
#define TARE_PART_CLOSE(name) tare_##name##_close(&f->parts->name, f);
#include "ledger/parts/parts.def"
}

void tare_parts_device_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                            struct tare_arena *memory, struct tare_device_ledger *out)
{
#define TARE_PART_DEVICE_ROWS(name) tare_##name##_device_rows(&f->parts->name, f, d, m, t, memory, out);
#include "ledger/parts/parts.def"
}

void tare_parts_host_rows(const struct tare_fold *f, enum tare_moment m, struct tare_ledger *out)
{
#define TARE_PART_HOST_ROWS(name) tare_##name##_host_rows(&f->parts->name, f, m, out);
#include "ledger/parts/parts.def"
}

void tare_parts_process_row(const struct tare_fold *f, int process, struct tare_row *row)
{
#define TARE_PART_PROCESS_ROW(name) tare_##name##_process_row(&f->parts->name, process, row);
#include "ledger/parts/parts.def"
}

void tare_parts_shown(struct tare_fold *f, struct tare_device_fold *d, struct tare_ledger *out)
{
#define TARE_PART_SHOWN(name) tare_##name##_shown(&f->parts->name, f, d, out);
#include "ledger/parts/parts.def"
}

bool tare_parts_halt(struct tare_fold *f, const struct tare_event *e)
{
	bool halts = false;

#define TARE_PART_HALTS(name) halts |= tare_##name##_halts(&f->parts->name, e);
#include "ledger/parts/parts.def"
	return halts;
}

bool tare_parts_control(struct tare_fold *f, const struct tare_event *e)
{
	bool ends = false;

#define TARE_PART_CONTROLS(name) ends |= tare_##name##_control(&f->parts->name, f, e);
#include "ledger/parts/parts.def"
	return ends;
}

bool tare_parts_miss(const struct tare_fold *f, int64_t t)
{
	bool misses = false;

#define TARE_PART_MISSES(name) misses |= tare_##name##_misses(&f->parts->name, t);
#include "ledger/parts/parts.def"
	return misses;
}

void tare_parts_forget(struct tare_fold *f, int64_t until)
{
#define TARE_PART_FORGETS(name) tare_##name##_forget(&f->parts->name, until);
#include "ledger/parts/parts.def"
}

void tare_parts_leave(struct tare_fold *f, struct tare_device_fold *d, int process, int context)
{
#define TARE_PART_LEAVES(name) tare_##name##_leave(&f->parts->name, f, d, process, context);
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
