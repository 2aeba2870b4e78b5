/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "growth": which stacks have a compiler in them (compilers.def). */
#include "ledger/growth/growth.h"

#include <string.h>

enum what { FUNCTION, LIBRARY, FILE };

static const struct compiler {
	enum what what;
	const char *begin, *part;
} compilers[] = {
#define TARE_COMPILER(WHAT, BEGIN, PART) { WHAT, BEGIN, PART },
#include "ledger/growth/compilers.def"
#undef TARE_COMPILER
};

static bool is_like(const struct compiler *c, const char *name)
{
	size_t len = strlen(c->begin);

	if (c->what == FILE)
		return strstr(name, c->begin) != NULL;
	return !strncmp(name, c->begin, len) && strstr(name + len, c->part);
}

static bool is_known(enum what what, const char *name)
{
	for (size_t i = 0; name && i < sizeof(compilers) / sizeof(compilers[0]); i++)
		if (compilers[i].what == what && is_like(&compilers[i], name))
			return true;
	return false;
}

static bool is_native(const struct tare_process *process, const struct tare_stack *stack, uint64_t pc)
{
	const struct tare_symbol *symbol = tare_process_symbol(process, stack, pc);
	const struct tare_object *object = tare_process_object(process, stack, pc - 1);
	const char *path = object ? object->path : NULL, *slash = path ? strrchr(path, '/') : NULL;

	return (symbol && is_known(FUNCTION, symbol->name)) || is_known(LIBRARY, slash ? slash + 1 : path);
}

bool tare_growth_is_compiling(const struct tare_site *site)
{
	for (uint32_t i = 0; site->python && i < site->python->depth; i++)
		if (is_known(FILE, site->python->lines[i].file))
			return true;
	for (uint32_t i = 0; site->stack && i < site->stack->depth; i++)
		if (is_native(site->process, site->stack, site->stack->pcs[i]))
			return true;
	return false;
}
