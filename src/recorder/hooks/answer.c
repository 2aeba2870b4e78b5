/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large the card is, and how much of it is free, as the driver says it to the program. Without
 * --vram these functions are the driver's own, but for programs that are linked with it.
 */
#include <errno.h>

#include "recorder/hooks/custom.h"
#include "recorder/recorder.h"
#include "recorder/vram/limit.h"

#define IS_MISSING(symbol) (unlikely(!tare_real.symbol) && tare_real_is_missing((void **)&tare_real.symbol))

/* NULL: what the driver said stands. */
static const struct tare_vram_card *card_here(uint64_t *left)
{
	int saved_errno = errno, device = tare_limit_device();
	const struct tare_vram_card *card = tare_vram_card(device);
	uint64_t used = card ? tare_vram_used(card, device) : TARE_NOT_KNOWN;
	uint64_t room = card ? tare_vram_room(card) : 0;

	*left = used != TARE_NOT_KNOWN && used < room ? room - used : 0;
	errno = saved_errno;
	return used != TARE_NOT_KNOWN ? card : NULL;
}

CUresult tare_hook_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	const struct tare_vram_card *card;
	CUresult result;
	uint64_t left;

	if (IS_MISSING(cuMemGetInfo_v2))
		return CUDA_ERROR_NOT_INITIALIZED;
	result = tare_real.cuMemGetInfo_v2(free_bytes, total);
	if (likely(!tare_config.has_limit) || result != CUDA_SUCCESS || tare_thread.depth > 0)
		return result;
	card = card_here(&left);
	/* The driver takes NULL for what the program does not want to know, and so do programs. */
	if (card && free_bytes)
		*free_bytes = left;
	if (card && total)
		*total = tare_vram_room(card);
	return result;
}

CUresult tare_hook_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	const struct tare_vram_card *card;
	CUresult result;

	if (IS_MISSING(cuDeviceTotalMem_v2))
		return CUDA_ERROR_NOT_INITIALIZED;
	result = tare_real.cuDeviceTotalMem_v2(bytes, dev);
	if (likely(!tare_config.has_limit) || result != CUDA_SUCCESS || tare_thread.depth > 0)
		return result;
	card = tare_vram_card(dev);
	if (card && bytes)
		*bytes = tare_vram_room(card);
	return result;
}
