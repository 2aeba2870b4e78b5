/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the phases that a program marks with NVTX: is attached by the NVTX of each library, and passes calls on to
 * another tool.
 */
#include "recorder/nvtx/nvtx.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "recorder/base/environment.h"
#include "recorder/base/plib.h"
#include "recorder/elf/libc.h"
#include "recorder/elf/libdl.h"
#include "recorder/log/degraded.h"
#include "recorder/phase/comm.h"
#include "recorder/nvtx/payload.h"
#include "recorder/recorder.h"

/* PyTorch numbers its operators in their names: without it every call would be a phase of its own. */
static const char *const numbered[] = { ", seq = ", ", op_id = " };

static const char *without_number(const char *text, char scratch[TARE_NVTX_TEXT_MAX])
{
	size_t i, n;

	for (i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		const char *at = strstr(text, numbered[i]);

		if (!at)
			continue;
		n = (size_t)(at - text);
		if (n >= TARE_NVTX_TEXT_MAX)
			n = TARE_NVTX_TEXT_MAX - 1;
		memmove(scratch, text, n);
		scratch[n] = '\0';
		return scratch;
	}
	return text;
}

void tare_nvtx_add_data(enum tare_phase_what what, nvtx_domain domain, struct tare_nvtx_text text, uint64_t id,
                        const struct nvtx_data *data, size_t count)
{
	struct tare_phase phase = { .what = what, .source = TARE_PHASE_BY_NVTX, .id = id };
	char scratch[TARE_NVTX_TEXT_MAX];

	if (tare_thread.depth > 0)
		return;
	phase.name = tare_nvtx_text(text, scratch);
	if (phase.name)
		phase.name = without_number(phase.name, scratch);
	phase.domain = tare_nvtx_domain(domain);
	if (phase.domain && tare_plib_equal(phase.domain, "NCCL")) {
		if (what == TARE_PHASE_PUSH)
			tare_comm_push(phase.name, tare_nvtx_comm(text, data, count));
		else if (what == TARE_PHASE_POP)
			tare_comm_pop(tare_nvtx_comm(text, data, count));
	}
	tare_phase_add(&phase);
}

void tare_nvtx_add(enum tare_phase_what what, nvtx_domain domain, struct tare_nvtx_text text, uint64_t id)
{
	tare_nvtx_add_data(what, domain, text, id, NULL, 0);
}

/* ---- the callbacks, and the other tool's ---- */

static struct {
#define NVTX_API(module, id, name, what, params, args, domain, text, range) NVTX_ANSWER_##what(*name) params;
#define NVTX_NAMES(module, id, name, result, params, args, keep)            result(*name) params;
#include "recorder/nvtx/nvtx_api.def"
} next;

/* What the program gets: the other tool's answer, else what NVTX answers without a tool. */
#define BODY_MARK(name, args, domain, text, range)                                                                     \
	tare_nvtx_add(TARE_PHASE_MARK, domain, text, 0);                                                                   \
	if (next.name)                                                                                                     \
		next.name args;
#define BODY_BEGIN(name, args, domain, text, range)                                                                    \
	uint64_t begun = next.name ? next.name args : tare_phase_new_id();                                                 \
	tare_nvtx_add(TARE_PHASE_BEGIN, domain, text, begun);                                                              \
	return begun;
#define BODY_END(name, args, domain, text, range)                                                                      \
	tare_nvtx_add(TARE_PHASE_END, domain, text, range);                                                                \
	if (next.name)                                                                                                     \
		next.name args;
#define BODY_PUSH(name, args, domain, text, range)                                                                     \
	tare_nvtx_add(TARE_PHASE_PUSH, domain, text, 0);                                                                   \
	return next.name ? next.name args : NVTX_NO_PUSH_POP_TRACKING;
#define BODY_POP(name, args, domain, text, range)                                                                      \
	tare_nvtx_add(TARE_PHASE_POP, domain, text, 0);                                                                    \
	return next.name ? next.name args : NVTX_NO_PUSH_POP_TRACKING;
#define KEEP_DOMAIN(text) tare_nvtx_keep_domain(handle, text)
#define KEEP_STRING(text) tare_nvtx_keep_string(handle, text)

#define NVTX_API(module, id, name, what, params, args, domain, text, range)                                            \
	static NVTX_ANSWER_##what on_##name params                                                                         \
	{                                                                                                                  \
		BODY_##what(name, args, domain, text, range)                                                                   \
	}
