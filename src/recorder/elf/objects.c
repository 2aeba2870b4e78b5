/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the list of loaded objects, and finds the one that holds an address. */
#include "recorder/elf/objects.h"

#include <stdatomic.h>
#include <string.h>

#include "recorder/base/parts.h"
#include "recorder/elf/libc.h"
#include "recorder/elf/object_record.h"
#include "recorder/recorder.h"

enum {
	POLL_EVERY = 64, /* a power of two */
	READ_TRIES = 4,
};

struct slot {
	_Atomic uintptr_t begin, end;
	_Atomic(const struct tare_elf_object *) object;
};

/* The capacity belongs to the array: a torn read of (array, count) must not lead past its end. */
struct slots {
	uint32_t capacity;
	struct slot slot[];
};

/*
 * Sorted by begin. `version` is odd while it is written; readers then look again. What is read
 * between two looks at it is read with acquire and written with release, instead of fences.
 */
struct snapshot {
	_Atomic uint32_t version;
	_Atomic uint32_t count;
	_Atomic(struct slots *) slots;
};

/* Two, so that one rebuild does not disturb a reader of the published one. */
static struct snapshot snapshots[2];
static _Atomic(struct snapshot *) current = &snapshots[0];

struct tare_objects_epoch tare_objects_now TARE_HOT_DATA = { 1, 1 };
static _Atomic uint32_t visitors; /* threads inside the linker on our behalf */
static _Atomic bool is_frozen;
static TARE_TLS bool is_visiting, avoids;
static TARE_TLS uint32_t polls;

/*
 * Everything below is written only inside a callback of dl_iterate_phdr, that is under the linker's
 * own lock; it is recursive, and is_visiting keeps signal handlers out. `turns` orders one visit
 * after the other for those who do not know that lock (ThreadSanitizer).
 */
static _Atomic uint32_t turns;
static struct {
	uint64_t adds, subs;
	const struct tare_elf_object **list; /* where a new snapshot is put together */
	uint32_t count, capacity;
} loader;

bool tare_elf_segment(const struct tare_elf_object *obj, uintptr_t addr, uint32_t flags, const uint8_t **begin,
                      const uint8_t **end)
{
	for (uint16_t i = 0; i < obj->phnum; i++) {
		const ElfW(Phdr) *ph = &obj->phdr[i];

		if (ph->p_type != PT_LOAD || addr - (obj->base + ph->p_vaddr) >= ph->p_memsz)
			continue;
		if ((ph->p_flags & flags) != flags)
			return false;
		*begin = (const uint8_t *)(obj->base + ph->p_vaddr);
		*end = *begin + ph->p_memsz;
		return true;
	}
	return false;
}

static int collect(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *is_first = arg, is_main = *is_first && !*info->dlpi_name;
	const struct tare_elf_object *obj = tare_object_record(info, is_main);

	(void)size;
	*is_first = false;
	if (!obj)
		return 0;
	if (loader.count == loader.capacity) {
		uint32_t capacity = loader.capacity ? loader.capacity * 2 : 64;
		const struct tare_elf_object **list = tare_object_room(capacity * sizeof(*list));

		if (!list)
			return 1;
		if (loader.count)
			memcpy(list, loader.list, loader.count * sizeof(*list));
		loader.list = list;
		loader.capacity = capacity;
	}
	loader.list[loader.count++] = obj;
	return 0;
}

/* Shell's sort: short, in place, and good for the few hundred objects of a big program. */
static void sort_list(void)
{
	for (uint32_t gap = loader.count / 2; gap; gap /= 2) {
		for (uint32_t i = gap; i < loader.count; i++) {
			const struct tare_elf_object *obj = loader.list[i];
			uint32_t k = i;

			for (; k >= gap && loader.list[k - gap]->begin > obj->begin; k -= gap)
				loader.list[k] = loader.list[k - gap];
			loader.list[k] = obj;
		}
	}
}

static void publish(void)
{
	struct snapshot *now = atomic_load_explicit(&current, memory_order_relaxed);
	struct snapshot *next = now == &snapshots[0] ? &snapshots[1] : &snapshots[0];
	struct slots *slots = atomic_load_explicit(&next->slots, memory_order_relaxed);
	uint32_t version = atomic_load_explicit(&next->version, memory_order_relaxed);

	if (!slots || slots->capacity < loader.count) {
		slots = tare_object_room(sizeof(*slots) + loader.capacity * sizeof(slots->slot[0]));
		if (slots)
			slots->capacity = loader.capacity;
		else
			loader.count = 0; /* better to know none than one that is gone */
	}
	atomic_store_explicit(&next->version, version + 1, memory_order_relaxed);
	for (uint32_t i = 0; i < loader.count; i++) {
		const struct tare_elf_object *obj = loader.list[i];

		atomic_store_explicit(&slots->slot[i].begin, obj->begin, memory_order_release);
		atomic_store_explicit(&slots->slot[i].end, obj->end, memory_order_release);
		atomic_store_explicit(&slots->slot[i].object, obj, memory_order_release);
	}
	atomic_store_explicit(&next->slots, slots, memory_order_release);
	atomic_store_explicit(&next->count, loader.count, memory_order_release);
	atomic_store_explicit(&next->version, version + 2, memory_order_release);
	atomic_store_explicit(&current, next, memory_order_release);
}

static void refresh(uint64_t adds, uint64_t subs)
{
	bool is_first = true;

	loader.count = 0;
	/* Inside a callback already: the linker's lock is recursive, nobody comes between. */
	tare_libc()->iterate_objects(collect, &is_first);
	sort_list();
	publish();
	if (loader.subs != subs)
		__atomic_fetch_add(&tare_objects_now.unloads, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&tare_objects_now.changes, 1, __ATOMIC_RELEASE);
	loader.adds = adds;
	loader.subs = subs;
}

