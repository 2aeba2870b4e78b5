/* SPDX-License-Identifier: Apache-2.0 */
/* Modules (torch.nn.Module) that a trace of torch.profiler names: "Linear_25" is one of the class Linear. */
#ifndef TARE_IMPORT_KINETO_MODULES_H
#define TARE_IMPORT_KINETO_MODULES_H

#include "import/kineto_gpu.h"
#include "import/kineto_spans.h"

struct tare_kineto_modules {
	const struct tare_kineto_spans *spans;
	struct tare_import_out *out;
	struct tare_map of_thread; /* thread → the module it was told to be in last */
	bool is_any;               /* that has memory */
};

/* Tells their classes and names, before anything is told to be in one. */
void tare_kineto_modules_begin(struct tare_kineto_modules *m, const struct tare_kineto_spans *spans,
                               struct tare_import_out *out);
/* What the thread is handed out from here on is for this module, where it says so. */
void tare_kineto_modules_enter(struct tare_kineto_modules *m, const struct tare_kineto_from *from, uint32_t module);
void tare_kineto_modules_free(struct tare_kineto_modules *m);

#endif
