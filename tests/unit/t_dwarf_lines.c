/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of dwarf_fixture.c, out of libraries with debug information of several versions, packed, and beside them. */
#include "base/file.h"
#include "base/temp_folder.h"
#include "dwarf/dwarf.h"
#include "dwarf/object.h"
#include "dwarf/reader.h"
#include "test.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *fixture(void *(*call)(size_t), size_t n);

static uintptr_t returns_to;

static void *note_caller(size_t n)
{
	returns_to = (uintptr_t)__builtin_return_address(0);
	return n ? &returns_to : NULL;
}

/* Where a function of the fixture calls, as an address of the file. */
static uint64_t call_in(void *library, const char *function)
{
	void *found = dlsym(library, function);
	struct link_map *map = NULL;
	fixture *call;

	memcpy(&call, &found, sizeof(call));
	CHECK(call && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0);
	call(note_caller, 5);
	return returns_to - 1 - map->l_addr;
}

static void read_build_id(const char *path, uint64_t out[2])
{
	struct tare_str file = { 0 };
	static const char note[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	const char *at;

	CHECK_INT(tare_file_read(&file, path, 1 << 26, NULL), 0);
	at = memmem(tare_str_text(&file), file.len, note, sizeof(note));
	if (!at)
		test_fail(__FILE__, __LINE__, "%s has no build id", path);
	memcpy(out, at + sizeof(note), 16);
	tare_str_free(&file);
}

struct library {
	void *handle;
	uint64_t build_id[2], outer, plain;
};

static struct library open_library(const char *path)
{
	struct library l = { .handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) };

	if (!l.handle)
		test_fail(__FILE__, __LINE__, "%s", dlerror());
	read_build_id(path, l.build_id);
	l.outer = call_in(l.handle, "tare_fixture_outer");
	l.plain = call_in(l.handle, "tare_fixture_plain");
	return l;
}

static void check_frame(const struct tare_dwarf_frame *frame, const char *function, int line)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	CHECK_STR(frame->function, function);
	CHECK_STR(slash ? slash + 1 : frame->file, "dwarf_fixture.c");
	CHECK_INT(frame->line, line);
}

static void check_lines(const char *path, const struct library *l)
{
	const struct tare_dwarf_frame *frames;

	CHECK_INT(tare_dwarf_find(path, l->build_id, l->plain, &frames), 1);
	check_frame(&frames[0], "tare_fixture_plain", 27);
	CHECK_INT(tare_dwarf_find(path, l->build_id, l->outer, &frames), 3);
	check_frame(&frames[0], "inner", 10);
	check_frame(&frames[1], "middle", 17);
	check_frame(&frames[2], "tare_fixture_outer", 22);
	CHECK_INT(tare_dwarf_find(path, l->build_id, 1, &frames), 0);
}

static void skip_where_none_can_be_read(void)
{
	if (!tare_dwarf_can_read)
		test_skip("no libbacktrace");
}

static const char *const variants[] = { TARE_DWARF_VARIANTS };

TEST(lines_of_every_version)
{
	const char *const *failures;

	skip_where_none_can_be_read();
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		struct library l = open_library(variants[i]);

		check_lines(variants[i], &l);
		check_lines(variants[i], &l); /* what is known already */
		dlclose(l.handle);
	}
	CHECK_INT(tare_dwarf_failures(&failures), 0);
	tare_dwarf_close();
}

TEST(another_file_has_no_lines)
{
	const struct tare_dwarf_frame *frames;
	struct library l = open_library(variants[0]);
	uint64_t other[2] = { l.build_id[0], l.build_id[1] + 1 }, none[2] = { 0, 0 };
	const char *const *failures;

	CHECK_INT(tare_dwarf_find(variants[0], other, l.plain, &frames), 0);
	CHECK_INT(tare_dwarf_find(variants[0], none, l.plain, &frames), 0);
	CHECK_INT(tare_dwarf_find("/nowhere/at/all.so", l.build_id, l.plain, &frames), 0);
	CHECK_INT(tare_dwarf_find("/dev/null", l.build_id, l.plain, &frames), 0);
	CHECK_INT(tare_dwarf_failures(&failures), 2);
	CHECK(strstr(failures[0], "there is another file now") != NULL);
	CHECK_STR(failures[1], "no lines of /nowhere/at/all.so and 1 more files are known: there is no such "
	                       "file here, or none that may be opened");
	dlclose(l.handle);
	tare_dwarf_close();
}

