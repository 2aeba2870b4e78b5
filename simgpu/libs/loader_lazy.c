/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a loaded object finds when it calls them first, and that the simulated libraries do not have: the linker
 * would end the program there. Such a slot of the object's table gets a function that fails, and tells which it is.
 */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/libs/loader.h"
#include "simgpu/sim_tell.h"

enum { MISSING_MAX = 64, NEEDED_MAX = 32 };

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#endif

static struct {
	const char *name, *file;
} missing[MISSING_MAX];
static int missing_nr;

struct object {
	uintptr_t base;
	const char *file, *names;
	const ElfW(Sym) * symbols;
	const ElfW(Rela) * slots;
	size_t slots_bytes;
	const ElfW(Versym) * versions;
	const ElfW(Verneed) * needs;
	const char *needed[NEEDED_MAX]; /* simulated libraries that it is linked with */
	int needed_nr;
};

/* Of these no version says which library a name is asked of, for they have no version nodes: what their names begin with. */
static const struct {
	const char *prefix, *library;
} bare[] = {
	{ "nccl", "libnccl.so." },     { "pnccl", "libnccl.so." },     { "cusparseLt", "libcusparseLt.so." },
	{ "cuFile", "libcufile.so." }, { "nvml", "libnvidia-ml.so." }, { "cu", "libcuda.so." },
};

/* What fails in each of them: a number that its documented errors have for "not supported". */
static int result_of(const char *name)
{
	static const struct {
		const char *prefix;
		int result;
	} results[] = { { "cudnn", 9 },     { "cuda", 801 }, { "cublas", 15 }, { "cufft", 16 }, { "cusolver", 9 },
		            { "cusparse", 10 }, { "nccl", 5 },   { "pnccl", 5 },   { "nvml", 3 } };
	size_t i;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (strncmp(name, results[i].prefix, strlen(results[i].prefix)) == 0)
			return results[i].result;
	return 801;
}

/* Called by the stubs below. */
__attribute__((visibility("hidden"), used)) long tare_sim_missing_called(int i);

long tare_sim_missing_called(int i)
{
	sim_tell(SIM_TELL_CALL, missing[i].name, missing[i].file);
	return result_of(missing[i].name);
}

/* One for each missing function, 16 bytes long. */
extern const char tare_sim_missing_stubs[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        "tare_sim_missing_stubs:\n"
        ".set tare_sim_i, 0\n"
        ".rept 64\n"
        ".p2align 4\n"
#if defined(__x86_64__)
        "endbr64\n"
        "movl $tare_sim_i, %edi\n"
        "jmp tare_sim_missing_called\n"
#elif defined(__aarch64__)
        "hint #34\n" /* bti c */
        "mov w0, #tare_sim_i\n"
        "b tare_sim_missing_called\n"
#endif
        ".set tare_sim_i, tare_sim_i + 1\n"
        ".endr\n"
        ".p2align 4\n");

static void read_needed(const ElfW(Dyn) * entry, struct object *o)
{
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_NEEDED && o->needed_nr < NEEDED_MAX &&
		    sim_loader_is_simulated(o->names + entry->d_un.d_val))
			o->needed[o->needed_nr++] = o->names + entry->d_un.d_val;
}

/* False: nothing of it is of interest. */
static bool read_object(const struct dl_phdr_info *info, struct object *o)
{
	const ElfW(Dyn) *first = sim_loader_dynamic(info), *entry = first;

	memset(o, 0, sizeof(*o));
	o->base = info->dlpi_addr;
	o->file = info->dlpi_name;
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = sim_loader_at(o->base, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			o->symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			o->names = at;
		else if (entry->d_tag == DT_JMPREL)
			o->slots = at;
		else if (entry->d_tag == DT_PLTRELSZ)
			o->slots_bytes = entry->d_un.d_val;
		else if (entry->d_tag == DT_VERSYM)
			o->versions = at;
		else if (entry->d_tag == DT_VERNEED)
			o->needs = at;
	}
	if (!o->symbols || !o->names || !o->slots || !o->slots_bytes)
		return false;
	read_needed(first, o);
	return o->needed_nr > 0;
}

