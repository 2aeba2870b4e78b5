/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up symbols in the tables of loaded objects. */
#include "recorder/elf/elfsym.h"

#include <string.h>
#include <sys/auxv.h>

#include "recorder/base/scratch.h"
#include "recorder/elf/libc.h"

enum {
	VERSION_MASK = 0x7fff,
	VERSION_HIDDEN = 0x8000,
	VERSION_LOCAL = 0,
	VERSION_ANY = -1,
	VERSION_NONE = -2, /* the object has versions, and not this one */
	DYNAMIC_LIMIT = 4096,
};

/* From a pointer in the dynamic section to the end of its segment. */
struct table {
	const uint8_t *at;
	size_t size;
};

struct tables {
	struct table symtab, strtab, versym, verdef, gnu_hash, hash;
	size_t verdef_count;
};

/* Entry i of an array in a table, or NULL when it would lie outside. */
static const void *entry(const struct table *table, size_t i, size_t size)
{
	return i < table->size / size ? table->at + i * size : NULL;
}

/* What is behind the first `bytes` of a table; empty when it is shorter. */
static struct table behind(const struct table *table, size_t bytes)
{
	struct table rest = { NULL, 0 };

	if (bytes <= table->size) {
		rest.at = table->at + bytes;
		rest.size = table->size - bytes;
	}
	return rest;
}

/* glibc relocates most of these pointers in place, but none in the vdso. */
static struct table table_at(const struct tare_elf_object *obj, ElfW(Addr) value, size_t align)
{
	struct table table = { NULL, 0 };
	const uint8_t *begin, *end;
	uintptr_t addr = value >= obj->begin && value < obj->end ? value : obj->base + value;

	if (addr % align == 0 && tare_elf_segment(obj, addr, PF_R, &begin, &end)) {
		table.at = (const uint8_t *)addr;
		table.size = (size_t)(end - table.at);
	}
	return table;
}

static const ElfW(Dyn) * next_dynamic(const struct tare_elf_object *obj, const ElfW(Dyn) * dyn)
{
	const uint8_t *begin, *end;

	dyn = dyn ? dyn + 1 : obj->dynamic;
	if (!dyn || !tare_elf_segment(obj, (uintptr_t)dyn, PF_R, &begin, &end) ||
	    (size_t)(end - (const uint8_t *)dyn) < sizeof(*dyn) || dyn->d_tag == DT_NULL)
		return NULL;
	return dyn;
}

static void read_tables(const struct tare_elf_object *obj, struct tables *t)
{
	size_t strings = 0;

	memset(t, 0, sizeof(*t));
	for (const ElfW(Dyn) *dyn = NULL; (dyn = next_dynamic(obj, dyn));) {
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			t->symtab = table_at(obj, dyn->d_un.d_ptr, 8);
			break;
		case DT_STRTAB:
			t->strtab = table_at(obj, dyn->d_un.d_ptr, 1);
			break;
		case DT_STRSZ:
			strings = dyn->d_un.d_val;
			break;
		case DT_VERSYM:
			t->versym = table_at(obj, dyn->d_un.d_ptr, 2);
			break;
		case DT_VERDEF:
			t->verdef = table_at(obj, dyn->d_un.d_ptr, 1);
			break;
		case DT_VERDEFNUM:
			t->verdef_count = dyn->d_un.d_val;
			break;
		case DT_GNU_HASH:
			t->gnu_hash = table_at(obj, dyn->d_un.d_ptr, 8);
			break;
		case DT_HASH:
			t->hash = table_at(obj, dyn->d_un.d_ptr, 4);
			break;
		}
	}
	if (strings < t->strtab.size)
		t->strtab.size = strings;
}

static bool is_string(const struct tables *t, size_t offset, const char *text)
{
	size_t size = strlen(text) + 1;

	return offset < t->strtab.size && size <= t->strtab.size - offset && !memcmp(t->strtab.at + offset, text, size);
}

/* The number under which symbols carry `version`, or one of the negative VERSION_ values. */
static int find_version(const struct tables *t, const char *version)
{
	struct table rest = t->verdef;

	if (!version || !t->versym.at)
		return VERSION_ANY;
	for (size_t i = 0; i < t->verdef_count && rest.size >= sizeof(ElfW(Verdef)); i++) {
		ElfW(Verdef) def;
		ElfW(Verdaux) aux;
		struct table first;

		__builtin_memcpy(&def, rest.at, sizeof(def));
		first = behind(&rest, def.vd_aux);
		if (first.size < sizeof(aux))
			break;
		__builtin_memcpy(&aux, first.at, sizeof(aux));
		if (is_string(t, aux.vda_name, version))
			return def.vd_ndx & VERSION_MASK;
		if (!def.vd_next)
			break;
		rest = behind(&rest, def.vd_next);
	}
	return VERSION_NONE;
}

