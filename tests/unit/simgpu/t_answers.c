/* SPDX-License-Identifier: Apache-2.0 */
/* What a program reads back from the device: what was written for real, else an answer, and whoever listens is told. */
#include "driver.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

static uint64_t told, told_bytes;
static int told_overflow;

static void listen(uint64_t bytes, int is_overflow)
{
	told_overflow = is_overflow;
	told++;
	told_bytes += bytes;
}

static void (*forget)(uint64_t address, uint64_t bytes);
static int (*is_known)(uint64_t address, uint64_t bytes);

static void open_with(const char *answers)
{
	void (*start)(void (*read)(uint64_t bytes, int is_overflow));

	if (answers)
		setenv("TARE_SIM_ANSWERS", answers, 1);
	context_open(NULL);
	start = (void (*)(void (*)(uint64_t, int)))dlsym(cu.library, "tareSimListen");
	forget = (void (*)(uint64_t, uint64_t))dlsym(cu.library, "tareSimForget");
	is_known = (int (*)(uint64_t, uint64_t))dlsym(cu.library, "tareSimIsKnown");
	CHECK(start && forget && is_known);
	start(listen);
	told = told_bytes = 0;
}

TEST(what_was_copied_comes_back_and_is_not_told)
{
	unsigned in[4] = { 1, 2, 3, 4 }, out[6] = { 9, 9, 9, 9, 9, 9 };
	CUdeviceptr p;

	open_with("ones");
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuMemcpyHtoD_v2(p + 4, in, sizeof(in)));
	OK(cu.cuMemcpyDtoH_v2(out, p + 4, sizeof(in)));
	CHECK(out[0] == 1 && out[3] == 4);
	CHECK_INT(told, 0);
	OK(cu.cuMemcpyDtoH_v2(out, p, sizeof(out))); /* with one value more on either side */
	CHECK(out[0] == 0x3f800000 && out[1] == 1 && out[4] == 4 && out[5] == 0x3f800000);
	CHECK_INT(told, 1);
	CHECK_INT(told_bytes, 8);
}

TEST(fills_are_known_and_zeros_are_the_default)
{
	unsigned char out[8];
	CUdeviceptr p;

	open_with(NULL);
	OK(cu.cuMemAlloc_v2(&p, 1 << 20));
	OK(cu.cuMemsetD8_v2(p, 7, 3));
	memset(out, 9, sizeof(out));
	OK(cu.cuMemcpyDtoH_v2(out, p, 8));
	CHECK(out[0] == 7 && out[2] == 7 && out[3] == 0 && out[7] == 0);
	CHECK_INT(told_bytes, 5);
	OK(cu.cuMemsetD8_v2(p, 0, 1 << 20));
	OK(cu.cuMemcpyDtoH_v2(out, p, 8));
	CHECK_INT(told, 1);
	CHECK_INT(out[0], 0);
}

TEST(what_is_known_goes_with_a_copy_on_the_device)
{
	unsigned in = 5, out[3];
	CUdeviceptr p, q;

	open_with("ones");
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuMemAlloc_v2(&q, 4096));
	OK(cu.cuMemcpyHtoD_v2(p + 4, &in, 4));
	OK(cu.cuMemsetD32_v2(q, 3, 1024));
	OK(cu.cuMemcpyDtoD_v2(q + 100, p, 12));
	OK(cu.cuMemcpyDtoH_v2(out, q + 100, 12));
	CHECK(out[0] == 0x3f800000 && out[1] == 5 && out[2] == 0x3f800000);
	CHECK_INT(told_bytes, 8);
	OK(cu.cuMemcpyDtoD_v2(p + 2048, q + 200, 8)); /* out of a larger piece that is known */
	OK(cu.cuMemcpyDtoH_v2(out, q + 112, 12));
	CHECK(out[0] == 3 && out[2] == 3);
	CHECK_INT(told, 1);
}

