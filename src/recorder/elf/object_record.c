/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a copy of what is known of each object that was seen, for good. */
#include "recorder/elf/object_record.h"

#include <string.h>

#include "recorder/base/sys.h"

enum {
	BUCKETS = 256,
	PATH_LIMIT = 4096,
	ROOM_CHUNK = 64 << 10,
	ROOM_LIMIT = 16 << 20, /* a program that loads libraries without end */
};

struct record {
	struct tare_elf_object obj;
	struct record *same_bucket;
	bool is_main;
	char path[];
};

static struct record *buckets[BUCKETS];

static struct {
	uint8_t *at, *end;
	size_t total;
} room;

void *tare_object_room(size_t size)
{
	uint8_t *p;

	size = (size + 15) & ~(size_t)15;
	if ((size_t)(room.end - room.at) < size) {
		size_t chunk = size > ROOM_CHUNK ? (size + 4095) & ~(size_t)4095 : ROOM_CHUNK;

		if (room.total + chunk > ROOM_LIMIT)
			return NULL;
		p = tare_sys_mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!p)
			return NULL;
		room.at = p;
		room.end = p + chunk;
		room.total += chunk;
	}
	p = room.at;
	room.at += size;
	return p;
}

static void read_build_id(struct tare_elf_object *obj, const ElfW(Phdr) * ph)
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

bool tare_object_describe(const struct dl_phdr_info *info, struct tare_elf_object *obj)
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

static bool is_same(const struct record *r, const struct tare_elf_object *obj, bool is_main, const char *path)
{
	return r->obj.base == obj->base && r->obj.begin == obj->begin && r->obj.end == obj->end &&
	       r->obj.phdr == obj->phdr && r->obj.phnum == obj->phnum && r->obj.dynamic == obj->dynamic &&
	       r->obj.build_id_size == obj->build_id_size &&
	       !memcmp(r->obj.build_id, obj->build_id, sizeof(obj->build_id)) && r->is_main == is_main &&
	       (is_main || !strcmp(r->path, path));
}

const struct tare_elf_object *tare_object_record(const struct dl_phdr_info *info, bool is_main)
{
	const char *path = info->dlpi_name;
	struct tare_elf_object obj;
	struct record **bucket, *r;
	size_t size;

	if (!tare_object_describe(info, &obj))
		return NULL;
	bucket = &buckets[(obj.begin >> 12) % BUCKETS];
	for (r = *bucket; r; r = r->same_bucket)
		if (is_same(r, &obj, is_main, path))
			return &r->obj;
	size = is_main ? PATH_LIMIT : strnlen(path, PATH_LIMIT - 1) + 1;
	r = tare_object_room(sizeof(*r) + size);
	if (!r)
		return NULL;
	if (is_main) { /* the linker has no name for the program */
		long n = tare_sys6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)r->path, PATH_LIMIT - 1, 0, 0);

		r->path[n > 0 ? n : 0] = '\0';
	} else {
		memcpy(r->path, path, size - 1);
		r->path[size - 1] = '\0';
	}
	r->obj = obj;
	r->obj.path = r->path;
	r->is_main = is_main;
	r->same_bucket = *bucket;
	*bucket = r;
	return &r->obj;
}
