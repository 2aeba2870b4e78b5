/* SPDX-License-Identifier: Apache-2.0 */
#include "session/symbols.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "session/elf_names.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* Files opened so far, by path: one is used by many frames of many processes. */
struct files {
	struct file {
		const char *path;
		struct tare_elf_names *names; /* NULL: nothing to be had from it */
	} * items;
	size_t count;
	const struct tare_told_paths *told; /* NULL: the recording has them */
};

static struct tare_elf_names *names_of(struct files *files, const struct tare_process *process,
				       const struct tare_object *object)
{
	const char *path =
		files->told ? tare_told_paths_find(files->told, process, object) : object->path;
	size_t i;

	if (!path)
		return NULL;
	for (i = 0; i < files->count; i++)
		if (strcmp(files->items[i].path, path) == 0)
			return files->items[i].names;
	files->items = tare_xrealloc(files->items, files->count + 1, sizeof(*files->items));
	files->items[files->count].path = path;
	files->items[files->count].names = tare_elf_names_open(path, object->build_id);
	return files->items[files->count++].names;
}

/* A return address may lie just behind the function that called: the call itself is in it. */
static void write_frame(struct tare_witness *witness, struct files *files,
			const struct tare_process *process, const struct tare_object *object,
			uint64_t pc)
{
	struct tare_elf_names *names = names_of(files, process, object);
	struct tare_symbol symbol = { .address = pc, .object = object->identity };
	uint64_t offset;

	symbol.name = names ? tare_elf_names_find(names, pc - 1 - object->base, &offset) : NULL;
	if (!symbol.name)
		return;
	symbol.offset = offset + 1;
	tare_witness_symbol(witness, process->pid, process->generation, &symbol);
}

/* Each address once in each object: it may be in another one later. */
static void write_stack(struct tare_witness *witness, struct files *files, struct tare_map *seen,
			const struct tare_process *process, const struct tare_stack *stack)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint64_t pc = stack->pcs[i];
		const struct tare_object *object = tare_process_object(process, stack, pc - 1);
		bool is_new;

		if (!object)
			continue;
		tare_map_put(seen, pc + object->identity * UINT64_C(0x9e3779b97f4a7c15), &is_new);
		if (is_new)
			write_frame(witness, files, process, object, pc);
	}
}

static void write_stacks(struct tare_witness *witness, struct files *files,
			 const struct tare_process *process)
{
	const struct tare_stack *stack;
	struct tare_map seen = { 0 };

	for (size_t at = 0; (stack = tare_process_next_stack(process, &at));)
		write_stack(witness, files, &seen, process, stack);
	tare_map_free(&seen);
}

void tare_symbols_write(struct tare_witness *witness, const char *folder,
			const struct tare_told_paths *told)
{
	const struct tare_log_reach reach = { .scope = TARE_LOG_WHOLE, .is_unchecked = true };
	struct tare_recording *recording;
	struct files files = { .told = told };

	if (tare_recording_open_scope(&recording, folder, &reach, NULL) != 0)
		return; /* nothing was recorded */
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		write_stacks(witness, &files, tare_recording_process(recording, i));
	for (size_t i = 0; i < files.count; i++)
		tare_elf_names_close(files.items[i].names);
	free(files.items);
	tare_recording_close(recording);
}