TEST(memory_that_is_handed_out_again_is_nobodys)
{
	unsigned in = 5, out = 9;
	CUdeviceptr p, q;

	open_with(NULL);
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuMemcpyHtoD_v2(p, &in, 4));
	CHECK_INT(is_known(p, 4), 1);
	CHECK_INT(is_known(p, 5), 0);
	forget(p, 512);
	CHECK_INT(is_known(p, 4), 0);
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 0);
	CHECK_INT(told, 1);
	OK(cu.cuMemcpyHtoD_v2(p, &in, 4));
	OK(cu.cuMemFree_v2(p));
	OK(cu.cuMemAlloc_v2(&q, 4096)); /* where that was, or not */
	CHECK_INT(is_known(q, 4), 0);
}

TEST(answers_go_by_the_size_of_the_copy)
{
	unsigned char byte = 9;
	unsigned short half = 9;
	unsigned long long whole = 9;
	float numbers[3] = { 9, 9, 9 };
	CUdeviceptr p;

	open_with("nan");
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuMemcpyDtoH_v2(&byte, p, 1));
	OK(cu.cuMemcpyDtoH_v2(&half, p, 2));
	OK(cu.cuMemcpyDtoH_v2(&whole, p, 8));
	OK(cu.cuMemcpyDtoH_v2(numbers, p, 12));
	CHECK_INT(byte, 0);
	CHECK_INT(half, 0x7fff);
	CHECK_INT(whole, 0); /* no whole number is a NaN */
	CHECK(isnan(numbers[0]) && isnan(numbers[2]));
	CHECK_INT(told, 4);
}

TEST(random_answers_lie_in_bounds_and_differ)
{
	float numbers[64];
	unsigned long long whole;
	CUdeviceptr p;
	int i;

	open_with("random");
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuMemcpyDtoH_v2(numbers, p, 64 * 4));
	for (i = 0; i < 64; i++)
		CHECK(numbers[i] >= 0 && numbers[i] < 1 && (!i || numbers[i] != numbers[0]));
	OK(cu.cuMemcpyDtoH_v2(&whole, p, 8));
	CHECK(whole < 256);
}

TEST(a_graphs_copy_gives_an_answer_too)
{
	float out = 9;
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr p;

	open_with("ones");
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuStreamCreate(&stream, 1));
	OK(cu.cuStreamBeginCapture_v2(stream, 0));
	OK(cu.cuMemcpyDtoHAsync_v2(&out, p, 4, stream));
	OK(cu.cuStreamEndCapture(stream, &graph));
	CHECK_INT(told, 0);
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphLaunch(exec, stream));
	CHECK(out == 1);
	CHECK_INT(told, 1);
}

/* The program may have written there itself, or another process. */
TEST(managed_memory_and_what_is_exported_are_taken_as_they_are)
{
	unsigned out = 9;
	CUipcMemHandle handle;
	CUdeviceptr p;

	open_with("ones");
	OK(cu.cuMemAllocManaged(&p, 4096, 1));
	*(unsigned *)(uintptr_t)p = 6;
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 6);
	OK(cu.cuMemAlloc_v2(&p, 4096));
	OK(cu.cuIpcGetMemHandle(&handle, p));
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 0);
	CHECK_INT(told, 0);
}

/* Pieces that are cut, joined and copied over, against one flag for each byte. */
TEST(what_is_known_is_kept_to_the_byte)
{
	enum { SIZE = 600 };
	static unsigned char known[SIZE], zeros[SIZE];
	CUdeviceptr p;
	int i, k;

	open_with(NULL);
	OK(cu.cuMemAlloc_v2(&p, SIZE));
	srand(1);
	for (i = 0; i < 4000; i++) {
		int at = rand() % SIZE, size = 1 + rand() % (SIZE - at), is_write = rand() % 2;

		if (size > 40)
			size = 40;
		if (is_write)
			OK(cu.cuMemcpyHtoD_v2(p + at, zeros, size));
		else
			forget(p + at, size);
		memset(known + at, is_write, size);
		at = rand() % SIZE;
		size = 1 + rand() % (SIZE - at);
		for (k = at; k < at + size && known[k];)
			k++;
		CHECK_INT(is_known(p + at, size), k == at + size);
	}
}