/* The process that reads for us, or -1. */
static pid_t helper_of(pid_t parent)
{
	struct tare_str path = { 0 };
	char *end;
	long pid = 0;
	int fd;
	char text[64];
	ssize_t n = 0;

	tare_str_addf(&path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	fd = open(tare_str_text(&path), O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	pid = strtol(text, &end, 10);
	tare_str_free(&path);
	return end != text ? (pid_t)pid : -1;
}

/* Whatever ends it: its file has no more lines, and others have. */
TEST(helper_that_is_killed)
{
	const struct tare_dwarf_frame *frames;
	struct library l = open_library(variants[0]), other = open_library(variants[1]);
	const char *const *failures;
	pid_t helper;

	skip_where_none_can_be_read();
	CHECK_INT(tare_dwarf_find(variants[0], l.build_id, l.plain, &frames), 1);
	helper = helper_of(getpid());
	if (helper < 0)
		SKIP("the kernel does not list children");
	CHECK_INT(kill(helper, SIGKILL), 0);
	CHECK_INT(tare_dwarf_find(variants[0], l.build_id, l.plain, &frames), 1); /* it is known */
	CHECK_INT(tare_dwarf_find(variants[0], l.build_id, l.outer, &frames), 0);
	CHECK_INT(tare_dwarf_failures(&failures), 1);
	CHECK(strstr(failures[0], "damaged, or reading it took too long") != NULL);
	check_lines(variants[1], &other);
	dlclose(l.handle);
	dlclose(other.handle);
	tare_dwarf_close();
	CHECK_INT(helper_of(getpid()), -1);
}

/* Where the sections with debug information lie: those of our compilers follow each other. */
static void find_debug(const struct tare_str *file, size_t *first, size_t *end)
{
	Elf64_Ehdr head;
	Elf64_Shdr section, names;

	*first = file->len;
	*end = 0;
	memcpy(&head, file->data, sizeof(head));
	memcpy(&names, file->data + head.e_shoff + head.e_shstrndx * sizeof(names), sizeof(names));
	for (int i = 0; i < head.e_shnum; i++) {
		memcpy(&section, file->data + head.e_shoff + (size_t)i * sizeof(section), sizeof(section));
		if (strncmp(file->data + names.sh_offset + section.sh_name, ".debug_", 7) != 0)
			continue;
		if (section.sh_offset < *first)
			*first = section.sh_offset;
		if (section.sh_offset + section.sh_size > *end)
			*end = section.sh_offset + section.sh_size;
	}
	CHECK(*first < *end);
}

struct copy {
	struct tare_str whole, path;
	char *folder;
	size_t first, end;
	unsigned seed;
};

static void write_copy(struct copy *c, int damages)
{
	struct tare_str text = { 0 };
	int fd;

	tare_str_add_n(&text, c->whole.data, c->whole.len);
	for (int i = 0; i < damages; i++) {
		c->seed = c->seed * 1103515245 + 12345;
		text.data[c->first + (c->seed >> 8) % (c->end - c->first)] = (char)(c->seed >> 24);
	}
	fd = open(tare_str_text(&c->path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK_INT(tare_file_write_all(fd, text.data, text.len), 0);
	close(fd);
	tare_str_free(&text);
}

/* Bytes of debug information that are anything: the report goes on, with fewer lines. */
TEST(damaged_debug_information)
{
	struct library l = open_library(variants[0]);
	struct copy c = { .seed = 12345 };
	const struct tare_dwarf_frame *frames;

	skip_where_none_can_be_read();
	CHECK_INT(tare_temp_folder_make("/tmp", "tare-dwarf-XXXXXX", &c.folder, NULL), 0);
	tare_str_addf(&c.path, "%s/fixture.so", c.folder);
	CHECK_INT(tare_file_read(&c.whole, variants[0], 1 << 26, NULL), 0);
	find_debug(&c.whole, &c.first, &c.end);
	write_copy(&c, 0);
	check_lines(tare_str_text(&c.path), &l);
	tare_dwarf_close();
	for (int round = 0; round < 200; round++) {
		write_copy(&c, 1 + round);
		tare_dwarf_find(tare_str_text(&c.path), l.build_id, l.plain, &frames);
		tare_dwarf_find(tare_str_text(&c.path), l.build_id, l.outer, &frames);
		tare_dwarf_close();
	}
	tare_str_free(&c.whole);
	tare_str_free(&c.path);
	tare_temp_folder_remove(c.folder);
	dlclose(l.handle);
}
