/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, managed memory, pools, streams. */
#include "calibrate/fit.h"
#include "base/number.h"
#include "calibrate/probe.h"

#define MIB UINT64_C(1048576)

/* ---- pages ---- */
static bool weigh_pages(struct tare_bench *bench)
{
	CUdeviceptr at;
	int64_t one = 0, more = 0;

	if (!TARE_WEIGH(bench, &one, cuMemAlloc_v2, &at, 1))
		return false;
	if (one <= 0) {
		tare_bench_lack(bench, TARE_PROFILE_page, "one byte took nothing of the device");
		return true;
	}
	/* A byte more than a page takes two of them; half a page more, two as well. */
	if (!TARE_WEIGH(bench, &more, cuMemAlloc_v2, &at, (size_t)one + (size_t)one / 2))
		return false;
	one = (int64_t)tare_common_divisor((uint64_t)one, (uint64_t)more);
	tare_bench_put(bench, TARE_PROFILE_page, (uint64_t)one, "cuMemAlloc of 1 byte, and of a page and a half");
	return true;
}

static bool ask_units(struct tare_bench *bench)
{
	CUdeviceptr a, b, c, d;
	size_t pitch = 0;

	/* Beside each other in a page that small allocations share. */
	if (!TARE_DO(bench, cuMemAlloc_v2, &a, 1) || !TARE_DO(bench, cuMemAlloc_v2, &b, 1) ||
	    !TARE_DO(bench, cuMemAlloc_v2, &c, 1))
		return false;
	if (b > a && c > b)
		tare_bench_put(bench, TARE_PROFILE_suballoc_align, tare_common_divisor(b - a, c - b),
		               "how far apart three bytes lie");
	else
		tare_bench_lack(bench, TARE_PROFILE_suballoc_align, "small allocations do not lie side by side");
	if (!TARE_DO(bench, cuMemAllocPitch_v2, &d, &pitch, 1, 4, 4))
		return false;
	tare_bench_put(bench, TARE_PROFILE_pitch_align, pitch, "cuMemAllocPitch of 1 byte");
	return true;
}

void tare_probe_memory(struct tare_bench *bench)
{
	CUmemAllocationProp prop = { .type = 1, .location = { 1, bench->device } };
	CUcontext context = tare_bench_context(bench);
	size_t granularity = 0;

	if (!context)
		return;
	if (!TARE_DO(bench, cuMemGetAllocationGranularity, &granularity, &prop, 0))
		tare_bench_lack(bench, TARE_PROFILE_vmm_granularity, "%s", bench->failure);
	else
		tare_bench_put(bench, TARE_PROFILE_vmm_granularity, granularity, "cuMemGetAllocationGranularity");
	if (weigh_pages(bench))
		ask_units(bench);
	tare_bench_end_context(bench, context);
}

/* ---- managed memory ---- */
static bool touch(struct tare_bench *bench, CUdeviceptr at, int64_t *change)
{
	tare_bench_before(bench);
	return tare_bench_after(bench, change, TARE_DO(bench, cuMemsetD8_v2, at, 1, 1) && TARE_DO(bench, cuCtxSynchronize));
}

/* Touches page after page until the second step, or until there is no room for one. */
static void touch_all(struct tare_bench *bench, CUdeviceptr at, int64_t size)
{
	int64_t first = 0, second_at = 0, change = 0, page = (int64_t)bench->known.page, done;

	for (done = 0; done < size && !second_at; done += page) {
		if (!touch(bench, at + (CUdeviceptr)done, &change))
			return;
		if (!done)
			first = change;
		else if (change > 0)
			second_at = done;
		if (first <= 0 || done > first)
			break;
	}
	if (first <= 0)
		tare_bench_lack(bench, TARE_PROFILE_managed_step, "managed memory is not counted on this device");
	else if (size <= first)
		tare_bench_put(bench, TARE_PROFILE_managed_step, (uint64_t)first,
		               "the first touch; no room to see a second step");
	else if (second_at == first)
		tare_bench_put(bench, TARE_PROFILE_managed_step, (uint64_t)first,
		               "touching page after page, up to the second step");
	else
		tare_bench_lack(bench, TARE_PROFILE_managed_step, "after a first step of %lld bytes the second came at %lld",
		                (long long)first, (long long)second_at);
}

