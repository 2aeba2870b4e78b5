/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVTX's interface that is used here, as NVIDIA's headers lay it out. */
#ifndef TARE_RECORD_NVTX_ABI_H
#define TARE_RECORD_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { NVTX_ETID_CALLBACKS = 1 };
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE = 2, NVTX_MESSAGE_REGISTERED = 3 };

/* What a push answers where no tool listens. */
#define NVTX_NO_PUSH_POP_TRACKING (-2)

typedef struct nvtx_domain *nvtx_domain;
typedef struct nvtx_string *nvtx_string;
typedef int32_t nvtx_wchar; /* on Linux */

struct nvtx_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved0;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const nvtx_wchar *unicode;
		nvtx_string registered;
	} message;
};
/* Message included, which an older caller may not have. */
#define NVTX_EVENT_SIZE (offsetof(struct nvtx_event, message) + sizeof(void *))

/* Of an event: `payload` points to `reserved0` pieces of data, whose forms were registered. */
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xdfbd0009)
struct nvtx_data {
	uint64_t schema;
	size_t size;
	const void *at;
};
enum { NVTX_ENTRY_UINT64 = 18 };
struct nvtx_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};
struct nvtx_schema {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct nvtx_entry *entries;
	size_t count, size, alignment;
	uint64_t id;
	const void *extension;
};

typedef void (*nvtx_function)(void);
struct nvtx_callbacks {
	size_t size;
	int (*get_module_table)(int module, nvtx_function ***table, unsigned int *size);
};
typedef const void *nvtx_get_export_table(uint32_t id);
typedef int nvtx_initialize_injection(nvtx_get_export_table *get);

/* Extensions are told of one by one; that of payloads has one segment of functions. */
enum { NVTX_EXTENSION_PAYLOAD = 2 };
struct nvtx_segment {
	size_t id, count;
	nvtx_function *slots;
};
struct nvtx_extension {
	uint16_t version, size, module, compatible;
	size_t count;
	struct nvtx_segment *segments;
	const void *get, *info;
};
typedef int nvtx_initialize_extension(struct nvtx_extension *extension);

#endif
