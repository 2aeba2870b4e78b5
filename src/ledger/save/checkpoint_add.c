/* SPDX-License-Identifier: Apache-2.0 */
/* The list of records that a checkpoint becomes. */
#include "ledger/save/checkpoint_private.h"

#include "base/array.h"

#include <string.h>

union record *tare_checkpoint_add(struct checkpoint *c, enum tare_kind kind,
				  const struct tare_process *process,
				  const struct tare_device *device, int64_t t)
{
	struct item *item;

	c->items = tare_array_reserve(c->items, &c->item_cap, c->item_nr + 1, sizeof(*c->items));
	item = &c->items[c->item_nr];
	memset(item, 0, sizeof(*item));
	item->order = c->item_nr++;
	item->event = (struct tare_event){ .kind = kind,
					   .process = process,
					   .device = device,
					   .at_ns = t,
					   .begin_ns = t,
					   .end_ns = t,
					   .text = "" };
	item->rec.head.kind = (uint16_t)kind;
	return &item->rec;
}

struct tare_event *tare_checkpoint_last(struct checkpoint *c)
{
	return &c->items[c->item_nr - 1].event;
}

void tare_checkpoint_site(struct checkpoint *c, uint32_t at, uint32_t *python, uint32_t *stack)
{
	tare_site_save(c->f, at, tare_checkpoint_last(c), python, stack);
}
