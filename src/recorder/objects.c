/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/objects.h"

#include <stdatomic.h>
#include <string.h>

#include "recorder/recorder.h"
#include "recorder/sys.h"

enum {
	POLL_EVERY = 64, /* a power of two */
	BUCKETS = 256,
	READ_TRIES = 4,
	ARENA_CHUNK = 64 << 10,
	ARENA_LIMIT = 16 << 20, /* a program that loads libraries without end */
	PATH_LIMIT = 4096,
};

/*
 * One object, as it was when first seen at that address. Never changed, never freed. A library that
 * is unloaded and loaded again at the same place finds its record again.
 */
struct record {
	struct tare_elf_object obj;
	struct record *same_bucket;
	bool is_main;
	char path[];
};

struct slot {
	_Atomic uintptr_t begin, end;
	_Atomic(const struct record *) record;
};

/* The capacity belongs to the array: a torn read of (array, count) must not lead past its end. */
struct slots {
	uint32_t capacity;
	struct slot slot[];
};

/* Sorted by begin. `version` is odd while it is written; readers then look again. */
struct snapshot {
	_Atomic uint32_t version;
	_Atomic uint32_t count;
	_Atomic(struct slots *) slots;
};

/* Two, so that one rebuild does not disturb a reader of the published one. */
static struct snapshot snapshots[2];
static _Atomic(struct snapshot *) current = &snapshots[0];

static _Atomic uint64_t unload_epoch = 1, change_epoch = 1;
static _Atomic uint32_t visitors; /* threads inside the linker on our behalf */
static _Atomic bool is_frozen;
static TARE_TLS bool is_visiting;
static TARE_TLS uint32_t polls;

/*
 * Everything below is written only inside a callback of dl_iterate_phdr, that is under the linker's
 * own lock; it is recursive, and is_visiting keeps signal handlers out.
 */
static struct {
	uint64_t adds, subs;
	struct record *bucket[BUCKETS];
	const struct record **list; /* where a new snapshot is put together */
	uint32_t count, capacity;
	uint8_t *arena, *arena_end;
	size_t arena_total;
} loader;

static void *take(size_t size)
{
	uint8_t *p;

	size = (size + 15) & ~(size_t)15;
	if ((size_t)(loader.arena_end - loader.arena) < size) {
		size_t chunk = size > ARENA_CHUNK ? (size + 4095) & ~(size_t)4095 : ARENA_CHUNK;

		if (loader.arena_total + chunk > ARENA_LIMIT)
			return NULL;
		p = tare_sys_mmap(NULL, chunk, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!p)
			return NULL;
		loader.arena = p;
		loader.arena_end = p + chunk;
		loader.arena_total += chunk;
	}
	p = loader.arena;
	loader.arena += size;
	return p;
}

bool tare_elf_segment(const struct tare_elf_object *obj, uintptr_t addr, uint32_t flags,
		      const uint8_t **begin, const uint8_t **end)
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

static void read_build_id(struct tare_elf_object *obj, const ElfW(Phdr) *ph)
{
	const uint8_t *begin, *end, *p = (const uint8_t *)(obj->base + ph->p_vaddr);

	if (!tare_elf_segment(obj, (uintptr_t)p, PF_R, &begin, &end))
		return;
	if (ph->p_memsz < (size_t)(end - p))
		end = p + ph->p_memsz;
	while ((size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t name, desc;

		__builtin_memcpy(&note, p, sizeof(note));
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		p += sizeof(note);
		if (name + desc > (size_t)(end - p))
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(p, "GNU", 4)) {
			size_t size = note.n_descsz;

			if (size > sizeof(obj->build_id))
				size = sizeof(obj->build_id);
			memcpy(obj->build_id, p + name, size);
			obj->build_id_size = (uint8_t)size;
			return;
		}
		p += name + desc;
	}
}

