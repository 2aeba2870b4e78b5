/* SPDX-License-Identifier: Apache-2.0 */
/* Every profile of simgpu/profiles: it is read, the simulated driver starts on it, and shows what is documented of the card. */
#include "driver.h"

#include <dirent.h>
#include <stdlib.h>

#include "profile/profile.h"

#define SMS             CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
#define SHARED_OPTED_IN 97
#define BLOCKS_OF_SM    106
#define THREADS         CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR

/*
 * CARD(id, profile, name, total in MiB, compute capability, multiprocessors, threads of each, one memory, measured,
 *      shared memory of a block, blocks of a multiprocessor)
 */
/* clang-format off */
#define CARDS(CARD) \
	CARD(a10, "a10", "NVIDIA A10", 23028, 8, 6, 72, 1536, 0, 0, 101376, 16) \
	CARD(a100_40, "a100-40", "NVIDIA A100-SXM4-40GB", 40960, 8, 0, 108, 2048, 0, 0, 166912, 32) \
	CARD(a100_80, "a100-80", "NVIDIA A100-SXM4-80GB", 81920, 8, 0, 108, 2048, 0, 0, 166912, 32) \
	CARD(b200, "b200", "NVIDIA B200", 183359, 10, 0, 148, 2048, 0, 0, 232448, 32) \
	CARD(gb10, "gb10", "NVIDIA GB10", 124610, 12, 1, 48, 1536, 1, 0, 101376, 24) \
	CARD(h100, "h100", "NVIDIA H100 80GB HBM3", 81559, 9, 0, 132, 2048, 0, 1, 232448, 32) \
	CARD(h200, "h200", "NVIDIA H200", 143771, 9, 0, 132, 2048, 0, 1, 232448, 32) \
	CARD(jetson_nano, "jetson-nano", "NVIDIA Tegra X1", 3956, 5, 3, 1, 2048, 1, 0, 49152, 32) \
	CARD(l4, "l4", "NVIDIA L4", 23034, 8, 9, 58, 1536, 0, 0, 101376, 24) \
	CARD(l40s, "l40s", "NVIDIA L40S", 46068, 8, 9, 142, 1536, 0, 0, 101376, 24) \
	CARD(orin, "orin", "Orin", 62841, 8, 7, 16, 1536, 1, 0, 166912, 16) \
	CARD(rtx_3060_ti, "rtx-3060-ti", "NVIDIA GeForce RTX 3060 Ti", 8192, 8, 6, 38, 1536, 0, 0, 101376, 16) \
	CARD(rtx_3090, "rtx-3090", "NVIDIA GeForce RTX 3090", 24576, 8, 6, 82, 1536, 0, 0, 101376, 16) \
	CARD(rtx_4090, "rtx-4090", "NVIDIA GeForce RTX 4090", 24564, 8, 9, 128, 1536, 0, 0, 101376, 24) \
	CARD(rtx_5090, "rtx-5090", "NVIDIA GeForce RTX 5090", 32607, 12, 0, 170, 1536, 0, 0, 101376, 24) \
	CARD(t4, "t4", "Tesla T4", 15360, 7, 5, 40, 1024, 0, 0, 65536, 16) \
	CARD(v100_16, "v100-16", "Tesla V100-SXM2-16GB", 16384, 7, 0, 80, 2048, 0, 0, 98304, 32) \
	CARD(v100_32, "v100-32", "Tesla V100-SXM2-32GB", 32768, 7, 0, 80, 2048, 0, 0, 98304, 32)
/* clang-format on */

struct card {
	const char *profile, *name;
	uint64_t mib;
	int major, minor, sms, threads, is_integrated, is_measured, shared, blocks;
};

static void read_profile(const struct card *card, struct tare_profile *profile)
{
	char path[4096], error[512] = "";

	snprintf(path, sizeof(path), "%s/profiles/%s.profile", getenv("TARE_TEST_SIMGPU"), card->profile);
	if (tare_profile_read(path, profile, error, sizeof(error)) < 0)
		test_fail(__FILE__, __LINE__, "%s", error);
	CHECK_INT(profile->measured, card->is_measured);
	CHECK_INT(profile->total, card->mib << 20);
	CHECK_STR(profile->uuid, "GPU-7a5e0200-5eed-4200-8000-0000000000##");
}

/* Where only local memory tells a context from the H200's: 523.5625 MiB with 270336 threads. */
static void check_context(const struct card *card, const struct tare_profile *profile)
{
	uint64_t threads = (uint64_t)card->sms * (uint64_t)card->threads;

	if (strcmp(card->profile, "jetson-nano") != 0)
		CHECK_INT(profile->context, 548995072 - (270336 - threads) * profile->stack_default);
}

static int attribute(int which)
{
	int value = -1;

	OK(cu.cuDeviceGetAttribute(&value, (CUdevice_attribute)which, 0));
	return value;
}

static void check_card(const struct card *card)
{
	struct tare_profile profile;
	char name[128] = "";
	size_t total, free;
	CUcontext context;
	CUdeviceptr p;

	read_profile(card, &profile);
	check_context(card, &profile);
	setenv("TARE_SIM_PROFILE", card->profile, 1);
	driver_open(NULL);
	OK(cu.cuInit(0));
	OK(cu.cuDeviceGetName(name, sizeof(name), 0));
	CHECK_STR(name, card->name);
	OK(cu.cuDeviceTotalMem_v2(&total, 0));
	CHECK_INT(total + profile.reserved, card->mib << 20);
	CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), card->major);
	CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), card->minor);
	CHECK_INT(attribute(SMS), card->sms);
	CHECK_INT(attribute(THREADS), card->threads);
	CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED), card->is_integrated);
	CHECK_INT(attribute(SHARED_OPTED_IN), card->shared);
	CHECK_INT(attribute(BLOCKS_OF_SM), card->blocks);
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu.cuCtxSetCurrent(context));
	OK(cu.cuMemAlloc_v2(&p, 64 << 20));
	OK(cu.cuMemGetInfo_v2(&free, &total));
	CHECK_INT(total - free, profile.others + profile.init + profile.context + (64 << 20));
}

#define CARD(ID, PROFILE, ...)                                                                                         \
	TEST(sim_card_##ID)                                                                                                \
	{                                                                                                                  \
		static const struct card card = { PROFILE, __VA_ARGS__ };                                                      \
		check_card(&card);                                                                                             \
	}
CARDS(CARD)
#undef CARD

#define CARD(ID, PROFILE, ...) PROFILE,
static const char *const known[] = { CARDS(CARD) };
#undef CARD

/* A profile that is not in the table above is a card that nobody looked at. */
TEST(sim_every_profile_is_in_the_table)
{
	char path[4096], file[512];
	struct dirent *entry;
	size_t count = sizeof(known) / sizeof(known[0]), i, found = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/profiles", getenv("TARE_TEST_SIM_SOURCE"));
	folder = opendir(path);
	CHECK(folder);
	while ((entry = readdir(folder))) {
		if (!strstr(entry->d_name, ".profile"))
			continue;
		for (i = 0; i < count; i++) {
			snprintf(file, sizeof(file), "%s.profile", known[i]);
			if (strcmp(file, entry->d_name) == 0)
				break;
		}
		if (i == count)
			test_fail(__FILE__, __LINE__, "%s is in no row", entry->d_name);
		found++;
	}
	closedir(folder);
	CHECK_INT(found, count);
}
