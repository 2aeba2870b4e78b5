/* SPDX-License-Identifier: Apache-2.0 */
/* `tare import`: makes a recording of a file of another tool. */
#include "import/import.h"

#include "base/disk.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "rollup/rollup.h"
#include "session/folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 20 }; /* bytes of a recording */

struct options {
	const char *output;
	bool force, binary;
	int from;
	uint64_t unit;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, output, "output", 'o', STRING, "REC", "write the recording to the folder REC"),
	TARE_OPT(options, force, "force", 'f', FLAG, NULL, "replace REC if it is an older recording"),
	TARE_OPT(options, from, "from", 0, CHOICE, tare_import_names + 1,
	         "take the file for this kind, whatever it begins with"),
	TARE_OPT(options, binary, "binary", 0, FLAG, NULL, "KB, MB and GB in the file are powers of 1024, not of 1000"),
	TARE_OPT(options, unit, "unit", 0, BYTES, "SIZE",
	         "what a figure without a unit counts in, such as 1MiB; without it, those from "
	         "10,000,000 on are bytes and others MiB"),
	TARE_OPT_END,
};

const struct tare_command tare_command_import = {
	.name = "import",
	.synopsis = "make a recording of a file that another tool, or the program itself, wrote",
	.operands = "FILE",
	.description =
		"Reads FILE (- is standard input) and makes a recording of it, which every command reads like one of tare "
		"run. The kind of the file is recognised by how it begins.\n\n"
		"printed: a log in which a program prints what NVML says, such as `precon: used: 1204 MiB, diff: 24 MiB`. "
		"Each such line is a phase, called by what stands before the figures (else by the line of text above them): "
		"from `used` less `diff` to `used`. B, KiB, MiB, GiB, KB, MB, GB are read, `GPU 1` and `cuda:1` say which "
		"GPU, a time in front of a line says when. Other lines are passed over; lines that say `used:` and cannot be "
		"read are counted.\n\n"
		"snapshot: what torch.cuda.memory._dump_snapshot() wrote after _record_memory_history(): segments and tensors "
		"of each GPU with their lines, streams, private pools of graphs, annotations, moments at which memory ran "
		"out. Nothing in the file is executed. It has what PyTorch's allocator did, and nothing of contexts, "
		"libraries and other programs; what was there before its first event follows from its end. docs/WHATIF.md "
		"says more.\n\n"
		"kineto: a trace of torch.profiler, written by export_chrome_trace() after profile(profile_memory=True, "
		"with_stack=True): what PyTorch's allocators handed out on each GPU and the CPU, by line of Python (else by "
		"operator) and by module, and record_function() as phases. Its own totals are checked. It does not have "
		"segments, only how much is held in all, and older traces not even that. memory_timeline: what "
		"export_memory_timeline() wrote to .json, .json.gz or .raw.json.gz: bytes by what tensors are for (--by "
		"line); .html is a picture and has no figures.\n\n"
		"tegrastats: RAM, of the whole board, becomes the memory of one device. mprof: a .dat file: what was "
		"resident, and a phase for each call of a function with @profile. memory_profiler: its report, a phase for "
		"each line of source.\n\n"
		"massif: what valgrind --tool=massif wrote: the heap, what malloc has around it, and stacks, over time; at "
		"snapshots with a tree by the lines that asked (--by line, --by stack); what heaptrack_print -M wrote, too. "
		"heaptrack: its .zst, .gz or raw files: every allocation, so the peak is exact. A file that zstd or gzip "
		"packed is read as what is in it, of whatever kind.\n\n"
		"The exit code is 0, 2 for a mistake on the command line, 125 if there is nothing to import.",
	.examples = "tare import notes.log\n"
				"tare import tegrastats.log && tare report\n"
				"tare import heaptrack.app.4711.zst && tare report --by line\n"
				"tare import trace.json.gz && tare report --by module\n"
				"tare import snapshot.pickle -o snapshot.tare && tare report snapshot.tare --by line\n"
				"tare import notes.log -o notes.tare && tare report notes.tare --by phase\n"
				"python train.py | tare import - -o train.tare",
	.progress = "importing",
	TARE_OPTIONS(opts, struct options, .from = -1),
	.min_operands = 1,
	.max_operands = 1,
	.run = tare_cmd_import,
};

static void print_result(struct tare_str *out, const char *path, const char *folder, const struct tare_imported *done)
{
	char n[TARE_UNITS_TEXT_MAX];

	tare_text_add_name(out, path);
	if (done->said)
		tare_str_addf(out, ": %s", done->said);
	else
		tare_str_addf(out, ": %s line%s with figures", tare_units_count(n, done->taken), done->taken == 1 ? "" : "s");
	if (done->unreadable)
		tare_str_addf(out, ", %s that cannot be read", tare_units_count(n, done->unreadable));
	tare_str_add(out, " → ");
	tare_text_add_name(out, folder);
	tare_str_add_char(out, '\n');
}

/* A large recording is compacted, as at the end of `tare run`. Where that fails the recording is whole, only larger. */
static void roll_up(const char *folder)
{
	struct tare_rolled_up done;

	if (tare_disk_most(folder) < LARGE)
		return;
	tare_progress_begin("compacting");
	tare_rollup(folder, &(struct tare_rollup_options){ .is_final = true }, &done, NULL);
}

static int make(struct tare_import *import, const char *path, const struct options *o, struct tare_str *out,
                struct tare_err *err)
{
	const char *argv[] = { strcmp(path, "-") ? path : "import", NULL };
	struct tare_imported done = { 0 };
	struct tare_folder folder;
	int rc = tare_folder_make(&folder, o->output, o->force, false, argv, err);

	if (rc)
		return rc;
	tare_folder_watch(&folder, true);
	rc = tare_import_run(import, folder.work, &done, err);
	if (rc)
		tare_folder_remove(&folder);
	else
		roll_up(folder.work);
	if (!rc)
		rc = tare_folder_settle(&folder, err);
	tare_folder_watch(&folder, false);
	if (!rc)
		print_result(out, path, folder.path, &done);
	free(done.said);
	tare_folder_free(&folder);
	return rc;
}

int tare_cmd_import(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const struct tare_import_options how = { .kind = o->from, .units = { .plain = o->unit, .is_binary = o->binary } };
	struct tare_import *import;
	int rc = tare_import_open(&import, c->rest.items[0], &how, err);

	if (rc)
		return rc;
	rc = make(import, c->rest.items[0], o, &c->out, err);
	tare_import_close(import);
	return rc;
}
