/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps how much of a smaller card all recorded processes use. */
#include "recorder/vram/card.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/base/plib.h"
#include "recorder/base/proc.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/devices.h"
#include "recorder/cuda/real.h"
#include "recorder/log/degraded.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

enum { ABSENT = -1, UNKNOWN = 0 }; /* else 1 + the card */

static struct {
	uint32_t state; /* 0: not mapped yet, 1: mapped, 2: cannot be */
	struct tare_vram_file *file;
} vram;

/* Of this process. */
static struct {
	/* NULL: none was free, and nobody can give our bytes back */
	struct tare_vram_slot *slot;
	int slot_state; /* 0: not taken yet */
	int8_t card_of[TARE_WEIGH_DEVICES];
} mine;
TARE_OF_PROCESS(mine);

static struct tare_vram_file *map_file(void)
{
	int folder = tare_sys_open(tare_config.folder, O_PATH | O_DIRECTORY, 0), fd;
	struct tare_vram_file *file;

	fd = (int)tare_sys6(SYS_openat, folder, (long)"vram", O_RDWR | O_CLOEXEC, 0, 0, 0);
	tare_sys_close(folder);
	if (fd < 0)
		return NULL;
	file = tare_sys_mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	tare_sys_close(fd);
	if (file && (memcmp(file->magic, TARE_VRAM_MAGIC, sizeof(file->magic)) != 0 || file->version != TARE_VRAM_VERSION ||
	             file->card_nr > TARE_VRAM_CARDS)) {
		tare_sys_munmap(file, sizeof(*file));
		return NULL;
	}
	return file;
}

static struct tare_vram_file *file_of_recording(void)
{
	struct tare_vram_file *file = __atomic_load_n(&vram.file, __ATOMIC_ACQUIRE), *none = NULL;

	if (likely(file) || !tare_config.has_limit || vram.state == 2)
		return file;
	file = map_file();
	if (!file) {
		vram.state = 2;
		tare_degraded("the limit of --vram cannot be kept: its file in the recording cannot be mapped", NULL);
		return NULL;
	}
	if (__atomic_compare_exchange_n(&vram.file, &none, file, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return file;
	tare_sys_munmap(file, sizeof(*file)); /* another thread was first */
	return none;
}

/* ---- slots ---- */

/* 0: there is no such process, or it is over and not yet waited for. */
static uint64_t start_ticks_of(uint32_t pid)
{
	char path[64], state;
	uint64_t ticks;

	tare_plib_format(path, sizeof(path), "/proc/%u/stat", pid);
	ticks = tare_proc_start_ticks(path, &state);
	return state == 'Z' || state == 'X' ? 0 : ticks;
}

static void give_back(struct tare_vram_file *file, struct tare_vram_slot *slot)
{
	uint32_t i;

	for (i = 0; i < file->card_nr; i++) {
		uint64_t units = __atomic_exchange_n(&slot->parts[i].under_way, 0, __ATOMIC_ACQ_REL);

		if (units)
			__atomic_fetch_sub(&file->cards[i].word, units, __ATOMIC_ACQ_REL);
		__atomic_store_n(&slot->parts[i].uncounted, 0, __ATOMIC_RELEASE);
	}
}

static bool is_gone(const struct tare_vram_slot *slot, uint64_t namespace)
{
	uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);

	/* Of another pid namespace nothing can be said. */
	return pid && slot->start_ticks && slot->pid_namespace == namespace && start_ticks_of(pid) != slot->start_ticks;
}

static void reclaim_slot(struct tare_vram_file *file, struct tare_vram_slot *slot, uint64_t namespace)
{
	uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);

