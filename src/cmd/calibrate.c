/* SPDX-License-Identifier: Apache-2.0 */
/* `tare calibrate`: measures a profile of the GPU here, or compares it with one. */
#include "calibrate/calibrate.h"

#include "cmd/calibrate_libraries.h"
#include "cmd/calibrate_print.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "session/profiles.h"
#include "cmd/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *output, *sim, *compare, *libraries, *cudnn;
	int64_t device;
	bool force, quick;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, output, "output", 'o', STRING, "FILE", "write the profile to FILE (- is standard output)"),
	TARE_OPT(options, force, "force", 'f', FLAG, NULL, "replace FILE if it is there"),
	TARE_OPT(options, device, "device", 'd', INT, "N", "the GPU to measure, as CUDA counts (0)"),
	TARE_OPT(options, compare, "compare", 0, STRING, "PROFILE",
	         "compare with this profile, and exit with 1 if a constant differs"),
	TARE_OPT(options, quick, "quick", 0, FLAG, NULL, "measure once, and believe it"),
	TARE_OPT(options, sim, "sim", 0, STRING, "PROFILE", "measure the simulated GPU, such as h200"),
	TARE_OPT(options, libraries, "libraries", 0, STRING, "FILE",
	         "record what cuDNN takes for the convolutions in FILE (- is standard input)"),
	TARE_OPT(options, cudnn, "cudnn", 0, STRING, "FILE", "the libcudnn.so.9 to ask, where it is not found"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_calibrate = {
	.name = "calibrate",
	.synopsis = "measure a GPU's constants, as a device profile",
	.description = "Measures what the GPU and its driver take for everything: for starting, for a context, "
				   "for streams, stacks, code, graphs, pools. -o writes a device profile "
				   "(docs/PROFILE.md), which tare run --sim FILE simulates.\n\n"
				   "It takes some seconds, and for that time little more memory than two contexts. Every "
				   "constant is measured until a value repeats, in another process each time. Where other "
				   "programs change the memory in use meanwhile, it is measured again; a constant that never "
				   "repeats is not measured, and the profile then has a usual value and says so. A driver "
				   "that crashes, hangs or lacks a function costs only the constants that need it.\n\n"
				   "With --libraries it asks cuDNN instead, which workspace it takes for each convolution of a "
				   "file, as tare record --sim writes it with TARE_SIM_CONVOLUTIONS (docs/SIMGPU.md, \"cuDNN\"). "
				   "-o writes a table; beside a profile it is used wherever that profile is.\n\n"
				   "Exit code: 0; 1 if --compare finds a difference; 125 if a constant could not be measured "
				   "because the GPU was in use or the driver failed. What this driver does not have is no "
				   "failure.",
	.examples = "tare calibrate\n"
				"tare calibrate -o mine.profile && tare run --sim ./mine.profile -- ./program\n"
				"tare calibrate --compare h200\n"
				"tare calibrate --sim h200 --json\n"
				"tare calibrate --libraries convolutions -o mine.conv",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.run = tare_cmd_calibrate,
};

static int check(const struct options *o, struct tare_err *err)
{
	struct tare_profile profile;

	if (o->device < 0 || o->device > 1024)
		return tare_err_set(err, TARE_E_USAGE, "calibrate: --device counts GPUs from 0, as CUDA does");
	if (o->sim && tare_profiles_open("--sim", o->sim, &profile, err))
		return err->code;
	if (o->output && strcmp(o->output, "-") && !o->force && access(o->output, F_OK) == 0)
		return tare_err_set(err, TARE_E_EXISTS, "%s: is there already; give -f to replace it", o->output);
	return 0;
}

/* The profile to compare with; false without an error: there is none. */
static int find_compared(const struct options *o, const struct tare_calibration *c, struct tare_profile *profile,
                         char *path, size_t size, struct tare_err *err)
{
	*path = 0;
	if (!o->compare) {
		tare_profiles_find(c->profile.name, profile, path, size);
		return 0;
	}
	if (tare_profiles_path("--compare", o->compare, path, size, err))
		return err->code;
	return tare_profiles_read(path, profile, err);
}

static int write_profile(const struct options *o, const struct tare_calibration *c, const char *command,
                         struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (!o->force && strcmp(o->output, "-") != 0 && access(o->output, F_OK) == 0)
		return tare_err_set_errno(err, EEXIST, "%s: the profile cannot be written", o->output);
	tare_calibrate_write(&text, c, o->sim, command);
	return tare_cmd_write_file(o->output, &text, err);
}

static int record_libraries(struct tare_cmd_call *c, const struct options *o, struct tare_err *err)
{
	struct tare_calibrate_libraries how = { .keys = o->libraries,
		                                    .output = o->output,
		                                    .cudnn = o->cudnn,
		                                    .sim = o->sim,
		                                    .device = o->device,
		                                    .format = c->format };

	if (o->compare || o->quick)
		return tare_err_set(
			err, TARE_E_USAGE,
			"calibrate: %s is about measured constants, and --libraries measures none; leave one of them out",
			o->compare ? "--compare" : "--quick");
	return tare_calibrate_libraries(&how, &c->code, err);
}

/* The command line, as the profile tells it. */
static char *joined(struct tare_cmd_call *c)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_str_add(&text, "tare");
	for (int i = 0; i < c->argc; i++)
		tare_str_addf(&text, " %s", c->argv[i]);
	return tare_arena_strdup(&c->names, tare_str_text(&text));
}

static int exit_code(const struct options *o, const struct tare_calibration *c, size_t differences)
{
	for (int key = 0; key < TARE_PROFILE_KEYS; key++)
		if (c->keys[key].state == TARE_CALIBRATE_IN_USE || c->keys[key].state == TARE_CALIBRATE_FAILED)
			return TARE_EXIT_FAILED;
	return o->compare && differences ? TARE_EXIT_LIMIT : TARE_EXIT_OK;
}

int tare_cmd_calibrate(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct tare_calibrate_options how = { (int)o->device, o->quick, o->sim };
	struct tare_calibrate_shown shown = { .format = c->format, .is_simulated = o->sim };
	struct tare_profile compared;
	struct tare_calibration measured;
	char path[PATH_MAX];
	int rc = check(o, err);

	if (rc == 0 && o->libraries)
		return record_libraries(c, o, err);
	/* Before the seconds that it takes. */
	if (rc == 0 && o->compare)
		rc = find_compared(o, NULL, &compared, path, sizeof(path), err);
	if (rc == 0)
		rc = tare_calibrate(&how, &measured, err);
	if (rc == 0)
		rc = find_compared(o, &measured, &compared, path, sizeof(path), err);
	if (rc)
		return rc;
	shown.calibration = &measured;
	shown.compared = *path ? &compared : NULL;
	shown.compared_path = path;
	tare_calibrate_show(&c->out, &shown);
	c->code = exit_code(o, &measured, shown.differences);
	if (o->output)
		rc = write_profile(o, &measured, joined(c), err);
	/* Standard output is the profile's if it is asked for there. */
	if (o->output && strcmp(o->output, "-") == 0) {
		tare_terminal_write(stderr, &c->out);
		tare_str_cut(&c->out, 0);
	}
	return rc;
}
