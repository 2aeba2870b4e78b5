/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders where compilers of frameworks keep what they made, and look for it in the next run. A compiler that finds nothing there times
 * kernels, and allocates on the card to do so (docs/measurements/simulated.md): so a program needs more where they are empty, as on a new machine.
 */
#include "cmd/predict.h"

#include "sweep/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The variable that says where, and its folder below ours. */
static const struct {
	const char *variable, *name;
} caches[] = {
	{ "TORCHINDUCTOR_CACHE_DIR", "inductor" },
	{ "TRITON_CACHE_DIR", "triton" },
};

int tare_predict_caches_make(char *folder, size_t size, struct tare_err *err)
{
	snprintf(folder, size, "/tmp/tare-predict-caches-XXXXXX");
	if (!mkdtemp(folder))
		return tare_err_set_errno(err, errno, "%s: no folder can be made for caches",
					  folder);
	return 0;
}

void tare_predict_caches_use(const char *folder)
{
	char path[64];

	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, caches[i].name);
		if (mkdir(path, 0700) == 0)
			setenv(caches[i].variable, path, 1);
	}
}

void tare_predict_caches_remove(const char *folder)
{
	tare_machine_remove(folder);
}
