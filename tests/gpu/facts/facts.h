/* SPDX-License-Identifier: Apache-2.0 */
/* What the sections of facts.c share: a fact is a line that say() prints. */
#ifndef TARE_TESTS_GPU_FACTS_H
#define TARE_TESTS_GPU_FACTS_H

#include <stdint.h>

#include "calibrate/driver.h"
#include "simgpu/nvml_abi.h"

extern struct facts_nvml {
#define NVML_API(field, symbol, parameters) int(*symbol) parameters;
	NVML_API_MAP(NVML_API)
#undef NVML_API
	nvml_device device;
} nvml;

extern const char *section, *image, *argument;
extern CUcontext context;
extern CUmodule module;

void say(const char *fact, long long value);
void sayn(const char *fact, int n, long long value);
uint64_t used(void);   /* NVML's figure of the device, bytes */
long long grown(void); /* by how many KiB since the last call */
void must(CUresult result, const char *what);
#define MUST(call) must(call, #call)
void load(void);
void begin(void);
CUfunction function(const char *name);
CUresult launch(CUfunction f);
CUresult launch_with(CUfunction f, void *parameter);

/* A fact: the change that a call makes; a failure is shown as its negated result, below -1e9. */
#define FACT(name, call)                                                                                               \
	do {                                                                                                               \
		CUresult fact_result;                                                                                          \
                                                                                                                       \
		grown();                                                                                                       \
		fact_result = call;                                                                                            \
		say(name, fact_result ? -1000000000LL - fact_result : grown());                                                \
	} while (0)
#define RESULT(name, call) say(name "_result", call)

/* Sections, and what NVML lists of this process, KiB. */
long long listed(void);
void modules(void);
void libraries(void);
void touches(void);
void heap_first(void);
void stack_again(void);
void contexts(void);
void heap(void);
void code(void);
void limits(void);
void streams(void);
void events(void);
void arrays(void);
void host(void);
void managed(void);
void pools(void);
void vmm(void);
void graphs(void);
void errors(void);
void pending(void);
void captured(void);
void second_process(void);

#endif