void tare_probe_managed(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	uint64_t size = tare_bench_free(bench) >= 2048 * MIB ? 512 * MIB : 2 * bench->known.page;
	CUdeviceptr at = 0;

	if (context && tare_bench_needs(bench, TARE_PROFILE_page) && TARE_DO(bench, cuMemAllocManaged, &at, size, 1)) {
		touch_all(bench, at, (int64_t)size);
		TARE_DO(bench, cuMemFree_v2, at);
	}
	tare_bench_end_context(bench, context);
}

/* ---- pools ---- */
void tare_probe_pools(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	int64_t first = 0, second = 0;
	CUdeviceptr a = 0, b = 0;

	if (!context)
		return;
	if (TARE_WEIGH(bench, &first, cuMemAllocAsync, &a, 1, NULL)) {
		if (first <= 0)
			tare_bench_lack(bench, TARE_PROFILE_pool_step, "a byte of a pool took nothing of the device");
		else if (TARE_WEIGH(bench, &second, cuMemAllocAsync, &b, (size_t)first + 1, NULL))
			tare_bench_put(bench, TARE_PROFILE_pool_step, tare_common_divisor((uint64_t)first, (uint64_t)second),
			               "cuMemAllocAsync of 1 byte, and of a byte more than that took");
	}
	if (a)
		TARE_DO(bench, cuMemFreeAsync, a, NULL);
	if (b)
		TARE_DO(bench, cuMemFreeAsync, b, NULL);
	TARE_DO(bench, cuCtxSynchronize);
	tare_bench_end_context(bench, context);
}

/* ---- streams ---- */
#define STREAMS 136

static void put_streams(struct tare_bench *bench, const int64_t *grew, uint64_t step)
{
	struct tare_fit_pair pair;
	enum tare_profile_key key;

	tare_bench_put(bench, TARE_PROFILE_stream_step, step, "%d streams", STREAMS);
	if (!tare_fit_two_kinds(grew, STREAMS, &pair)) {
		for (key = TARE_PROFILE_streams_free; key <= TARE_PROFILE_streams_per_step_2; key++)
			tare_bench_lack(bench, key, "no rule of two kinds explains %d streams", STREAMS);
		return;
	}
	tare_bench_put(bench, TARE_PROFILE_streams_free, (uint64_t)pair.free, "%d streams", STREAMS);
	tare_bench_put(bench, TARE_PROFILE_streams_per_step, (uint64_t)pair.per_step, "%d streams", STREAMS);
	if (pair.per_step_2 > 0) {
		tare_bench_put(bench, TARE_PROFILE_streams_free_2, (uint64_t)pair.free_2, "%d streams", STREAMS);
		tare_bench_put(bench, TARE_PROFILE_streams_per_step_2, (uint64_t)pair.per_step_2, "%d streams", STREAMS);
		return;
	}
	tare_bench_lack(bench, TARE_PROFILE_streams_free_2, "%s within %d streams",
	                pair.per_step_2 ? "seen once" : "not seen", STREAMS);
	tare_bench_lack(bench, TARE_PROFILE_streams_per_step_2, "%s within %d streams",
	                pair.per_step_2 ? "seen once" : "not seen", STREAMS);
}

void tare_probe_streams(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	int64_t grew[STREAMS];
	uint64_t step = 0;
	CUstream stream;
	int i;

	for (i = 0; context && i < STREAMS; i++) {
		if (!TARE_WEIGH(bench, &grew[i], cuStreamCreate, &stream, 1))
			break;
		if (grew[i] > 0)
			step = tare_common_divisor(step, (uint64_t)grew[i]);
	}
	tare_bench_end_context(bench, context);
	if (i < STREAMS)
		return;
	if (!step) {
		tare_bench_lack(bench, TARE_PROFILE_stream_step, "%d streams took nothing", STREAMS);
		return;
	}
	for (i = 0; i < STREAMS; i++)
		grew[i] /= (int64_t)step;
	put_streams(bench, grew, step);
}
