/* SPDX-License-Identifier: Apache-2.0 */
/* `tare info`: says what this Tare is made of and can do, and what a recording is. */
#include "cmd/info.h"

#include "base/self_path.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "record/format.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct options {
	bool hooks, check;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, hooks, "hooks", 0, FLAG, NULL, "list the driver functions that are recorded"),
	TARE_OPT(options, check, "check", 0, FLAG, NULL,
	         "compare all views of REC at 50 instants: exit 1 if two of them differ"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_info = {
	.name = "info",
	.synopsis = "say what this tare is, or what a recording holds",
	.operands = "[REC]",
	.description =
		"Without REC: version, build and where its parts are, which is the first thing a bug report should contain. "
		"With REC: the command, machine, versions, processes and sizes of a recording, and what was lost or "
		"damaged.\n\n"
		"--hooks lists every driver function that the recorder knows: its name and the CUDA version of that name, "
		"whether it is the variant for a default stream per thread, how it is hooked, and which account its effect "
		"belongs to.\n\n"
		"--check makes the picture, the line of time and the tables of REC, with their JSON and CSV, at up to 50 "
		"instants spread over it, and compares what they say of every account, category and sum. A difference is a "
		"bug of Tare: the first is printed with its instant, its row and both figures, and the exit code is 1.",
	.examples = "tare info\n"
				"tare info --hooks\n"
				"tare info train.tare\n"
				"tare info --check train.tare",
	.progress = "reading",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.max_operands = 1,
	.run = tare_cmd_info,
};

static const struct hook {
	const char *symbol, *name;
	int version, is_per_thread;
	const char *shape, *class;
} hooks[] = {
#define CU_API(SYMBOL, NAME, VERSION, PTSZ, SHAPE, CLASS, PARAMS, ARGS, SETS)                                          \
	{ #SYMBOL, #NAME, VERSION, PTSZ, #SHAPE, #CLASS },
#include "recorder/cuda/cuda_api.def"
#undef CU_API
};

struct hook_row {
	struct tare_str version;
	bool is_per_thread;
	struct hook of;
};

static const struct tare_column hook_columns[] = {
	TARE_COLUMN(hook_row, of.symbol, "symbol", "SYMBOL", TEXT),
	TARE_COLUMN(hook_row, of.name, "name", NULL, TEXT),
	TARE_COLUMN(hook_row, version, "version", "CUDA", TEXT),
	TARE_COLUMN(hook_row, is_per_thread, "per_thread_stream", "PTSZ", FLAG),
	TARE_COLUMN(hook_row, of.shape, "shape", "SHAPE", TEXT),
	TARE_COLUMN(hook_row, of.class, "class", "CLASS", TEXT),
};

static void write_hooks(struct tare_emit *e)
{
	tare_emit_table(e, "hooks", NULL, TARE_COLUMNS(hook_columns));
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		struct hook_row row = { .is_per_thread = hooks[i].is_per_thread, .of = hooks[i] };

		tare_str_addf(&row.version, "%d.%d", hooks[i].version / 1000, hooks[i].version % 1000 / 10);
		tare_emit_add(e, &row);
		tare_str_free(&row.version);
	}
	tare_emit_table_end(e);
}

void tare_info_text(struct tare_emit *e, const char *key, const char *text)
{
	tare_emit_str(e, key, text);
	if (text)
		tare_emit_note(e, "%-14s%s", key, text);
}

static void write_part(struct tare_emit *e, const char *key, enum tare_self_file file)
{
	char path[PATH_MAX];
	int rc = tare_self_path(file, path, sizeof(path));

	tare_emit_str(e, key, rc ? NULL : path);
	tare_emit_note(e, "%-14s%s%s", key, path, rc ? " (missing: install tare again)" : "");
}

static void write_self(struct tare_emit *e)
{
	char text[64];

	tare_info_text(e, "version", TARE_VERSION);
	snprintf(text, sizeof(text), "%s %s, C library %d.%d",
#ifdef __clang__
	         "clang", __clang_version__,
#else
	         "gcc", __VERSION__,
#endif
	         __GLIBC__, __GLIBC_MINOR__);
	tare_info_text(e, "compiler", text);
	tare_info_text(e, "machine",
#if defined(__x86_64__)
	               "x86_64"
#elif defined(__aarch64__)
	               "aarch64"
#else
	               "other"
#endif
	);
	snprintf(text, sizeof(text), "%d", TARE_FORMAT_VERSION);
	tare_info_text(e, "format", text);
	write_part(e, "recorder", TARE_SELF_RECORDER);
	write_part(e, "simulated_gpu", TARE_SELF_SIM_DIR);
}

int tare_cmd_info(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const char *path = c->rest.count ? c->rest.items[0] : NULL;
	struct tare_emit e;
	bool agree = true;
	int rc = 0;

	if (o->check && !path)
		return tare_err_set(err, TARE_E_USAGE, "info --check: of which recording? Name it: tare info --check REC");
	tare_cmd_begin(c, &e);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_page(&e, "%s", path ? path : "tare info");
	if (o->check)
		rc = tare_info_check(&e, path, &agree, err);
	else if (path)
		rc = tare_info_recording(&e, path, err);
	else if (!o->hooks)
		write_self(&e);
	if (o->hooks)
		write_hooks(&e);
	tare_emit_end(&e);
	c->code = agree ? TARE_EXIT_OK : TARE_EXIT_LIMIT;
	return rc;
}
