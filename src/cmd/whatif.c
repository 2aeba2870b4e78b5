/* SPDX-License-Identifier: Apache-2.0 */
/* `tare whatif`: opens a snapshot or a recording, and replays it with other settings. */
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/whatif_open.h"
#include "cmd/whatif_print.h"
#include "import/import.h"
#include "replay/whatif.h"

#include <sys/stat.h>

/* Of less than a segment somebody forgot the unit. */
#define VRAM_MIN TARE_ALLOC_SMALL_SEGMENT

struct options {
	const char *conf, *version;
	uint64_t vram, used;
	bool best;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, conf, "alloc-conf", 'a', STRING, "SETTINGS",
	         "what PYTORCH_CUDA_ALLOC_CONF would be, such as expandable_segments:True"),
	TARE_OPT(options, vram, "vram", 0, BYTES, "SIZE", "the memory of each device, such as 24GiB"),
	TARE_OPT(options, used, "used", 0, BYTES, "SIZE",
	         "what of --vram is not for PyTorch's allocator: contexts, other programs"),
	TARE_OPT(options, version, "torch", 0, STRING, "VERSION",
	         "the version of PyTorch, such as 2.11; without it, one that reproduces the file"),
	TARE_OPT(options, best, "best", 'b', FLAG, NULL,
	         "try the settings that help most often, and sort them by the most reserved"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_whatif = {
	.name = "whatif",
	.synopsis = "replay PyTorch's allocator under other settings, or on another card",
	.operands = "RECORDING|SNAPSHOT",
	.description =
		"tare whatif replays what PyTorch's allocator was asked for, out of a recording of a program that used it on a GPU "
		"or of a memory snapshot (torch.cuda.memory._dump_snapshot, after _record_memory_history), and needs no GPU. First it replays what "
		"happened, under the recorded settings, and compares every address, every segment, every release and the "
		"blocks at the end with the file: mismatches says how many differ. Then it replays the same requests as "
		"--alloc-conf and --vram say: how much would have been reserved, and whether memory would have run out, and "
		"where.\n\n"
		"The file may begin in the middle of a run: what was there before follows from it. Nothing in the file is "
		"executed.\n\n"
		"The exit code is 0; 3 if memory would run out where it did not; 2 for a mistake on the command line.",
	.examples = "tare whatif train.tare --best\n"
				"tare whatif snapshot.pickle\n"
				"tare whatif snapshot.pickle --alloc-conf expandable_segments:True\n"
				"tare whatif snapshot.pickle --vram 24GiB --used 1GiB --best",
	.progress = "replaying",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 1,
	.max_operands = 1,
	.run = tare_cmd_whatif,
};

static int open_snapshot(struct tare_whatif *w, const char *path, const struct tare_whatif_ask *ask,
                         struct tare_err *err)
{
	struct tare_trace trace;
	int rc = tare_import_trace(&trace, path, err);

	return rc ? rc : tare_whatif_of(w, &trace, ask, err);
}

/* A recording is a folder. */
static int open_any(struct tare_whatif *w, const char *path, const struct tare_whatif_ask *ask, struct tare_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return open_snapshot(w, path, ask, err);
	return tare_whatif_open(w, path, ask, err);
}

static int check_sizes(const struct options *o, struct tare_err *err)
{
	if (o->used && !o->vram)
		return tare_err_set(err, TARE_E_USAGE, "whatif: --used is what other programs have of --vram; give --vram too");
	if (o->vram && o->vram < VRAM_MIN)
		return tare_err_set(err, TARE_E_USAGE,
		                    "whatif: --vram %llu is so many bytes, and no segment fits into them; "
		                    "units are MiB and GiB: --vram %lluGiB",
		                    (unsigned long long)o->vram, (unsigned long long)o->vram);
	if (o->used && o->used >= o->vram)
		return tare_err_set(err, TARE_E_USAGE, "whatif: --used is what is taken of --vram, and must be less");
	return 0;
}

int tare_cmd_whatif(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct tare_whatif_ask ask = { o->conf, o->version, o->vram, o->used };
	const char *path = c->rest.items[0];
	struct tare_whatif w;
	struct tare_emit e;
	int rc = check_sizes(o, err);

	if (!rc)
		rc = open_any(&w, path, &ask, err);
	if (rc)
		return rc;
	if (!w.trace.device_count) {
		tare_whatif_close(&w);
		return tare_err_set(err, TARE_E_EMPTY, "%s: the snapshot has no memory of any GPU", path);
	}
	tare_emit_begin(&e, c->format, &c->out);
	tare_emit_simulated(&e, w.trace.is_simulated);
	tare_whatif_print(&e, &w, &ask, o->best);
	tare_emit_end(&e);
	c->code = w.is_changed && w.asked.oom.is_there && w.asked.oom.was_served ? TARE_EXIT_NO_FIT : TARE_EXIT_OK;
	tare_whatif_close(&w);
	return 0;
}
