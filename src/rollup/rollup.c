/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a rollup, in their order, under one lock. */
#include "rollup/rollup.h"

#include "base/disk.h"
#include "session/settled.h"

#include <unistd.h>

static uint64_t below(void *settled, const char *log, bool has_ring)
{
	return tare_settled_below(settled, log, has_ring);
}

static uint64_t whole(void *settled, const char *log)
{
	return tare_settled_whole(settled, log);
}

int tare_rollup(const char *folder, const struct tare_rollup_options *options, struct tare_rolled_up *out,
                struct tare_err *err)
{
	bool is_pressed = options->cap && tare_disk_most(folder) > options->cap + options->cap / 8;
	struct tare_compact_options o = { .keeps_raw = options->keeps_raw,
		                              .drops_events = options->is_hurried,
		                              .is_forced = options->is_forced,
		                              .is_pressed = is_pressed,
		                              .is_locked = true,
		                              .segment_records = options->segment_records };
	struct tare_settled *settled;
	int lock, rc;

	*out = (struct tare_rolled_up){ 0 };
	rc = tare_compact_lock(folder, &lock, err);
	if (rc)
		return rc;
	settled = options->is_final ? NULL : tare_settled_new(folder);
	o.below = options->is_final ? NULL : below;
	o.whole = options->is_final ? NULL : whole;
	o.arg = settled;
	o.most = options->most;
	rc = tare_compact(folder, &o, &out->compacted, err);
	if (!rc)
		rc = tare_rollup_state(folder, options, settled, out, err);
	if (!rc && options->cap)
		rc = tare_rollup_drop(folder, options->cap, out, err);
	if (!rc && out->dropped)
		tare_compact_clean(folder, options->keeps_raw, !is_pressed);
	tare_settled_free(settled);
	if (lock >= 0)
		close(lock);
	return rc;
}