/* Returns false for an object without memory. */
static bool describe(const struct dl_phdr_info *info, struct tare_elf_object *obj)
{
	memset(obj, 0, sizeof(*obj));
	obj->base = info->dlpi_addr;
	obj->phdr = info->dlpi_phdr;
	obj->phnum = info->dlpi_phnum;
	obj->begin = UINTPTR_MAX;
	for (uint16_t i = 0; i < obj->phnum; i++) {
		const ElfW(Phdr) *ph = &obj->phdr[i];
		uintptr_t at = obj->base + ph->p_vaddr;

		if (ph->p_type == PT_DYNAMIC)
			obj->dynamic = (const ElfW(Dyn) *)at;
		if (ph->p_type != PT_LOAD || !ph->p_memsz)
			continue;
		if (at < obj->begin)
			obj->begin = at;
		if (at + ph->p_memsz > obj->end)
			obj->end = at + ph->p_memsz;
	}
	if (obj->begin >= obj->end)
		return false;
	for (uint16_t i = 0; i < obj->phnum && !obj->build_id_size; i++)
		if (obj->phdr[i].p_type == PT_NOTE)
			read_build_id(obj, &obj->phdr[i]);
	return true;
}

static bool is_same(const struct record *r, const struct tare_elf_object *obj, bool is_main,
		    const char *path)
{
	return r->obj.base == obj->base && r->obj.begin == obj->begin && r->obj.end == obj->end &&
	       r->obj.phdr == obj->phdr && r->obj.phnum == obj->phnum &&
	       r->obj.dynamic == obj->dynamic && r->obj.build_id_size == obj->build_id_size &&
	       !memcmp(r->obj.build_id, obj->build_id, sizeof(obj->build_id)) &&
	       r->is_main == is_main && (is_main || !strcmp(r->path, path));
}

static const struct record *record_of(const struct tare_elf_object *obj, bool is_main,
				      const char *path)
{
	struct record **bucket = &loader.bucket[(obj->begin >> 12) % BUCKETS], *r;
	char exe[PATH_LIMIT];
	size_t size;

	for (r = *bucket; r; r = r->same_bucket)
		if (is_same(r, obj, is_main, path))
			return r;
	if (is_main) { /* the linker has no name for the program */
		long n = tare_sys6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)exe,
				   sizeof(exe) - 1, 0, 0);

		exe[n > 0 ? n : 0] = '\0';
		path = exe;
	}
	size = strnlen(path, PATH_LIMIT - 1) + 1;
	r = take(sizeof(*r) + size);
	if (!r)
		return NULL;
	memcpy(r->path, path, size - 1);
	r->path[size - 1] = '\0';
	r->obj = *obj;
	r->obj.path = r->path;
	r->is_main = is_main;
	r->same_bucket = *bucket;
	*bucket = r;
	return r;
}

static int collect(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *is_first = arg, is_main = *is_first && !*info->dlpi_name;
	struct tare_elf_object obj;
	const struct record *r;

	(void)size;
	*is_first = false;
	if (!describe(info, &obj))
		return 0;
	r = record_of(&obj, is_main, info->dlpi_name);
	if (!r)
		return 0;
	if (loader.count == loader.capacity) {
		uint32_t capacity = loader.capacity ? loader.capacity * 2 : 64;
		const struct record **list = take(capacity * sizeof(*list));

		if (!list)
			return 1;
		if (loader.count)
			memcpy(list, loader.list, loader.count * sizeof(*list));
		loader.list = list;
		loader.capacity = capacity;
	}
	loader.list[loader.count++] = r;
	return 0;
}

