/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from NVML which processes have how much of a GPU. */
#include "witness/nvml.h"

#include "base/xalloc.h"
#include "witness/nvml_api.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_NR = 3, VERSION_NR = 3, FIRST_ROOM = 64, MAX_ROOM = 1 << 20 };

typedef int(*list_fn) NVML_LIST;

/* One list as NVML gives it, whatever its layout. */
struct raw_list {
	int version;
	void *items;
	unsigned int count;
};

static struct nvml_process_v2 raw_item(const struct raw_list *raw, unsigned int i)
{
	const struct nvml_process_v1 *old = raw->items;
	const struct nvml_process_v2 *new = raw->items;

	if (raw->version == 1)
		return (struct nvml_process_v2){ .pid = old[i].pid, .used = old[i].used };
	return new[i];
}

/* Processes come and go between asking for the size and asking for the list: grow until it fits. */
static int read_list(list_fn fn, nvml_device dev, int version, struct raw_list *out)
{
	size_t size = version == 1 ? sizeof(struct nvml_process_v1) : sizeof(struct nvml_process_v2);
	unsigned int room = FIRST_ROOM;
	void *items = NULL;
	int result;

	for (;;) {
		unsigned int count = room;

		items = tare_xrealloc(items, room, size);
		memset(items, 0, room * size);
		result = fn(dev, &count, items);
		if (!result) {
			*out = (struct raw_list){ version, items, count < room ? count : room };
			return 0;
		}
		if (result != NVML_INSUFFICIENT_SIZE || room >= MAX_ROOM)
			break;
		room = count > room && count < MAX_ROOM / 2 ? count * 2 : room * 2;
	}
	free(items);
	return result;
}

/* The newest version of one list that this library and this device answer. */
static int read_newest(const list_fn versions[VERSION_NR], nvml_device dev, struct raw_list *out)
{
	int result = NVML_FUNCTION_NOT_FOUND;

	for (int i = 0; i < VERSION_NR && nvml_is_not_known(result); i++)
		if (versions[i])
			result = read_list(versions[i], dev, VERSION_NR - i, out);
	return result;
}

static struct tare_nvml_process *find_or_add(struct tare_nvml_processes *list, uint32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid)
			return &list->items[i];
	list->items = tare_xrealloc(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count] = (struct tare_nvml_process){ pid, TARE_NOT_KNOWN };
	return &list->items[list->count++];
}

/* Within a list a pid stands once per GPU instance: its entries add up. */
static void sum_list(const struct raw_list *raw, struct tare_nvml_processes *out)
{
	for (unsigned int i = 0; i < raw->count; i++) {
		struct nvml_process_v2 item = raw_item(raw, i);
		struct tare_nvml_process *p = find_or_add(out, item.pid);

		if (item.used != NVML_NOT_AVAILABLE)
			p->used = (p->used == TARE_NOT_KNOWN ? 0 : p->used) + item.used;
	}
}

/* A pid in two lists is one process with one memory: the larger figure, never the sum. */
static void merge_list(const struct raw_list *raw, struct tare_nvml_processes *all)
{
	struct tare_nvml_processes one = { 0 };

	sum_list(raw, &one);
	for (size_t i = 0; i < one.count; i++) {
		struct tare_nvml_process *p = find_or_add(all, one.items[i].pid);
		uint64_t used = one.items[i].used;

		if (p->used == TARE_NOT_KNOWN || (used != TARE_NOT_KNOWN && used > p->used))
			p->used = used;
	}
	if (raw->version > all->version)
		all->version = raw->version;
	free(one.items);
}

int tare_nvml_processes(struct tare_nvml *nvml, int device, struct tare_nvml_processes *out, struct tare_err *err)
{
	const struct nvml_api *api = &nvml->api;
	const list_fn lists[LIST_NR][VERSION_NR] = {
		{ api->compute_v3, api->compute_v2, api->compute_v1 },
		{ api->graphics_v3, api->graphics_v2, api->graphics_v1 },
		{ api->mps_v3, api->mps_v2, api->mps_v1 },
	};
	struct tare_nvml_processes all = { 0 };

	for (int i = 0; i < LIST_NR; i++) {
		struct raw_list raw = { 0 };
		int result = read_newest(lists[i], nvml->handles[device], &raw);

		if (result && !nvml_is_not_known(result)) {
			free(all.items);
			return tare_nvml_fail(nvml, result, "the list of processes", err);
		}
		if (!result)
			merge_list(&raw, &all);
		free(raw.items);
	}
	*out = all;
	return 0;
}

void tare_nvml_processes_free(struct tare_nvml_processes *list)
{
	free(list->items);
	*list = (struct tare_nvml_processes){ 0 };
}
