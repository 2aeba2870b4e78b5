/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a command: whether it can be recorded. */
#include "session/target.h"

#include "base/file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE        256 /* what the kernel reads of a script */
#define SCRIPTS_MAX 5

/* Commands that start the real program where our environment does not reach. */
static const struct {
	const char *name, *advice;
} elsewhere[] = {
	{ "docker", "docker starts the program in a container: run `tare run -- …` inside it, or pass it "
	            "the variables of `tare env --docker`" },
	{ "podman", "podman starts the program in a container: run `tare run -- …` inside it, or pass it "
	            "the variables of `tare env --docker`" },
	{ "ssh", "ssh starts the program on another machine: run `tare run -- …` there" },
	{ "ray", "ray starts its workers from a server that runs already: start that server with the "
	         "variables of `tare env`" },
	{ "kubectl", "kubectl starts the program in a pod: put the variables of `tare env --docker` into "
	             "its specification" },
	{ "srun", "srun starts the program on compute nodes: put tare behind it, `srun … tare run -- …`" },
	{ "sbatch", "sbatch queues a script: put tare into it, before the program" },
};

static void find(struct tare_target *out, const char *command)
{
	const char *path = getenv("PATH");

	if (strchr(command, '/')) {
		if (access(command, F_OK) == 0)
			snprintf(out->path, sizeof(out->path), "%s", command);
		return;
	}
	while (path && *path) {
		int n = (int)strcspn(path, ":");

		snprintf(out->path, sizeof(out->path), "%.*s/%s", n ? n : 1, n ? path : ".", command);
		if (access(out->path, X_OK) == 0)
			return;
		path += n + (path[n] == ':');
	}
	out->path[0] = '\0';
}

/* Where the file has what the program has at this address; -1: nowhere. */
static off_t place_of(const Elf64_Phdr *phdrs, int nr, uint64_t address)
{
	int i;

	for (i = 0; i < nr; i++)
		if (phdrs[i].p_type == PT_LOAD && address - phdrs[i].p_vaddr < phdrs[i].p_filesz)
			return (off_t)(address - phdrs[i].p_vaddr + phdrs[i].p_offset);
	return -1;
}

/* Is a library whose name begins so among those that the program names as needed? */
static bool needs(int fd, const Elf64_Phdr *phdrs, int nr, const Elf64_Phdr *dynamic, const char *prefix)
{
	Elf64_Dyn entries[128];
	ssize_t size = pread(fd, entries, sizeof(entries), (off_t)dynamic->p_offset);
	int i, entries_nr = size < 0 ? 0 : (int)((size_t)size / sizeof(entries[0]));
	off_t strings = -1;
	char name[32];

	for (i = 0; i < entries_nr && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_STRTAB)
			strings = place_of(phdrs, nr, entries[i].d_un.d_ptr);
	for (i = 0; strings >= 0 && i < entries_nr && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_NEEDED &&
		    pread(fd, name, sizeof(name), strings + (off_t)entries[i].d_un.d_val) > (ssize_t)strlen(prefix) &&
		    memcmp(name, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

bool tare_target_may_be_second(void)
{
	const char *options = getenv("ASAN_OPTIONS");

	return options && strstr(options, "verify_asan_link_order=0");
}

static bool is_elf_of(const Elf64_Ehdr *head, int class)
{
	return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == class;
}

/* Of a script it is what its interpreter is, which may be a script: that is what runs. */
static bool is_32_bit(int fd, int scripts)
{
	char line[LINE + 1] = "", *name;
	Elf64_Ehdr head = { 0 };
	bool is = false;

	if (pread(fd, line, LINE, 0) > 0 && strncmp(line, "#!", 2) != 0) {
		memcpy(&head, line, sizeof(head));
		return is_elf_of(&head, ELFCLASS32);
	}
	name = scripts ? strtok(line + 2, " \t\n") : NULL;
	fd = name ? tare_file_open(name, NULL) : -1;
	if (fd >= 0) {
		is = is_32_bit(fd, scripts - 1);
		close(fd);
	}
	return is;
}

static void look_inside(struct tare_target *out, int fd)
{
	Elf64_Ehdr head = { 0 };
	Elf64_Phdr phdrs[64];
	ssize_t size;
	int i, nr;

	if (pread(fd, &head, sizeof(head), 0) < 4)
		return;
	out->is_script = memcmp(&head, "#!", 2) == 0;
	out->is_32_bit = is_32_bit(fd, SCRIPTS_MAX);
	if (!is_elf_of(&head, ELFCLASS64))
		return;
	out->is_static = true;
	size = pread(fd, phdrs, sizeof(phdrs), (off_t)head.e_phoff);
	nr = size < 0 ? 0 : (int)((size_t)size / sizeof(phdrs[0]));
	for (i = 0; i < nr && i < head.e_phnum; i++) {
		if (phdrs[i].p_type == PT_INTERP)
			out->is_static = false;
		if (phdrs[i].p_type == PT_DYNAMIC)
			out->is_asan = needs(fd, phdrs, nr < head.e_phnum ? nr : head.e_phnum, &phdrs[i], "libasan.so");
	}
}

void tare_target_look(struct tare_target *out, const char *command)
{
	const char *base = strrchr(command, '/');
	struct stat st;
	size_t i;
	int fd;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(base ? base + 1 : command, elsewhere[i].name) == 0)
			out->elsewhere = elsewhere[i].advice;
	find(out, command);
	if (!out->path[0] || stat(out->path, &st) != 0)
		return;
	out->is_setuid =
		((st.st_mode & S_ISUID) && st.st_uid != getuid()) || ((st.st_mode & S_ISGID) && st.st_gid != getgid());
	fd = tare_file_open(out->path, NULL);
	if (fd < 0)
		return;
	look_inside(out, fd);
	close(fd);
}
