/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where fields of frames lie in this version of Python. */
#include "recorder/python/layout.h"

#include <stddef.h>
#include <string.h>

enum { NONE = TARE_PYTHON_NONE };
enum { LNOTAB = TARE_PYTHON_LNOTAB, LINES = TARE_PYTHON_LINES, LOCATIONS = TARE_PYTHON_LOCATIONS };

#define PYTHON_TOLD(...)
/* clang-format off */
#define PYTHON_FIXED(minor_, lines_, ascii_, thread_, frame_, nested_, back_, code_, at_, owner_,    \
		     locals_, file_, name_, first_, table_, version_, instructions_, unit_)                   \
	{ .minor = minor_, .lines = lines_, .ascii = ascii_, .thread = thread_, .frame = frame_,     \
	  .nested = nested_, .back = back_, .code = code_, .at = at_, .owner = owner_, .locals = locals_, \
	  .file = file_, .name = name_, .first = first_, .table = table_,                            \
	  .version = version_, .instructions = instructions_, .unit = unit_,                         \
	  .interpreter = NONE, .interpreter_id = NONE },
/* clang-format on */
static const struct tare_python_layout fixed[] = {
#include "recorder/python/layout.def"
};

#define PYTHON_FIXED(...)
#define PYTHON_TOLD(minor_, lines_, ascii_, thread_, frame_, code_, version_)                                          \
	{ .minor = minor_,                                                                                                 \
	  .lines = lines_,                                                                                                 \
	  .ascii = ascii_,                                                                                                 \
	  .thread = thread_,                                                                                               \
	  .frame = frame_,                                                                                                 \
	  .code = code_,                                                                                                   \
	  .version = version_ },
static const struct told {
	uint16_t minor, ascii, version;
	uint8_t lines, thread, frame, code;
} told[] = {
#include "recorder/python/layout.def"
};

/* Words of _Py_DebugOffsets, and within its groups. */
enum { COOKIE, VERSION, FREE_THREADED };
enum { INTERPRETER_ID = 7 };
enum { THREAD_INTERPRETER = 3, THREAD_CURRENT_FRAME = 4 };
enum { FRAME_PREVIOUS = 1, FRAME_EXECUTABLE = 2, FRAME_INSTRUCTION = 3, FRAME_LOCALS = 4, FRAME_OWNER = 5 };
enum { CODE_FILE = 1, CODE_NAME = 2, CODE_TABLE = 4, CODE_FIRST = 5, CODE_INSTRUCTIONS = 9 };

/* No structure that a stack is read from is larger. */
static bool is_plausible(const struct tare_python_layout *l)
{
	return l->frame < 4096 && l->interpreter < 4096 && l->back < 4096 && l->code < 4096 && l->at < 4096 &&
	       l->owner < 4096 && l->locals < 4096 && l->file < 4096 && l->name < 4096 && l->first < 4096 &&
	       l->table < 4096 && l->instructions < 4096;
}

static uint16_t narrow(uint64_t word)
{
	return word < NONE ? (uint16_t)word : NONE;
}

static enum tare_python_told ask(const struct told *t, const void *runtime, struct tare_python_layout *out)
{
	const uint64_t *words = runtime;

	if (!runtime || memcmp(words, "xdebugpy", 8) != 0 || words[VERSION] >> 16 != (0x300u | t->minor))
		return TARE_PYTHON_BAD_OFFSETS;
	if (words[FREE_THREADED])
		return TARE_PYTHON_FREE_THREADED;
	*out = (struct tare_python_layout){
		.minor = t->minor,
		.lines = t->lines,
		.ascii = t->ascii,
		.unit = 1,
		.thread = NONE,
		.frame = narrow(words[t->thread + THREAD_CURRENT_FRAME]),
		.nested = NONE,
		.version = t->version,
		.back = narrow(words[t->frame + FRAME_PREVIOUS]),
		.code = narrow(words[t->frame + FRAME_EXECUTABLE]),
		.at = narrow(words[t->frame + FRAME_INSTRUCTION]),
		.owner = narrow(words[t->frame + FRAME_OWNER]),
		.locals = narrow(words[t->frame + FRAME_LOCALS]),
		.file = narrow(words[t->code + CODE_FILE]),
		.name = narrow(words[t->code + CODE_NAME]),
		.first = narrow(words[t->code + CODE_FIRST]),
		.table = narrow(words[t->code + CODE_TABLE]),
		.instructions = narrow(words[t->code + CODE_INSTRUCTIONS]),
		.interpreter = narrow(words[t->thread + THREAD_INTERPRETER]),
		.interpreter_id = narrow(words[INTERPRETER_ID]),
	};
	return is_plausible(out) ? TARE_PYTHON_OK : TARE_PYTHON_BAD_OFFSETS;
}

enum tare_python_told tare_python_layout_of(unsigned int minor, const void *runtime, struct tare_python_layout *out)
{
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i].minor == minor) {
			*out = fixed[i];
			return TARE_PYTHON_OK;
		}
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (told[i].minor == minor)
			return ask(&told[i], runtime, out);
	return TARE_PYTHON_UNKNOWN_VERSION;
}
