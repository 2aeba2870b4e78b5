/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were there at an instant (marks.def) inside a span that was folded: a checkpoint tells how many bytes of them each
 * rule of category.def held for, as far as that was known then. They count until that instant is another one.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- in ---- */

static int rule_named(const char *name)
{
	for (int i = 0; name && i < TARE_RULE_NR; i++)
		if (!strcmp(tare_rules[i].name, name))
			return i;
	return -1;
}

static bool *validity(const struct tare_fold *f, int device, enum tare_mark m)
{
	return device < 0 ? (bool *)&f->host.is_told[m] : &f->devices[device]->is_told[m];
}

void tare_tensors_load(struct tare_tensors_part *tensors, struct tare_fold *f,
		       const struct tare_event *e)
{
	const struct tare_rec_block_sum *r = e->rec.block_sum;
	const struct tare_process *process = e->about ? e->about : e->process;
	int device = e->device ? e->device->index : -1, rule = rule_named(e->api);

	if (!tare_fold_is_folded(e) || rule < 0 || r->mark >= TARE_MARK_NR)
		return; /* of a newer version, or damage */
	tare_fold_process(f, process);
	tensors->told = tare_array_reserve(tensors->told, &tensors->told_cap, tensors->told_nr + 1,
					   sizeof(*tensors->told));
	tensors->told[tensors->told_nr++] =
		(struct tare_told){ .process = process->index,
				    .device = device,
				    .mark = (enum tare_mark)r->mark,
				    .rule = (enum tare_rule)rule,
				    .owner = e->name ? tare_fold_owner_named(f, e->name) : 0,
				    .is_vmm = r->is_vmm,
				    .bytes = r->bytes,
				    .count = r->count };
	*validity(f, device, (enum tare_mark)r->mark) = true;
	if (f->told_ns < e->process->fold_ns)
		f->told_ns = e->process->fold_ns;
}

/* ---- what there is ---- */

const struct tare_told *tare_fold_told_next(const struct tare_tensors_part *tensors,
					    const struct tare_fold *f, int device, enum tare_mark m,
					    size_t *at)
{
	if (m == TARE_MARK_NOW || !*validity(f, device, m))
		return NULL;
	while (*at < tensors->told_nr) {
		const struct tare_told *told = &tensors->told[(*at)++];

		if (told->device == device && told->mark == m)
			return told;
	}
	return NULL;
}
