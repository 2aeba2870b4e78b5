/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of both tables can be found by its symbol and by its name, version and stream flag. */
#include "driver.h"

#include <dlfcn.h>

static const struct {
	const char *symbol, *name;
	int version;
	bool ptsz;
	size_t offset;
} rows[] = {
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	{ #symbol, #name, version, ptsz, offsetof(struct driver, symbol) },
#include "recorder/cuda/cuda_api.def"
#include "simgpu/sim_extra.def"
#undef CU_API
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void *pointer(size_t i)
{
	void *found;

	memcpy(&found, (char *)&cu + rows[i].offset, sizeof(found));
	return found;
}

static bool has_twin(size_t i)
{
	for (size_t k = 0; k < ROWS; k++)
		if (rows[k].ptsz && strcmp(rows[k].name, rows[i].name) == 0)
			return true;
	return false;
}

TEST(sim_exports_every_row)
{
	driver_open(NULL);
	for (size_t i = 0; i < ROWS; i++)
		if (!pointer(i))
			test_fail(__FILE__, __LINE__, "%s is not exported", rows[i].symbol);
}

TEST(sim_resolves_every_row)
{
	driver_open(NULL);
	for (size_t i = 0; i < ROWS; i++) {
		void *found = NULL;
		int status = -1;

		OK(cu.cuGetProcAddress_v2(rows[i].name, &found, rows[i].version, rows[i].ptsz ? 2 : 0, &status));
		CHECK_INT(status, CU_GET_PROC_ADDRESS_SUCCESS);
		if (found != pointer(i))
			test_fail(__FILE__, __LINE__, "%s resolves to something else", rows[i].symbol);
		OK(cu.cuGetProcAddress(rows[i].name, &found, rows[i].version, rows[i].ptsz ? 2 : 1));
		CHECK(found == pointer(i));
		/* Where there is no twin, the flag makes no difference. */
		if (has_twin(i))
			continue;
		OK(cu.cuGetProcAddress_v2(rows[i].name, &found, rows[i].version, 2, &status));
		CHECK(found == pointer(i));
	}
}

TEST(sim_resolves_the_newest_version_that_the_caller_knows)
{
	void *found = NULL;
	int status;

	driver_open(NULL);
	OK(cu.cuGetProcAddress_v2("cuCtxCreate", &found, 12040, 0, &status));
	CHECK(found == (void *)cu.cuCtxCreate_v3);
	OK(cu.cuGetProcAddress_v2("cuCtxCreate", &found, 13000, 0, &status));
	CHECK(found == (void *)cu.cuCtxCreate_v4);
	OK(cu.cuGetProcAddress_v2("cuMemAllocAsync", &found, 11010, 0, &status));
	CHECK(!found);
	CHECK_INT(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	OK(cu.cuGetProcAddress_v2("cuMemAlloc_v2", &found, 13000, 0, &status));
	CHECK_INT(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	CHECK_INT(cu.cuGetProcAddress("cuNothing", &found, 13000, 0), CUDA_ERROR_NOT_FOUND);
	CHECK_INT(cu.cuGetProcAddress_v2("cuInit", &found, 14000, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST(sim_an_old_driver_lacks_what_is_younger)
{
	void *found = NULL;
	int version;

	driver_open("driver-version 11040");
	for (size_t i = 0; i < ROWS; i++) {
		if (!pointer(i) == (rows[i].version > 11040))
			continue;
		test_fail(__FILE__, __LINE__, "%s of %d", rows[i].symbol, rows[i].version);
	}
	OK(cu.cuDriverGetVersion(&version));
	CHECK_INT(version, 11040);
	OK(cu.cuInit(0));
	CHECK(!cu.cuGetProcAddress_v2);
	OK(cu.cuGetProcAddress("cuCtxCreate", &found, 11040, 0));
	CHECK(found == (void *)cu.cuCtxCreate_v3);
	CHECK_INT(cu.cuGetProcAddress("cuLaunchKernelEx", &found, 11040, 0), CUDA_ERROR_NOT_FOUND);
}

TEST(sim_has_no_private_tables)
{
	static const CUuuid id = { { 1 } };
	const void *table = &id;

	driver_open(NULL);
	CHECK_INT(cu.cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
	CHECK(!table);
}

/* Under which programs and cuDNN look for what later versions of the driver call otherwise. */
TEST(old_names_that_take_the_same_are_there)
{
	static const char *const names[] = { "cuCtxPushCurrent", "cuCtxPopCurrent", "cuLinkCreate", "cuLinkAddData" };
	int (*push)(CUcontext), (*pop)(CUcontext *);
	CUcontext now, popped = NULL;

	context_open(NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(dlsym(cu.library, names[i]) != NULL);
	push = (int (*)(CUcontext))dlsym(cu.library, names[0]);
	pop = (int (*)(CUcontext *))dlsym(cu.library, names[1]);
	OK(cu.cuCtxGetCurrent(&now));
	OK(push(now));
	OK(pop(&popped));
	CHECK(popped == now);
}
