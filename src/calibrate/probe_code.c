/* SPDX-License-Identifier: Apache-2.0 */
/* What threads and code take: stacks, loaded kernels, printf and malloc in them. */
#include <elf.h>
#include <string.h>

#include "calibrate/fit.h"
#include "calibrate/kernel.h"

/* ---- local memory ---- */
#define STACKS 24

struct local {
	uint64_t threads, align, page;
	uint64_t stacks[STACKS];
	int64_t taken[STACKS]; /* beyond what the default takes */
	size_t count;
};

static int64_t pages(const struct local *l, uint64_t stack, uint64_t extra)
{
	return (int64_t)((l->threads * stack + extra + l->page - 1) / l->page * l->page);
}

static bool allows(const struct local *l, uint64_t extra)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->taken[i] != pages(l, l->stacks[i], extra) - pages(l, l->stacks[0], extra))
			return false;
	return true;
}

/* More than a page of it would be in every reading, and is in the context's own figure. */
static void put_extra(struct tare_bench *bench, const struct local *l)
{
	uint64_t low = 0, high = 0, grain = l->page / 512, extra;
	bool is_any = false;

	for (extra = grain; extra <= l->page; extra += grain) {
		if (!allows(l, extra))
			continue;
		low = is_any ? low : extra;
		high = extra;
		is_any = true;
	}
	if (!is_any)
		tare_bench_lack(bench, TARE_PROFILE_local_extra, "stack × %llu threads does not explain %zu stack sizes",
		                (unsigned long long)l->threads, l->count);
	else
		tare_bench_put_range(bench, TARE_PROFILE_local_extra, (uint64_t)tare_fit_roundest((int64_t)low, (int64_t)high),
		                     low, high, "stack × %llu threads, %zu sizes, up to %llu bytes",
		                     (unsigned long long)l->threads, l->count, (unsigned long long)l->stacks[l->count - 1]);
}

/* Stacks a little larger each: the threads times a step of it, against whole pages. */
static bool weigh_stacks(struct tare_bench *bench, struct local *l)
{
	uint64_t room = tare_bench_free(bench) / 8;
	int64_t change = 0, sum = 0;

	for (l->count = 1; l->count < STACKS; l->count++) {
		uint64_t stack = l->stacks[0] + l->count * l->align;

		if (l->threads * stack > l->threads * l->stacks[0] + room)
			break;
		if (!TARE_WEIGH(bench, &change, cuCtxSetLimit, CU_LIMIT_STACK_SIZE, stack))
			return false;
		sum += change;
		l->stacks[l->count] = stack;
		l->taken[l->count] = sum;
	}
	return true;
}

void tare_probe_local(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	struct local l = { .threads = bench->known.sm_count * bench->known.threads_per_sm, .page = bench->known.page };
	size_t stack = 0, more = 0;

	if (context && TARE_DO(bench, cuCtxGetLimit, &stack, CU_LIMIT_STACK_SIZE) &&
	    TARE_DO(bench, cuCtxSetLimit, CU_LIMIT_STACK_SIZE, stack + 1) &&
	    TARE_DO(bench, cuCtxGetLimit, &more, CU_LIMIT_STACK_SIZE) &&
	    TARE_DO(bench, cuCtxSetLimit, CU_LIMIT_STACK_SIZE, stack)) {
		l.stacks[0] = stack;
		l.align = more - stack;
		tare_bench_put(bench, TARE_PROFILE_stack_align, l.align, "what a byte more in cuCtxSetLimit becomes");
		if (tare_bench_needs(bench, TARE_PROFILE_page) && weigh_stacks(bench, &l))
			put_extra(bench, &l);
	}
	tare_bench_end_context(bench, context);
}

/* ---- code ---- */
#define INSTRUCTIONS      4096
#define INSTRUCTION_BYTES 16 /* where the driver gives no ELF file to look at */
#define LOADS             72

/* The size of the kernel's code in an ELF image; 0: it is none. */
static uint64_t code_bytes(const void *image, size_t size)
{
	const Elf64_Ehdr *head = image;
	const Elf64_Shdr *sections;
	const char *names;

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shoff > size ||
	    (size - head->e_shoff) / sizeof(*sections) < head->e_shnum || head->e_shstrndx >= head->e_shnum)
		return 0;
	sections = (const Elf64_Shdr *)((const char *)image + head->e_shoff);
	if (sections[head->e_shstrndx].sh_offset > size)
		return 0;
	names = (const char *)image + sections[head->e_shstrndx].sh_offset;
	for (int i = 0; i < head->e_shnum; i++) {
		size_t room = size - sections[head->e_shstrndx].sh_offset;

		if (sections[i].sh_name < room &&
		    strncmp(names + sections[i].sh_name, ".text." TARE_PTX_KERNEL, room - sections[i].sh_name) == 0)
			return sections[i].sh_size;
	}
	return 0;
}

struct code {
	uint64_t size;
	struct tare_fit_point points[LOADS];
	uint64_t step;
};

static bool load_often(struct tare_bench *bench, const void *image, struct code *code)
{
	CUfunction function;
	CUmodule module;
	int64_t change = 0, sum = 0;

	for (int i = 0; i < LOADS; i++) {
		tare_bench_before(bench);
		if (!tare_bench_after(bench, &change,
		                      TARE_DO(bench, cuModuleLoadData, &module, image) &&
		                          TARE_DO(bench, cuModuleGetFunction, &function, module, TARE_PTX_KERNEL)))
			return false;
		sum += change;
		if (change > 0 && (!code->step || (uint64_t)change < code->step))
			code->step = (uint64_t)change;
		code->points[i] = (struct tare_fit_point){ (int64_t)code->size * (i + 1), sum, sum };
	}
	return true;
}