struct search {
	const struct tables *t;
	const char *name;
	int version;
	const ElfW(Sym) * second_choice; /* right name, hidden version */
};

/* The symbol if it is the wanted one; a symbol of second choice is kept in the search. */
static const ElfW(Sym) * consider(struct search *s, uint32_t index)
{
	const ElfW(Sym) *sym = entry(&s->t->symtab, index, sizeof(*sym));
	const ElfW(Half) *versym = entry(&s->t->versym, index, sizeof(*versym));
	unsigned int type;

	if (!sym || sym->st_shndx == SHN_UNDEF || !is_string(s->t, sym->st_name, s->name))
		return NULL;
	type = ELF64_ST_TYPE(sym->st_info);
	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL || type == STT_SECTION || type == STT_FILE || type == STT_TLS ||
	    (!sym->st_value && sym->st_shndx != SHN_ABS))
		return NULL;
	if (!versym)
		return sym;
	if ((*versym & VERSION_MASK) == VERSION_LOCAL)
		return NULL;
	if (s->version != VERSION_ANY)
		return (*versym & VERSION_MASK) == s->version ? sym : NULL;
	if (!(*versym & VERSION_HIDDEN))
		return sym;
	s->second_choice = sym;
	return NULL;
}

/*
 * Layout: bucket count B, index of the first symbol S, bloom words W, bloom shift; W 64-bit words;
 * B first indices; one word per symbol from S on: its hash, lowest bit set at the end of a bucket.
 */
static const ElfW(Sym) * search_gnu_hash(struct search *s)
{
	struct table rest = behind(&s->t->gnu_hash, 16), chains;
	const uint32_t *head = (const void *)s->t->gnu_hash.at, *index, *chain;
	const ElfW(Sym) * sym;
	const uint64_t *bloom;
	uint32_t hash = 5381;

	if (!rest.at || !head[0] || !head[2])
		return NULL;
	for (const char *p = s->name; *p; p++)
		hash = hash * 33 + (uint8_t)*p;
	bloom = entry(&rest, hash / 64 % head[2], sizeof(*bloom));
	if (!bloom || !(*bloom >> hash % 64 & 1) || !(*bloom >> (hash >> head[3] % 32) % 64 & 1))
		return NULL;
	rest = behind(&rest, (size_t)head[2] * sizeof(*bloom));
	chains = behind(&rest, (size_t)head[0] * sizeof(*index));
	index = entry(&rest, hash % head[0], sizeof(*index));
	if (!index || *index < head[1])
		return NULL;
	for (uint32_t i = *index; (chain = entry(&chains, i - head[1], sizeof(*chain))); i++) {
		sym = (*chain | 1) == (hash | 1) ? consider(s, i) : NULL;
		if (sym || *chain & 1)
			return sym;
	}
	return NULL;
}

