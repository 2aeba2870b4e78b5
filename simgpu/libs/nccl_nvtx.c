/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks the calls of the simulated NCCL with NVTX, as NCCL marks its own: in the domain NCCL, by the name of the function, with the
 * communicator's number beside it. A tool is looked for as NVTX does, once, in NVTX_INJECTION64_PATH; without one nothing happens.
 */
#include "simgpu/libs/nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/nvtx_abi.h"

enum { PUSH = 4, POP = 5, STRING = 10, DOMAIN = 12, CORE2_NR = 16 }; /* of NVTX's second module */
enum { SCHEMA = 0, POP_DATA = 4, EXTENSION_NR = 16 };                /* of the extension of payloads */
enum {
	NVTX_VERSION = 3,
	STATIC_SCHEMA = 1 << 24,
	COMM = STATIC_SCHEMA,
	/* the first number that a library may choose */
};

static nvtx_function core2[CORE2_NR], *core2_at[CORE2_NR], extension[EXTENSION_NR];
static nvtx_domain domain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int module_table(int module, nvtx_function ***table, unsigned int *size)
{
	if (module != NVTX_MODULE_CORE2)
		return 0;
	*table = core2_at;
	*size = CORE2_NR;
	return 1;
}

static const void *export_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks), module_table };

	return id == NVTX_ETID_CALLBACKS ? &callbacks : NULL;
}

static void *symbol(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

static void say_schema(void)
{
	static const struct nvtx_entry entries[] = {
		{ .type = NVTX_ENTRY_UINT64, .name = "NCCL communicator ID" },
	};
	const struct nvtx_schema schema = {
		.fields = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8, /* type, entries, how many, size, number */
		.type = 1,                                            /* of one size */
		.entries = entries,
		.count = 1,
		.size = sizeof(uint64_t),
		.id = COMM,
	};
	uint64_t (*say)(nvtx_domain, const struct nvtx_schema *) = (void *)extension[SCHEMA];

	if (say)
		say(domain, &schema);
}

static void find_tool(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	nvtx_initialize_injection *initialize = symbol(library, "InitializeInjectionNvtx2");
	nvtx_initialize_extension *extend = symbol(library, "InitializeInjectionNvtxExtension");
	struct nvtx_segment segment = { 0, EXTENSION_NR, extension };
	struct nvtx_extension about = { .version = NVTX_VERSION,
		                            .size = sizeof(about),
		                            .module = NVTX_EXTENSION_PAYLOAD,
		                            .compatible = 0x0104,
		                            .count = 1,
		                            .segments = &segment };
	nvtx_domain (*create)(const char *);
	size_t i;

	for (i = 0; i < CORE2_NR; i++)
		core2_at[i] = &core2[i];
	if (!initialize || !initialize(export_table)) {
		memset(core2, 0, sizeof(core2));
		return;
	}
	if (!extend || !extend(&about))
		memset(extension, 0, sizeof(extension));
	create = (void *)core2[DOMAIN];
	domain = create ? create("NCCL") : NULL;
	say_schema();
}

uint64_t nccl_range_number(const struct nccl_comm *comm)
{
	return comm && comm->magic == NCCL_COMM_MAGIC ? comm->key.words[0] ^ comm->key.words[1] : 0;
}

struct nccl_range nccl_range_begin(const char *call, const struct nccl_comm *comm)
{
	uint64_t number = nccl_range_number(comm);
	const struct nvtx_data data = { COMM, sizeof(number), &number };
	struct nvtx_event e = { .version = NVTX_VERSION, .size = NVTX_EVENT_SIZE, .message_type = NVTX_MESSAGE_ASCII };
	int (*push)(nvtx_domain, const struct nvtx_event *);

	pthread_once(&once, find_tool);
	push = (void *)core2[PUSH];
	if (!push)
		return (struct nccl_range){ 0 };
	e.message.ascii = call;
	if (number) {
		e.payload_type = NVTX_PAYLOAD_EXTENDED;
		e.reserved0 = 1;
		e.payload = (uint64_t)(uintptr_t)&data;
	}
	push(domain, &e);
	return (struct nccl_range){ .is_open = true };
}

void nccl_range_makes(struct nccl_range *range, struct nccl_comm **place)
{
	range->place = place;
	if (place)
		*place = NULL;
}

void nccl_range_end(struct nccl_range *range)
{
	uint64_t number = range->place ? nccl_range_number(*range->place) : range->ended;
	const struct nvtx_data data = { COMM, sizeof(number), &number };
	int (*pop)(nvtx_domain) = (void *)core2[POP];
	int (*pop_data)(nvtx_domain, const struct nvtx_data *, size_t) = (void *)extension[POP_DATA];

	if (!range->is_open)
		return;
	if (number && pop_data)
		pop_data(domain, &data, 1);
	else if (pop)
		pop(domain);
}
