/* SPDX-License-Identifier: Apache-2.0 */
/* Lets NVML tell the size of a smaller card to the program. */
#include "recorder/base/parts.h"

#include <errno.h>
#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/elf/elfsym.h"
#include "recorder/recorder.h"
#include "recorder/vram/card.h"
#include "record/nvml_abi.h"

/* Exported, for programs that are linked with NVML. */
TARE_EXPORT int nvmlDeviceGetMemoryInfo(nvml_device dev, struct nvml_memory_v1 *memory);
TARE_EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_device dev, struct nvml_memory_v2 *memory);

static const struct {
	const char *name;
	void *hook;
} hooks[] = {
	{ "nvmlDeviceGetMemoryInfo", (void *)nvmlDeviceGetMemoryInfo },
	{ "nvmlDeviceGetMemoryInfo_v2", (void *)nvmlDeviceGetMemoryInfo_v2 },
};

static void *hook_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (strcmp(hooks[i].name, name) == 0)
			return hooks[i].hook;
	return NULL;
}

bool tare_nvml_is_hooked(const char *name)
{
	return name[0] == 'n' && hook_of(name);
}

/* NVML's own; NULL: it is not loaded. */
static void *real_of(const char *name)
{
	struct tare_elf_object library;

	return tare_elf_find_object("libnvidia-ml.so", &library) ? tare_elf_symbol(&library, name, NULL) : NULL;
}

void *tare_nvml_swap(const char *name, void *found)
{
	return tare_config.has_limit && found == real_of(name) ? hook_of(name) : found;
}

void *tare_nvml_needed(const char *symbol, uintptr_t caller)
{
	return tare_elf_is_linked(caller, "libnvidia-ml.so.1") ? real_of(symbol) : NULL;
}

static struct {
	int (*uuid)(nvml_device dev, char *text, unsigned int size);
	int (*memory)(nvml_device dev, struct nvml_memory_v1 *memory);
	int (*memory_v2)(nvml_device dev, struct nvml_memory_v2 *memory);
} real;

/* Each thread that comes first finds the same. */
static bool resolve(void)
{
	if (likely(__atomic_load_n((void **)&real.memory, __ATOMIC_ACQUIRE)))
		return true;
	tare_start_once();
	*(void **)&real.uuid = real_of("nvmlDeviceGetUUID");
	*(void **)&real.memory_v2 = real_of("nvmlDeviceGetMemoryInfo_v2");
	__atomic_store_n((void **)&real.memory, real_of("nvmlDeviceGetMemoryInfo"), __ATOMIC_RELEASE);
	return real.memory;
}

static const struct tare_vram_card *card_of(nvml_device dev)
{
	uint8_t uuid[16];
	char text[96];
	const char *hex;

	if (likely(!tare_config.has_limit) || tare_thread.depth > 0 || !real.uuid ||
	    real.uuid(dev, text, sizeof(text)) != 0)
		return NULL;
	hex = tare_plib_first(text, '-'); /* "GPU-…", "MIG-…" */
	return hex && tare_plib_parse_uuid(hex, uuid) ? tare_vram_card_of_uuid(uuid) : NULL;
}

/* What counts on the card, at most all of it: its sum must hold. */
static uint64_t used_on(const struct tare_vram_card *card, uint64_t device_used)
{
	uint64_t used = tare_vram_used_from(card, device_used), room = tare_vram_room(card);

	return used < room ? used : room;
}

int nvmlDeviceGetMemoryInfo_v2(nvml_device dev, struct nvml_memory_v2 *memory)
{
	const struct tare_vram_card *card;
	int result, saved_errno;

	if (unlikely(!resolve()) || !real.memory_v2)
		return NVML_UNINITIALIZED;
	result = real.memory_v2(dev, memory);
	saved_errno = errno;
	card = result == NVML_SUCCESS ? card_of(dev) : NULL;
	if (card) {
		memory->used = used_on(card, nvml_used_of_programs(memory));
		memory->total = card->total;
		memory->reserved = card->reserved;
		memory->free = card->total - card->reserved - memory->used;
	}
	errno = saved_errno;
	return result;
}

int nvmlDeviceGetMemoryInfo(nvml_device dev, struct nvml_memory_v1 *memory)
{
	struct nvml_memory_v2 v2 = { .version = NVML_MEMORY_V2 };
	const struct tare_vram_card *card;
	int result, saved_errno;

	if (unlikely(!resolve()))
		return NVML_UNINITIALIZED;
	result = real.memory(dev, memory);
	saved_errno = errno;
	card = result == NVML_SUCCESS ? card_of(dev) : NULL;
	if (card) {
		/* This record counts the reserve as used; the newer one says how much it is. */
		if (real.memory_v2 && real.memory_v2(dev, &v2) == NVML_SUCCESS && memory->used >= v2.reserved)
			memory->used -= v2.reserved;
		memory->total = card->total;
		memory->used = used_on(card, memory->used) + card->reserved;
		memory->free = card->total - memory->used;
	}
	errno = saved_errno;
	return result;
}
