/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the line of a stack that is the user's own, in Python and in native code, and writes it. */
#include "ledger/line.h"

#include "ledger/frame.h"
#include "ledger/owner.h"
#include "record/path.h"

#include <inttypes.h>
#include <string.h>

/* Of native programs: headers, crates, and what stands between malloc and who called it, or around main. */
static bool is_native_library(const char *file)
{
	static const char *const parts[] = { "/usr/include/", "/libc.so",    "/libc-",         "/libstdc++.so",
		                                 "/libpthread",   "/ld-linux",   "/libheaptrack_", "/vgpreload_",
		                                 "../csu/",       "../sysdeps/", "/rustc/",        "/.cargo/registry/" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(file, parts[i]))
			return true;
	return false;
}

bool tare_line_is_library(const char *file)
{
	return tare_path_in_library(file) || is_native_library(file);
}

/*
 * Does this frame, outside of libraries by its file, only begin what a library does? So do the command that multiprocessing starts a
 * child with, and a script that pip wrote for a package: PREFIX/bin/vllm, which calls PREFIX/lib/…/site-packages/vllm.
 */
static bool is_begin_of_library(const struct tare_line_stack *stack, uint32_t i)
{
	const char *file = stack->lines[i].file, *called = i ? stack->lines[i - 1].file : "", *slash = strrchr(file, '/');
	size_t prefix = slash ? (size_t)(slash - file) : 0;

	if (strcmp(stack->lines[i].function, "<module>") != 0 || !tare_line_is_library(called))
		return false;
	if (!strcmp(file, "<string>"))
		return strstr(called, "/multiprocessing/") != NULL;
	if (prefix < 4 || strncmp(slash - 4, "/bin", 4) != 0)
		return false;
	prefix -= 3; /* up to and with the slash before bin */
	return !strncmp(file, called, prefix) && !strncmp(called + prefix, "lib", 3);
}

/* Is it a package's that is neither PyTorch's nor Python's? PyTorch passes calls on (below `with torch.device()`), and asks on behalf of who calls. */
static bool is_of_package(const char *file)
{
	const char *package = strstr(file, "-packages/");

	return package && strncmp(package, "-packages/torch/", 16) != 0;
}

const struct tare_line *tare_line_of_user(const struct tare_line_stack *stack)
{
	for (uint32_t i = 0; i < stack->depth; i++)
		if (!tare_line_is_library(stack->lines[i].file) && !is_begin_of_library(stack, i))
			return &stack->lines[i];
	for (uint32_t i = 0; i < stack->depth; i++)
		if (is_of_package(stack->lines[i].file))
			return &stack->lines[i];
	return stack->depth ? &stack->lines[0] : NULL;
}

/* What is left of a file's name where there is little room. */
static const char *short_file(const char *file)
{
	const char *package = strstr(file, "-packages/"), *slash = strrchr(file, '/');

	if (package)
		return package + strlen("-packages/");
	return slash && slash[1] ? slash + 1 : file;
}

void tare_line_add(struct tare_str *out, const struct tare_line *line, bool is_full)
{
	const char *file = is_full ? line->file : short_file(line->file);

	tare_str_add(out, *file ? file : "?");
	if (line->line)
		tare_str_addf(out, ":%" PRIu32, line->line);
	if (*line->function)
		tare_str_addf(out, " in %s", line->function);
}

uint64_t tare_line_first(const struct tare_process *process, const struct tare_stack *stack,
                         bool (*is_passed)(const char *path))
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		/* A return address may lie just behind the object's last call. */
		const struct tare_object *o = tare_process_object(process, stack, stack->pcs[i] - 1);

		if (o && o->path && !is_passed(o->path))
			return stack->pcs[i];
	}
	return 0;
}

uint64_t tare_line_native(const struct tare_process *process, const struct tare_stack *stack)
{
	return tare_line_first(process, stack, tare_owner_is_tool);
}

void tare_line_add_native(struct tare_str *out, const struct tare_process *process, const struct tare_stack *stack,
                          uint64_t pc, bool is_full)
{
	struct tare_frames frames;

	tare_frames_read(&frames, process, stack, pc);
	tare_frame_add(out, &frames.items[0], is_full);
	tare_frames_free(&frames);
}
