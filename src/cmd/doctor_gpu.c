/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare doctor` looks at of the GPU: driver, NVML, device files, profile. */
#include "cmd/doctor.h"

#include "base/units.h"
#include "session/profiles.h"
#include "witness/nvml.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the driver's library is when the dynamic linker has not been told. */
static const struct {
	const char *path, *whose;
} places[] = {
	{ "/usr/lib/wsl/lib/libcuda.so.1", "WSL" },
	{ "/usr/local/nvidia/lib64/libcuda.so.1", "container toolkit" },
	{ "/usr/local/nvidia/lib/libcuda.so.1", "container toolkit" },
	{ "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", "Jetson" },
	{ "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1", "Jetson" },
	{ "/usr/local/cuda/compat/libcuda.so.1", "CUDA compatibility package" },
};

/* The words of an error without its subject, which stands in front of the line already. */
static const char *without_subject(const struct tare_err *err)
{
	const char *colon = strstr(err->text, ": ");

	return colon ? colon + 2 : err->text;
}

static void driver_missing(struct tare_doctor *d)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (access(places[i].path, R_OK))
			continue;
		tare_doctor_add(d, TARE_DOCTOR_WARN, "driver",
		                "%s (%s) is there, but the dynamic linker does not find it; add its "
		                "folder to LD_LIBRARY_PATH or run ldconfig on it",
		                places[i].path, places[i].whose);
		return;
	}
	tare_doctor_add(d, TARE_DOCTOR_WARN, "driver",
	                "there is no libcuda.so.1, so programs find no GPU here; install the NVIDIA "
	                "driver, give the container its GPUs (docker run --gpus all), or use "
	                "tare run --sim h200; what any program asks of malloc is recorded by "
	                "tare run --host=sample");
}

void tare_doctor_driver(struct tare_doctor *d)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map = NULL;
	int (*get_version)(int *) = NULL;
	int version = 0;

	if (!library) {
		driver_missing(d);
		return;
	}
	dlinfo(library, RTLD_DI_LINKMAP, &map);
	/* The one call that needs no cuInit, which would open every GPU. */
	*(void **)&get_version = dlsym(library, "cuDriverGetVersion");
	if (get_version && get_version(&version) == 0)
		tare_doctor_add(d, TARE_DOCTOR_OK, "driver", "%s, CUDA %d.%d", map ? map->l_name : "", version / 1000,
		                version % 1000 / 10);
	else
		tare_doctor_add(d, TARE_DOCTOR_WARN, "driver",
		                "%s does not tell its version; a stub from the CUDA toolkit is no "
		                "driver: take it out of LD_LIBRARY_PATH",
		                map ? map->l_name : "");
	dlclose(library);
}

static const char *identity_text(enum tare_nvml_identity identity)
{
	switch (identity) {
	case TARE_NVML_SUM_APART:
		return "total = reserved + used + free";
	case TARE_NVML_SUM_INCLUDED:
		return "total = used + free, the reserve is inside used";
	case TARE_NVML_SUM_NOT_KNOWN:
		break;
	}
	return "its figures do not add up to the total";
}

static void check_memory(struct tare_doctor *d, struct tare_nvml *nvml, int device, int index)
{
	struct tare_nvml_memory m;
	struct tare_err err;
	char total[TARE_UNITS_TEXT_MAX], used[TARE_UNITS_TEXT_MAX];

	if (tare_nvml_memory(nvml, device, &m, &err))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "NVML memory", "GPU %d: %s", index, without_subject(&err));
	else if (!m.version)
		tare_doctor_add(d, TARE_DOCTOR_WARN, "NVML memory",
		                "GPU %d: not supported here (Jetson, integrated or virtual GPU); "
		                "cuMemGetInfo inside the program takes its place",
		                index);
	else
		tare_doctor_add(d, m.version == 2 ? TARE_DOCTOR_OK : TARE_DOCTOR_WARN, "NVML memory",
		                "GPU %d: version %d, %s used of %s; %s%s", index, m.version, tare_units_human(used, m.used),
		                tare_units_human(total, m.total), identity_text(m.identity),
		                m.version == 2 ? ""
		                               : "; the driver's reserve cannot be told apart, a "
		                                 "driver from R510 on can");
}

static void check_processes(struct tare_doctor *d, struct tare_nvml *nvml, int device, int index)
{
	struct tare_nvml_processes list;
	struct tare_err err;
	size_t unknown = 0;

	if (tare_nvml_processes(nvml, device, &list, &err)) {
		tare_doctor_add(d, TARE_DOCTOR_WARN, "NVML processes", "GPU %d: %s", index, without_subject(&err));
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		unknown += list.items[i].used == TARE_NOT_KNOWN;
	if (!list.version)
		tare_doctor_add(d, TARE_DOCTOR_WARN, "NVML processes",
		                "GPU %d: no list here (WSL, vGPU or MIG); other processes are one row, "
		                "and not told from this one while both change",
		                index);
	else if (unknown)
		tare_doctor_add(d, TARE_DOCTOR_WARN, "NVML processes",
		                "GPU %d: %zu of %zu processes without their memory; other processes are "
		                "one row",
		                index, unknown, list.count);
	else
		tare_doctor_add(d, TARE_DOCTOR_OK, "NVML processes", "GPU %d: version %d, %zu processes", index, list.version,
		                list.count);
	tare_nvml_processes_free(&list);
}

static void check_profile(struct tare_doctor *d, const struct tare_nvml_device *dev)
{
	struct tare_profile profile;
	char path[PATH_MAX];

	if (tare_profiles_find(dev->name, &profile, path, sizeof(path)))
		tare_doctor_add(d, TARE_DOCTOR_OK, "profile", "GPU %d: %s; tare calibrate compares this machine with it",
		                dev->index, path);
	else
		tare_doctor_add(d, TARE_DOCTOR_OK, "profile",
		                "GPU %d: none of %s comes with Tare; tare calibrate -o FILE writes one", dev->index, dev->name);
}

static void check_device(struct tare_doctor *d, struct tare_nvml *nvml, int device)
{
	const struct tare_nvml_device *dev = tare_nvml_device(nvml, device);

	if (dev->is_sliced) {
		tare_doctor_add(d, TARE_DOCTOR_OK, "GPU", "%d: %s, in MIG mode: programs see its MIG devices", dev->index,
		                dev->name);
		return;
	}
	tare_doctor_add(d, dev->uuid[0] ? TARE_DOCTOR_OK : TARE_DOCTOR_WARN, "GPU", "%d: %s, %s", dev->index, dev->name,
	                dev->uuid[0] ? dev->uuid : "no UUID, so CUDA's numbering is taken for NVML's");
	check_memory(d, nvml, device, dev->index);
	check_processes(d, nvml, device, dev->index);
	if (dev->mig < 0)
		check_profile(d, dev);
}

void tare_doctor_nvml(struct tare_doctor *d)
{
	struct tare_nvml *nvml;
	struct tare_err err;

	if (tare_nvml_open(NULL, &nvml, &err)) {
		tare_doctor_add(d, TARE_DOCTOR_WARN, "NVML",
		                "%s; without it cuMemGetInfo is the counter and other processes are not "
		                "named",
		                without_subject(&err));
		return;
	}
	tare_doctor_add(d, TARE_DOCTOR_OK, "NVML", "%s, driver %s", tare_nvml_info(nvml)->path,
	                tare_nvml_info(nvml)->driver);
	if (!tare_nvml_device_count(nvml))
		tare_doctor_add(d, TARE_DOCTOR_WARN, "GPU",
		                "NVML shows none to this process; a container must be given its GPUs");
	for (int i = 0; i < tare_nvml_device_count(nvml); i++)
		check_device(d, nvml, i);
	tare_nvml_close(nvml);
}

/* A container can have the libraries and lack the devices, or the right to open them. */
void tare_doctor_device_files(struct tare_doctor *d)
{
	static const char *const patterns[] = { "/dev/nvidiactl", "/dev/nvidia[0-9]*", "/dev/dxg", "/dev/nvmap" };
	size_t good = 0, bad = 0;
	char first[128] = "";

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			int is_good = access(found.gl_pathv[k], R_OK | W_OK) == 0;

			good += (size_t)is_good;
			if (!is_good && !bad++)
				snprintf(first, sizeof(first), "%s", found.gl_pathv[k]);
		}
		globfree(&found);
	}
	if (bad)
		tare_doctor_add(d, TARE_DOCTOR_WARN, "device files",
		                "%s may not be opened by this user%s; on Jetson join the group video", first,
		                bad > 1 ? ", and others" : "");
	else if (good)
		tare_doctor_add(d, TARE_DOCTOR_OK, "device files", "%zu, all of them may be opened", good);
}