#define NVTX_NAMES(module, id, name, result, params, args, keep)                                                       \
	static result on_##name params                                                                                     \
	{                                                                                                                  \
		result handle = next.name ? next.name args : NULL;                                                             \
                                                                                                                       \
		return keep;                                                                                                   \
	}
#include "recorder/nvtx/nvtx_api.def"

static const struct row {
	int module;
	unsigned int id;
	nvtx_function on;
	nvtx_function *next;
} rows[] = {
#define NVTX_API(module, id, name, what, params, args, domain, text, range)                                            \
	{ NVTX_MODULE_##module, id, (nvtx_function)on_##name, (nvtx_function *)&next.name },
#define NVTX_NAMES(module, id, name, result, params, args, keep)                                                       \
	{ NVTX_MODULE_##module, id, (nvtx_function)on_##name, (nvtx_function *)&next.name },
#include "recorder/nvtx/nvtx_api.def"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- injection ---- */

/* Where a library keeps the function of a row, or NULL: an NVTX without it. */
static nvtx_function *slot_of(nvtx_get_export_table *get, const struct row *row)
{
	const struct nvtx_callbacks *callbacks = get(NVTX_ETID_CALLBACKS);
	nvtx_function **table = NULL;
	unsigned int size = 0;

	if (!callbacks || callbacks->size < sizeof(*callbacks) ||
	    !callbacks->get_module_table(row->module, &table, &size) || !table || row->id >= size)
		return NULL;
	return table[row->id];
}

void *tare_nvtx_other_tool(void)
{
	static void *library;
	static uint32_t is_loaded;
	const char *path = tare_environment("TARE_NVTX_CHAIN");

	if (!path)
		return NULL;
	if (!__atomic_load_n(&is_loaded, __ATOMIC_ACQUIRE)) {
		library = tare_resolve_dlopen(path, RTLD_LAZY);
		__atomic_store_n(&is_loaded, 1, __ATOMIC_RELEASE);
	}
	return library;
}

/* Each library that uses NVTX is told to the tool that was there before us. */
static bool initialize_other(nvtx_get_export_table *get)
{
	void *library = tare_nvtx_other_tool();
	nvtx_initialize_injection *initialize =
		library ? (nvtx_initialize_injection *)tare_resolve_dlsym(library, "InitializeInjectionNvtx2") : NULL;

	return initialize && initialize(get) != 0;
}

/* Which comes first in the order of loading: we, who are preloaded, or libc? */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	(void)size;
	*(bool *)arg = info->dlpi_addr == (uintptr_t)__ehdr_start;
	return *(bool *)arg || tare_plib_starts(tare_plib_basename(info->dlpi_name), "libc.so");
}

/* Loaded by NVTX into a process that dropped LD_PRELOAD, nothing else would be recorded. */
static bool is_preloaded(void)
{
	bool is_first = false;

	tare_libc()->iterate_objects(look_at_object, &is_first);
	return is_first;
}

bool tare_nvtx_is_wanted(void)
{
	return tare_config.enabled && !tare_config.nop && is_preloaded();
}

/* Of a tool that has functions per library only its own are left. */
void tare_nvtx_attach(nvtx_function *slot, nvtx_function on, nvtx_function *next, nvtx_function before)
{
	nvtx_function set = *slot != before ? *slot : NULL;

	if (set && *next && *next != set) {
		tare_degraded("NVTX ranges of some libraries are not recorded, because the tool in "
		              "NVTX_INJECTION64_PATH has functions of its own for each of them",
		              NULL);
		return;
	}
	if (set)
		__atomic_store_n(next, set, __ATOMIC_RELEASE);
	*slot = on;
}

TARE_EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table *get);

int InitializeInjectionNvtx2(nvtx_get_export_table *get)
{
	nvtx_function before[ROWS];
	bool is_other;
	size_t i;

	tare_start_once();
	if (!get)
		return 0;
	for (i = 0; i < ROWS; i++) {
		nvtx_function *slot = slot_of(get, &rows[i]);

		before[i] = slot ? *slot : NULL;
	}
	is_other = initialize_other(get);
	if (!tare_nvtx_is_wanted())
		return is_other;
	for (i = 0; i < ROWS; i++) {
		nvtx_function *slot = slot_of(get, &rows[i]);

		if (!slot)
			continue;
		if (!is_other)
			*slot = before[i]; /* a tool that refused leaves nothing behind */
		tare_nvtx_attach(slot, rows[i].on, rows[i].next, before[i]);
	}
	return 1;
}
