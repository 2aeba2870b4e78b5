/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers of a world, and what they say. */
#include "ledger_world_private.h"

#include "test.h"

#include <string.h>

void world_build_at(struct world *w, const struct tare_instant *at, struct tare_ledger *out)
{
	struct tare_ledger_source source = { .next = world_next, .rewind = world_rewind, .arg = w };

	world_link_up(w);
	w->at = 0;
	tare_ledger_build(&source, NULL, at, 1, out);
}

void world_build(struct world *w, const struct tare_ledger_opts *opts, const char *const *at, int at_nr,
                 struct tare_ledger *out)
{
	/* States of it are made of events one by one, and must say the same (world_check_states()). */
	struct tare_ledger_source source = {
		.next = world_next,
		.rewind = world_rewind,
		.arg = w,
		.run = world_run,
		.phase_run = world_phase_run,
		.heap_run = world_heap_run,
	};
	struct tare_instant instants[16];

	for (int i = 0; i < at_nr; i++)
		CHECK_INT(tare_instant_parse(at[i], &instants[i], NULL), 0);
	world_link_up(w);
	w->at = 0;
	tare_ledger_build(&source, opts, instants, at_nr, out);
	for (int i = 0; i < at_nr; i++) {
		world_check_balance(&out[i]);
		world_check_host_lines(&out[i]);
	}
}

struct tare_ledger world_ledger(struct world *w, const char *at)
{
	struct tare_ledger l;

	world_build(w, NULL, &at, 1, &l);
	world_check_states(w, 3);
	world_check_history(w);
	return l;
}

const struct tare_row *world_row(const struct tare_ledger *l, int device, const char *path)
{
	const struct tare_device_ledger *d = &l->devices[device];

	for (int i = 0; i < d->row_nr; i++)
		if (!strcmp(d->rows[i].path, path))
			return &d->rows[i];
	return NULL;
}

int64_t world_bytes(const struct tare_ledger *l, int device, const char *path)
{
	const struct tare_row *r = world_row(l, device, path);

	if (!r)
		test_fail(__FILE__, __LINE__, "there is no row %s", path);
	return r->bytes;
}

bool world_has_note(const struct tare_ledger *l, const char *part)
{
	for (int i = 0; i < l->degraded_nr; i++)
		if (strstr(l->degraded[i], part))
			return true;
	return false;
}

const struct tare_phase_row *world_phase_row(const struct tare_ledger *l, const char *path)
{
	for (int i = 0; i < l->phase_nr; i++)
		if (!strcmp(l->phases[i].path, path))
			return &l->phases[i];
	test_fail(__FILE__, __LINE__, "there is no phase %s", path);
	return NULL;
}
