/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders where compilers of frameworks keep what they made, and look for it in the next run. A compiler that finds nothing there times
 * kernels, and allocates on the card to do so (docs/measurements/simulated.md): so a program needs more where they are empty, as on a new machine.
 */
#include "cmd/predict.h"

#include "base/str.h"

#include <stdlib.h>
#include <sys/stat.h>

/* The variable that says where, and its folder below ours. */
static const struct {
	const char *variable, *name;
} caches[] = {
	{ "TORCHINDUCTOR_CACHE_DIR", "inductor" },
	{ "TRITON_CACHE_DIR", "triton" },
};

void tare_predict_caches_use(const char *folder)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		tare_str_cut(&path, 0);
		tare_str_addf(&path, "%s/%s", folder, caches[i].name);
		if (mkdir(tare_str_text(&path), 0700) == 0)
			setenv(caches[i].variable, tare_str_text(&path), 1);
	}
}
