/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/base/parts.h"
#include "recorder/elf/elfsym.h"
#include "../test.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file's symbol table by its section headers: another road than the one under test. */
struct file {
	const uint8_t *at;
	size_t size;
	const Elf64_Sym *sym;
	size_t count;
	const char *strings;
	const Elf64_Half *versym;
	const Elf64_Verdef *verdef;
};

static void open_file(const char *path, struct file *f)
{
	const Elf64_Shdr *section;
	const Elf64_Ehdr *header;
	struct stat st;
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	memset(f, 0, sizeof(*f));
	f->size = (size_t)st.st_size;
	f->at = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(f->at != MAP_FAILED);
	close(fd);
	header = (const void *)f->at;
	section = (const void *)(f->at + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		const void *at = f->at + section[i].sh_offset;

		if (section[i].sh_type == SHT_DYNSYM) {
			f->sym = at;
			f->count = section[i].sh_size / sizeof(*f->sym);
			f->strings = (const char *)f->at + section[section[i].sh_link].sh_offset;
		} else if (section[i].sh_type == SHT_GNU_versym) {
			f->versym = at;
		} else if (section[i].sh_type == SHT_GNU_verdef) {
			f->verdef = at;
		}
	}
	CHECK(f->sym && f->versym && f->verdef);
}

static const char *version_name(const struct file *f, unsigned int index)
{
	const Elf64_Verdef *def = f->verdef;

	for (;;) {
		const Elf64_Verdaux *aux = (const void *)((const char *)def + def->vd_aux);

		if (def->vd_ndx == index)
			return f->strings + aux->vda_name;
		if (!def->vd_next)
			return NULL;
		def = (const void *)((const char *)def + def->vd_next);
	}
}

/* Every symbol that `file` defines, asked from dlsym and from us. */
static void compare_library(const char *prefix, size_t at_least)
{
	struct tare_elf_object obj;
	size_t plain = 0, versioned = 0;
	struct file f;
	void *handle;

	CHECK(tare_elf_find_object(prefix, &obj));
	handle = dlopen(obj.path, RTLD_NOW | RTLD_NOLOAD);
	CHECK(handle);
	open_file(obj.path, &f);
	for (size_t i = 1; i < f.count; i++) {
		const Elf64_Sym *sym = &f.sym[i];
		const char *name = f.strings + sym->st_name;
		unsigned int index = f.versym[i] & 0x7fff, type = ELF64_ST_TYPE(sym->st_info);
		const char *version = index > 1 ? version_name(&f, index) : NULL;
		void *want;

		if (!sym->st_shndx || index == 0)
			continue;
		if (type == STT_TLS || type == STT_SECTION) {
			CHECK(!tare_elf_symbol(&obj, name, NULL));
			continue;
		}
		want = dlsym(handle, name);
		if (want) {
			void *got = tare_elf_symbol(&obj, name, NULL);

			if (got != want)
				printf("# %s: %p, dlsym says %p\n", name, got, want);
			CHECK(got == want);
			plain++;
		}
		/* dlvsym gives nothing for the names of the versions themselves. */
		want = version ? dlvsym(handle, name, version) : NULL;
		if (want) {
			CHECK(tare_elf_symbol(&obj, name, version) == want);
			/* Second choice: a hidden version alone still counts. */
			CHECK(tare_elf_symbol(&obj, name, NULL));
			versioned++;
		}
	}
	printf("# %s: %zu plain, %zu versioned\n", prefix, plain, versioned);
	CHECK(plain >= at_least && versioned >= at_least);
	munmap((void *)f.at, f.size);
}

TEST(agrees_with_dlsym_on_all_of_libc)
{
	compare_library("libc.so.6", 2000);
}

TEST(agrees_with_dlsym_on_libm)
{
	void *handle = dlopen("libm.so.6", RTLD_NOW);

	CHECK(handle);
	compare_library("libm.so.6", 300);
	dlclose(handle);
}

TEST(unknown_names_and_versions)
{
	struct tare_elf_object obj;

	CHECK(tare_elf_find_object("libc.so.6", &obj));
	CHECK(!tare_elf_symbol(&obj, "no_such_function_anywhere", NULL));
	CHECK(!tare_elf_symbol(&obj, "memcpy", "GLIBC_9.9"));
	CHECK(!tare_elf_symbol(&obj, "", NULL));
	CHECK(!tare_elf_find_object("libnothing.so", &obj));
}

