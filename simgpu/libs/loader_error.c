/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlerror(), by which a program learns why a library could not be opened: where a name of NVIDIA's is the reason, it is
 * told (sim_tell.h). The program gets the text as it is.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/libs/loader.h"
#include "simgpu/sim_tell.h"

enum { NAME = 256, FILE_NAME = 512, TEXT = 1024 };

static const char undefined[] = ": undefined symbol: ", version[] = ": version `";

/* Prefixes of the public interfaces that are simulated. */
bool sim_loader_is_name(const char *name)
{
	static const char *const prefixes[] = { "cuda",     "__cuda", "cublas", "cudnn",   "cufft",  "curand", "cusolver",
		                                    "cusparse", "nccl",   "pnccl",  "nvshmem", "cuFile", "cupti",  "nvml" };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

static bool is_program(const char *file)
{
	char path[FILE_NAME];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *own;

	path[length > 0 ? length : 0] = '\0';
	own = strrchr(path, '/');
	return !*file || strcmp(name, own ? own + 1 : path) == 0 || strcmp(name, "python3") == 0 ||
	       strcmp(name, "python") == 0;
}

/* Between two places of a text. */
static bool take(char *out, size_t size, const char *from, const char *to)
{
	if (to <= from || (size_t)(to - from) >= size)
		return false;
	memcpy(out, from, (size_t)(to - from));
	out[to - from] = '\0';
	return true;
}

/* Is it about a name of NVIDIA's? */
static bool is_ours(const char *text)
{
	const char *at = strstr(text, undefined);

	return at ? sim_loader_is_name(at + sizeof(undefined) - 1) : strstr(text, version) != NULL;
}

/* "FILE: undefined symbol: NAME, version NODE" */
static bool tell_symbol(const char *text)
{
	const char *at = strstr(text, undefined), *name = at ? at + sizeof(undefined) - 1 : NULL;
	char file[FILE_NAME], symbol[NAME];

	if (!at || !take(symbol, sizeof(symbol), name, name + strcspn(name, ", ")) || !sim_loader_is_name(symbol))
		return at != NULL;
	if (!take(file, sizeof(file), text, at))
		file[0] = '\0';
	sim_tell(sim_loader_is_simulated(file) || is_program(file) ? SIM_TELL_LOOK : SIM_TELL_LINK, symbol, file);
	return true;
}

/* "FILE: version `NODE' not found (required by WHO)" */
static void tell_version(const char *text)
{
	const char *node = strstr(text, version), *end = node ? strchr(node, '\'') : NULL;
	const char *who = end ? strstr(end, "(required by ") : NULL;
	char file[FILE_NAME], name[NAME];

	if (!who || !take(file, sizeof(file), text, node) || !sim_loader_is_simulated(file))
		return;
	node += sizeof(version) - 1;
	who += strlen("(required by ");
	if (take(name, sizeof(name), node, end) && take(file, sizeof(file), who, who + strcspn(who, ")")))
		sim_tell(SIM_TELL_LINK, name, file);
}

__attribute__((visibility("default"))) char *tare_sim_dlerror(void);

/* Telling uses the dynamic linker, which gives up the text of the last error: so the program gets a copy. */
char *tare_sim_dlerror(void)
{
	static char *(*next)(void);
	static __thread char kept[TEXT];
	char *text;

	if (!__atomic_load_n((void **)&next, __ATOMIC_ACQUIRE))
		__atomic_store_n((void **)&next, sim_loader_behind("dlerror"), __ATOMIC_RELEASE);
	text = next ? next() : NULL;
	if (!text || !is_ours(text) || strlen(text) >= sizeof(kept))
		return text;
	strcpy(kept, text);
	if (!tell_symbol(kept))
		tell_version(kept);
	next(); /* what telling left there */
	return kept;
}
