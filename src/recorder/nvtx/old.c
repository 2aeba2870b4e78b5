/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX before version 3 is a library, libnvToolsExt.so.1, that programs link or load. Linked, they
 * find the names below first; loaded, they are given them by dlsym. Each call goes on to the library.
 */
#include "recorder/nvtx/nvtx.h"

#include <dlfcn.h>
#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/libdl.h"
#include "recorder/recorder.h"

#define LIBRARY "libnvToolsExt.so"

/* The library's own functions; what is missing is looked for once. */
static struct {
#define NVTX_API(module, id, name, what, params, args, domain, text, range) NVTX_ANSWER_##what(*name) params;
#define NVTX_NAMES(module, id, name, result, params, args, keep)            result(*name) params;
#include "recorder/nvtx/nvtx_api.def"
} real;

static const struct {
	const char *name;
	nvtx_function *real;
} rows[] = {
#define NVTX_API(module, id, name, what, params, args, domain, text, range)                                            \
	{ "nvtx" #name, (nvtx_function *)&real.name },
#define NVTX_NAMES(module, id, name, result, params, args, keep) { "nvtx" #name, (nvtx_function *)&real.name },
#include "recorder/nvtx/nvtx_api.def"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void find_real(void)
{
	static uint32_t is_looked_for;
	struct tare_elf_object library;
	bool is_there;
	size_t i;

	if (__atomic_exchange_n(&is_looked_for, 1, __ATOMIC_ACQ_REL))
		return;
	is_there = tare_elf_find_object(LIBRARY, &library);
	for (i = 0; i < ROWS; i++) {
		void *found = tare_resolve_dlsym(RTLD_NEXT, rows[i].name); /* linked, under any name */

		if (!found && is_there) /* loaded, for whoever loaded it */
			found = tare_elf_symbol(&library, rows[i].name, NULL);
		__atomic_store_n(rows[i].real, (nvtx_function)found, __ATOMIC_RELEASE);
	}
}

/*
 * The library may itself be NVTX 3 in a coat, and call us back: that is this call, not one more. Its
 * answer is the program's; where no tool gives ranges and domains their handles, they are ours.
 */
#define CALL_REAL(name, args, otherwise)                                                                               \
	({                                                                                                                 \
		__typeof__(real.name) real_;                                                                                   \
		__typeof__(real_ args) answer_ = otherwise;                                                                    \
		if (unlikely(!real.name))                                                                                      \
			find_real();                                                                                               \
		real_ = real.name;                                                                                             \
		tare_thread.depth++;                                                                                           \
		if (real_)                                                                                                     \
			answer_ = real_ args;                                                                                      \
		tare_thread.depth--;                                                                                           \
		answer_;                                                                                                       \
	})
#define PASS_ON(name, args)                                                                                            \
	do {                                                                                                               \
		if (unlikely(!real.name))                                                                                      \
			find_real();                                                                                               \
		tare_thread.depth++;                                                                                           \
		if (real.name)                                                                                                 \
			real.name args;                                                                                            \
		tare_thread.depth--;                                                                                           \
	} while (0)
#define BODY_MARK(name, args, domain, text, range)                                                                     \
	tare_nvtx_add(TARE_PHASE_MARK, domain, text, 0);                                                                   \
	PASS_ON(name, args);
#define BODY_BEGIN(name, args, domain, text, range)                                                                    \
	uint64_t begun = CALL_REAL(name, args, 0);                                                                         \
                                                                                                                       \
	if (!begun)                                                                                                        \
		begun = tare_phase_new_id();                                                                                   \
	tare_nvtx_add(TARE_PHASE_BEGIN, domain, text, begun);                                                              \
	return begun;
#define BODY_END(name, args, domain, text, range)                                                                      \
	tare_nvtx_add(TARE_PHASE_END, domain, text, range);                                                                \
	PASS_ON(name, args);
#define BODY_PUSH(name, args, domain, text, range)                                                                     \
	tare_nvtx_add(TARE_PHASE_PUSH, domain, text, 0);                                                                   \
	return CALL_REAL(name, args, NVTX_NO_PUSH_POP_TRACKING);
#define BODY_POP(name, args, domain, text, range)                                                                      \
	tare_nvtx_add(TARE_PHASE_POP, domain, text, 0);                                                                    \
	return CALL_REAL(name, args, NVTX_NO_PUSH_POP_TRACKING);
#define KEEP_DOMAIN(text) tare_nvtx_keep_domain(handle, text)
#define KEEP_STRING(text) tare_nvtx_keep_string(handle, text)

#define NVTX_API(module, id, name, what, params, args, domain, text, range)                                            \
	TARE_EXPORT NVTX_ANSWER_##what nvtx##name params;                                                                  \
	NVTX_ANSWER_##what nvtx##name params                                                                               \
	{                                                                                                                  \
		BODY_##what(name, args, domain, text, range)                                                                   \
	}
#define NVTX_NAMES(module, id, name, result, params, args, keep)                                                       \
	TARE_EXPORT result nvtx##name params;                                                                              \
	result nvtx##name params                                                                                           \
	{                                                                                                                  \
		result handle = CALL_REAL(name, args, NULL);                                                                   \
                                                                                                                       \
		return keep;                                                                                                   \
	}
#include "recorder/nvtx/nvtx_api.def"

static const struct {
	const char *name;
	nvtx_function own;
} owns[] = {
#define NVTX_API(module, id, name, what, params, args, domain, text, range) { "nvtx" #name, (nvtx_function)nvtx##name },
#define NVTX_NAMES(module, id, name, result, params, args, keep)            { "nvtx" #name, (nvtx_function)nvtx##name },
#include "recorder/nvtx/nvtx_api.def"
};

bool tare_nvtx_is_name(const char *name)
{
	size_t i;

	if (name[0] != 'n' || name[1] != 'v' || name[2] != 't' || name[3] != 'x')
		return false;
	for (i = 0; i < ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return true;
	return false;
}

void *tare_nvtx_swap(const char *name, void *found)
{
	struct tare_elf_object library;
	size_t i;

	if (!tare_config.enabled || tare_config.nop || !tare_elf_object_at(found, &library) ||
	    !tare_plib_starts(tare_plib_basename(library.path), LIBRARY))
		return found;
	for (i = 0; i < ROWS; i++)
		if (strcmp(owns[i].name, name) == 0)
			return (void *)owns[i].own;
	return found;
}