TEST(thread_local_is_refused)
{
	struct tare_elf_object obj;

	CHECK(tare_elf_find_object("libc.so.6", &obj));
	CHECK(!tare_elf_symbol(&obj, "errno", "GLIBC_PRIVATE"));
}

TEST(vdso)
{
	struct tare_elf_object obj;
	uintptr_t at = getauxval(AT_SYSINFO_EHDR);
#if defined(__x86_64__)
	int (*clock)(clockid_t, struct timespec *);
	struct timespec ts = { 0, 0 };
#endif

	if (!at)
		SKIP("no vdso here");
	CHECK(tare_elf_object_at((void *)at, &obj));
	CHECK_INT(obj.base, at);
	CHECK_HAS(obj.path, "vdso");
	CHECK(tare_elf_find_object("linux-vdso.so", &obj));
#if defined(__x86_64__)
	*(void **)&clock = tare_elf_symbol(&obj, "__vdso_clock_gettime", "LINUX_2.6");
	CHECK(clock);
	CHECK(clock(CLOCK_MONOTONIC, &ts) == 0 && ts.tv_sec > 0);
#endif
}

TEST(needs)
{
	struct tare_elf_object obj;

	CHECK(tare_elf_object_at((void *)compare_library, &obj));
	CHECK(tare_elf_needs(&obj, "libc.so.6"));
	CHECK(!tare_elf_needs(&obj, "libcuda.so.1"));
	CHECK(!tare_elf_needs(&obj, "libc.so.66"));
	CHECK(!tare_elf_needs(&obj, "libc.so."));
}

TEST(the_program_itself)
{
	struct tare_elf_object obj;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	CHECK(n > 0);
	exe[n] = '\0';
	CHECK(tare_elf_object_at((void *)compare_library, &obj));
	CHECK_STR(obj.path, exe);
	CHECK((uintptr_t)compare_library >= obj.begin && (uintptr_t)compare_library < obj.end);
	CHECK(obj.build_id_size == 0 || obj.build_id_size >= 8);
}

