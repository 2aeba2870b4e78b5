/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a file is the one that was recorded, and whether it has lines, by its sections alone. */
#include "dwarf/object.h"

#include "base/file.h"
#include "base/str.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID = 20, ZSTD = 2 /* ELFCOMPRESS_ZSTD, which older headers lack */ };

struct file {
	const uint8_t *bytes;
	size_t size;
};

/* What the sections of a file say. */
struct found {
	uint8_t build_id[BUILD_ID];
	size_t build_id_len;
	bool has_lines, is_packed;
	const char *link; /* .gnu_debuglink, or NULL */
};

/* Every offset is its author's word: it is followed only inside the file. */
static const void *at(const struct file *f, uint64_t offset, uint64_t size)
{
	return offset <= f->size && size <= f->size - offset ? f->bytes + offset : NULL;
}

static bool map(struct file *f, const char *path)
{
	int fd = tare_file_open(path, NULL);
	struct stat st;

	*f = (struct file){ 0 };
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		f->size = (size_t)st.st_size;
		f->bytes = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (f->bytes == MAP_FAILED)
			f->bytes = NULL;
	}
	close(fd);
	return f->bytes != NULL;
}

static void unmap(struct file *f)
{
	if (f->bytes)
		munmap((void *)f->bytes, f->size);
}

static void read_note(struct found *out, const struct file *f, const Elf64_Shdr *section)
{
	const uint8_t *note = at(f, section->sh_offset, section->sh_size);
	Elf64_Nhdr head;

	if (!note || section->sh_size < sizeof(head) + 4)
		return;
	memcpy(&head, note, sizeof(head));
	if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != 4 ||
	    sizeof(head) + 4 + (uint64_t)head.n_descsz > section->sh_size)
		return;
	out->build_id_len = head.n_descsz < BUILD_ID ? head.n_descsz : BUILD_ID;
	memcpy(out->build_id, note + sizeof(head) + 4, out->build_id_len);
}

static void read_section(struct found *out, const struct file *f, const Elf64_Shdr *section, const char *name)
{
	const char *text;
	Elf64_Chdr packed;

	if (section->sh_type == SHT_NOTE && !out->build_id_len)
		read_note(out, f, section);
	if (!strcmp(name, ".gnu_debuglink")) {
		text = at(f, section->sh_offset, section->sh_size);
		if (text && memchr(text, '\0', section->sh_size))
			out->link = text;
	}
	if (strcmp(name, ".debug_line") != 0 && strcmp(name, ".zdebug_line") != 0)
		return;
	out->has_lines = section->sh_type != SHT_NOBITS && section->sh_size;
	if (section->sh_flags & SHF_COMPRESSED && at(f, section->sh_offset, sizeof(packed))) {
		memcpy(&packed, f->bytes + section->sh_offset, sizeof(packed));
		out->is_packed = packed.ch_type == ZSTD;
	}
}

static bool read_sections(struct found *out, const struct file *f)
{
	const Elf64_Ehdr *head = at(f, 0, sizeof(*head));
	Elf64_Shdr section, names;
	const char *text;

	*out = (struct found){ 0 };
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_shentsize != sizeof(section) || !at(f, head->e_shoff, (uint64_t)head->e_shnum * sizeof(section)) ||
	    head->e_shstrndx >= head->e_shnum)
		return false;
	memcpy(&names, f->bytes + head->e_shoff + head->e_shstrndx * sizeof(names), sizeof(names));
	text = at(f, names.sh_offset, names.sh_size);
	if (!text || !names.sh_size || text[names.sh_size - 1])
		return false;
	for (uint64_t i = 0; i < head->e_shnum; i++) {
		memcpy(&section, f->bytes + head->e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_name < names.sh_size)
			read_section(out, f, &section, text + section.sh_name);
	}
	return true;
}

static bool is_same(const struct found *found, const uint64_t build_id[2])
{
	uint64_t have[2] = { 0 };

	memcpy(have, found->build_id, found->build_id_len < 16 ? found->build_id_len : 16);
	return found->build_id_len && have[0] == build_id[0] && have[1] == build_id[1];
}

/* Is there such a file, with lines and this build id? */
static enum tare_dwarf_object look_at(const char *path, const uint64_t build_id[2])
{
	enum tare_dwarf_object what = TARE_DWARF_NO_LINES;
	struct found found;
	struct file f;

	if (!map(&f, path))
		return TARE_DWARF_IS_GONE;
	if (read_sections(&found, &f) && found.has_lines && is_same(&found, build_id))
		what = found.is_packed ? TARE_DWARF_IS_PACKED : TARE_DWARF_HAS_LINES;
	unmap(&f);
	return what;
}

/* Where the system keeps lines of what it installs; tests name a folder, so that what a machine has there changes none. */
static const char *system_folder(void)
{
	const char *test = getenv("TARE_TEST_DEBUG_FOLDER");

	return test ? test : "/usr/lib/debug";
}

/* /usr/lib/debug/.build-id/ab/cdef….debug */
static enum tare_dwarf_object look_by_build_id(const struct found *found, const uint64_t build_id[2])
{
	struct tare_str path = { 0 };
	enum tare_dwarf_object what;

	tare_str_addf(&path, "%s/.build-id/", system_folder());
	for (size_t i = 0; i < found->build_id_len; i++)
		tare_str_addf(&path, i == 1 ? "/%02x" : "%02x", found->build_id[i]);
	tare_str_add(&path, ".debug");
	what = look_at(tare_str_text(&path), build_id);
	tare_str_free(&path);
	return what;
}

/* Beside the file, in .debug beside it, and below /usr/lib/debug. */
static enum tare_dwarf_object look_by_link(const char *object, const char *name, const uint64_t build_id[2])
{
	const char *folders[][2] = { { "", "" }, { "", ".debug/" }, { system_folder(), "" } };
	enum tare_dwarf_object what = TARE_DWARF_IS_GONE;
	const char *slash = strrchr(object, '/');
	struct tare_str path = { 0 };

	for (size_t i = 0; slash && !strchr(name, '/') && i < 3 && what == TARE_DWARF_IS_GONE; i++) {
		tare_str_cut(&path, 0);
		tare_str_addf(&path, "%s%.*s%s%s", folders[i][0], (int)(slash - object + 1), object, folders[i][1], name);
		what = look_at(tare_str_text(&path), build_id);
	}
	tare_str_free(&path);
	return what;
}

enum tare_dwarf_object tare_dwarf_object_look(const char *path, const uint64_t build_id[2])
{
	enum tare_dwarf_object what = TARE_DWARF_NO_LINES, beside;
	struct found found;
	struct file f;

	if (!map(&f, path))
		return TARE_DWARF_IS_GONE;
	if (!read_sections(&found, &f) || !is_same(&found, build_id)) {
		what = TARE_DWARF_IS_ANOTHER;
	} else if (found.has_lines) {
		what = found.is_packed ? TARE_DWARF_IS_PACKED : TARE_DWARF_HAS_LINES;
	} else {
		beside = look_by_build_id(&found, build_id);
		if (beside == TARE_DWARF_IS_GONE && found.link)
			beside = look_by_link(path, found.link, build_id);
		if (beside == TARE_DWARF_HAS_LINES || beside == TARE_DWARF_IS_PACKED)
			what = beside;
	}
	unmap(&f);
	return what;
}
