/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the driver and finds its functions. */
#include "graphs/driver.h"

#include "graphs/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

struct tare_graphs_driver tare_cu;

static const struct row {
	const char *symbol;
	bool is_needed;
	void **function;
} rows[] = {
#define CU_CALL(SYMBOL, IS_NEEDED, PARAMS) { #SYMBOL, IS_NEEDED, (void **)&tare_cu.SYMBOL },
#include "graphs/driver.def"
#undef CU_CALL
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;

static int load(void)
{
	/* The library is never closed: the driver does not survive that. */
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t i;

	if (!library)
		return tare_graphs_fail(TARE_GRAPHS_NO_DRIVER, "libcuda.so.1 cannot be loaded (%s); install the NVIDIA driver",
		                        dlerror());
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].function = dlsym(library, rows[i].symbol);
		if (rows[i].is_needed && !*rows[i].function)
			return tare_graphs_fail(TARE_GRAPHS_NO_DRIVER,
			                        "the CUDA driver has no %s; install one of CUDA 12.0 or younger", rows[i].symbol);
	}
	return tare_graphs_cuda(tare_cu.cuInit(0), "cuInit");
}

int tare_graphs_driver_load(void)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!is_loaded)
		rc = load();
	is_loaded = is_loaded || rc == 0;
	pthread_mutex_unlock(&lock);
	return rc;
}