static const struct tare_elf_object *find_in(const struct snapshot *s, uintptr_t addr)
{
	const struct slots *slots = atomic_load_explicit(&s->slots, memory_order_acquire);
	uint32_t low = 0, high = atomic_load_explicit(&s->count, memory_order_acquire);

	if (!slots)
		return NULL;
	if (high > slots->capacity)
		high = slots->capacity;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (addr < atomic_load_explicit(&slots->slot[middle].begin, memory_order_acquire))
			high = middle;
		else
			low = middle + 1;
	}
	if (!low || addr >= atomic_load_explicit(&slots->slot[low - 1].end, memory_order_acquire))
		return NULL;
	return atomic_load_explicit(&slots->slot[low - 1].object, memory_order_acquire);
}

static const struct tare_elf_object *find_without_lock(uintptr_t addr)
{
	for (int i = 0; i < READ_TRIES; i++) {
		const struct snapshot *s = atomic_load_explicit(&current, memory_order_acquire);
		uint32_t version = atomic_load_explicit(&s->version, memory_order_acquire);
		const struct tare_elf_object *obj = find_in(s, addr);

		if (!(version & 1) && version == atomic_load_explicit(&s->version, memory_order_relaxed))
			return obj;
	}
	return NULL;
}

struct visit {
	uintptr_t addr;
	tare_objects_fn fn;
	void *arg;
};

/* Called with the first object only: its counters are what we are here for. */
static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *v = arg;
	const struct tare_elf_object *obj;
	uint32_t turn;

	(void)size;
	turn = atomic_load_explicit(&turns, memory_order_acquire);
	if (info->dlpi_adds != loader.adds || info->dlpi_subs != loader.subs)
		refresh(info->dlpi_adds, info->dlpi_subs);
	if (v->fn) {
		obj = find_in(atomic_load_explicit(&current, memory_order_relaxed), v->addr);
		v->fn(obj, v->arg);
	}
	atomic_store_explicit(&turns, turn + 1, memory_order_release);
	return 1;
}

/* The linker has no name of the program itself. */
static bool has_path(const struct tare_elf_object *obj, const char *path)
{
	return !*path || strcmp(obj->path, path) == 0;
}

/* The record of an object in the list, if the one that is loaded there now is the same: that has a path and a build id. */
static const struct tare_elf_object *recorded(const struct tare_elf_object *loaded)
{
	const struct tare_elf_object *obj = find_without_lock(loaded->begin);

	return obj && obj->base == loaded->base && obj->begin == loaded->begin && obj->end == loaded->end &&
	               obj->phdr == loaded->phdr && obj->dynamic == loaded->dynamic && has_path(obj, loaded->path)
	           ? obj
	           : loaded;
}

static bool with_loaded(uintptr_t addr, tare_objects_fn fn, void *arg)
{
	struct tare_elf_object loaded;
	enum tare_object_answer answer;

	if (is_visiting)
		return false;
	answer = tare_object_loaded(addr, &loaded);
	if (answer == TARE_OBJECT_NOT_KNOWN)
		return false;
	is_visiting = true;
	atomic_signal_fence(memory_order_seq_cst);
	fn(answer == TARE_OBJECT_THERE ? recorded(&loaded) : NULL, arg);
	atomic_signal_fence(memory_order_seq_cst);
	is_visiting = false;
	return true;
}

bool tare_objects_avoid_lock(void)
{
	bool before = avoids;

	avoids = true;
	return before;
}

void tare_objects_avoided_lock(bool before)
{
	avoids = before;
}

bool tare_objects_with(uintptr_t addr, tare_objects_fn fn, void *arg)
{
	struct visit v = { addr, fn, arg };

	if (unlikely(avoids))
		return fn && with_loaded(addr, fn, arg);
	if (is_visiting || atomic_load_explicit(&is_frozen, memory_order_relaxed))
		return false;
	is_visiting = true;
	atomic_fetch_add_explicit(&visitors, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	tare_libc()->iterate_objects(visit, &v);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_fetch_sub_explicit(&visitors, 1, memory_order_relaxed);
	is_visiting = false;
	return true;
}

static void copy_object(const struct tare_elf_object *obj, void *arg)
{
	struct tare_elf_object *out = arg;

	if (obj)
		*out = *obj;
}

bool tare_elf_object_at(const void *addr, struct tare_elf_object *out)
{
	struct tare_elf_object found;
	const struct tare_elf_object *obj;

	tare_objects_poll();
	obj = avoids ? NULL : find_without_lock((uintptr_t)addr);
	if (obj) {
		*out = *obj;
		return true;
	}
	found.path = NULL;
	tare_objects_with((uintptr_t)addr, copy_object, &found);
	if (!found.path)
		return false;
	*out = found;
	return true;
}

void tare_objects_changed(void)
{
	__atomic_fetch_add(&tare_objects_now.unloads, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&tare_objects_now.changes, 1, __ATOMIC_RELEASE);
	tare_objects_check();
}

void tare_objects_check(void)
{
	tare_objects_with(0, NULL, NULL);
}

void tare_objects_poll(void)
{
	if (!(polls++ % POLL_EVERY))
		tare_objects_check();
}

/*
 * The child has one thread. If another thread of the parent was inside the linker on our behalf,
 * the child's copy of the linker's lock may be held for good, and we must not touch it again.
 */
void tare_objects_forked(void)
{
	if (atomic_load_explicit(&visitors, memory_order_relaxed) != (is_visiting ? 1u : 0u))
		atomic_store_explicit(&is_frozen, true, memory_order_relaxed);
}