/* A flag is what the kernel that was launched last is about: all() holds, and any other does not. */
static unsigned char flag_after(CUfunction kernel, CUdeviceptr p)
{
	unsigned char flag = 9;

	OK(cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	OK(cu.cuMemcpyDtoH_v2(&flag, p, 1));
	return flag;
}

static void launch_all(CUfunction *all, CUfunction *any, CUdeviceptr *p)
{
	static const char image[] = "tare-sim-module\n"
								"kernel _ZN2at13reduce_kernelIZNS0_15and_kernel_cudaERNS_14TensorIteratorEE params=0\n"
								"kernel _ZN2at13reduce_kernelIZNS0_14or_kernel_cudaERNS_14TensorIteratorEE params=0\n";
	CUmodule module;

	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(all, module, "_ZN2at13reduce_kernelIZNS0_15and_kernel_cudaERNS_14TensorIteratorEE"));
	OK(cu.cuModuleGetFunction(any, module, "_ZN2at13reduce_kernelIZNS0_14or_kernel_cudaERNS_14TensorIteratorEE"));
	OK(cu.cuMemAlloc_v2(p, 4096));
}

TEST(all_holds_unless_told_otherwise)
{
	unsigned char known = 0, two[2] = { 9, 9 };
	CUfunction all, any;
	CUdeviceptr p;

	open_with(NULL);
	launch_all(&all, &any, &p);
	CHECK_INT(flag_after(any, p), 0);
	CHECK_INT(flag_after(all, p), 1);
	CHECK_INT(flag_after(any, p), 0);
	CHECK_INT(told, 3);
	CHECK_INT(flag_after(all, p), 1);
	OK(cu.cuMemcpyDtoH_v2(two, p, 2)); /* no flag */
	CHECK(two[0] == 0 && two[1] == 0);
	OK(cu.cuMemcpyHtoD_v2(p, &known, 1)); /* known is known */
	CHECK_INT(flag_after(all, p), 0);
}

/* mask.sum() == mask.numel() is an all(), too; a comparison of anything else is none. */
TEST(a_count_of_all_is_an_all)
{
	static const char image[] = "tare-sim-module\n"
								"kernel sum_functorIlllEcl params=0\n"
								"kernel 16CompareEqFunctorIlE params=0\n";
	CUfunction count, equal;
	CUmodule module;
	CUdeviceptr p;

	open_with(NULL);
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(&count, module, "sum_functorIlllEcl"));
	OK(cu.cuModuleGetFunction(&equal, module, "16CompareEqFunctorIlE"));
	OK(cu.cuMemAlloc_v2(&p, 4096));
	CHECK_INT(flag_after(equal, p), 0);
	CHECK_INT(flag_after(count, p), 0);
	CHECK_INT(flag_after(equal, p), 1);
	CHECK_INT(flag_after(equal, p), 0);
}

TEST(all_does_not_hold_with_other_answers)
{
	CUfunction all, any;
	CUdeviceptr p;

	open_with("ones");
	launch_all(&all, &any, &p);
	CHECK_INT(flag_after(any, p), 1);
	CHECK_INT(flag_after(all, p), 0);
}

