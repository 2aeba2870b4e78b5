/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver does with device memory, one fact a line: "section.fact value". The same program
 * runs on the real driver and on the simulated one, and run.sh puts the two answers side by side.
 *
 *     facts SECTION IMAGE [ARGUMENT]
 *
 * A value is the change of NVML's figure in KiB unless its name says otherwise (_result, _bytes).
 */
#include "facts.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct facts_nvml nvml;
const char *section, *image, *argument;
CUcontext context;
CUmodule module;

void say(const char *fact, long long value)
{
	printf("%s.%s %lld\n", section, fact, value);
	fflush(stdout);
}

void sayn(const char *fact, int n, long long value)
{
	printf("%s.%s_%d %lld\n", section, fact, n, value);
	fflush(stdout);
}

uint64_t used(void)
{
	struct nvml_memory_v2 memory = { .version = NVML_MEMORY_V2 };

	return nvml.nvmlDeviceGetMemoryInfo_v2(nvml.device, &memory) ? 0 : memory.used;
}

long long grown(void)
{
	static uint64_t last;
	uint64_t now = used();
	long long by = (long long)(now - last) / 1024;

	last = now;
	return by;
}

void must(CUresult result, const char *what)
{
	if (!result)
		return;
	printf("%s.FAILED %s %d\n", section, what, result);
	exit(1);
}

void load(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	char error[256];

	if (!tare_driver_load(NULL, error, sizeof(error)) || !library) {
		fprintf(stderr, "facts: %s\n", library ? error : dlerror());
		exit(2);
	}
#define NVML_API(field, symbol, parameters) *(void **)&nvml.symbol = dlsym(library, #symbol);
	NVML_API_MAP(NVML_API)
#undef NVML_API
	nvml.nvmlInit_v2();
	nvml.nvmlDeviceGetHandleByIndex_v2(0, &nvml.device);
}

void begin(void)
{
	MUST(tare_cu.cuInit(0));
	MUST(tare_cu.cuDevicePrimaryCtxRetain(&context, 0));
	MUST(tare_cu.cuCtxSetCurrent(context));
	grown();
}

CUfunction function(const char *name)
{
	CUfunction found = NULL;

	if (!module)
		MUST(tare_cu.cuModuleLoad(&module, image));
	MUST(tare_cu.cuModuleGetFunction(&found, module, name));
	return found;
}

CUresult launch(CUfunction f)
{
	static int *out, n;
	static char block[4096];
	void *params[] = { &out, &n, block };
	CUresult result = tare_cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);

	return result ? result : tare_cu.cuCtxSynchronize();
}

CUresult launch_with(CUfunction f, void *parameter)
{
	void *params[] = { parameter, parameter };
	CUresult result = tare_cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);

	return result ? result : tare_cu.cuCtxSynchronize();
}

static const struct {
	const char *name;
	void (*run)(void);
} sections[] = {
	{ "modules", modules },
	{ "libraries", libraries },
	{ "touches", touches },
	{ "heap_first", heap_first },
	{ "stack_again", stack_again },
	{ "contexts", contexts },
	{ "heap", heap },
	{ "code", code },
	{ "limits", limits },
	{ "streams", streams },
	{ "events", events },
	{ "arrays", arrays },
	{ "host", host },
	{ "managed", managed },
	{ "pools", pools },
	{ "vmm", vmm },
	{ "graphs", graphs },
	{ "errors", errors },
	{ "pending", pending },
	{ "captured", captured },
	{ "second", second_process },
};

int main(int argc, char **argv)
{
	size_t i;

	section = argc > 1 ? argv[1] : "";
	image = argc > 2 ? argv[2] : "";
	argument = argc > 3 ? argv[3] : "0,0";
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(sections[i].name, section) != 0)
			continue;
		if (strcmp(section, "second") != 0)
			load();
		sections[i].run();
		return 0;
	}
	fprintf(stderr, "facts: no section \"%s\"\n", section);
	return 2;
}
