/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libbacktrace tells lines of the program that it is in, and of what is loaded there, as dl_iterate_phdr() lists that. In our copy of it that
 * function has the name tare_dwarf_objects (meson.build), and lists one object, which begins at 0: so addresses are those
 * in the file, and the file may be any.
 */
#include "dwarf/reader.h"

#include <backtrace.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

const bool tare_dwarf_can_read = true;

struct finding {
	void (*found)(void *arg, const struct tare_dwarf_frame *frame);
	void *arg;
};

int tare_dwarf_objects(int (*tell)(struct dl_phdr_info *, size_t, void *), void *arg);

int tare_dwarf_objects(int (*tell)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	struct dl_phdr_info only = { .dlpi_name = "" };

	return tell(&only, sizeof(only), arg);
}

/* What it cannot read it has no lines of. */
static void ignore(void *arg, const char *message, int number)
{
	(void)arg;
	(void)message;
	(void)number;
}

static int tell(void *arg, uintptr_t pc, const char *file, int line, const char *function)
{
	const struct finding *finding = arg;
	struct tare_dwarf_frame frame = { function, file, line > 0 ? (uint32_t)line : 0 };

	(void)pc;
	if (file || function)
		finding->found(finding->arg, &frame);
	return 0;
}

struct tare_dwarf_reader *tare_dwarf_reader_open(const char *path)
{
	char *name = strdup(path); /* it keeps the name */

	return name ? (struct tare_dwarf_reader *)backtrace_create_state(name, 0, ignore, NULL) : NULL;
}

void tare_dwarf_reader_find(struct tare_dwarf_reader *reader, uint64_t address,
                            void (*found)(void *arg, const struct tare_dwarf_frame *frame), void *arg)
{
	struct finding finding = { found, arg };

	backtrace_pcinfo((struct backtrace_state *)reader, (uintptr_t)address, tell, ignore, &finding);
}