TEST(build_id_is_the_file_s)
{
	static const uint8_t mark[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	struct tare_elf_object obj;
	const uint8_t *note;
	struct file f;

	CHECK(tare_elf_find_object("libc.so.6", &obj));
	open_file(obj.path, &f);
	note = memmem(f.at, f.size, mark, sizeof(mark));
	if (!note)
		SKIP("this libc has no build-id");
	CHECK_INT(obj.build_id_size, 20);
	CHECK(!memcmp(obj.build_id, note + sizeof(mark), 20));
}

TEST(no_object)
{
	struct tare_elf_object obj;
	int on_stack;

	CHECK(!tare_elf_object_at(NULL, &obj));
	CHECK(!tare_elf_object_at(&on_stack, &obj));
	CHECK(!tare_elf_object_at((void *)-1, &obj));
}

TEST(comes_and_goes)
{
	struct tare_objects_epoch before = tare_objects_epoch(), after;
	struct tare_elf_object obj;
	const void *inside;
	const char *path;
	void *handle;

	CHECK(!tare_elf_find_object("libunwind_test_a", &obj));
	handle = dlopen(TEST_LIBRARY_A, RTLD_NOW);
	CHECK(handle);
	inside = dlsym(handle, "code_library");
	CHECK(tare_elf_object_at(inside, &obj)); /* not in the list: the linker is asked */
	CHECK_STR(obj.path, TEST_LIBRARY_A);
	CHECK(tare_elf_symbol(&obj, "code_library", NULL) == inside);
	CHECK(tare_elf_find_object("libunwind_test_a", &obj));
	path = obj.path;
	dlclose(handle);
	CHECK(!tare_elf_find_object("libunwind_test_a", &obj));
	CHECK(!tare_elf_object_at(inside, &obj));
	CHECK_STR(path, TEST_LIBRARY_A); /* still there to be read */
	after = tare_objects_epoch();
	CHECK(after.unloads > before.unloads && after.changes > before.changes);
}

TEST(answers_are_fresh_after_the_hook)
{
	struct tare_elf_object obj;
	void *handle = dlopen(TEST_LIBRARY_A, RTLD_NOW), *inside;

	CHECK(handle);
	inside = dlsym(handle, "code_library");
	CHECK(tare_elf_object_at(inside, &obj));
	dlclose(handle);
	tare_objects_changed();
	CHECK(!tare_elf_object_at(inside, &obj));
}

TEST(reloading_does_not_grow)
{
	struct tare_elf_object obj;
	const char *path = NULL;

	for (int i = 0; i < 300; i++) {
		void *handle = dlopen(TEST_LIBRARY_A, RTLD_NOW);

		CHECK(handle);
		CHECK(tare_elf_find_object("libunwind_test_a", &obj));
		if (path && obj.path != path)
			SKIP("the linker chose another address");
		path = obj.path;
		dlclose(handle);
		tare_objects_check();
	}
}

TEST(frozen_after_fork_still_answers)
{
	struct tare_elf_object obj;

	CHECK(tare_elf_object_at((void *)compare_library, &obj));
	tare_objects_forked();
	CHECK(tare_elf_object_at((void *)compare_library, &obj));
}

struct damage {
	uint8_t *image;
	size_t size;
	struct tare_elf_object obj;
};

/* A copy of a loaded library in memory that ends where the object ends. */
static void copy_image(const char *prefix, struct damage *d)
{
	struct tare_elf_object obj;

	CHECK(tare_elf_find_object(prefix, &obj));
	d->size = obj.end - obj.begin;
	d->image = malloc(d->size);
	CHECK(d->image);
	memset(d->image, 0, d->size);
	for (int i = 0; i < obj.phnum; i++) {
		const Elf64_Phdr *ph = &obj.phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R)
			memcpy(d->image + ph->p_vaddr, (void *)(obj.base + ph->p_vaddr), ph->p_memsz);
	}
	d->obj = obj;
	d->obj.base = (uintptr_t)d->image;
	d->obj.begin = d->obj.base;
	d->obj.end = d->obj.base + d->size;
	d->obj.dynamic = (void *)(d->image + ((uintptr_t)obj.dynamic - obj.base));
	/* The pointers in it lead to the original, which stays where it is. */
	for (Elf64_Dyn *dyn = (void *)d->obj.dynamic; dyn->d_tag; dyn++)
		if (dyn->d_un.d_ptr >= obj.begin && dyn->d_un.d_ptr < obj.end)
			dyn->d_un.d_ptr += d->obj.base - obj.base;
}

/* Not the symbols themselves: one that turns into an indirect function would be called. */
TEST(damaged_tables_are_harmless)
{
	static const char *const names[] = { "cbrt", "no_such_name", "ldexp", "modff" };
	void *handle = dlopen("libm.so.6", RTLD_NOW);
	unsigned int found = 0, tried = 0;
	size_t hot[16], count = 0;
	struct damage d;

	CHECK(handle);
	copy_image("libm.so.6", &d);
	hot[count++] = (size_t)((const uint8_t *)d.obj.dynamic - d.image);
	for (const Elf64_Dyn *dyn = d.obj.dynamic; dyn->d_tag && count < 16; dyn++)
		if (dyn->d_un.d_ptr >= d.obj.begin && dyn->d_un.d_ptr < d.obj.end && dyn->d_tag != DT_SYMTAB)
			hot[count++] = dyn->d_un.d_ptr - d.obj.begin;
	srand(1);
	for (int i = 0; i < 4000; i++) {
		size_t at = hot[(size_t)rand() % count] + (size_t)rand() % 512;
		uint8_t saved = d.image[at % d.size];

		d.image[at % d.size] = (uint8_t)rand();
		for (size_t k = 0; k < 4; k++, tried++)
			found += tare_elf_symbol(&d.obj, names[k], k % 2 ? "GLIBC_2.17" : NULL) != NULL;
		tare_elf_needs(&d.obj, "libc.so.6");
		d.image[at % d.size] = saved;
	}
	printf("# %u of %u found\n", found, tried);
	free(d.image);
	dlclose(handle);
}
