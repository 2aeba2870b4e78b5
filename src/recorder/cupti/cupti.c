/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks functions of CUPTI, and weighs what they take of the device. */
#include "recorder/base/parts.h"

#include <stddef.h>
#include <string.h>

#include "recorder/cuda/context.h"
#include "recorder/elf/elfsym.h"
#include "recorder/hooks/call.h"
#include "recorder/recorder.h"
#include "recorder/weigh/weigh.h"

/*
 * Their arguments are pointers and integers, at most as many as are passed in registers: so all of these are passed
 * on, whatever they are.
 */
#define PARAMS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f
#define ARGS   a, b, c, d, e, f
typedef int cupti_fn(PARAMS);

enum { NOT_INITIALIZED = 15, FIRST_MAJOR = 10, LAST_MAJOR = 29 };

#define TARE_CUPTI(name) TARE_EXPORT cupti_fn name;
#include "recorder/cupti/cupti.def"

static const struct {
	const char *name;
	cupti_fn *hook;
} rows[] = {
#define TARE_CUPTI(name) { #name, name },
#include "recorder/cupti/cupti.def"
};

static cupti_fn *hook_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].hook;
	return NULL;
}

bool tare_cupti_is_hooked(const char *name)
{
	return strncmp(name, "cupti", 5) == 0 && hook_of(name);
}

/* There may be several of different versions in a process. */
static bool find_needed(uintptr_t caller, struct tare_elf_object *out)
{
	struct tare_elf_object from;
	char name[] = "libcupti.so.00";
	int major;

	if (!tare_elf_object_at((const void *)caller, &from))
		return false;
	for (major = FIRST_MAJOR; major <= LAST_MAJOR; major++) {
		name[sizeof(name) - 3] = (char)('0' + major / 10);
		name[sizeof(name) - 2] = (char)('0' + major % 10);
		if (tare_elf_needs(&from, name) && tare_elf_find_object(name, out))
			return true;
	}
	return false;
}

void *tare_cupti_needed(const char *name, uintptr_t caller)
{
	struct tare_elf_object library;

	return find_needed(caller, &library) ? tare_elf_symbol(&library, name, NULL) : NULL;
}

static void *real_of(const char *name, uintptr_t caller)
{
	struct tare_elf_object library;
	void *found = tare_cupti_needed(name, caller);

	if (!found && tare_elf_find_object("libcupti.so", &library))
		found = tare_elf_symbol(&library, name, NULL);
	return found;
}

/* What dlsym found is of no library in particular that its caller is linked with: the first one is meant. */
void *tare_cupti_swap(const char *name, void *found)
{
	cupti_fn *hook = tare_config.enabled && found == real_of(name, 0) ? hook_of(name) : NULL;

	return hook ? (void *)hook : found;
}

/* The device of the current context; of a thread without one, the first that has a primary one. */
static int device_here(CUcontext *context)
{
	int device = tare_context_device(*context);

	for (int i = 0; device < 0 && i < TARE_WEIGH_DEVICES; i++) {
		*context = tare_context_primary(i);
		if (*context)
			device = i;
	}
	return device;
}

static bool begin(struct tare_call *call, const char *name)
{
	CUcontext context;
	int device;

	if (tare_thread.depth > 0 || !tare_config.enabled || !tare_real.cuInit || !tare_context_count())
		return false;
	context = tare_context_current();
	device = device_here(&context);
	if (device < 0 || !tare_call_begin_on(call, CU_API_cuInit, TARE_CLASS_PROFILER, TARE_EFFECT_CHANGE, device))
		return false;
	call->context = (uint64_t)(uintptr_t)context;
	call->symbol = name;
	call->is_quiet = true;
	return true;
}

/* An error of CUPTI is none of the driver's; and it may have taken memory all the same. */
static int forward(const char *name, uintptr_t caller, PARAMS)
{
	cupti_fn *real;
	struct tare_call call;
	int result;

	tare_start_once();
	real = (cupti_fn *)real_of(name, caller);
	if (!real)
		real = (cupti_fn *)tare_elf_find_symbol(name, (const void *)hook_of(name));
	if (!real)
		return NOT_INITIALIZED;
	if (!begin(&call, name))
		return real(ARGS);
	result = real(ARGS);
	tare_call_end(&call, CUDA_SUCCESS);
	return result;
}

#define TARE_CUPTI(name)                                                                                               \
	int name(PARAMS)                                                                                                   \
	{                                                                                                                  \
		return forward(#name, (uintptr_t)__builtin_return_address(0), ARGS);                                           \
	}
#include "recorder/cupti/cupti.def"
