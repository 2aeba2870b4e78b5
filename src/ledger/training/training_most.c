/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most of a figure since any of many moments. Of values that were followed by a larger one, none is the most since
 * any moment, so those that are kept fall: the most since a moment is the first that was noted after it.
 */
#include "ledger/training/training.h"

#include "base/array.h"
#include "base/bisect.h"

/* Values; more are thinned out by the moments that somebody may still ask for. */
enum { KEPT_LEAST = 256 };

void tare_training_note(struct tare_training_most *m, uint64_t moment, int64_t value)
{
	while (m->nr && m->items[m->nr - 1].value <= value)
		m->nr--;
	if (m->nr && m->items[m->nr - 1].moment == moment)
		return;
	TARE_APPEND(m->items, m->nr, m->cap) = (struct tare_training_noted){ moment, value };
}

int64_t tare_training_since(const struct tare_training_most *m, uint64_t moment, int64_t least)
{
	size_t low = 0;

	TARE_BISECT(low, m->nr, i, m->items[i].moment < moment);
	return low < m->nr && m->items[low].value > least ? m->items[low].value : least;
}

bool tare_training_is_long(const struct tare_training_most *m, size_t open_max)
{
	return m->nr > KEPT_LEAST && m->nr > 2 * open_max;
}

/* Moments ascend. What is noted next is later than all of them. */
void tare_training_forget(struct tare_training_most *m, const uint64_t *moments, size_t count)
{
	size_t nr = 0, at = 0;

	for (size_t i = 0; i < m->nr; i++) {
		if (at == count || moments[at] > m->items[i].moment)
			continue;
		while (at < count && moments[at] <= m->items[i].moment)
			at++;
		m->items[nr++] = m->items[i];
	}
	m->nr = nr;
}