static void put_code(struct tare_bench *bench, const struct code *code)
{
	struct tare_fit_law law = { .step = (int64_t)code->step, .divisor = 1, .slope_least = 1, .slope_most = 1 };
	struct tare_fit fit;
	char room[48];

	if (!code->step) {
		tare_bench_lack(bench, TARE_PROFILE_code_step, "%d KiB of code took nothing", (int)(code->size * LOADS >> 10));
		return;
	}
	tare_fit_steps(&law, code->points, LOADS, &fit);
	tare_bench_put(bench, TARE_PROFILE_code_step, code->step, "%d loads of %llu bytes of code", LOADS,
	               (unsigned long long)code->size);
	tare_bench_put_range(bench, TARE_PROFILE_code_free, (uint64_t)fit.free, (uint64_t)fit.free_low,
	                     (uint64_t)fit.free_high, "%d loads of %llu bytes of code%s", LOADS,
	                     (unsigned long long)code->size, tare_fit_miss(&fit, room));
}

/* Compiled once, loaded often. */
void tare_probe_code(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	struct tare_str text = { 0 };
	CUlinkState link = NULL;
	struct code code = { 0 };
	size_t size = 0;
	void *image;

	tare_ptx_write(&text, TARE_PTX_CODE, INSTRUCTIONS);
	if (context && TARE_DO(bench, cuLinkCreate_v2, 0, NULL, NULL, &link) &&
	    TARE_DO(bench, cuLinkAddData_v2, link, CU_JIT_INPUT_PTX, text.data, text.len + 1, "tare", 0, NULL, NULL) &&
	    TARE_DO(bench, cuLinkComplete, link, &image, &size)) {
		code.size = code_bytes(image, size);
		if (!code.size)
			code.size = INSTRUCTIONS * INSTRUCTION_BYTES;
		if (load_often(bench, image, &code))
			put_code(bench, &code);
	}
	if (link)
		TARE_DO(bench, cuLinkDestroy, link);
	tare_str_free(&text);
	tare_bench_end_context(bench, context);
}

/* ---- printf and malloc ---- */
/* What a context takes for loading kernels of these kinds, in turn. */
static bool weigh_kernels(struct tare_bench *bench, const enum tare_ptx *kinds, size_t count, int64_t *sum)
{
	CUcontext context = tare_bench_context(bench);
	bool is_done = context != NULL;
	struct tare_kernel kernel;
	int64_t change;

	*sum = 0;
	for (size_t i = 0; i < count && is_done; i++) {
		tare_bench_before(bench);
		is_done = tare_bench_after(bench, &change, tare_kernel_load(bench, kinds[i], 0, &kernel));
		*sum += change;
	}
	tare_bench_end_context(bench, context);
	return is_done;
}

static void weigh_heap(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	struct tare_kernel plain, kernel;
	size_t limit = 0;
	int64_t change = 0;

	/* The first launch in a context may take something of its own. */
	if (context && TARE_DO(bench, cuCtxGetLimit, &limit, CU_LIMIT_MALLOC_HEAP_SIZE) &&
	    tare_kernel_load(bench, TARE_PTX_PLAIN, 0, &plain) && tare_kernel_launch(bench, plain.function) &&
	    tare_kernel_load(bench, TARE_PTX_MALLOC, 0, &kernel)) {
		tare_bench_before(bench);
		if (tare_bench_after(bench, &change, tare_kernel_launch(bench, kernel.function))) {
			if (change >= (int64_t)limit)
				tare_bench_put(bench, TARE_PROFILE_heap_extra, (uint64_t)change - limit,
				               "the first launch of a kernel with malloc");
			else
				tare_bench_lack(bench, TARE_PROFILE_heap_extra,
				                "the launch of a kernel with malloc took less than its heap");
		}
	}
	tare_bench_end_context(bench, context);
}

void tare_probe_runtime(struct tare_bench *bench)
{
	static const enum tare_ptx kinds[] = { TARE_PTX_PRINTF, TARE_PTX_MALLOC, TARE_PTX_ASSERT };
	int64_t with_printf, with_malloc, both, with_assert;

	if (weigh_kernels(bench, kinds + 2, 1, &with_assert))
		tare_bench_put(bench, TARE_PROFILE_runtime_assert, (uint64_t)with_assert, "loading a kernel with assert");

	if (!weigh_kernels(bench, kinds, 1, &with_printf) || !weigh_kernels(bench, kinds + 1, 1, &with_malloc) ||
	    !weigh_kernels(bench, kinds, 2, &both))
		return;
	if (both < with_printf || both < with_malloc || both > with_printf + with_malloc) {
		for (int key = TARE_PROFILE_runtime; key <= TARE_PROFILE_runtime_malloc; key++)
			tare_bench_lack(bench, (enum tare_profile_key)key,
			                "printf and malloc took %lld together, %lld and %lld alone", (long long)both,
			                (long long)with_printf, (long long)with_malloc);
		return;
	}
	tare_bench_put(bench, TARE_PROFILE_runtime, (uint64_t)(with_printf + with_malloc - both),
	               "what kernels with printf and with malloc share");
	tare_bench_put(bench, TARE_PROFILE_runtime_printf, (uint64_t)(both - with_malloc), "printf beside malloc");
	tare_bench_put(bench, TARE_PROFILE_runtime_malloc, (uint64_t)(both - with_printf), "malloc beside printf");
	weigh_heap(bench);
}
