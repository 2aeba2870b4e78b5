/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code takes of the device. As measured: a context comes with room for a little; more is taken
 * in steps and goes back with the code. Globals are placed when their module is loaded. printf and
 * malloc in a kernel bring much with them, once for a context.
 */
#include "sim_image.h"

#define LOADED_MAX (sizeof(((struct sim_symbol *)0)->loaded) / sizeof(struct sim_loaded))

static uint64_t room_for(uint64_t code)
{
	uint64_t free = sim.profile.code_free;

	return code > free ? sim_round_up(code - free, sim.profile.code_step) : 0;
}

static CUresult take_room(struct sim_context *context, uint64_t bytes)
{
	uint64_t more = room_for(context->code + bytes) - room_for(context->code);
	CUresult result = more ? sim_context_take(context, more) : CUDA_SUCCESS;

	if (more && result == CUDA_SUCCESS)
		sim_place_code();
	if (result == CUDA_SUCCESS)
		context->code += bytes;
	return result;
}

static void give_room(struct sim_context *context, uint64_t bytes)
{
	uint64_t less = room_for(context->code) - room_for(context->code - bytes);

	context->code -= bytes;
	if (less)
		sim_context_give(context, less);
}

static bool is_alive(const struct sim_loaded *loaded)
{
	struct sim_context *context = sim_object_get(loaded->context, SIM_CONTEXT);

	return context && context->is_alive && context->id == loaded->id;
}

bool sim_code_is_loaded(const struct sim_symbol *symbol, const struct sim_context *context)
{
	size_t i;

	for (i = 0; i < LOADED_MAX; i++)
		if (symbol->loaded[i].context == context && is_alive(&symbol->loaded[i]))
			return true;
	return false;
}

CUresult sim_code_load(struct sim_context *context, struct sim_symbol *symbol)
{
	CUresult result;
	size_t i;

	if (sim_code_is_loaded(symbol, context))
		return CUDA_SUCCESS;
	for (i = 0; i < LOADED_MAX && is_alive(&symbol->loaded[i]);)
		i++;
	if (i == LOADED_MAX)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = take_room(context, symbol->code);
	if (result == CUDA_SUCCESS)
		symbol->loaded[i] = (struct sim_loaded){ context, context->id };
	return result;
}

void sim_code_unload_symbol(struct sim_symbol *symbol)
{
	size_t i;

	for (i = 0; i < LOADED_MAX; i++) {
		if (!symbol->is_global && is_alive(&symbol->loaded[i]))
			give_room(symbol->loaded[i].context, symbol->code);
		symbol->loaded[i].context = NULL;
	}
}

/* ---- printf and malloc ---- */
static CUresult take_once(struct sim_context *context, bool is_wanted, bool *has, uint64_t bytes)
{
	CUresult result;

	if (!is_wanted || *has)
		return CUDA_SUCCESS;
	result = sim_context_take(context, bytes);
	*has = result == CUDA_SUCCESS;
	return result;
}

CUresult sim_code_runtime(struct sim_context *context, const struct sim_image *image)
{
	bool wants_any = image->has_printf || image->has_malloc;
	CUresult result = take_once(context, image->has_assert && !context->has_runtime, &context->has_assert,
	                            sim.profile.runtime_assert);

	/* Which of the two came first does not matter where they are the same. */
	if (context->has_assert && sim.profile.runtime_assert >= sim.profile.runtime)
		context->has_runtime = true;
	if (result == CUDA_SUCCESS)
		result = take_once(context, wants_any, &context->has_runtime, sim.profile.runtime);

	if (result == CUDA_SUCCESS)
		result = take_once(context, image->has_malloc, &context->has_malloc, sim.profile.runtime_malloc);
	if (result != CUDA_SUCCESS || !image->has_printf)
		return result;
	if (!context->printf_images)
		result = sim_context_take(context, sim.profile.runtime_printf);
	if (result == CUDA_SUCCESS)
		context->printf_images++;
	return result;
}

/* The part for printf alone goes with the last image that has it. */
void sim_code_runtime_end(struct sim_context *context, const struct sim_image *image)
{
	if (image->has_printf && --context->printf_images == 0)
		sim_context_give(context, sim.profile.runtime_printf);
}

/* ---- globals ---- */
static CUresult place(struct sim_context *context, struct sim_symbol *symbol)
{
	struct sim_piece piece = { 0 };
	struct sim_range *range;
	CUresult result = sim_heap_take(context, &context->array_heap, symbol->code ? symbol->code : 1, &piece);

	if (result != CUDA_SUCCESS)
		return result;
	range = sim_range_add(SIM_RANGE_GLOBAL, piece.start, symbol->code);
	if (!range) {
		sim_heap_give(context, &piece);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range->context = context;
	range->device = context->device;
	range->block = piece.block;
	range->span = piece.span;
	range->offset = piece.offset;
	range->owner = symbol;
	symbol->address = piece.start;
	return CUDA_SUCCESS;
}

/* NULL: not placed, or its context is gone and the memory with it. */
static struct sim_range *range_of(const struct sim_symbol *symbol)
{
	struct sim_range *range = symbol->address ? sim_range_exactly(symbol->address) : NULL;

	return range && range->owner == symbol ? range : NULL;
}

CUresult sim_code_globals(struct sim_context *context, struct sim_image *image)
{
	CUresult result = CUDA_SUCCESS;
	struct sim_symbol *symbol;

	for (symbol = image->symbols; symbol && result == CUDA_SUCCESS; symbol = symbol->next)
		if (symbol->is_global && !range_of(symbol))
			result = place(context, symbol);
	return result;
}

void sim_code_drop_globals(struct sim_image *image)
{
	struct sim_symbol *symbol;

	for (symbol = image->symbols; symbol; symbol = symbol->next) {
		struct sim_range *range = symbol->is_global ? range_of(symbol) : NULL;

		symbol->address = 0;
		if (range)
			sim_heap_free(range);
	}
}

CUresult sim_code_global(CUdeviceptr *dptr, size_t *bytes, struct sim_context *context, struct sim_image *image,
                         const char *name)
{
	struct sim_symbol *symbol;
	CUresult result = CUDA_SUCCESS;

	if (!name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	symbol = sim_image_find(image, name, true);
	if (!symbol) /* as measured, a kernel's name is wrong, any other unknown */
		return sim_image_find(image, name, false) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
	if (!range_of(symbol))
		result = place(context, symbol);
	if (result != CUDA_SUCCESS)
		return result;
	if (dptr)
		*dptr = symbol->address;
	if (bytes)
		*bytes = symbol->code;
	return CUDA_SUCCESS;
}
