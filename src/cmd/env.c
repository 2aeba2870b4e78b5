/* SPDX-License-Identifier: Apache-2.0 */
/* `tare env`: prints what records a program that something else starts: a shell, Docker, Kubernetes. */
#include "base/emit.h"
#include "base/str.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/run_options.h"
#include "session/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Where a container finds what is mounted into it. */
static const char inside_tare[] = "/opt/tare", inside_sim[] = "/opt/tare-simgpu";
static const char inside_recording[] = "/tare-recording";

struct options {
	const char *sim, *output;
	int stacks, host; /* -1: not given */
	bool json, docker;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, output, "output", 'o', STRING, "REC", "record into the folder REC instead of env-DATE-PID.tare"),
	TARE_OPT(options, sim, "sim", 0, STRING, "PROFILE", "run on a simulated GPU, such as h200"),
	TARE_OPT(options, stacks, "stacks", 0, CHOICE, TARE_STACK_NAMES,
	         "which stacks driver calls and tensors get (both, tensors only Python's lines)"),
	TARE_OPT(options, host, "host", 0, CHOICE, TARE_HOST_NAMES,
	         "also record malloc: every block, or a random part of the small ones"),
	TARE_OPT(options, docker, "docker", 0, FLAG, NULL,
	         "print arguments for docker run or podman run, and make the folder REC"),
	TARE_OPT(options, json, "json", 0, FLAG, NULL,
	         "print the variables as JSON, also as parts of a pod's specification"),
	TARE_OPT_END,
};

const struct tare_command tare_command_env = {
	.name = "env",
	.synopsis = "print the environment variables that record a program started by something else",
	.description = "A program that something else starts (a pod, a Ray worker, a Slurm prolog, a service) "
				   "cannot be put behind tare run. It is recorded all the same if it is started with these "
				   "variables. Without options they are printed for a shell; programs started with them "
				   "write the recording themselves, and tare report shows it, also while they run.\n\n"
				   "The program's own LD_PRELOAD is kept. The simulated GPU is for programs that use the "
				   "driver API.",
	.examples = "eval \"$(tare env -o job.tare)\"\n"
				"docker run $(tare env --docker -o job.tare) IMAGE python train.py\n"
				"tare env --json -o /scratch/job.tare | jq .variables",
	TARE_OPTIONS(opts, struct options, .stacks = -1, .host = -1),
	.run = tare_cmd_env,
};

/* One variable. A list is joined with what the program's environment has already. */
struct variable {
	const char *name;
	char outside[PATH_MAX], inside[PATH_MAX]; /* the value on this machine, in a container */
	bool is_list;
};

struct environment {
	struct variable items[16];
	size_t count;
	const struct tare_preload *preload;
	char recording[PATH_MAX];
	char tare_dir[PATH_MAX]; /* of the recorder itself, behind any link to it */
	const char *library;     /* its name in there */
};

static void collect(const char *name, const char *value, void *arg)
{
	struct environment *env = arg;
	const struct tare_preload *p = env->preload;
	struct variable *v = &env->items[env->count];

	if (env->count == sizeof(env->items) / sizeof(env->items[0]))
		return;
	env->count++;
	v->name = name;
	v->is_list = value == p->list || value == p->library_path;
	if (value == p->list || value == p->library) {
		snprintf(v->outside, sizeof(v->outside), "%s", p->library);
		snprintf(v->inside, sizeof(v->inside), "%s/%s", inside_tare, env->library);
	} else if (value == p->library_path) {
		snprintf(v->outside, sizeof(v->outside), "%s", p->sim_dir);
		snprintf(v->inside, sizeof(v->inside), "%s", inside_sim);
	} else {
		bool is_recording = !strcmp(value, env->recording);

		snprintf(v->outside, sizeof(v->outside), "%s", value);
		snprintf(v->inside, sizeof(v->inside), "%s", is_recording ? inside_recording : value);
	}
}

