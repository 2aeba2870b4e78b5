/* SPDX-License-Identifier: Apache-2.0 */
/* One process, one thread: the rules of docs/LEDGER.md, each by name. */
#include "ledger_world.h"
#include "test.h"

#define PROCESS "process:431"

/* 100 MiB in use, cuInit +3, a context +523. */
static struct world *started(void)
{
	struct world *w = world_new();

	CALL(w, .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = 1 * MS,
	     .end = 2 * MS, .weigh = true, .before = 100 * MIB, .after = 103 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 3 * MS,
	     .end = 4 * MS, .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY,
	     .weigh = true, .before = 103 * MIB, .after = 626 * MIB);
	return w;
}

TEST(weighed_calls_go_to_the_account_of_their_class)
{
	struct world *w = started();
	struct tare_ledger l = world_ledger(w, "end");
	const struct tare_row *context = world_row(&l, 0, PROCESS "/context");

	CHECK_INT(l.devices[0].used, 626 * MIB);
	CHECK_INT(l.devices[0].used_start, 100 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(world_bytes(&l, 0, "other"), 100 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/driver"), 3 * MIB);
	CHECK(context && context->leaf);
	CHECK_INT(context->bytes, 523 * MIB);
	CHECK_INT(context->evidence, TARE_EVIDENCE_WEIGHED);
	CHECK_INT(context->count, 1);
	CHECK_INT(context->driver_ns, 1 * MS);
	CHECK(l.opened_gpu);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}
