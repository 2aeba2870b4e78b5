/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the GPUs of this machine and their processes from NVML. */
#include "top/machine.h"

#include "base/file.h"
#include "base/self_path.h"
#include "base/str.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "witness/procfs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MOST = 4096 };
#define TRY_NS INT64_C(5000000000)

/* ---- NVML ---- */

static void give_up(struct tare_top_machine *m)
{
	for (int i = 0; i < m->gpu_nr; i++)
		tare_nvml_processes_free(&m->gpus[i].processes);
	free(m->gpus);
	m->gpus = NULL;
	m->gpu_nr = 0;
	tare_nvml_close(m->nvml);
	m->nvml = NULL;
	free(m->sim_state);
	m->sim_state = NULL;
}

static void open_sim(struct tare_top_machine *m, const char *state)
{
	char path[PATH_MAX];

	if (tare_self_path(TARE_SELF_SIM_DIR, path, sizeof(path) - 32) != 0)
		return;
	strcat(path, "/libnvidia-ml.so.1");
	m->has_joined = true;
	if (tare_nvml_open(path, &m->nvml, &m->failure) == 0)
		m->sim_state = tare_xstrdup(state);
	else
		m->nvml = NULL;
}

/* The first recording of a simulated machine; its NVML goes by the environment, as in `tare ctl`. */
static void join_sim(struct tare_top_machine *m, const struct tare_finder *found)
{
	for (size_t i = 0; i < found->count && !m->nvml; i++) {
		const struct tare_follow *f = found->items[i];

		if (!f->sim_state || !f->sim_state[0] || access(f->sim_state, R_OK) != 0)
			continue;
		setenv("TARE_SIM_PROFILE", f->sim_profile, 1);
		setenv("TARE_SIM_DIR", f->sim_state, 1);
		open_sim(m, f->sim_state);
		unsetenv("TARE_SIM_PROFILE");
		unsetenv("TARE_SIM_DIR");
	}
}

static void open_any(struct tare_top_machine *m, const struct tare_finder *found)
{
	const char *sim = getenv("TARE_SIM_PROFILE"), *state = getenv("TARE_SIM_DIR");

	if (sim) {
		open_sim(m, state ? state : "");
	} else if (m->has_joined || tare_nvml_open(NULL, &m->nvml, &m->failure) != 0) {
		struct tare_err failure = m->failure;

		m->nvml = NULL;
		join_sim(m, found);
		if (!m->nvml)
			m->failure = failure;
	}
	if (!m->nvml)
		return;
	m->gpu_nr = tare_nvml_device_count(m->nvml);
	m->gpus = tare_xcalloc((size_t)m->gpu_nr + 1, sizeof(*m->gpus));
	for (int i = 0; i < m->gpu_nr; i++)
		m->gpus[i].device = tare_nvml_device(m->nvml, i);
}

/* The machine that was joined went with its recording. */
static bool is_left(const struct tare_top_machine *m, const struct tare_finder *found)
{
	if (!m->sim_state || getenv("TARE_SIM_PROFILE"))
		return false;
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i]->sim_state && !strcmp(found->items[i]->sim_state, m->sim_state))
			return false;
	return true;
}

void tare_top_machine_turn(struct tare_top_machine *m, const struct tare_finder *found, int64_t now_ns)
{
	if (!m->host[0])
		gethostname(m->host, sizeof(m->host) - 1);
	if (m->nvml && is_left(m, found))
		give_up(m);
	if (!m->nvml && (!m->tried_ns || now_ns - m->tried_ns >= TRY_NS || m->tried_count != found->count)) {
		m->tried_ns = now_ns;
		m->tried_count = found->count;
		open_any(m, found);
	}
	for (int i = 0; i < m->gpu_nr; i++) {
		struct tare_top_gpu *g = &m->gpus[i];

		tare_nvml_processes_free(&g->processes);
		g->processes = (struct tare_nvml_processes){ 0 };
		if (tare_nvml_memory(m->nvml, i, &g->memory, NULL) != 0)
			g->memory = (struct tare_nvml_memory){ 0 };
		if (tare_nvml_processes(m->nvml, i, &g->processes, NULL) != 0)
			g->processes = (struct tare_nvml_processes){ 0 };
	}
}

void tare_top_machine_free(struct tare_top_machine *m)
{
	give_up(m);
	*m = (struct tare_top_machine){ 0 };
}

/* ---- processes ---- */

/* Of a path what is behind its last slash. */
/* "/usr/bin/python3\0-u\0/home/me/train.py\0--lr\0" → "python3 -u /home/me/train.py --lr" */
static char *name_of(const struct tare_str *words)
{
	struct tare_str name = { 0 };
	size_t first = strlen(tare_str_text(words));

	tare_str_add(&name, tare_text_last_part(tare_str_text(words)));
	for (size_t at = first + 1; at < words->len; at += strlen(words->data + at) + 1) {
		tare_str_add_char(&name, ' ');
		tare_str_add(&name, words->data + at);
	}
	return tare_str_steal(&name);
}

char *tare_top_process_name(uint32_t pid)
{
	struct tare_str path = { 0 }, words = { 0 };
	struct tare_procfs_stat stat;
	char *name = NULL;

	if (tare_procfs_stat((pid_t)pid, &stat) != 0)
		return NULL;
	tare_str_addf(&path, "/proc/%u/cmdline", pid);
	if (tare_file_read(&words, path.data, NAME_MOST, NULL) == 0 && words.len)
		name = name_of(&words);
	tare_str_free(&path);
	tare_str_free(&words);
	return name ? name : tare_xstrdup(stat.comm);
}

bool tare_top_is_process(uint32_t pid, const struct tare_follow_process *p, bool is_simulated)
{
	struct tare_procfs_pids pids;
	uint64_t own = 0, its = 0;

	if (is_simulated || tare_procfs_pid_namespace(0, &own) != 0 || !p->pid_namespace || own == p->pid_namespace)
		return pid == p->pid;
	return tare_procfs_pid_namespace((pid_t)pid, &its) == 0 && its == p->pid_namespace &&
	       tare_procfs_pids((pid_t)pid, &pids) == 0 && pids.count && (uint32_t)pids.pids[pids.count - 1] == p->pid;
}
