/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted worlds and faults. */
#include "driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

TEST(sim_script_fails_the_nth_call)
{
	CUdeviceptr p;

	context_open("fail cuMemAlloc 2 CUDA_ERROR_OUT_OF_MEMORY; fail cuStreamCreate all 700");
	OK(cu.cuMemAlloc_v2(&p, 1));
	CHECK_INT(cu.cuMemAlloc_v2(&p, 1), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cu.cuMemAlloc_v2(&p, 1));
	for (int i = 0; i < 3; i++)
		CHECK_INT(cu.cuStreamCreate((CUstream *)&p, 0), 700);
}

TEST(sim_script_fails_the_nth_call_of_all)
{
	int count;

	driver_open("fail-any 3 999");
	OK(cu.cuInit(0));
	OK(cu.cuDeviceGetCount(&count));
	CHECK_INT(cu.cuDeviceGetCount(&count), 999);
	OK(cu.cuDeviceGetCount(&count));
}

TEST(sim_script_is_out_of_memory_above_a_size)
{
	CUdeviceptr p;

	context_open("oom-above 1GiB");
	CHECK_INT(cu.cuMemAlloc_v2(&p, 1 << 30), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cu.cuMemAlloc_v2(&p, 400 << 20));
	CHECK_INT(cu.cuMemAlloc_v2(&p, 100 << 20), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cu.cuMemAlloc_v2(&p, 90 << 20));
}

TEST(sim_script_slows_a_call)
{
	struct timespec from, to;
	int count;

	driver_open("slow cuDeviceGetCount 30000");
	OK(cu.cuInit(0));
	clock_gettime(CLOCK_MONOTONIC, &from);
	OK(cu.cuDeviceGetCount(&count));
	clock_gettime(CLOCK_MONOTONIC, &to);
	CHECK((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >= 29);
}

static char *said(const char *script)
{
	static char text[1024];
	char path[] = "/tmp/t-simgpu-said-XXXXXX";
	int fd = mkstemp(path), saved = dup(2);
	ssize_t n;

	CHECK(fd >= 0);
	unlink(path);
	dup2(fd, 2);
	driver_open(script);
	cu.cuInit(0);
	dup2(saved, 2);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	close(fd);
	return text;
}

TEST(sim_script_names_a_line_that_makes_no_sense)
{
	char *text = said(
		"fail cuMemAloc 1 2; mig now;fail cuMemAlloc 0 2; fail cuInit 1 NOTHING;noisy 5;takes cuMemAlloc 1; # ;\n drift 1");

	CHECK_HAS(text, "\"fail cuMemAloc 1 2\"");
	CHECK_HAS(text, "\"mig now\"");
	CHECK_HAS(text, "\"fail cuMemAlloc 0 2\"");
	CHECK_HAS(text, "\"fail cuInit 1 NOTHING\"");
	CHECK_HAS(text, "\"noisy 5\"");
	CHECK_HAS(text, "\"takes cuMemAlloc 1\"");
	CHECK(!strstr(text, "drift"));
	CHECK(!strstr(text, "#"));
}

TEST(sim_script_may_be_a_file)
{
	char path[] = "/tmp/t-simgpu-script-XXXXXX";
	static const char text[] = "# the second call\nfail cuMemAlloc 2 2\n\ndrift 4096\n";
	int fd = mkstemp(path);
	CUdeviceptr p;

	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	close(fd);
	context_open(path);
	unlink(path);
	OK(cu.cuMemAlloc_v2(&p, 1));
	CHECK_INT(cu.cuMemAlloc_v2(&p, 1), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(sim_script_takes_what_nothing_explains)
{
	uint64_t before;
	CUdeviceptr p;

	context_open("takes cuMemAlloc 2 65536;gives cuCtxSynchronize all 65536");
	before = used();
	OK(cu.cuMemAlloc_v2(&p, 4 << 20));
	OK(cu.cuCtxSynchronize()); /* nothing was taken yet */
	CHECK_INT(used() - before, 4 << 20);
	OK(cu.cuMemAlloc_v2(&p, 4 << 20));
	CHECK_INT(used() - before, (8 << 20) + 65536);
	OK(cu.cuCtxSynchronize());
	CHECK_INT(used() - before, 8 << 20);
}

TEST(sim_script_drifts_between_calls_only)
{
	uint64_t before, after;
	CUdeviceptr p;

	context_open("drift 65536");
	before = used();
	OK(cu.cuMemAlloc_v2(&p, 4 << 20));
	after = used();
	CHECK_INT(after - before, 4 << 20);
	CHECK_INT(used() - after, 65536);
	before = used();
	OK(cu.cuMemFree_v2(p));
	CHECK_INT(used() - before, -(4 << 20));
}

/* Sees both states of a process that comes and goes every 2 ms. */
static void watch(uint64_t low, uint64_t high)
{
	bool is_low = false, is_high = false;

	for (int i = 0; i < 100 && !(is_low && is_high); i++) {
		uint64_t now = used();

		is_low |= now == low;
		is_high |= now == high;
		CHECK(now == low || now == high);
		usleep(700);
	}
	CHECK(is_low && is_high);
}

TEST(sim_script_has_a_noisy_neighbour)
{
	struct nvml_process_v2 items[8];
	unsigned int count = 8;
	uint64_t base = 3407872;

	machine_open("noisy 100MiB 2000");
	watch(base, base + (100 << 20));
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items), NVML_SUCCESS);
	CHECK_INT(count, 1);
	CHECK_INT(items[0].pid, 4194303);
}

TEST(sim_script_hides_the_noisy_neighbour)
{
	struct nvml_process_v2 items[8];
	unsigned int count = 8;
	uint64_t base = 3407872;

	machine_open("noisy-hidden 100MiB 2000");
	watch(base, base + (100 << 20));
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items), NVML_SUCCESS);
	CHECK_INT(count, 0);
}

/* ---- profiles ---- */
static char *said_of_profile(const char *text)
{
	char path[] = "/tmp/t-simgpu-profile-XXXXXX";
	int fd = mkstemp(path);
	char *answer;

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	setenv("TARE_SIM_PROFILE", path, 1);
	answer = said(NULL);
	CHECK_INT(cu.cuInit(0), CUDA_ERROR_NO_DEVICE);
	unlink(path);
	return answer;
}

TEST(sim_profile_is_missing)
{
	setenv("TARE_SIM_PROFILE", "gtx9000", 1);
	CHECK_HAS(said(NULL), "no device profile \"gtx9000\": give a file or a name");
	CHECK_INT(cu.cuInit(0), CUDA_ERROR_NO_DEVICE);
}

TEST(sim_profile_has_a_line_that_makes_no_sense)
{
	CHECK_HAS(said_of_profile("# a comment\nname = X\ntotal = 5 apples\n"), ":3: not a key of a device profile");
}

TEST(sim_profile_lacks_a_key)
{
	CHECK_HAS(said_of_profile("name = X\n"), "the key compute_major is missing");
}

TEST(sim_profile_is_found_beside_the_library)
{
	unsetenv("TARE_SIM_PROFILE");
	driver_open(NULL);
	OK(cu.cuInit(0));
}
