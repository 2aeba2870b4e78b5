/* SPDX-License-Identifier: Apache-2.0 */
/* Records a command from its start to its end. */
#include "session/session.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/json.h"
#include "base/now.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/temp_folder.h"
#include "base/xalloc.h"
#include "session/child.h"
#include "session/drain.h"
#include "session/folder.h"
#include "session/preload.h"
#include "session/symbols.h"
#include "session/told_paths.h"
#include "session/vram.h"
#include "session/wanted.h"
#include "session/witness.h"
#include "record/chunk.h"
#include "record/format.h"
#include "record/path.h"
#include "trace/rank.h"
#include "witness/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURN_MS    20
#define LANE_BYTES (1u << 20)

struct session {
	const struct tare_session_options *options;
	struct tare_folder folder;
	struct tare_preload preload;
	struct tare_control *control;
	struct tare_drain *drain;
	struct tare_witness *witness;
	struct tare_child child;
	struct tare_versions versions; /* when the program has ended */
	struct tare_told_paths *told;  /* --no-paths; else NULL */
	char *sim_state;               /* made by us, removed at the end */
	int64_t started_realtime_ns;
	uint64_t started_ns;
	struct tare_rollups *rollups;
	struct tare_ahead *ahead;
	struct tare_live *live;
	bool cap_failed;
};

static char *file_in(const struct session *s, const char *name)
{
	return tare_str_format("%s/%s", s->folder.work, name);
}

/* Of new logs. What is folded is given back by whole chunks: those of a log are less than the cap. */
/* A ring counts towards the cap, too. */
static uint32_t lane_bytes(const struct tare_session_options *options)
{
	uint32_t bytes = LANE_BYTES;

	while (bytes > TARE_LANE_BYTES_MIN && options->cap && bytes > options->cap / 64)
		bytes /= 2;
	return bytes;
}

static uint32_t chunk_bytes(const struct tare_session_options *options)
{
	const char *test = getenv("TARE_TEST_CHUNK_BYTES");
	uint32_t bytes = test ? (uint32_t)strtoul(test, NULL, 10) : TARE_CHUNK_BYTES;

	if (!tare_chunk_bytes_are_sane(bytes))
		bytes = TARE_CHUNK_BYTES;
	while (options->cap && bytes > TARE_CHUNK_BYTES_MIN && bytes > options->cap / 16)
		bytes /= 2;
	return bytes;
}