	if (slot == mine.slot || !is_gone(slot, namespace))
		return;
	slot->start_ticks = 0; /* whoever looks now leaves it alone */
	give_back(file, slot);
	__atomic_compare_exchange_n(&slot->pid, &pid, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void tare_vram_reclaim(void)
{
	struct tare_vram_file *file = file_of_recording();
	uint64_t namespace = tare_proc_pid_namespace();
	uint32_t i;

	for (i = 0; file && i < __atomic_load_n(&file->slot_nr, __ATOMIC_ACQUIRE); i++)
		reclaim_slot(file, &file->slots[i], namespace);
}

/* The slot that an earlier program of this process had, else a free one. */
static struct tare_vram_slot *find_slot(struct tare_vram_file *file, uint32_t pid, uint64_t ticks, uint64_t namespace)
{
	uint32_t i, high;

	for (i = 0; i < __atomic_load_n(&file->slot_nr, __ATOMIC_ACQUIRE); i++) {
		struct tare_vram_slot *slot = &file->slots[i];

		if (slot->pid == pid && slot->start_ticks == ticks && slot->pid_namespace == namespace) {
			give_back(file, slot);
			return slot;
		}
	}
	for (i = 0; i < TARE_VRAM_SLOTS; i++) {
		struct tare_vram_slot *slot = &file->slots[i];
		uint32_t none = 0;

		if (!__atomic_compare_exchange_n(&slot->pid, &none, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		slot->pid_namespace = namespace;
		slot->start_ticks = ticks;
		high = __atomic_load_n(&file->slot_nr, __ATOMIC_RELAXED);
		while (high < i + 1 &&
		       !__atomic_compare_exchange_n(&file->slot_nr, &high, i + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		return slot;
	}
	return NULL;
}

static struct tare_vram_slot *own_slot(void)
{
	struct tare_vram_file *file = file_of_recording();
	int none = 0;

	if (likely(__atomic_load_n(&mine.slot_state, __ATOMIC_ACQUIRE) == 2))
		return mine.slot;
	if (!file || !__atomic_compare_exchange_n(&mine.slot_state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return NULL; /* another thread takes it right now: this one call goes without */
	mine.slot = find_slot(file, tare_sys_getpid(), start_ticks_of(tare_sys_getpid()), tare_proc_pid_namespace());
	__atomic_store_n(&mine.slot_state, 2, __ATOMIC_RELEASE);
	return mine.slot;
}

static int number_of(const struct tare_vram_card *card)
{
	return (int)(card - vram.file->cards);
}

void tare_vram_under_way(struct tare_vram_card *card, int64_t units)
{
	struct tare_vram_slot *slot = own_slot();

	if (slot)
		__atomic_fetch_add(&slot->parts[number_of(card)].under_way, (uint64_t)units, __ATOMIC_ACQ_REL);
}

void tare_vram_add_uncounted(struct tare_vram_card *card, int ordinal, int64_t bytes)
{
	struct tare_vram_slot *slot = own_slot();
	int64_t sum;

	if (!slot || !bytes)
		return;
	sum = __atomic_add_fetch(&slot->parts[number_of(card)].uncounted, bytes, __ATOMIC_ACQ_REL);
	if (tare_thread.depth > 0)
		tare_emit_uncounted(&(struct tare_rec_uncounted){ .device = ordinal, .bytes = sum }, tare_clock_ticks());
}

/* Records the card that a device stands for, if it stands for one. */
void tare_vram_device(int ordinal)
{
	const struct tare_vram_card *card = tare_vram_card(ordinal);
	struct tare_rec_card rec;

	if (!card)
		return;
	memset(&rec, 0, sizeof(rec));
	rec.device = ordinal;
	rec.has_profile = card->has_profile;
	rec.total = card->total;
	rec.reserved = card->reserved;
	rec.context = card->context;
	rec.multiprocessors = card->multiprocessors;
	rec.threads_per_multiprocessor = card->threads_per_multiprocessor;
	tare_emit_card(&rec, card->name);
}

/* ---- cards ---- */
struct tare_vram_card *tare_vram_card_of_uuid(const uint8_t uuid[16])
{
	struct tare_vram_file *file = file_of_recording();
	uint64_t high = 0, low = 0;
	uint32_t i;

	for (i = 0; i < 8; i++) {
		high = high << 8 | uuid[i];
		low = low << 8 | uuid[i + 8];
	}
	for (i = 0; file && i < file->card_nr; i++)
		if ((high | low) && file->cards[i].uuid_high == high && file->cards[i].uuid_low == low)
			return &file->cards[i];
	return NULL;
}

static struct tare_vram_card *find_card(struct tare_vram_file *file, int ordinal)
{
	struct tare_vram_card *card;
	uint8_t uuid[16];
	uint32_t i;

	tare_devices_uuid(ordinal, uuid);
	card = tare_vram_card_of_uuid(uuid);
	for (i = 0; !card && i < file->card_nr; i++)
		if (!file->cards[i].uuid_high && !file->cards[i].uuid_low && file->cards[i].index == ordinal)
			card = &file->cards[i];
	return card;
}

/* A card that is larger than the GPU would promise what is not there. */
static bool is_smaller(const struct tare_vram_card *card, int ordinal)
{
	size_t total = 0;

	if (!tare_driver.cuDeviceTotalMem_v2 || tare_driver.cuDeviceTotalMem_v2(&total, ordinal) != CUDA_SUCCESS)
		return true;
	if (tare_vram_room(card) <= total)
		return true;
	tare_degraded("--vram is larger than this GPU, which stays as it is", NULL);
	return false;
}

struct tare_vram_card *tare_vram_card(int ordinal)
{
	struct tare_vram_file *file = file_of_recording();
	struct tare_vram_card *card;
	int8_t known;

	if (!file || ordinal < 0 || ordinal >= TARE_WEIGH_DEVICES)
		return NULL;
	known = __atomic_load_n(&mine.card_of[ordinal], __ATOMIC_RELAXED);
	if (likely(known > 0))
		return &file->cards[known - 1];
	if (known == ABSENT || tare_devices_count() == 0)
		return NULL;
	card = find_card(file, ordinal);
	if (card && !is_smaller(card, ordinal))
		card = NULL;
	__atomic_store_n(&mine.card_of[ordinal], card ? (int8_t)(number_of(card) + 1) : (int8_t)ABSENT, __ATOMIC_RELAXED);
	return card;
}

/* ---- what is used ---- */
static int64_t uncounted_on(const struct tare_vram_card *card)
{
	struct tare_vram_file *file = vram.file;
	uint32_t i, nr = __atomic_load_n(&file->slot_nr, __ATOMIC_ACQUIRE);
	int n = number_of(card);
	int64_t sum = 0;

	for (i = 0; i < nr; i++) {
		struct tare_vram_slot *slot = &file->slots[i];
		int64_t part = __atomic_load_n(&slot->parts[n].uncounted, __ATOMIC_ACQUIRE);

		/* The device forgets a process that is killed, and so must this sum. */
		if (unlikely(part && slot != mine.slot) && is_gone(slot, tare_proc_pid_namespace())) {
			reclaim_slot(file, slot, tare_proc_pid_namespace());
			continue;
		}
		sum += part;
	}
	return sum;
}

uint64_t tare_vram_used_from(const struct tare_vram_card *card, uint64_t device_used)
{
	int64_t uncounted = uncounted_on(card);

	return uncounted > 0 && (uint64_t)uncounted > device_used ? 0 : device_used - (uint64_t)uncounted;
}

/* In the words of NVML's second version: without the driver's reserve. */
static uint64_t device_used(int ordinal)
{
	struct tare_weigh_memory memory;
	size_t free_bytes, total = 0;

	if (tare_weigh_memory(tare_devices_nvml_index(ordinal), &memory)) {
		if (!memory.is_v1)
			return memory.used;
		/* CUDA's total is what is left when the driver has its reserve. */
		if (tare_driver.cuDeviceTotalMem_v2 && tare_driver.cuDeviceTotalMem_v2(&total, ordinal) == CUDA_SUCCESS &&
		    total <= memory.total && memory.total - total <= memory.used)
			return memory.used - (memory.total - total);
	}
	if (tare_driver.cuMemGetInfo_v2 && tare_driver.cuMemGetInfo_v2(&free_bytes, &total) == CUDA_SUCCESS)
		return total - free_bytes;
	return TARE_NOT_KNOWN;
}

uint64_t tare_vram_used(const struct tare_vram_card *card, int ordinal)
{
	uint64_t used = device_used(ordinal);

	return used == TARE_NOT_KNOWN ? used : tare_vram_used_from(card, used);
}
