/* SPDX-License-Identifier: Apache-2.0 */
/* Writes down the functions of all frames at the end. */
#include "session/symbols.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "session/elf_names.h"
#include "session/jit_names.h"
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

/* Of one process. */
struct names {
	struct tare_witness *witness;
	struct files *files;
	const struct tare_process *process;
	struct tare_jit_names *jit; /* NULL: it tells none */
	struct tare_map seen;
};

static struct tare_elf_names *names_of(struct files *files, const struct tare_process *process,
                                       const struct tare_object *object)
{
	const char *path = files->told ? tare_told_paths_find(files->told, process, object) : object->path;
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
static void write_frame(struct names *n, const struct tare_object *object, uint64_t pc)
{
	struct tare_elf_names *names = object ? names_of(n->files, n->process, object) : NULL;
	struct tare_symbol symbol = { .address = pc, .object = object ? object->identity : 0 };
	uint64_t offset;

	if (object)
		symbol.name = names ? tare_elf_names_find(names, pc - 1 - object->base, &offset) : NULL;
	else
		symbol.name = n->jit ? tare_jit_names_find(n->jit, pc - 1, &offset) : NULL;
	if (!symbol.name)
		return;
	symbol.offset = offset + 1;
	tare_witness_symbol(n->witness, n->process->pid, n->process->generation, &symbol);
}

/* Each address once in each object: it may be in another one later. */
static void write_stack(struct names *n, const struct tare_stack *stack)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint64_t pc = stack->pcs[i], identity;
		const struct tare_object *object = tare_process_object(n->process, stack, pc - 1);
		bool is_new;

		identity = object ? object->identity : 0;
		tare_map_put(&n->seen, pc + identity * UINT64_C(0x9e3779b97f4a7c15), &is_new);
		if (is_new)
			write_frame(n, object, pc);
	}
}

static void write_stacks(struct tare_witness *witness, struct files *files, const struct tare_process *process)
{
	struct names n = { .witness = witness, .files = files, .process = process };
	const struct tare_stack *stack;

	n.jit = tare_jit_names_open(process->pid, process->start_ticks);
	for (size_t at = 0; (stack = tare_process_next_stack(process, &at));)
		write_stack(&n, stack);
	tare_jit_names_close(n.jit);
	tare_map_free(&n.seen);
}

void tare_symbols_write(struct tare_witness *witness, const char *folder, const struct tare_told_paths *told,
                        struct tare_versions *versions)
{
	const struct tare_log_reach reach = { .scope = TARE_LOG_WHOLE, .is_unchecked = true };
	struct tare_recording *recording;
	struct files files = { .told = told };

	if (tare_recording_open_scope(&recording, folder, &reach, NULL) != 0)
		return; /* nothing was recorded */
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		write_stacks(witness, &files, tare_recording_process(recording, i));
	tare_versions_find(versions, recording, told);
	for (size_t i = 0; i < files.count; i++)
		tare_elf_names_close(files.items[i].names);
	free(files.items);
	tare_recording_close(recording);
}