/* In single quotes, as any shell reads it. */
static void add_quoted(struct tare_str *out, const char *text)
{
	tare_str_add_char(out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			tare_str_add(out, "'\\''");
		else
			tare_str_add_char(out, *text);
	tare_str_add_char(out, '\'');
}

static void write_shell(struct tare_str *out, const struct environment *env)
{
	tare_str_add(out, "mkdir -p -m 700 ");
	add_quoted(out, env->recording);
	tare_str_add_char(out, '\n');
	for (size_t i = 0; i < env->count; i++) {
		const struct variable *v = &env->items[i];

		tare_str_addf(out, "export %s=", v->name);
		add_quoted(out, v->outside);
		if (v->is_list)
			tare_str_addf(out, "\"${%s:+:$%s}\"", v->name, v->name);
		tare_str_add_char(out, '\n');
	}
	tare_str_add(out, "# run the program, then: tare report ");
	add_quoted(out, env->recording);
	tare_str_add_char(out, '\n');
}

/* Docker parts its own fields at commas, and $(…) parts words at blanks: neither can be quoted. */
static int check_docker(const struct environment *env, struct tare_err *err)
{
	const char *paths[] = { env->recording, env->tare_dir, env->preload->sim_dir ? env->preload->sim_dir : "" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strpbrk(paths[i], " \t\n,\"'\\*?["))
			return tare_err_set(err, TARE_E_USAGE,
			                    "env: --docker cannot pass on the path \"%s\"; use one "
			                    "without blanks, commas and quotes",
			                    paths[i]);
	if (mkdir(env->recording, 0700) && errno != EEXIST)
		return tare_err_set_errno(err, errno, "%s: the folder cannot be made", env->recording);
	return 0;
}

static void write_docker(struct tare_str *out, const struct environment *env)
{
	tare_str_addf(out, "--mount type=bind,source=%s,target=%s,readonly\n", env->tare_dir, inside_tare);
	if (env->preload->sim_dir)
		tare_str_addf(out, "--mount type=bind,source=%s,target=%s,readonly\n", env->preload->sim_dir, inside_sim);
	tare_str_addf(out, "--mount type=bind,source=%s,target=%s\n", env->recording, inside_recording);
	for (size_t i = 0; i < env->count; i++)
		tare_str_addf(out, "--env %s=%s\n", env->items[i].name, env->items[i].inside);
}

/* What is printed is read by a shell or a program, and a path with another character in it is another path. */
static int check_printable(const struct environment *env, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str shown = { 0 };
	bool is_same = true;

	for (size_t i = 0; i < env->count && is_same; i++) {
		tare_str_cut(&shown, 0);
		tare_text_add_name(&shown, env->items[i].outside);
		is_same = !strcmp(tare_str_text(&shown), env->items[i].outside);
	}
	if (!is_same)
		tare_err_set(err, TARE_E_USAGE, "env: %s: a path with a character that cannot be printed; use another folder",
		             tare_str_text(&shown));
	return is_same ? 0 : TARE_E_USAGE;
}

struct mount {
	const char *name, *outside, *inside;
	bool is_readonly;
};

static size_t mounts_of(const struct environment *env, struct mount mounts[3])
{
	size_t n = 0;

	mounts[n++] = (struct mount){ "tare", env->tare_dir, inside_tare, true };
	mounts[n++] = (struct mount){ "tare-recording", env->recording, inside_recording, false };
	if (env->preload->sim_dir)
		mounts[n++] = (struct mount){ "tare-simgpu", env->preload->sim_dir, inside_sim, true };
	return n;
}

static void add_host_path(struct tare_emit *e, const char *key, const void *row)
{
	const struct mount *mount = row;

	tare_emit_open(e, key, '{');
	tare_emit_str(e, "path", mount->outside);
	tare_emit_close(e);
}

struct pod_variable {
	const char *name, *value;
};

static const struct tare_column variable_columns[] = {
	TARE_COLUMN(pod_variable, name, "name", NULL, TEXT),
	TARE_COLUMN(pod_variable, value, "value", NULL, TEXT),
};

static const struct tare_column mount_columns[] = {
	TARE_COLUMN(mount, name, "name", NULL, TEXT),
	TARE_COLUMN(mount, inside, "mountPath", NULL, TEXT),
	TARE_COLUMN(mount, is_readonly, "readOnly", NULL, FLAG),
};

static const struct tare_column volume_columns[] = {
	TARE_COLUMN(mount, name, "name", NULL, TEXT),
	TARE_NESTED("hostPath", add_host_path),
};

static void write_mounts(struct tare_emit *e, const char *key, const struct tare_column *columns, size_t count,
                         const struct environment *env)
{
	struct mount mounts[3];
	size_t n = mounts_of(env, mounts);

	tare_emit_rows(e, key, NULL, columns, count, TARE_ROWS(mounts, n));
}

static void write_pod(struct tare_emit *e, const struct environment *env)
{
	tare_emit_open(e, "pod", '{');
	tare_emit_table(e, "env", NULL, TARE_COLUMNS(variable_columns));
	for (size_t i = 0; i < env->count; i++)
		tare_emit_add(e, &(struct pod_variable){ env->items[i].name, env->items[i].inside });
	tare_emit_table_end(e);
	write_mounts(e, "volumeMounts", TARE_COLUMNS(mount_columns), env);
	write_mounts(e, "volumes", TARE_COLUMNS(volume_columns), env);
	tare_emit_close(e);
}

static void write_json(struct tare_str *out, const struct environment *env)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, out);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_str(&e, "recording", env->recording);
	tare_emit_open(&e, "variables", '{');
	for (size_t i = 0; i < env->count; i++)
		tare_emit_str(&e, env->items[i].name, env->items[i].outside);
	tare_emit_close(&e);
	write_pod(&e, env);
	tare_emit_end(&e);
	tare_str_add_char(out, '\n');
}

