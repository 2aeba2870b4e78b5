/* SPDX-License-Identifier: Apache-2.0 */
/* `tare demo`: records a small program, on the GPU here or on a simulated one. */
#include "base/print.h"
#include "base/self_path.h"
#include "cmd/cmd.h"
#include "witness/nvml.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct demo_options {
	const char *sim, *vram, *output;
	bool force;
};

static const struct tare_opt opts[] = {
	TARE_OPT(demo_options, sim, "sim", 0, STRING, "PROFILE", "use a simulated GPU even if there is a real one"),
	TARE_OPT(demo_options, vram, "vram", 0, STRING, "SIZE", "let it see a card of SIZE; it wants 1.3 GiB"),
	TARE_OPT(demo_options, output, "output", 'o', STRING, "REC", "write the recording to the folder REC"),
	TARE_OPT(demo_options, force, "force", 'f', FLAG, NULL, "replace REC if it is an older recording"),
	TARE_OPT_END,
};

const struct tare_command tare_command_demo = {
	.name = "demo",
	.synopsis = "record a small bundled program and show its ledger",
	.description = "Runs a few steps of an imaginary training under `tare run`: on this machine's GPU if there is "
				   "one, else on a simulated H200.",
	.examples = "tare demo\n"
				"tare demo --sim h200 -o demo.tare",
	.opts = opts,
	.size = sizeof(struct demo_options),
	.run = tare_cmd_demo,
};

/* A GPU that NVML knows, or, where there is no NVML, a device file of an NVIDIA driver. */
static bool has_gpu(void)
{
	static const char *const files[] = { "/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/nvgpu/igpu0", "/dev/dxg" };
	struct tare_nvml *nvml;
	size_t i;

	if (tare_nvml_open(NULL, &nvml, NULL) == 0) {
		int count = tare_nvml_device_count(nvml);

		tare_nvml_close(nvml);
		return count > 0;
	}
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (access(files[i], F_OK) == 0)
			return true;
	return false;
}

int tare_cmd_demo(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	struct demo_options *o = options;
	char program[PATH_MAX + 8], *run[16];
	int n = 0;

	if (tare_self_path(TARE_SELF_EXAMPLES, program, PATH_MAX) != 0)
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: the bundled programs are not there; install tare again",
		                    program);
	snprintf(program + strlen(program), 8, "/demo");
	if (!o->sim && !has_gpu()) {
		o->sim = "h200";
		tare_say("this machine has no NVIDIA GPU that answers; the demo runs on a simulated H200");
	}
	run[n++] = "run";
	if (o->sim) {
		run[n++] = "--sim";
		run[n++] = (char *)o->sim;
	}
	if (o->vram) {
		run[n++] = "--vram";
		run[n++] = (char *)o->vram;
	}
	if (o->output) {
		run[n++] = "-o";
		run[n++] = (char *)o->output;
	}
	if (o->force)
		run[n++] = "-f";
	run[n++] = "--";
	run[n++] = program;
	run[n] = NULL;
	c->code = tare_cmd_call(&tare_command_run, n, run);
	return 0;
}
