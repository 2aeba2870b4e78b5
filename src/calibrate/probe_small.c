/* SPDX-License-Identifier: Apache-2.0 */
/* What is so small that only many of them are seen, if at all: events, modules. */
#include "calibrate/kernel.h"

#define EVENTS  40000
#define MODULES 100

/*
 * n of them took `grown` in whole pages, perhaps after using up a page that was there: each is from
 * a page less to a page more of their share.
 */
static void put_share(struct tare_bench *bench, enum tare_profile_key key, int64_t grown, int64_t n, const char *what)
{
	int64_t page = (int64_t)bench->known.page;
	int64_t low = grown > page ? (grown - page) / n : 0, high = (grown + page - 1) / n;

	if (grown < 0)
		tare_bench_lack(bench, key, "%lld %s gave back memory", (long long)n, what);
	else if (tare_bench_needs(bench, TARE_PROFILE_page))
		tare_bench_put_range(bench, key, (uint64_t)(grown / n), (uint64_t)low, (uint64_t)high,
		                     "%lld %s took %lld bytes", (long long)n, what, (long long)grown);
}

void tare_probe_events(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	bool is_done = context != NULL;
	int64_t change = 0;
	CUevent event;

	if (context) {
		tare_bench_before(bench);
		for (int i = 0; i < EVENTS && is_done; i++)
			is_done = TARE_DO(bench, cuEventCreate, &event, 2); /* without timing */
		if (tare_bench_after(bench, &change, is_done))
			put_share(bench, TARE_PROFILE_event, change, EVENTS, "events");
	}
	tare_bench_end_context(bench, context);
}

static void weigh_modules(struct tare_bench *bench)
{
	struct tare_str text = { 0 };
	bool is_done = true;
	int64_t change = 0;
	CUmodule module;

	tare_ptx_write(&text, TARE_PTX_PLAIN, 0);
	tare_bench_before(bench);
	for (int i = 0; i < MODULES && is_done; i++)
		is_done = TARE_DO(bench, cuModuleLoadData, &module, tare_str_text(&text));
	if (tare_bench_after(bench, &change, is_done))
		put_share(bench, TARE_PROFILE_module, change, MODULES, "modules");
	tare_str_free(&text);
}

void tare_probe_modules(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	struct tare_kernel kernel;
	int64_t change = 0;

	if (context && tare_kernel_load(bench, TARE_PTX_PLAIN, 0, &kernel)) {
		tare_bench_before(bench);
		if (tare_bench_after(bench, &change, tare_kernel_launch(bench, kernel.function))) {
			if (change >= 0)
				tare_bench_put(bench, TARE_PROFILE_first_launch, (uint64_t)change,
				               "the first launch of an empty kernel");
			weigh_modules(bench);
		}
	}
	tare_bench_end_context(bench, context);
}
