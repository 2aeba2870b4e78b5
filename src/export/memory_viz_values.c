/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a memory snapshot: keys, texts, addresses, frames, stacks. */
#include "export/memory_viz_values.h"

enum { PROCESS_BITS = 56 };

void tare_viz_key_uint(struct tare_viz *w, const char *key, uint64_t value)
{
	tare_pickler_text(&w->p, key);
	tare_pickler_uint(&w->p, value);
}

void tare_viz_key_text(struct tare_viz *w, const char *key, const char *value)
{
	tare_pickler_text(&w->p, key);
	tare_pickler_text(&w->p, value);
}

uint64_t tare_viz_address_of(struct tare_viz *w, int64_t pid, uint64_t address)
{
	int i = 0;

	while (i < w->pid_nr && w->pids[i] != pid)
		i++;
	if (i == w->pid_nr && i < TARE_VIZ_PROCESSES)
		w->pids[w->pid_nr++] = pid;
	return address | (uint64_t)i << PROCESS_BITS;
}

int tare_viz_number_of(const struct tare_export *x, int device)
{
	return x->ledger->devices[device].host ? device : x->ledger->devices[device].index;
}

bool tare_viz_is_shown(const struct tare_export *x, int device)
{
	return !x->ledger->devices[device].is_heap && tare_viz_number_of(x, device) >= 0;
}

void tare_viz_add_frame(struct tare_viz *w, const char *function, const char *file, uint32_t line)
{
	tare_pickler_open(&w->p, '{');
	tare_viz_key_text(w, "name", function);
	tare_viz_key_text(w, "filename", file);
	tare_viz_key_uint(w, "line", line);
	tare_pickler_close(&w->p, '}');
}

void tare_viz_add_stack(struct tare_viz *w, const struct tare_block_stack *stack)
{
	uint64_t *number;
	bool is_new;

	tare_pickler_text(&w->p, "frames");
	number = stack ? tare_map_put(&w->stacks, stack->number, &is_new) : NULL;
	if (number && !is_new) {
		tare_pickler_again(&w->p, (uint32_t)*number);
		return;
	}
	tare_pickler_open(&w->p, '[');
	for (uint32_t i = 0; stack && i < stack->nr; i++)
		tare_viz_add_frame(w, stack->frames[i].function, stack->frames[i].file, stack->frames[i].line);
	tare_pickler_close(&w->p, ']');
	if (number)
		*number = tare_pickler_remember(&w->p);
}
