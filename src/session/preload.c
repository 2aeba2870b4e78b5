/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the environment that records a program. */
#include "session/preload.h"

#include "base/self_path.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "session/profiles.h"
#include "session/wanted.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * ld.so splits LD_PRELOAD at spaces and colons, LD_LIBRARY_PATH at colons and semicolons, and has no
 * way to quote them. What lies under such a path gets a link in a folder of this user, which stays:
 * children may exec long after `tare` is gone.
 */
static int link_plainly(const char *path, char **out, struct tare_err *err)
{
	struct tare_str link = { 0 };
	char target[PATH_MAX];
	uint64_t hash = 0xcbf29ce484222325u;
	struct stat st;
	const char *c;
	ssize_t n;

	for (c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	tare_str_addf(&link, "/tmp/tare-%u", (unsigned int)getuid());
	if ((mkdir(link.data, 0700) != 0 && errno != EEXIST) || lstat(link.data, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != getuid() || (st.st_mode & 077)) {
		int rc = tare_err_set(err, TARE_E_DENIED,
		                      "%s: must be a folder of yours that nobody else can use; remove it, or install "
		                      "tare under a path without spaces, colons and semicolons",
		                      link.data);
		tare_str_free(&link);
		return rc;
	}
	tare_str_addf(&link, "/%016llx", (unsigned long long)hash);
	n = readlink(link.data, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	if (strcmp(target, path) != 0) {
		unlink(link.data);
		if (symlink(path, link.data) != 0) {
			int rc = tare_err_set_errno(err, errno, "%s: the link to Tare's libraries cannot be made", link.data);

			tare_str_free(&link);
			return rc;
		}
	}
	*out = tare_str_steal(&link);
	return 0;
}

static int plain_path(const char *path, const char *splits_at, char **out, struct tare_err *err)
{
	if (strpbrk(path, splits_at))
		return link_plainly(path, out, err);
	*out = tare_xstrdup(path);
	return 0;
}

static char *join(const char *first, const char *rest)
{
	struct tare_str out = { 0 };

	tare_str_add(&out, first);
	if (rest && *rest)
		tare_str_addf(&out, ":%s", rest);
	return tare_str_steal(&out);
}

/* "h200:2" is a machine with two of them. A path may have colons, so only a number at the end counts. */
static int split_count(const char *sim, char **card, char **count, struct tare_err *err)
{
	const char *colon = strrchr(sim, ':');
	char *end = NULL;
	long n = colon && colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : 0;

	*card = tare_xstrdup(sim);
	*count = NULL;
	if (!end || *end)
		return 0;
	if (n < 1 || n > TARE_SIM_MOST)
		return tare_err_set(err, TARE_E_USAGE, "--sim %s: a simulated machine has 1 to %d GPUs", sim, TARE_SIM_MOST);
	(*card)[colon - sim] = '\0';
	*count = tare_xstrdup(colon + 1);
	return 0;
}

static int find_sim(struct tare_preload *out, const char *sim, const char *folder, struct tare_err *err)
{
	struct tare_str libraries = { 0 }, loader = { 0 };
	const char *state = getenv("TARE_SIM_DIR");
	struct tare_profile profile;
	char path[PATH_MAX];
	int rc;

	if (tare_self_path(TARE_SELF_SIM_DIR, path, sizeof(path)) != 0)
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: the simulated GPU is not there; install tare again", path);
	rc = split_count(sim, &out->sim_profile, &out->sim_devices, err);
	if (rc == 0) /* its libraries read it again, in the program, whose stderr is not theirs */
		rc = tare_profiles_open("--sim", out->sim_profile, &profile, err);
	if (rc == 0)
		rc = plain_path(path, " :;", &out->sim_dir, err);
	if (rc)
		return rc;
	tare_str_addf(&libraries, "%s:%s/libs", out->sim_dir, out->sim_dir);
	tare_str_addf(&loader, "%s/libs/libtare_sim.so", out->sim_dir);
	out->library_path = join(libraries.data, getenv("LD_LIBRARY_PATH"));
	tare_str_free(&libraries);
	if (access(tare_str_text(&loader), R_OK) == 0) /* programs of the driver's interface need none */
		out->sim_loader = tare_str_steal(&loader);
	tare_str_free(&loader);
	out->sim_state = tare_xstrdup(state ? state : folder);
	return 0;
}

/* A tool for NVTX that the user had set is called by ours. */
static void find_nvtx(struct tare_preload *out)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");

	if (path && *path && strcmp(path, out->library) != 0)
		out->nvtx = tare_xstrdup(path);
}

int tare_preload_find(struct tare_preload *out, const char *sim, const char *folder, uint64_t heap_mean,
                      struct tare_err *err)
{
	enum tare_self_file library = heap_mean ? TARE_SELF_RECORDER_HOST : TARE_SELF_RECORDER;
	char path[PATH_MAX];
	int rc;

	memset(out, 0, sizeof(*out));
	out->filters = -1;
	out->heap_mean = heap_mean;
	if (tare_self_path(library, path, sizeof(path)) != 0)
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: the recorder is not there; install tare again", path);
	rc = plain_path(path, " :", &out->library, err);
	if (rc == 0 && sim)
		rc = find_sim(out, sim, folder, err);
	if (rc == 0)
		find_nvtx(out);
	if (rc == 0) {
		out->own = join(out->library, out->sim_loader);
		out->list = join(out->own, getenv("LD_PRELOAD"));
	} else
		tare_preload_free(out);
	return rc;
}

int tare_preload_ranks(struct tare_preload *preload, int running, int world, struct tare_err *err)
{
	const char *devices = preload->sim_devices ? preload->sim_devices : getenv("TARE_SIM_DEVICES");
	struct tare_str text = { 0 };

	if (devices && *devices && atoi(devices) < running)
		return tare_err_set(
			err, TARE_E_USAGE,
			"--ranks-simulated %d of %d: the simulated machine has %s of the %d GPUs that the ranks that run "
			"need; give --sim PROFILE:%d",
			running, world, devices, running, running);
	if (!devices || !*devices) {
		tare_str_addf(&text, "%d", running);
		preload->sim_devices = tare_str_steal(&text);
	}
	tare_str_addf(&text, "%s/ranks", preload->sim_dir);
	preload->python_path = join(tare_str_text(&text), getenv("PYTHONPATH"));
	tare_str_free(&text);
	preload->ranks_running = running;
	preload->ranks_nr = world;
	return 0;
}

static void each_of_ranks(const struct tare_preload *preload,
                          void (*set)(const char *name, const char *value, void *arg), void *arg)
{
	char number[16];

	if (!preload->ranks_nr)
		return;
	snprintf(number, sizeof(number), "%d", preload->ranks_running);
	set("TARE_SIM_RANKS", number, arg);
	snprintf(number, sizeof(number), "%d", preload->ranks_nr);
	set("TARE_SIM_WORLD", number, arg);
	set("PYTHONPATH", preload->python_path, arg);
}

void tare_preload_each(const struct tare_preload *preload, const char *folder,
                       void (*set)(const char *name, const char *value, void *arg), void *arg)
{
	struct tare_str wanted = { 0 };
	char filters[16], mean[24];

	set("LD_PRELOAD", preload->list, arg);
	set("TARE_RECORDING", folder, arg);
	set("TARE_LIBRARY", preload->library, arg);
	set("TARE_PRELOAD", preload->own, arg);
	set("NVTX_INJECTION64_PATH", preload->library, arg);
	if (preload->phases)
		set("TARE_PHASES", preload->phases, arg);
	if (preload->no_paths)
		set("TARE_NO_PATHS", preload->no_paths, arg);
	if (preload->nvtx)
		set("TARE_NVTX_CHAIN", preload->nvtx, arg);
	if (preload->no_tensors)
		set("TARE_TENSORS", "off", arg);
	if (preload->heap_mean) {
		snprintf(mean, sizeof(mean), "%" PRIu64, preload->heap_mean);
		set("TARE_HOST", mean, arg);
	}
	if (preload->no_scan)
		set("TARE_SCAN", "off", arg);
	if (preload->has_vram)
		set("TARE_VRAM", "1", arg);
	if (preload->filters >= 0) {
		snprintf(filters, sizeof(filters), "%d", preload->filters);
		set("TARE_FILTERS", filters, arg);
	}
	if (preload->stacks)
		set("TARE_STACKS", preload->stacks, arg);
	if (!preload->sim_dir)
		return;
	set("LD_LIBRARY_PATH", preload->library_path, arg);
	set("TARE_SIM_PROFILE", preload->sim_profile, arg);
	if (preload->sim_devices)
		set("TARE_SIM_DEVICES", preload->sim_devices, arg);
	set("TARE_SIM_DIR", preload->sim_state, arg);
	each_of_ranks(preload, set, arg);
	tare_str_addf(&wanted, "%s/" TARE_WANTED_FILE, folder);
	set("TARE_SIM_WANTED", wanted.data, arg);
	tare_str_free(&wanted);
	if (preload->answers)
		set("TARE_SIM_ANSWERS", preload->answers, arg);
	if (preload->answers_at)
		set("TARE_SIM_ANSWER_AT", preload->answers_at, arg);
}