/* Absolute, because programs are started in folders of their own. */
static int name_recording(char path[PATH_MAX], const char *wanted, struct tare_err *err)
{
	char cwd[PATH_MAX], date[32];
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (!getcwd(cwd, sizeof(cwd)))
		return tare_err_set_errno(err, errno, "env: the current folder has no path");
	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	if (wanted && wanted[0] == '/')
		n = snprintf(path, PATH_MAX, "%s", wanted);
	else if (wanted)
		n = snprintf(path, PATH_MAX, "%s/%s", cwd, wanted);
	else
		n = snprintf(path, PATH_MAX, "%s/env-%s-%d.tare", cwd, date, (int)getpid());
	if (n >= PATH_MAX)
		return tare_err_set(err, TARE_E_USAGE, "env: the path of the recording is too long");
	return 0;
}

static void split_library(struct environment *env)
{
	char *slash;

	if (!realpath(env->preload->library, env->tare_dir))
		snprintf(env->tare_dir, sizeof(env->tare_dir), "%s", env->preload->library);
	slash = strrchr(env->tare_dir, '/');
	*slash = '\0';
	env->library = slash + 1;
}

int tare_cmd_env(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct environment env = { 0 };
	struct tare_preload preload;
	int rc;

	if (o->json && o->docker)
		return tare_err_set(err, TARE_E_USAGE, "env: --json and --docker exclude each other");
	rc = name_recording(env.recording, o->output, err);
	if (!rc)
		rc = tare_preload_find(&preload, o->sim, env.recording, o->host < 0 ? 0 : tare_host_means[o->host], err);
	if (rc)
		return rc;
	preload.stacks = o->stacks < 0 ? NULL : tare_stack_names[o->stacks];
	env.preload = &preload;
	split_library(&env);
	tare_preload_each(&preload, env.recording, collect, &env);
	rc = check_printable(&env, err);
	if (!rc && o->docker)
		rc = check_docker(&env, err);
	if (!rc && o->docker)
		write_docker(&c->out, &env);
	else if (!rc && o->json)
		write_json(&c->out, &env);
	else if (!rc)
		write_shell(&c->out, &env);
	tare_preload_free(&preload);
	return rc;
}
