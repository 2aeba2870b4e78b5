/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a recording that runs what to do, from another process. */
#include "session/control.h"

#include "base/arena.h"
#include "base/self_path.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "session/recorded.h"
#include "session/witness.h"
#include "trace/description.h"
#include "witness/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCESSES_MAX = 512, NAMES_MAX = 1000 };

static bool is_pid(const char *target)
{
	return *target && !target[strspn(target, "0123456789")] && access(target, F_OK) != 0;
}

static int find_folder(struct tare_controlled *out, const char *target, struct tare_err *err)
{
	struct stat st;
	int rc = 0;

	if (is_pid(target))
		rc = tare_recorded_by_pid(target, &out->path, err);
	else if (stat(target, &st) != 0)
		rc = errno == ENOENT ? tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such recording", target)
		                     : tare_err_set_errno(err, errno, "%s", target);
	else if (!S_ISDIR(st.st_mode))
		rc = tare_err_set(err, TARE_E_FORMAT, "%s: is no recording; give a folder NAME.tare or a pid", target);
	else
		out->path = tare_xstrdup(target);
	return rc;
}

static int map_page(struct tare_controlled *c, struct tare_err *err)
{
	TARE_FREED_HERE char *path = tare_str_format("%s/control", c->work);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK), rc = 0;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		rc = tare_err_set(err, TARE_E_FORMAT,
		                  "%s: is no recording made by `tare run` or `tare record`, and only those can be "
		                  "commanded",
		                  c->path);
	else if (fd < 0)
		rc = tare_err_set_errno(err, errno, "%s", path);
	else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(*c->page))
		rc = tare_err_set(err, TARE_E_CORRUPT, "%s: is damaged, so the recording cannot be commanded", path);
	if (rc == 0) {
		c->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (c->page == MAP_FAILED) {
			c->page = NULL;
			rc = tare_err_set_errno(err, errno, "%s", path);
		} else if (memcmp(c->page->magic, TARE_CONTROL_MAGIC, sizeof(c->page->magic)) != 0 ||
		           c->page->version > TARE_FORMAT_VERSION) {
			rc = tare_err_set(err, TARE_E_NEWER, "%s: was made by another version of Tare; use that one to command it",
			                  path);
		}
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static int check_runs(struct tare_controlled *c, const struct tare_json_value *description, struct tare_err *err)
{
	struct tare_drain_process processes[PROCESSES_MAX];
	const char *state = tare_json_get_str(description, "state");
	size_t i, n = tare_recorded_processes(c->work, processes, PROCESSES_MAX);
	struct tare_procfs_stat stat;

	for (i = 0; i < n; i++)
		c->running += !processes[i].is_over;
	c->has_tare =
		tare_procfs_stat((pid_t)c->page->tare_pid, &stat) == 0 && stat.state != 'Z' && strcmp(stat.comm, "tare") == 0;
	if (state && strcmp(state, "complete") == 0 && !c->running)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "%s: the recording has ended, so there is nothing to command; tare report shows it",
		                    c->path);
	if (!c->has_tare && !c->running)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "%s: neither its tare nor a process that it recorded runs any more; tare report "
		                    "shows what is there",
		                    c->path);
	return 0;
}

/* The simulated machine that the program is on, so that our own NVML is on it too. */
static void join_sim(const struct tare_json_value *description)
{
	const char *profile = tare_json_get_str(description, "simulated");
	const char *state = tare_json_get_str(description, "simulated_state");

	if (!profile)
		return;
	setenv("TARE_SIM_PROFILE", profile, 1);
	if (state)
		setenv("TARE_SIM_DIR", state, 1);
}

static int open_page(struct tare_controlled *out, const char *target, bool joins_sim, struct tare_err *err)
{
	const struct tare_json_value *description;
	struct tare_arena arena = { 0 };
	const char *spool;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = find_folder(out, target, err);
	if (rc)
		return rc;
	tare_description_read(&arena, out->path, &description, NULL);
	spool = tare_json_get_str(description, "spool");
	out->work = tare_xstrdup(spool && *spool == '/' ? spool : out->path);
	if (spool)
		tare_description_read(&arena, out->work, &description, NULL);
	rc = map_page(out, err);
	if (rc == 0)
		rc = check_runs(out, description, err);
	if (rc == 0 && joins_sim)
		join_sim(description);
	out->no_paths = tare_json_get_bool(description, "no_paths", false);
	tare_arena_free(&arena);
	if (rc)
		tare_control_close(out);
	return rc;
}

