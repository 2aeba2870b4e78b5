/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were there at an instant (moments.def) inside a span that a checkpoint replaced: a checkpoint tells how many bytes of them each
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

static bool *validity(const struct tare_fold *f, int device, enum tare_moment m)
{
	return device < 0 ? (bool *)&f->host.has_checkpoint_sums[m]
			  : &f->devices[device]->has_checkpoint_sums[m];
}

void tare_tensors_load(struct tare_tensors_part *tensors, struct tare_fold *f,
		       const struct tare_event *e)
{
	const struct tare_rec_block_sum *r = e->rec.block_sum;
	const struct tare_process *process = e->about ? e->about : e->process;
	int device = e->device ? e->device->index : -1, rule = rule_named(e->api);

	if (!tare_event_is_from_checkpoint(e) || rule < 0 || r->mark >= TARE_MOMENT_NR)
		return; /* of a newer version, or damage */
	tare_fold_process(f, process);
	tensors->checkpoint_sums =
		tare_array_reserve(tensors->checkpoint_sums, &tensors->checkpoint_sum_cap,
				   tensors->checkpoint_sum_nr + 1,
				   sizeof(*tensors->checkpoint_sums));
	tensors->checkpoint_sums[tensors->checkpoint_sum_nr++] =
		(struct tare_checkpoint_sum){ .process = process->index,
					      .device = device,
					      .moment = (enum tare_moment)r->mark,
					      .rule = (enum tare_rule)rule,
					      .owner = e->name ? tare_fold_owner_named(f, e->name)
							       : 0,
					      .is_vmm = r->is_vmm,
					      .bytes = r->bytes,
					      .count = r->count };
	*validity(f, device, (enum tare_moment)r->mark) = true;
	if (f->checkpoint_sums_ns < e->process->checkpoint_ns)
		f->checkpoint_sums_ns = e->process->checkpoint_ns;
}

/* ---- what there is ---- */

const struct tare_checkpoint_sum *
tare_fold_checkpoint_sum_next(const struct tare_tensors_part *tensors, const struct tare_fold *f,
			      int device, enum tare_moment m, size_t *at)
{
	if (m == TARE_MOMENT_NOW || !*validity(f, device, m))
		return NULL;
	while (*at < tensors->checkpoint_sum_nr) {
		const struct tare_checkpoint_sum *sum = &tensors->checkpoint_sums[(*at)++];

		if (sum->device == device && sum->moment == m)
			return sum;
	}
	return NULL;
}
