/* SPDX-License-Identifier: Apache-2.0 */
/* Where in PyTorch a stack is: what makes the tensors there, and in which call of a module. */

#include "ledger/tensors/tensors.h"

#include "base/array.h"

#include <string.h>

enum { THROUGH = -1 };

static const struct {
	int maker;
	const char *file, *function;
} makers[] = {
#define TARE_MAKER(KEY, file, function) { TARE_MAKER_##KEY, file, function },
#define TARE_THROUGH(file, function)    { THROUGH, file, function },
#include "ledger/tensors/places.def"
#undef TARE_THROUGH
#undef TARE_MAKER
};

static int maker_of(const struct tare_line *line)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strstr(line->file, makers[i].file) && (!*makers[i].function || !strcmp(line->function, makers[i].function)))
			return makers[i].maker;
	return THROUGH;
}

static uint64_t mix(uint64_t hash, const char *text, uint32_t line)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ line) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Calls of modules are known by the one around them, the lines between and what is called. */
static uint32_t call_named(struct tare_tensors_part *tensors, uint32_t around, uint64_t hash)
{
	bool is_new;
	uint64_t *known = tare_map_put(&tensors->call_of, mix(hash, "", around), &is_new);

	if (is_new) {
		if (!tensors->call_nr)
			tensors->call_nr = 1; /* 0 stands for none */
		tensors->calls =
			tare_array_reserve(tensors->calls, &tensors->call_cap, tensors->call_nr + 1, sizeof(*tensors->calls));
		if (tensors->call_nr == 1)
			tensors->calls[0] = 0;
		tensors->calls[tensors->call_nr] = around;
		*known = tensors->call_nr++;
	}
	return (uint32_t)*known;
}

static uint32_t innermost_call(struct tare_tensors_part *tensors, const struct tare_line_stack *stack)
{
	uint32_t call = 0;
	uint64_t hash = 0;

	for (uint32_t i = stack->depth; i-- > 0;) {
		const struct tare_line *line = &stack->lines[i];

		hash = mix(mix(hash, line->function, line->line), line->file, 0);
		if (i == 0 || maker_of(line) != TARE_MAKER_CALL)
			continue;
		call = call_named(tensors, call, mix(mix(hash, line[-1].function, 0), line[-1].file, 0));
		hash = 0;
	}
	return call;
}

/* The first site that is found in an outermost call stands for it. */
static uint32_t outer_of(struct tare_tensors_part *tensors, uint32_t call, uint32_t nr)
{
	bool is_new;
	uint64_t *site;

	while (tensors->calls[call])
		call = tensors->calls[call];
	site = tare_map_put(&tensors->outer_of, call, &is_new);
	if (is_new)
		*site = nr;
	return (uint32_t)*site;
}

void tare_work_look_at(struct tare_tensors_part *tensors, struct tare_site *site, uint32_t nr)
{
	site->is_placed = true;
	site->maker = TARE_MAKER_PROGRAM;
	for (uint32_t i = 0; site->python && i < site->python->depth; i++) {
		int maker = maker_of(&site->python->lines[i]);

		if (maker == THROUGH)
			continue;
		site->maker = (uint8_t)maker;
		site->begins_backward = maker == TARE_MAKER_PROGRAM; /* the one row that says so */
		break;
	}
	if (site->python)
		site->call = innermost_call(tensors, site->python);
	if (site->call && nr)
		site->outer = outer_of(tensors, site->call, nr);
}
