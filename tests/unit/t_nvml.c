/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "witness/nvml.h"

#include <stdlib.h>

#define MIB UINT64_C(1048576)

static struct tare_nvml *open_fake(const char *odd)
{
	const char *path = getenv("TARE_TEST_FAKE_NVML");
	struct tare_nvml *nvml = NULL;
	struct tare_err err;

	if (!path)
		SKIP("TARE_TEST_FAKE_NVML does not name the library; run it through meson test");
	setenv("FAKE_NVML", odd, 1);
	if (tare_nvml_open(path, &nvml, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return nvml;
}

static const struct tare_nvml_process *find(const struct tare_nvml_processes *list, uint32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid)
			return &list->items[i];
	test_fail(__FILE__, __LINE__, "pid %u is not in the list", pid);
}

static void check_processes(const char *odd, int version)
{
	struct tare_nvml *nvml = open_fake(odd);
	struct tare_nvml_processes list;
	struct tare_err err;

	CHECK_INT(tare_nvml_processes(nvml, 0, &list, &err), 0);
	CHECK_INT(list.version, version);
	CHECK_INT(list.count, 3);
	CHECK_INT(find(&list, 10)->used, 55 * MIB);
	CHECK(find(&list, 11)->used == TARE_NOT_KNOWN);
	CHECK_INT(find(&list, 12)->used, 7 * MIB);
	tare_nvml_processes_free(&list);
	tare_nvml_close(nvml);
}

TEST(a_pid_in_two_lists_is_one_process)
{
	check_processes("", 3);
}

TEST(the_bare_calls_have_a_layout_of_their_own)
{
	check_processes("old", 1);
}

TEST(a_list_that_grows_is_asked_for_again)
{
	struct tare_nvml *nvml = open_fake("crowd");
	struct tare_nvml_processes list;
	struct tare_err err;

	CHECK_INT(tare_nvml_processes(nvml, 0, &list, &err), 0);
	CHECK_INT(list.count, 502);
	tare_nvml_processes_free(&list);
	tare_nvml_close(nvml);
}

TEST(devices_that_may_not_be_opened_are_left_out)
{
	struct tare_nvml *nvml = open_fake("");

	CHECK_INT(tare_nvml_device_count(nvml), 1);
	CHECK_STR(tare_nvml_device(nvml, 0)->name, "Fake GPU");
	CHECK_INT(tare_nvml_device(nvml, 0)->mig, -1);
	CHECK_INT(tare_nvml_find(nvml, "gpu-0"), 0);
	CHECK_INT(tare_nvml_find(nvml, "GPU-9"), -1);
	CHECK_STR(tare_nvml_info(nvml)->driver, "580.159.04");
	CHECK_INT(tare_nvml_info(nvml)->cuda_version, 0);
	tare_nvml_close(nvml);
}

TEST(mig_devices_follow_their_gpu)
{
	struct tare_nvml *nvml = open_fake("mig");

	CHECK_INT(tare_nvml_device_count(nvml), 3);
	CHECK(tare_nvml_device(nvml, 0)->is_sliced);
	CHECK_INT(tare_nvml_device(nvml, 2)->mig, 1);
	CHECK_INT(tare_nvml_device(nvml, 2)->index, 0);
	CHECK_INT(tare_nvml_find(nvml, "MIG-1"), 1);
	tare_nvml_close(nvml);
}

static void check_memory(const char *odd, int version, uint64_t used, uint64_t reserved,
                         enum tare_nvml_identity identity)
{
	struct tare_nvml *nvml = open_fake(odd);
	struct tare_nvml_memory m;
	struct tare_err err;

	CHECK_INT(tare_nvml_memory(nvml, 0, &m, &err), 0);
	CHECK_INT(m.version, version);
	CHECK_INT(m.used, used);
	CHECK_INT(m.reserved, reserved);
	CHECK_INT(m.identity, identity);
	tare_nvml_close(nvml);
}

TEST(which_sum_holds_is_found_out)
{
	check_memory("", 2, 200 * MIB, 100 * MIB, TARE_NVML_SUM_APART);
	check_memory("inside", 2, 300 * MIB, 100 * MIB, TARE_NVML_SUM_INCLUDED);
	check_memory("old", 1, 300 * MIB, TARE_NOT_KNOWN, TARE_NVML_SUM_INCLUDED);
}

TEST(not_supported_is_not_known_and_no_error)
{
	struct tare_nvml *nvml = open_fake("unsupported");
	struct tare_nvml_processes list;
	struct tare_nvml_memory m;
	struct tare_err err;

	CHECK_INT(tare_nvml_memory(nvml, 0, &m, &err), 0);
	CHECK_INT(m.version, 0);
	CHECK(m.used == TARE_NOT_KNOWN && m.total == TARE_NOT_KNOWN);
	CHECK_INT(tare_nvml_processes(nvml, 0, &list, &err), 0);
	CHECK_INT(list.version, 0);
	CHECK_INT(list.count, 0);
	tare_nvml_processes_free(&list);
	tare_nvml_close(nvml);
}

TEST(what_breaks_is_an_error_that_says_so)
{
	struct tare_nvml *nvml = open_fake("lost");
	struct tare_nvml_memory m;
	struct tare_err err;

	CHECK_INT(tare_nvml_memory(nvml, 0, &m, &err), TARE_E_IO);
	CHECK_HAS(err.text, "GPU is lost");
	tare_nvml_close(nvml);
	setenv("FAKE_NVML", "no-driver", 1);
	CHECK_INT(tare_nvml_open(getenv("TARE_TEST_FAKE_NVML"), &nvml, &err), TARE_E_NOT_FOUND);
	CHECK_HAS(err.text, "not loaded");
	CHECK_INT(tare_nvml_open("/nowhere/libnvidia-ml.so.1", &nvml, &err), TARE_E_NOT_FOUND);
	CHECK_HAS(err.text, "/nowhere/");
}