/* Layout: bucket count B, symbol count N, B first indices, N next indices; 0 ends. */
static const ElfW(Sym) * search_hash(struct search *s)
{
	struct table rest = behind(&s->t->hash, 8), chains;
	const uint32_t *head = (const void *)s->t->hash.at, *next;
	const ElfW(Sym) * sym;
	uint32_t hash = 0;

	if (!rest.at || !head[0])
		return NULL;
	for (const char *p = s->name; *p; p++) {
		hash = (hash << 4) + (uint8_t)*p;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	chains = behind(&rest, (size_t)head[0] * sizeof(*next));
	next = entry(&rest, hash % head[0], sizeof(*next));
	/* A chain that is longer than there are symbols is a loop. */
	for (uint32_t left = head[1]; next && *next && left; left--) {
		sym = consider(s, *next);
		if (sym)
			return sym;
		next = entry(&chains, *next, sizeof(*next));
	}
	return NULL;
}

/* The function that the object's own resolver chooses for this processor. */
static void *resolve_indirect(uintptr_t resolver)
{
#if defined(__aarch64__)
	struct {
		unsigned long size, hwcap, hwcap2;
	} arg = { sizeof(arg), tare_libc()->auxiliary(AT_HWCAP), tare_libc()->auxiliary(AT_HWCAP2) };
	enum { ARG_FOLLOWS = 62 }; /* _IFUNC_ARG_HWCAP */
	void *(*resolve)(uint64_t, const void *) = (void *(*)(uint64_t, const void *))resolver;

	return resolve(arg.hwcap | 1ull << ARG_FOLLOWS, &arg);
#else
	void *(*resolve)(void) = (void *(*)(void))resolver;

	return resolve();
#endif
}

static const ElfW(Sym) * find(const struct tare_elf_object *obj, const char *name, const char *version)
{
	const ElfW(Sym) * sym;
	struct tables t;
	struct search s;

	read_tables(obj, &t);
	s = (struct search){ &t, name, find_version(&t, version), NULL };
	if (s.version == VERSION_NONE)
		return NULL;
	sym = t.gnu_hash.at ? search_gnu_hash(&s) : search_hash(&s);
	return sym ? sym : s.second_choice;
}

const ElfW(Sym) * tare_elf_entry(const struct tare_elf_object *obj, const char *name)
{
	return find(obj, name, NULL);
}

bool tare_elf_function(const struct tare_elf_object *obj, const char *name, struct tare_code *out)
{
	const ElfW(Sym) *sym = find(obj, name, NULL);

	if (!sym || ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_ABS)
		return false;
	out->begin = obj->base + sym->st_value;
	out->end = out->begin + sym->st_size;
	return true;
}

void *tare_elf_symbol(const struct tare_elf_object *obj, const char *name, const char *version)
{
	const uint8_t *begin, *end;
	const ElfW(Sym) *sym = find(obj, name, version);
	uintptr_t addr;

	if (!sym)
		return NULL;
	addr = sym->st_value + (sym->st_shndx == SHN_ABS ? 0 : obj->base);
	if (ELF64_ST_TYPE(sym->st_info) != STT_GNU_IFUNC)
		return (void *)addr;
	/* The resolver is going to be called, so it must be code of the object, whatever the table says. */
	return tare_elf_segment(obj, addr, PF_X, &begin, &end) ? resolve_indirect(addr) : NULL;
}

bool tare_elf_needs(const struct tare_elf_object *obj, const char *soname)
{
	struct tables t;

	read_tables(obj, &t);
	for (const ElfW(Dyn) *dyn = NULL; (dyn = next_dynamic(obj, dyn));)
		if (dyn->d_tag == DT_NEEDED && is_string(&t, dyn->d_un.d_val, soname))
			return true;
	return false;
}

struct find {
	const char *prefix;
	uintptr_t addr; /* inside the object; 0 = none */
};

static int match_name(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct find *f = arg;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (strncmp(file, f->prefix, strlen(f->prefix)) != 0)
		return 0;
	for (uint16_t i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		f->addr = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		return 1;
	}
	return 0;
}

/* The list of objects is sorted by address; load order is the linker's. Its lock is recursive. */
static void find_by_name(const struct tare_elf_object *obj, void *arg)
{
	(void)obj;
	tare_libc()->iterate_objects(match_name, arg);
}

bool tare_elf_find_object(const char *prefix, struct tare_elf_object *out)
{
	struct find f = { prefix, 0 };

	tare_objects_with(0, find_by_name, &f);
	return f.addr && tare_elf_object_at((const void *)f.addr, out);
}

struct all {
	uintptr_t addr[1024]; /* inside each object */
	int nr;
};

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct all *all = arg;

	(void)size;
	for (uint16_t i = 0; i < info->dlpi_phnum && all->nr < (int)(sizeof(all->addr) / sizeof(all->addr[0])); i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			all->addr[all->nr++] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			break;
		}
	return 0;
}

static void list_all(const struct tare_elf_object *obj, void *arg)
{
	(void)obj;
	tare_libc()->iterate_objects(add_object, arg);
}

void *tare_elf_find_symbol(const char *name, const void *except)
{
	struct all *all = tare_scratch_take(sizeof(*all));
	struct tare_elf_object object;
	void *wanted = NULL;

	if (!all)
		return NULL;
	tare_objects_with(0, list_all, all);
	for (int i = 0; i < all->nr && !wanted; i++) {
		void *found = NULL;

		if (tare_elf_object_at((const void *)all->addr[i], &object) && object.dynamic)
			found = tare_elf_symbol(&object, name, NULL);
		if (found != except)
			wanted = found;
	}
	tare_scratch_give(all, sizeof(*all));
	return wanted;
}

void *tare_elf_find_behind(const void *own, const char *name, struct tare_elf_object *in)
{
	struct all *all = tare_scratch_take(sizeof(*all));
	bool is_behind = false;
	void *found = NULL;

	if (!all)
		return NULL;
	tare_objects_with(0, list_all, all);
	for (int i = 0; i < all->nr && !found; i++) {
		if (!tare_elf_object_at((const void *)all->addr[i], in))
			continue;
		if (is_behind && in->dynamic)
			found = tare_elf_symbol(in, name, NULL);
		is_behind |= (uintptr_t)own >= in->begin && (uintptr_t)own < in->end;
	}
	tare_scratch_give(all, sizeof(*all));
	return found;
}

bool tare_elf_is_linked(uintptr_t caller, const char *soname)
{
	struct tare_elf_object object;

	return tare_elf_object_at((const void *)caller, &object) && tare_elf_needs(&object, soname);
}
