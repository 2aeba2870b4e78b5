/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions of PyTorch behind those that the recorder exports. */
#include "recorder/torch/real.h"

#include <dlfcn.h>
#include <stddef.h>

#include "recorder/elf/elfsym.h"
#include "recorder/elf/libdl.h"

/* A build of one piece has all of it in the last. */
static const char *const homes[] = { "libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so",
	                                 "libtorch.so" };

static void *find_at_home(const char *name)
{
	struct tare_elf_object object;
	void *found = NULL;
	size_t i;

	for (i = 0; !found && i < sizeof(homes) / sizeof(homes[0]); i++)
		if (tare_elf_find_object(homes[i], &object))
			found = tare_elf_symbol(&object, name, NULL);
	return found;
}

void *tare_torch_look(struct tare_torch_real *real)
{
	void *found;

	if (__atomic_load_n(&real->is_nowhere, __ATOMIC_RELAXED))
		return NULL;
	tare_start_once();
	found = find_at_home(real->name);
	if (!found && real->ours) /* in a library that a program was built with instead */
		found = tare_elf_find_symbol(real->name, real->ours);
	if (!found && real->ours)
		found = tare_resolve_dlsym(RTLD_NEXT, real->name);
	if (!found && !real->ours)
		__atomic_store_n(&real->is_nowhere, true, __ATOMIC_RELAXED);
	__atomic_store_n(&real->found, found, __ATOMIC_RELAXED);
	return found;
}
