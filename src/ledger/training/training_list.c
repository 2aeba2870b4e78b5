/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of one kind: the first, and enough of the others for their median. */
#include "ledger/training/training.h"

#include "base/array.h"

enum { KEPT = 2048 /* steps of a list */ };

void tare_training_begin_step(struct tare_training_list *l, int64_t t, int64_t used, int64_t live)
{
	l->is_open = true;
	l->begin_ns = t;
	l->open = (struct tare_training_step){ 0 };
	l->open.figures[TARE_TRAINING_USED] = used;
	l->open.figures[TARE_TRAINING_LIVE] = live;
}

static void thin_out(struct tare_training_list *l)
{
	for (size_t i = 1; 2 * i < l->nr; i++)
		l->items[i] = l->items[2 * i];
	l->nr = (l->nr + 1) / 2;
	l->stride *= 2;
}

void tare_training_end_step(struct tare_training_list *l, int64_t t)
{
	if (!l->is_open)
		return;
	l->is_open = false;
	l->open.figures[TARE_TRAINING_NS] = t - l->begin_ns;
	if (!l->count++) {
		l->first = l->open;
		l->first_ns = l->begin_ns;
		l->stride = 1;
		return;
	}
	if ((l->count - 2) % l->stride)
		return;
	l->items = tare_array_reserve(l->items, &l->cap, l->nr + 1, sizeof(*l->items));
	l->items[l->nr++] = l->open;
	if (l->nr == KEPT)
		thin_out(l);
}

void tare_training_most(struct tare_training_list *l, enum tare_training_figure what, int64_t now)
{
	if (l->is_open && l->open.figures[what] < now)
		l->open.figures[what] = now;
}
