/* SPDX-License-Identifier: Apache-2.0 */
/* Computes local memory and contexts as a smaller card would have them. */
#include "recorder/vram/limits.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/real.h"

static struct context {
	CUcontext handle;
	int device;
	uint64_t stack; /* bytes per thread that local memory has room for */
	int64_t uncounted;
} contexts[TARE_LOCAL_CONTEXTS];
TARE_OF_PROCESS(contexts);

static struct context *find(CUcontext handle)
{
	int i;

	for (i = 0; handle && i < TARE_LOCAL_CONTEXTS; i++)
		if (__atomic_load_n(&contexts[i].handle, __ATOMIC_ACQUIRE) == handle)
			return &contexts[i];
	return NULL;
}

int tare_local_current(void)
{
	struct context *context = find(tare_context_current());

	return context ? (int)(context - contexts) : -1;
}

uint64_t tare_local_context(int device)
{
	const struct tare_vram_card *card = tare_vram_card(device);

	return card && card->has_profile ? card->context : 0;
}

bool tare_local_is_passed(const struct tare_limit *limit, CUresult result)
{
	return limit->card && !limit->card->has_profile && tare_limit_is_passed(limit, result);
}

static void add_uncounted(struct tare_vram_card *card, struct context *context, int64_t bytes)
{
	tare_vram_add_uncounted(card, context->device, bytes);
	__atomic_fetch_add(&context->uncounted, bytes, __ATOMIC_RELAXED);
}

void tare_local_begin(const struct tare_limit *limit, CUcontext handle)
{
	struct tare_vram_card *card = tare_vram_card(limit->device);
	uint64_t growth;
	int i;

	if (!card || find(handle))
		return; /* a primary context retained again */
	for (i = 0; i < TARE_LOCAL_CONTEXTS; i++) {
		CUcontext none = NULL;

		if (!__atomic_compare_exchange_n(&contexts[i].handle, &none, (CUcontext)1, false, __ATOMIC_ACQ_REL,
		                                 __ATOMIC_ACQUIRE))
			continue;
		contexts[i].device = limit->device;
		contexts[i].stack = TARE_CUDA_STACK;
		contexts[i].uncounted = 0;
		growth = card->has_profile ? tare_limit_growth(limit) : 0;
		if (growth) /* else it counts as what it is here */
			add_uncounted(card, &contexts[i], (int64_t)growth - (int64_t)card->context);
		__atomic_store_n(&contexts[i].handle, handle, __ATOMIC_RELEASE);
		return;
	}
}

void tare_local_end(CUcontext handle)
{
	struct context *context = find(handle);
	struct tare_vram_card *card = context ? tare_vram_card(context->device) : NULL;

	if (!context || !card)
		return;
	add_uncounted(card, context, -context->uncounted);
	tare_kept_end(card, context->device, (int)(context - contexts));
	__atomic_store_n(&context->handle, NULL, __ATOMIC_RELEASE);
}

void tare_local_end_primary(int device)
{
	CUcontext context = tare_context_primary(device);
	unsigned int flags;
	int active = 1;

	if (context && tare_driver.cuDevicePrimaryCtxGetState &&
	    tare_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && !active)
		tare_local_end(context);
}

static uint64_t need(uint64_t threads, uint64_t align, uint64_t extra, uint64_t page, uint64_t stack)
{
	uint64_t per_thread = (stack + align - 1) / align * align;

	if (threads && per_thread > (UINT64_MAX >> 8) / threads)
		return UINT64_MAX >> 8;
	return (threads * per_thread + extra + page - 1) / page * page;
}

static uint64_t need_here(int device, uint64_t stack)
{
	return need(tare_ask_threads(device), TARE_CUDA_STACK_ALIGN, TARE_CUDA_LOCAL_EXTRA, TARE_CUDA_PAGE, stack);
}

static uint64_t need_there(const struct tare_vram_card *card, int device, uint64_t stack)
{
	if (!card->has_profile)
		return need_here(device, stack);
	return need((uint64_t)card->multiprocessors * card->threads_per_multiprocessor,
	            card->stack_align ? card->stack_align : TARE_CUDA_STACK_ALIGN, card->local_extra,
	            card->page ? card->page : TARE_CUDA_PAGE, stack);
}

uint64_t tare_local_growth(uint64_t stack)
{
	struct context *context = find(tare_context_current());
	const struct tare_vram_card *card = context ? tare_vram_card(context->device) : NULL;

	if (!card || stack <= context->stack)
		return 0;
	return need_there(card, context->device, stack) - need_there(card, context->device, context->stack);
}

void tare_local_set(const struct tare_limit *limit, uint64_t stack, bool is_limit)
{
	struct context *context = find(tare_context_current());
	uint64_t old = context ? __atomic_exchange_n(&context->stack, stack, __ATOMIC_ACQ_REL) : 0;
	int64_t here, there;

	if (!context || !limit->card)
		return;
	if (stack < old && !is_limit) {
		__atomic_store_n(&context->stack, old, __ATOMIC_RELEASE);
		return;
	}
	if (!limit->card->has_profile)
		return;
	here = (int64_t)(need_here(context->device, stack) - need_here(context->device, old));
	there = (int64_t)(need_there(limit->card, context->device, stack) - need_there(limit->card, context->device, old));
	add_uncounted(limit->card, context, here - there);
}