/* Shell's sort: short, in place, and good for the few hundred objects of a big program. */
static void sort_list(void)
{
	for (uint32_t gap = loader.count / 2; gap; gap /= 2) {
		for (uint32_t i = gap; i < loader.count; i++) {
			const struct record *r = loader.list[i];
			uint32_t k = i;

			for (; k >= gap && loader.list[k - gap]->obj.begin > r->obj.begin; k -= gap)
				loader.list[k] = loader.list[k - gap];
			loader.list[k] = r;
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
		slots = take(sizeof(*slots) + loader.capacity * sizeof(slots->slot[0]));
		if (!slots)
			return;
		slots->capacity = loader.capacity;
	}
	atomic_store_explicit(&next->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (uint32_t i = 0; i < loader.count; i++) {
		const struct record *r = loader.list[i];

		atomic_store_explicit(&slots->slot[i].begin, r->obj.begin, memory_order_relaxed);
		atomic_store_explicit(&slots->slot[i].end, r->obj.end, memory_order_relaxed);
		atomic_store_explicit(&slots->slot[i].record, r, memory_order_relaxed);
	}
	atomic_store_explicit(&next->slots, slots, memory_order_release);
	atomic_store_explicit(&next->count, loader.count, memory_order_relaxed);
	atomic_store_explicit(&next->version, version + 2, memory_order_release);
	atomic_store_explicit(&current, next, memory_order_release);
}

static void refresh(uint64_t adds, uint64_t subs)
{
	bool is_first = true;

	loader.count = 0;
	/* Inside a callback already: the linker's lock is recursive, and nobody can come between. */
	dl_iterate_phdr(collect, &is_first);
	sort_list();
	publish();
	if (loader.subs != subs)
		atomic_fetch_add_explicit(&unload_epoch, 1, memory_order_release);
	atomic_fetch_add_explicit(&change_epoch, 1, memory_order_release);
	loader.adds = adds;
	loader.subs = subs;
}

static const struct record *find_in(const struct snapshot *s, uintptr_t addr)
{
	const struct slots *slots = atomic_load_explicit(&s->slots, memory_order_acquire);
	uint32_t low = 0, high = atomic_load_explicit(&s->count, memory_order_relaxed);

	if (!slots)
		return NULL;
	if (high > slots->capacity)
		high = slots->capacity;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (addr < atomic_load_explicit(&slots->slot[middle].begin, memory_order_relaxed))
			high = middle;
		else
			low = middle + 1;
	}
	if (!low || addr >= atomic_load_explicit(&slots->slot[low - 1].end, memory_order_relaxed))
		return NULL;
	return atomic_load_explicit(&slots->slot[low - 1].record, memory_order_relaxed);
}

static const struct record *find_without_lock(uintptr_t addr)
{
	for (int i = 0; i < READ_TRIES; i++) {
		const struct snapshot *s = atomic_load_explicit(&current, memory_order_acquire);
		uint32_t version = atomic_load_explicit(&s->version, memory_order_acquire);
		const struct record *r = find_in(s, addr);

		atomic_thread_fence(memory_order_acquire);
		if (!(version & 1) &&
		    version == atomic_load_explicit(&s->version, memory_order_relaxed))
			return r;
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
	const struct record *r;

	(void)size;
	if (info->dlpi_adds != loader.adds || info->dlpi_subs != loader.subs)
		refresh(info->dlpi_adds, info->dlpi_subs);
	if (v->fn) {
		r = find_in(atomic_load_explicit(&current, memory_order_relaxed), v->addr);
		v->fn(r ? &r->obj : NULL, v->arg);
	}
	return 1;
}

bool tare_objects_with(uintptr_t addr, tare_objects_fn fn, void *arg)
{
	struct visit v = {addr, fn, arg};

	if (is_visiting || atomic_load_explicit(&is_frozen, memory_order_relaxed))
		return false;
	is_visiting = true;
	atomic_fetch_add_explicit(&visitors, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	dl_iterate_phdr(visit, &v);
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
	const struct record *r;

	tare_objects_poll();
	r = find_without_lock((uintptr_t)addr);
	if (r) {
		*out = r->obj;
		return true;
	}
	found.path = NULL;
	tare_objects_with((uintptr_t)addr, copy_object, &found);
	if (!found.path)
		return false;
	*out = found;
	return true;
}

struct tare_objects_epoch tare_objects_epoch(void)
{
	struct tare_objects_epoch epoch;

	epoch.unloads = atomic_load_explicit(&unload_epoch, memory_order_acquire);
	epoch.changes = atomic_load_explicit(&change_epoch, memory_order_relaxed);
	return epoch;
}

void tare_objects_changed(void)
{
	atomic_fetch_add_explicit(&unload_epoch, 1, memory_order_release);
	atomic_fetch_add_explicit(&change_epoch, 1, memory_order_release);
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
void tare_objects_after_fork(void)
{
	if (atomic_load_explicit(&visitors, memory_order_relaxed) != (is_visiting ? 1u : 0u))
		atomic_store_explicit(&is_frozen, true, memory_order_relaxed);
}
