/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlclose, as libtare_recorder_host.so exports it. Elsewhere the dynamic linker is asked whether a library has gone where
 * a stack is looked at; that takes its lock, which malloc may not do (heap.h). So it is asked here, once for each dlclose.
 */
#include "recorder/elf/libdl.h"
#include "recorder/elf/objects.h"
#include "recorder/recorder.h"

/* The C library's header gives it attributes that are not wanted where it is defined. */
int dlclose(void *library);

TARE_EXPORT int dlclose(void *library)
{
	static int (*real)(void *);
	int (*found)(void *) = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
	int failure;

	if (!found) {
		found = (int (*)(void *))tare_resolve_next("dlclose");
		if (!found)
			return -1;
		__atomic_store_n(&real, found, __ATOMIC_RELEASE);
	}
	failure = found(library);
	if (tare_config.heap_mean && tare_config.enabled)
		tare_objects_check();
	return failure;
}