/* Written as a whole before it is mapped: a page that the disk cannot hold is then an error here. */
static int make_control(struct session *s, struct tare_err *err)
{
	TARE_FREED_HERE char *path = file_in(s, "control");
	char page[4096] = { 0 };
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc = 0;
	struct tare_control head = { .version = TARE_FORMAT_VERSION,
		                         .lane_bytes = lane_bytes(s->options),
		                         .chunk_bytes = chunk_bytes(s->options) };

	memcpy(head.magic, TARE_CONTROL_MAGIC, sizeof(head.magic));
	head.tare_pid = (uint32_t)getpid();
	if (s->options->paused)
		head.command = TARE_COMMAND_PAUSE | 1u << 8;
	head.started_ns = head.heartbeat_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	memcpy(page, &head, sizeof(head));
	if (fd < 0 || write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
		rc = tare_err_set_errno(err, errno, "%s: cannot be written", path);
	if (rc == 0) {
		s->control = mmap(NULL, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (s->control == MAP_FAILED)
			rc = tare_err_set_errno(err, errno, "%s: cannot be mapped", path);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Variables that decide about memory or placement; nothing else of the environment is kept. */
static const char *const kept_variables[] = {
	"CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER",
	"CUDA_MODULE_LOADING",
	"CUDA_CACHE_DISABLE",
	"CUDA_DEVICE_MAX_CONNECTIONS",
	"CUDA_LAUNCH_BLOCKING",
	"CUBLAS_WORKSPACE_CONFIG",
	"CUBLASLT_WORKSPACE_SIZE",
	"NCCL_BUFFSIZE",
	"NCCL_MAX_NCHANNELS",
	"NCCL_NVLS_ENABLE",
	"PYTORCH_CUDA_ALLOC_CONF",
	"PYTORCH_ALLOC_CONF",
	"PYTORCH_NO_CUDA_MEMORY_CACHING",
	"XLA_PYTHON_CLIENT_PREALLOCATE",
	"XLA_PYTHON_CLIENT_MEM_FRACTION",
	"XLA_PYTHON_CLIENT_ALLOCATOR",
	"XLA_FLAGS",
	"TF_FORCE_GPU_ALLOW_GROWTH",
	"CUPY_GPU_MEMORY_LIMIT",
	"OMP_NUM_THREADS",
	"TARE_SIM_SCRIPT",
	"TARE_SIM_DEVICES",
};

/* As far as it may be in the recording; NULL stays NULL. */
static const char *path_of(const struct session *s, const char *path)
{
	return path && s->options->no_paths ? tare_path_short(path) : path;
}

static void describe_rank(const struct session *s, struct tare_json *j)
{
	struct tare_rank rank;

	if (!tare_rank_of_environment(&rank))
		return;
	tare_json_i64(j, "rank", rank.rank);
	if (rank.world >= 0)
		tare_json_i64(j, "world", rank.world);
	tare_json_str(j, "launcher", rank.launcher);
	tare_json_str(j, "job", rank.job[0] ? path_of(s, rank.job) : NULL);
}

static void describe_phases(const struct session *s, struct tare_json *j)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	char *lines = tare_xstrdup(s->options->phases), *save = NULL;

	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		tare_str_addf(&text, "%s%s", text.len ? "\n" : "", path_of(s, line));
	tare_json_str(j, "phases", tare_str_text(&text));
	free(lines);
}

static void describe_environment(const struct session *s, struct tare_json *j)
{
	tare_json_open(j, "environment", '{');
	for (size_t i = 0; i < sizeof(kept_variables) / sizeof(kept_variables[0]); i++) {
		const char *value = getenv(kept_variables[i]);

		if (value && !(s->options->no_paths && strchr(value, '/')))
			tare_json_str(j, kept_variables[i], value);
	}
	tare_json_close(j);
}

static void describe_ranks(const struct session *s, struct tare_json *j)
{
	char text[32];

	if (!s->options->ranks_nr)
		return;
	snprintf(text, sizeof(text), "%d of %d", s->options->ranks_running, s->options->ranks_nr);
	tare_json_str(j, "ranks_simulated", text);
}

static void describe(const struct session *s, struct tare_json *j, const struct tare_session_result *result)
{
	char host[256] = "";
	size_t i;

	gethostname(host, sizeof(host) - 1);
	tare_json_open(j, NULL, '{');
	tare_json_u64(j, "tare", 1);
	tare_json_str(j, "version", TARE_VERSION);
	tare_json_u64(j, "format", TARE_FORMAT_VERSION);
	tare_json_str(j, "state", result ? "complete" : "recording");
	tare_json_open(j, "command", '[');
	for (i = 0; s->options->argv[i] && !(s->options->no_paths && i > 0); i++)
		tare_json_str(j, NULL, path_of(s, s->options->argv[i]));
	tare_json_close(j);
	if (s->options->no_paths) {
		tare_json_bool(j, "no_paths", true);
	} else {
		char cwd[4096];

		tare_json_str(j, "folder", getcwd(cwd, sizeof(cwd)));
	}
	tare_json_str(j, "host", host);
	tare_json_i64(j, "started_realtime_ns", s->started_realtime_ns);
	tare_json_u64(j, "tare_pid", (uint64_t)getpid());
	tare_json_u64(j, "command_pid", (uint64_t)s->child.pid);
	tare_json_str(j, "simulated", s->preload.sim_profile ? path_of(s, s->preload.sim_profile) : NULL);
	if (s->options->answers)
		tare_json_str(j, "answers", s->options->answers);
	if (s->options->answers_at && !s->options->no_paths)
		tare_json_str(j, "answers_at", s->options->answers_at);
	describe_ranks(s, j);
	if (s->options->sim && (s->sim_state || !s->options->no_paths))
		tare_json_str(j, "simulated_state", s->preload.sim_state);
	describe_rank(s, j);
	tare_vram_describe(&s->options->vram, j);
	if (s->options->phases)
		describe_phases(s, j);
	if (s->witness)
		tare_json_str(j, "driver", tare_witness_driver_version(s->witness));
	describe_environment(s, j);
	if (result) {
		tare_json_i64(j, "ran_ns", result->ns);
		tare_json_i64(j, "exit_code", tare_child_exit_code(result->status));
		tare_json_u64(j, "lost_records", result->lost);
		tare_json_i64(j, "still_running", result->alive);
		tare_versions_describe(&s->versions, j);
	}
	tare_json_close(j);
}

enum {
	END_BYTES = 4096
}; /* more than what is said of the end: room for that is taken at the begin, for the disk may be full then */

static void write_description(const struct session *s, const struct tare_session_result *result)
{
	TARE_FREED_HERE char *path = file_in(s, "recording.json");
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_json j = { .out = &text, .is_pretty = true };
	int rc;

	describe(s, &j, result);
	rc = tare_file_write(path, &text, 0600);
	if (!result && rc == 0)
		tare_file_reserve(path, text.len + END_BYTES);
	else if (result && rc != 0)
		tare_file_overwrite(path, &text);
}

/*
 * Processes on one simulated machine meet in a folder; without one from outside, in one of ours. recording.json names that folder, and
 * TMPDIR may be at home, so without paths the folder is in /tmp.
 */
static int make_sim_state(struct session *s, struct tare_err *err)
{
	if (!s->options->sim || getenv("TARE_SIM_DIR"))
		return 0;
	return tare_temp_folder_make(s->options->no_paths ? "/tmp" : NULL, "tare-sim-XXXXXX", &s->sim_state, err);
}

static int make_folder(struct session *s, struct tare_err *err)
{
	const struct tare_session_options *o = s->options;
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	char *name;
	int rc;

	if (o->output || !o->into)
		return tare_folder_make(&s->folder, o->output, o->force, o->no_paths, o->argv, err);
	name = tare_folder_own_name(o->argv);
	tare_str_addf(&path, "%s/%s", o->into, name);
	rc = tare_folder_make(&s->folder, tare_str_text(&path), o->force, o->no_paths, o->argv, err);
	free(name);
	return rc;
}

static int open_session(struct session *s, struct tare_err *err)
{
	char *nvml;
	int rc = make_folder(s, err);

	if (rc == 0)
		rc = make_control(s, err);
	if (rc == 0)
		rc = make_sim_state(s, err);
	if (rc == 0)
		rc = tare_preload_find(&s->preload, s->options->sim, s->sim_state, s->options->heap_mean, err);
	if (rc == 0 && s->options->ranks_nr)
		rc = tare_preload_ranks(&s->preload, s->options->ranks_running, s->options->ranks_nr, err);
	s->preload.no_tensors = s->options->no_tensors;
	s->preload.no_scan = s->options->no_scan;
	if (rc)
		return rc;
	s->preload.stacks = s->options->stacks;
	s->preload.answers = s->options->answers;
	s->preload.answers_at = s->options->answers_at;
	tare_procfs_filters(0, &s->preload.filters);
	if (s->preload.sim_dir)
		tare_wanted_make(s->folder.work);
	if (s->preload.sim_dir) { /* our own NVML is the simulated one too */
		setenv("TARE_SIM_PROFILE", s->preload.sim_profile, 1);
		if (s->preload.sim_devices)
			setenv("TARE_SIM_DEVICES", s->preload.sim_devices, 1);
		setenv("TARE_SIM_DIR", s->preload.sim_state, 1);
	}
	s->started_realtime_ns = (int64_t)(uint64_t)tare_now_ns(CLOCK_REALTIME);
	s->started_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	write_description(s, NULL);
	s->drain = tare_drain_new(s->folder.work, s->control);
	s->rollups = tare_rollups_new(s->folder.work, s->options->cap, s->control, s->options->roll_up);
	s->ahead = tare_ahead_new(s->folder.work, s->control, s->options->fold_ahead);
	nvml = s->preload.sim_dir ? tare_str_format("%s/libnvidia-ml.so.1", s->preload.sim_dir) : NULL;
	rc = tare_witness_open(&s->witness, s->folder.work, "tare.events", s->control->chunk_bytes, nvml,
	                       s->options->no_paths, err);
	free(nvml);
	s->preload.phases = s->options->phases;
	if (s->options->no_paths) {
		s->told = tare_told_paths_new();
		s->preload.no_paths = tare_told_paths_name(s->told);
	}
	if (rc == 0 && s->options->vram.entry_nr) {
		s->preload.has_vram = true;
		rc = tare_vram_make(s->folder.work, &s->options->vram, tare_witness_nvml(s->witness), err);
	}
	if (rc == 0) {
		tare_witness_watch(s->witness, s->control, s->folder.work);
		if (s->options->paused)
			tare_witness_control(s->witness, TARE_ACT_PAUSE, 1, "");
	}
	return rc;
}

static void remove_empty(struct session *s)
{
	static const char *const names[] = { "control", "recording.json", "tare.events", "vram", TARE_WANTED_FILE };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		TARE_FREED_HERE char *path = file_in(s, names[i]);

		unlink(path);
	}
	rmdir(s->folder.work);
	if (s->folder.is_spooled)
		rmdir(s->folder.path);
}

static void close_session(struct session *s)
{
	tare_drain_free(s->drain);
	tare_rollups_free(s->rollups);
	tare_ahead_free(s->ahead);
	tare_preload_free(&s->preload);
	tare_folder_free(&s->folder);
	if (s->control && s->control != MAP_FAILED)
		munmap(s->control, 4096);
	tare_temp_folder_remove(s->sim_state);
	tare_told_paths_free(s->told);
}

/* The recording says it once; rollups go on trying. */
static void tell_over_cap(struct session *s)
{
	if (!tare_rollups_has_failed(s->rollups) || s->cap_failed)
		return;
	s->cap_failed = true;
	tare_witness_degraded(s->witness, "the recording outgrew its cap and could not be compacted");
}

static void keep_small(struct session *s)
{
	if (tare_rollups_turn(s->rollups)) {
		/* The next one may let a state speak for what is before this reading. */
		tare_witness_clock(s->witness);
		/* What it makes room for is allowed at once. */
		tare_drain_wake_by(s->drain, tare_rollups_fd(s->rollups));
	}
	tell_over_cap(s);
}

/* Our own child's end comes from wait(2) itself. */
static void tell_ends(struct session *s)
{
	struct tare_drain_end end;

	while (tare_drain_next_end(s->drain, &end))
		if (end.pid != s->child.pid && end.status >= 0)
			tare_witness_status(s->witness, end.pid, end.generation, end.status);
}

static void turn(struct session *s)
{
	tare_drain_turn(s->drain);
	tell_ends(s);
	tare_witness_turn(s->witness, s->drain);
	keep_small(s);
	tare_ahead_turn(s->ahead);
	s->control->heartbeat++;
	__atomic_store_n(&s->control->heartbeat_ns, (uint64_t)tare_now_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

/* Why a command was not recorded, if that can be told from the command alone. */
static const char *refusal(const struct tare_target *target)
{
	if (target->elsewhere)
		return NULL; /* the program is not this one anyway */
	if (target->is_static)
		return "is statically linked, so nothing can be loaded into it and it was not recorded; "
			   "link it dynamically";
	if (target->is_32_bit)
		return "is a 32-bit program, and Tare records 64-bit ones";
	if (target->is_setuid)
		return "changes its user (setuid), so the system loads nothing into it and it was not recorded; "
			   "run tare as that user";
	return NULL;
}

/* Its library ends the program with 1 before main(). */
static bool is_ended_by_asan(const struct tare_session_result *result)
{
	return result->target.is_asan && !tare_target_may_be_second() && WIFEXITED(result->status) &&
	       WEXITSTATUS(result->status) == 1 && !result->processes;
}

/* What the simulated libraries did not have: in the recording, and for who started it. */
static void tell_wanted(struct session *s, struct tare_session_result *out)
{
	struct tare_str text = { 0 };
	char *lines, *save = NULL;

	if (!s->preload.sim_dir)
		return;
	tare_wanted_read(s->folder.work, out->status != 0, &text);
	lines = tare_xstrdup(tare_str_text(&text));
	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		tare_witness_degraded(s->witness, line);
	free(lines);
	out->wanted = tare_str_steal(&text);
}

/* First of all, for what is said after it is said on the whole terminal. */
static void end_live(struct session *s, struct tare_session_result *out)
{
	tare_live_end(s->live, WIFSIGNALED(s->child.status), out->away_ns);
	s->live = s->child.live = NULL;
}

static void finish(struct session *s, struct tare_session_result *out)
{
	const char *why = refusal(&out->target);
	struct tare_err err = { 0 };
	struct tare_str text = { 0 };
	struct tare_rank rank;

	out->status = s->child.status;
	end_live(s, out);
	out->ns = (int64_t)((uint64_t)tare_now_ns(CLOCK_MONOTONIC) - s->started_ns);
	tare_witness_exit(s->witness, s->child.pid, s->child.status);
	out->alive = tare_drain_finish(s->drain);
	tell_ends(s);
	out->processes = s->control->processes;
	out->unrecorded = tare_witness_unrecorded(s->witness);
	out->refused = s->control->degraded;
	out->was_paused = TARE_COMMAND_OF(s->control->command) == TARE_COMMAND_PAUSE;
	out->heap_mean = s->options->heap_mean;
	out->disk_errno = tare_drain_error(s->drain);
	if (tare_drain_is_damaged(s->drain))
		tare_witness_degraded(s->witness, "the ring of a program was cut short or overwritten while it was "
		                                  "recorded; what it held then is missing");
	out->lost_reason = TARE_LOST_IN_MEMORY;
	out->lost = tare_drain_lost(s->drain, &out->lost_reason) + s->control->lost_records;
	if (why) {
		tare_str_addf(&text, "%s %s", path_of(s, out->target.path), why);
		tare_witness_degraded(s->witness, text.data);
		out->notice = tare_str_steal(&text);
	} else if (is_ended_by_asan(out)) {
		out->notice = tare_xstrdup(TARE_TARGET_ASAN);
	}
	tell_wanted(s, out);
	if (s->told)
		tare_told_paths_read(s->told);
	tare_symbols_write(s->witness, s->folder.work, s->told, &s->versions);
	tare_witness_close(s->witness, s->drain);
	s->witness = NULL;
	/* Of several ranks on one terminal one shows how far it is. */
	if (!out->alive && (!tare_rank_of_environment(&rank) || rank.rank == 0))
		tare_progress_begin("making the recording small");
	tare_rollups_finish(s->rollups, !out->alive);
	out->ahead_file = tare_ahead_finish(s->ahead, &out->ahead);
	tare_progress_end();
	if (!out->alive)
		tare_vram_remove(s->folder.work);
	write_description(s, out);
	if (tare_folder_settle(&s->folder, &err) != 0 && !out->notice)
		out->notice = tare_xstrdup(err.text);
	out->path = tare_xstrdup(s->folder.is_spooled ? s->folder.work : s->folder.path);
	out->bytes = tare_disk_bytes(out->path);
}

int tare_session_run(const struct tare_session_options *options, struct tare_session_result *out, struct tare_err *err)
{
	struct session s = { .options = options };
	bool is_loadable;
	int rc;

	memset(out, 0, sizeof(*out));
	out->ahead_file = -1;
	tare_child_prepare(&s.child);
	tare_target_look(&out->target, options->argv[0]);
	/* ld.so complains on stderr of what it cannot load: such a program is left alone. */
	is_loadable = !out->target.is_32_bit;
	rc = open_session(&s, err);
	if (rc == TARE_E_NOT_FOUND || rc == TARE_E_DENIED)
		rc = err->code = TARE_E_IO; /* those two are about the command */
	if (rc == 0)
		s.live = s.child.live = tare_live_start(s.folder.work, options->live, &out->no_live);
	if (rc == 0)
		rc = tare_child_start(&s.child, options->argv, is_loadable ? &s.preload : NULL, s.folder.work, err);
	if (rc) {
		end_live(&s, out);
		tare_witness_close(s.witness, NULL);
		if (s.folder.work)
			remove_empty(&s);
		close_session(&s);
		return rc;
	}
	do
		turn(&s);
	while (!tare_child_wait(&s.child, tare_drain_fd(s.drain), TURN_MS));
	finish(&s, out);
	tare_child_close(&s.child);
	close_session(&s);
	return 0;
}

void tare_session_result_free(struct tare_session_result *result)
{
	free(result->path);
	free(result->notice);
	free(result->wanted);
	free(result->no_live);
	if (result->ahead_file >= 0)
		close(result->ahead_file);
	memset(result, 0, sizeof(*result));
}