int tare_control_open(struct tare_controlled *out, const char *target, struct tare_err *err)
{
	return open_page(out, target, true, err);
}

bool tare_control_is_written(const char *folder)
{
	struct tare_controlled c;

	if (open_page(&c, folder, false, NULL) != 0)
		return false;
	tare_control_close(&c);
	return true;
}

void tare_control_close(struct tare_controlled *c)
{
	if (c->page)
		munmap(c->page, 4096);
	free(c->path);
	free(c->work);
	memset(c, 0, sizeof(*c));
}

/* A log of our own, in which we are the only writer. */
static int open_witness(struct tare_controlled *c, struct tare_witness **out, struct tare_err *err)
{
	char nvml[PATH_MAX] = "", name[64];
	int i, rc = TARE_E_EXISTS;

	if (getenv("TARE_SIM_PROFILE") && tare_self_path(TARE_SELF_SIM_DIR, nvml, sizeof(nvml) - 32) == 0)
		strcat(nvml, "/libnvidia-ml.so.1");
	for (i = 0; rc == TARE_E_EXISTS && i < NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "ctl-%d-%d.events", (int)getpid(), i);
		rc = tare_witness_open(out, c->work, name, 0, *nvml ? nvml : NULL, c->no_paths, err);
	}
	return rc;
}

/*
 * Only one of several at once changes the word, and each change has a number. Returns it, 0 if the word
 * said so already, and NOT_FOUND if nothing can be changed any more.
 */
static int change_word(struct tare_control *page, enum tare_control_command wanted, uint32_t *number)
{
	uint32_t word = __atomic_load_n(&page->command, __ATOMIC_ACQUIRE), changes;

	do {
		*number = 0;
		if (TARE_COMMAND_OF(word) == (uint32_t)wanted)
			return 0;
		if (TARE_COMMAND_OF(word) == TARE_COMMAND_STOP)
			return TARE_E_NOT_FOUND;
		changes = TARE_COMMAND_CHANGES(word) + 1;
	} while (!__atomic_compare_exchange_n(&page->command, &word, (uint32_t)wanted | changes << 8, false,
	                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	*number = changes;
	return 0;
}

static int do_act(struct tare_controlled *c, enum tare_act act, uint32_t *number)
{
	switch (act) {
	case TARE_ACT_PAUSE:
		return change_word(c->page, TARE_COMMAND_PAUSE, number);
	case TARE_ACT_RESUME:
		return change_word(c->page, TARE_COMMAND_RECORD, number);
	case TARE_ACT_STOP:
		return change_word(c->page, TARE_COMMAND_STOP, number);
	default:
		if (TARE_COMMAND_OF(__atomic_load_n(&c->page->command, __ATOMIC_ACQUIRE)) == TARE_COMMAND_STOP)
			return TARE_E_NOT_FOUND;
		*number = (uint32_t)__atomic_add_fetch(&c->page->snapshots, 1, __ATOMIC_ACQ_REL);
		return 0;
	}
}

/* What was in use is read first: it is of the time before a pause, and at its end of the pause. */
int tare_control_act(struct tare_controlled *c, enum tare_act act, const char *name, uint32_t *number,
                     struct tare_err *err)
{
	static struct tare_drain_process processes[PROCESSES_MAX];
	struct tare_witness *w;
	int rc;

	*number = 0;
	rc = open_witness(c, &w, err);
	if (rc)
		return rc;
	tare_witness_sample(w, processes, tare_recorded_processes(c->work, processes, PROCESSES_MAX));
	rc = do_act(c, act, number);
	if (rc == 0 && *number)
		tare_witness_control(w, act, *number, name);
	tare_witness_close(w, NULL);
	return rc ? tare_err_set(err, rc, "%s: the recording was stopped and records nothing more; start another", c->path)
	          : 0;
}