/* The library and the version node that a symbol is asked of; false: none. */
static bool asked_of(const struct object *o, size_t symbol, const char **soname, const char **node)
{
	const char *need = (const char *)o->needs;
	ElfW(Half) version = o->versions ? o->versions[symbol] & 0x7fff : 0;

	while (need && version > 1) {
		const ElfW(Verneed) *file = (const void *)need;
		const char *at = need + file->vn_aux;
		int i;

		for (i = 0; i < file->vn_cnt; i++) {
			const ElfW(Vernaux) *aux = (const void *)at;

			if (aux->vna_other == version) {
				*soname = o->names + file->vn_file;
				*node = o->names + aux->vna_name;
				return true;
			}
			at += aux->vna_next;
		}
		if (!file->vn_next)
			break;
		need += file->vn_next;
	}
	return false;
}

static bool is_there(const char *soname, const char *name, const char *node)
{
	void *handle = sim_loader_find(soname) >= 0 ? sim_loader_handle(soname) : NULL;
	bool is = true;

	if (handle) {
		is = dlvsym(handle, name, node) || dlsym(RTLD_DEFAULT, name);
		dlclose(handle);
	}
	return is;
}

/* Without a version, and of no library that is loaded: a name of one of NVIDIA's that the object is linked with. */
static bool is_bare_and_missing(const struct object *o, const char *name)
{
	size_t i = 0;
	int n;

	while (i < sizeof(bare) / sizeof(bare[0]) - 1 && strncmp(name, bare[i].prefix, strlen(bare[i].prefix)) != 0)
		i++;
	if (i == sizeof(bare) / sizeof(bare[0]) - 1 &&
	    !(name[2] >= 'A' && name[2] <= 'Z')) /* cudaMalloc is not the driver's */
		return false;
	for (n = 0; n < o->needed_nr; n++)
		if (strncmp(o->needed[n], bare[i].library, strlen(bare[i].library)) == 0)
			return !sim_loader_is_anywhere(name);
	return false;
}

static bool is_missing(const struct object *o, size_t symbol)
{
	const char *name = o->names + o->symbols[symbol].st_name, *soname, *node;

	if (!symbol || o->symbols[symbol].st_shndx != SHN_UNDEF || ELF64_ST_BIND(o->symbols[symbol].st_info) == STB_WEAK ||
	    !sim_loader_is_name(name))
		return false;
	return asked_of(o, symbol, &soname, &node) ? !is_there(soname, name, node) : is_bare_and_missing(o, name);
}

/* The program's; the linker calls it by no name. */
static const char *own_path(void)
{
	static char path[PATH_MAX];
	ssize_t length = *path ? 0 : readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length > 0)
		path[length] = '\0';
	return *path ? path : "/proc/self/exe";
}

static void fill_slot(const struct object *o, const ElfW(Rela) * slot)
{
	uintptr_t *at = (uintptr_t *)(o->base + slot->r_offset);
	uintptr_t stubs = (uintptr_t)tare_sim_missing_stubs;
	int i = missing_nr;

	if (i == MISSING_MAX || (*at >= stubs && *at < stubs + 16 * MISSING_MAX))
		return;
	missing[i].name = o->names + o->symbols[ELF64_R_SYM(slot->r_info)].st_name;
	missing[i].file = *o->file ? o->file : own_path();
	missing_nr++;
	__atomic_store_n(at, stubs + 16 * (uintptr_t)i, __ATOMIC_RELEASE);
}

static void fill_object(const struct object *o)
{
	size_t i;

	for (i = 0; i < o->slots_bytes / sizeof(*o->slots); i++) {
		const ElfW(Rela) *slot = &o->slots[i];

		if (ELF64_R_TYPE(slot->r_info) == JUMP_SLOT && is_missing(o, ELF64_R_SYM(slot->r_info)))
			fill_slot(o, slot);
	}
}

enum { OBJECTS = 128 };

struct found {
	struct object objects[OBJECTS];
	int count;
	bool has_begun;
	unsigned long long seen; /* objects that had been loaded when this was done last */
};

static int collect(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *found = arg;

	(void)size;
	if (!found->has_begun && found->seen == info->dlpi_adds)
		return 1; /* nothing was loaded since */
	found->has_begun = true;
	found->seen = info->dlpi_adds;
	if (found->count < OBJECTS && read_object(info, &found->objects[found->count]))
		found->count++;
	return 0;
}

void sim_loader_fill(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct found found;
	int i;

	if (pthread_mutex_trylock(&lock) != 0)
		return;
	found.count = 0;
	found.has_begun = false;
	dl_iterate_phdr(collect, &found);
	if (found.count)
		sim_loader_begin();
	for (i = 0; i < found.count; i++)
		fill_object(&found.objects[i]);
	pthread_mutex_unlock(&lock);
}