/* Counts of PyTorch's, of 4 bytes or 8. */
static void check_counts(const char *answers, uint64_t nonzero, uint64_t unique, uint64_t bits)
{
	static const char image[] = "tare-sim-module\n"
								"kernel 28DeviceReduceSingleTileKernelI4plusE params=0\n"
								"kernel 23DeviceReduceByKeyKernelI3rle6encodeE params=0\n"
								"kernel 13reduce_kernelILi512ELi1ENS0_8ReduceOpIiNS0_13MaxNanFunctorIiE params=0\n"
								"kernel 23DeviceSelectSweepKernelI8equal_toIvE params=0\n"
								"kernel 11UniqueAgentIPlS7_ params=0\n"
								"kernel other params=0\n";
	static const struct {
		const char *kernel;
		int kind;
	} cases[] = {
		{ "28DeviceReduceSingleTileKernelI4plusE", 0 },
		{ "13reduce_kernelILi512ELi1ENS0_8ReduceOpIiNS0_13MaxNanFunctorIiE", 0 },
		{ "23DeviceReduceByKeyKernelI3rle6encodeE", 1 },
		{ "23DeviceSelectSweepKernelI8equal_toIvE", 1 },
		{ "11UniqueAgentIPlS7_", 1 },
		{ "other", 2 },
	};
	const uint64_t wants[] = { nonzero, unique, bits };
	CUmodule module;
	CUfunction kernel;
	CUdeviceptr p;

	open_with(answers);
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuMemAlloc_v2(&p, 4096));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t four = 9;
		uint64_t eight = 9;

		OK(cu.cuModuleGetFunction(&kernel, module, cases[i].kernel));
		OK(cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		OK(cu.cuMemcpyDtoH_v2(&four, p, 4));
		OK(cu.cuMemcpyDtoH_v2(&eight, p, 8));
		CHECK_INT(four, wants[cases[i].kind]);
		CHECK_INT(eight, cases[i].kind < 2 ? wants[cases[i].kind] : bits ? 1 : 0);
	}
}

TEST(what_is_counted_is_a_whole_number)
{
	check_counts(NULL, 0, 1, 0);
}

TEST(what_is_counted_is_another_with_other_answers)
{
	check_counts("ones", 1, 2, 0x3f800000);
}

/* Of 4 bytes a flag of a loss scale is known by where the kernel of its check was to write it, whatever was launched since. */
TEST(a_loss_scale_finds_an_overflow_where_it_is_told_to)
{
	static const char image[] =
		"tare-sim-module\n"
		"kernel 47_amp_foreach_non_finite_check_and_unscale_cuda_25multi_tensor_apply params=0\n"
		"kernel 39_amp_non_finite_check_and_unscale_cuda_E params=0\n"
		"kernel clip params=0\n";
	CUdeviceptr p, found[2], none[2] = { 0, 0 };
	void *of_lists[] = { none, none, found }, *of_one[] = { none, found };
	CUfunction lists, one, clip;
	float flag = 9, pair[2] = { 9, 9 };
	CUmodule module;

	open_with("overflow");
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(&lists, module, "47_amp_foreach_non_finite_check_and_unscale_cuda_25multi_tensor_apply"));
	OK(cu.cuModuleGetFunction(&one, module, "39_amp_non_finite_check_and_unscale_cuda_E"));
	OK(cu.cuModuleGetFunction(&clip, module, "clip"));
	OK(cu.cuMemAlloc_v2(&p, 4096));
	found[0] = p + 512;
	found[1] = p + 1024;
	OK(cu.cuLaunchKernel(lists, 1, 1, 1, 32, 1, 1, 0, NULL, of_lists, NULL));
	OK(cu.cuLaunchKernel(clip, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	OK(cu.cuMemcpyDtoH_v2(&flag, p + 512, 4));
	CHECK(flag == 1 && told_overflow == 1);
	OK(cu.cuMemcpyDtoH_v2(&flag, p, 4)); /* a loss */
	CHECK(flag == 0 && told_overflow == 0);
	OK(cu.cuMemcpyDtoH_v2(pair, p + 512, 8));
	CHECK(pair[0] == 0 && told_overflow == 0);
	forget(p + 512, 512);
	OK(cu.cuMemcpyDtoH_v2(&flag, p + 512, 4));
	CHECK(flag == 0 && told_overflow == 0);
	found[0] = p + 2048;
	OK(cu.cuLaunchKernel(one, 1, 1, 1, 32, 1, 1, 0, NULL, of_one, NULL));
	for (int i = 1; i < 12; i++) { /* each halves the scale, until it is small enough */
		OK(cu.cuMemcpyDtoH_v2(&flag, p + 2048, 4));
		CHECK(flag == (i < 9) && told_overflow == 1);
	}
}
