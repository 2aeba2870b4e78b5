/* SPDX-License-Identifier: Apache-2.0 */
/* Opens NVML, lists its devices and reads their memory. */
#include "witness/nvml.h"

#include "base/xalloc.h"
#include "witness/nvml_api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Where it is when the loader does not know: WSL, container toolkits, Tegra. */
static const char *const places[] = {
	"libnvidia-ml.so.1",
	"/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/usr/local/nvidia/lib64/libnvidia-ml.so.1",
	"/usr/local/nvidia/lib/libnvidia-ml.so.1",
	"/usr/lib/aarch64-linux-gnu/nvidia/libnvidia-ml.so.1",
};

int tare_nvml_fail(const struct tare_nvml *nvml, int result, const char *call, struct tare_err *err)
{
	const char *text = nvml->api.error_string ? nvml->api.error_string(result) : NULL;

	if (result == NVML_DRIVER_NOT_LOADED)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "NVML: the NVIDIA kernel driver is not loaded; "
		                    "check that nvidia-smi works");
	if (result == NVML_VERSION_MISMATCH)
		return tare_err_set(err, TARE_E_UNSUPPORTED,
		                    "NVML: the library is from another driver version than the kernel "
		                    "module, as after an update; reload the module or reboot");
	return tare_err_set(err, nvml_is_not_known(result) ? TARE_E_UNSUPPORTED : TARE_E_IO,
	                    "NVML: %s answered %d (%s); check that nvidia-smi works", call, result,
	                    text ? text : "no text");
}

static void *open_library(const char *path)
{
	void *library = NULL;

	if (path)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && i < sizeof(places) / sizeof(places[0]); i++)
		library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

static void load_api(struct tare_nvml *nvml)
{
	struct link_map *map = NULL;

#define NVML_API(FIELD, SYMBOL, PARAMETERS) *(void **)&nvml->api.FIELD = dlsym(nvml->library, #SYMBOL);
	NVML_API_MAP(NVML_API)
#undef NVML_API
	*(void **)&nvml->api.error_string = dlsym(nvml->library, "nvmlErrorString");
	if (dlinfo(nvml->library, RTLD_DI_LINKMAP, &map) == 0 && map)
		nvml->path = tare_xstrdup(map->l_name);
	nvml->info.path = nvml->path ? nvml->path : places[0];
}

static int initialise(struct tare_nvml *nvml, struct tare_err *err)
{
	int (*init)(void) = nvml->api.init_v2 ? nvml->api.init_v2 : nvml->api.init;
	int result;

	if (!init)
		return tare_err_set(err, TARE_E_FORMAT,
		                    "%s: it has no nvmlInit, so it is not NVML; "
		                    "check LD_LIBRARY_PATH",
		                    nvml->info.path);
	result = init();
	return result ? tare_nvml_fail(nvml, result, "nvmlInit", err) : 0;
}

static void add_device(struct tare_nvml *nvml, nvml_device handle, int index, int mig)
{
	struct nvml_pci_info pci = { .pci_device_id = 0 };
	struct tare_nvml_device *dev;
	size_t n = (size_t)nvml->device_nr + 1;

	nvml->devices = tare_xrealloc(nvml->devices, n, sizeof(*nvml->devices));
	nvml->handles = tare_xrealloc(nvml->handles, n, sizeof(*nvml->handles));
	nvml->handles[nvml->device_nr] = handle;
	dev = &nvml->devices[nvml->device_nr++];
	*dev = (struct tare_nvml_device){ .index = index, .mig = mig };
	if (!nvml->api.name || nvml->api.name(handle, dev->name, sizeof(dev->name)))
		snprintf(dev->name, sizeof(dev->name), "GPU");
	if (!nvml->api.uuid || nvml->api.uuid(handle, dev->uuid, sizeof(dev->uuid)))
		dev->uuid[0] = '\0';
	if (nvml->api.pci_v3 && !nvml->api.pci_v3(handle, &pci))
		dev->pci_id = pci.pci_device_id;
}

static bool is_sliced(const struct tare_nvml *nvml, nvml_device handle)
{
	unsigned int now = 0, after_reset;

	return nvml->api.mig_mode && !nvml->api.mig_mode(handle, &now, &after_reset) && now;
}

static void list_mig_devices(struct tare_nvml *nvml, int gpu)
{
	unsigned int max = 0;
	nvml_device mig;

	if (!nvml->api.mig_max || !nvml->api.mig_by_index || nvml->api.mig_max(nvml->handles[gpu], &max))
		return;
	for (unsigned int i = 0; i < max; i++)
		if (!nvml->api.mig_by_index(nvml->handles[gpu], i, &mig))
			add_device(nvml, mig, nvml->devices[gpu].index, (int)i);
}

static int list_devices(struct tare_nvml *nvml, struct tare_err *err)
{
	const struct nvml_api *api = &nvml->api;
	int (*by_index)(unsigned int, nvml_device *) = api->by_index_v2 ? api->by_index_v2 : api->by_index;
	int (*count)(unsigned int *) = api->count_v2 ? api->count_v2 : api->count;
	unsigned int n = 0;
	nvml_device handle;
	int result, gpus;

	if (!count || !by_index)
		return tare_err_set(err, TARE_E_FORMAT,
		                    "%s: it cannot list devices, so it is not NVML; "
		                    "check LD_LIBRARY_PATH",
		                    nvml->info.path);
	result = count(&n);
	if (result)
		return tare_nvml_fail(nvml, result, "nvmlDeviceGetCount", err);
	/* A GPU that this process may not open (a cgroup forbids it) keeps its index and is left out. */
	for (unsigned int i = 0; i < n; i++)
		if (!by_index(i, &handle))
			add_device(nvml, handle, (int)i, -1);
	gpus = nvml->device_nr;
	for (int i = 0; i < gpus; i++) {
		if (!is_sliced(nvml, nvml->handles[i]))
			continue;
		nvml->devices[i].is_sliced = true;
		list_mig_devices(nvml, i);
	}
	return 0;
}

static void read_info(struct tare_nvml *nvml)
{
	struct tare_nvml_info *info = &nvml->info;

	if (!nvml->api.driver_version || nvml->api.driver_version(info->driver, sizeof(info->driver)))
		info->driver[0] = '\0';
	if (!nvml->api.cuda_version || nvml->api.cuda_version(&info->cuda_version))
		info->cuda_version = 0;
}

int tare_nvml_open(const char *path, struct tare_nvml **out, struct tare_err *err)
{
	struct tare_nvml *nvml = tare_xcalloc(1, sizeof(*nvml));
	int rc;

	nvml->library = open_library(path);
	if (!nvml->library) {
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "NVML: %s cannot be loaded; it comes with the NVIDIA driver",
		                  path ? path : places[0]);
		goto fail;
	}
	load_api(nvml);
	rc = initialise(nvml, err);
	if (rc)
		goto fail_library;
	rc = list_devices(nvml, err);
	if (rc)
		goto fail_init;
	read_info(nvml);
	*out = nvml;
	return 0;

fail_init:
	tare_nvml_close(nvml);
	return rc;
fail_library:
	dlclose(nvml->library);
fail:
	free(nvml->path);
	free(nvml);
	return rc;
}

void tare_nvml_close(struct tare_nvml *nvml)
{
	if (!nvml)
		return;
	if (nvml->api.shutdown)
		nvml->api.shutdown();
	dlclose(nvml->library);
	free(nvml->path);
	free(nvml->devices);
	free(nvml->handles);
	free(nvml);
}

const struct tare_nvml_info *tare_nvml_info(const struct tare_nvml *nvml)
{
	return &nvml->info;
}

int tare_nvml_device_count(const struct tare_nvml *nvml)
{
	return nvml->device_nr;
}

const struct tare_nvml_device *tare_nvml_device(const struct tare_nvml *nvml, int device)
{
	return &nvml->devices[device];
}

int tare_nvml_find(const struct tare_nvml *nvml, const char *uuid)
{
	for (int i = 0; i < nvml->device_nr; i++)
		if (uuid[0] && !strcasecmp(nvml->devices[i].uuid, uuid))
			return i;
	return -1;
}

static enum tare_nvml_identity identity_of(const struct nvml_memory_v2 *m)
{
	if (m->free + m->used + m->reserved == m->total)
		return TARE_NVML_SUM_APART;
	if (m->free + m->used == m->total)
		return TARE_NVML_SUM_INCLUDED;
	return TARE_NVML_SUM_NOT_KNOWN;
}

static int memory_v2(struct tare_nvml *nvml, int device, struct tare_nvml_memory *out)
{
	struct nvml_memory_v2 m = { .version = NVML_MEMORY_V2 };
	int result = nvml->api.memory_v2 ? nvml->api.memory_v2(nvml->handles[device], &m) : NVML_FUNCTION_NOT_FOUND;

	if (result || !m.total)
		return result ? result : NVML_NOT_SUPPORTED; /* some boards succeed with 0 */
	*out = (struct tare_nvml_memory){ 2, m.total, m.reserved, m.free, m.used, identity_of(&m) };
	return 0;
}

static int memory_v1(struct tare_nvml *nvml, int device, struct tare_nvml_memory *out)
{
	struct nvml_memory_v1 m = { 0 };
	int result = nvml->api.memory ? nvml->api.memory(nvml->handles[device], &m) : NVML_FUNCTION_NOT_FOUND;

	if (result || !m.total)
		return result ? result : NVML_NOT_SUPPORTED;
	*out = (struct tare_nvml_memory){
		1,      m.total, TARE_NOT_KNOWN,
		m.free, m.used,  m.free + m.used == m.total ? TARE_NVML_SUM_INCLUDED : TARE_NVML_SUM_NOT_KNOWN
	};
	return 0;
}

int tare_nvml_memory(struct tare_nvml *nvml, int device, struct tare_nvml_memory *out, struct tare_err *err)
{
	struct tare_nvml_memory m = {
		0, TARE_NOT_KNOWN, TARE_NOT_KNOWN, TARE_NOT_KNOWN, TARE_NOT_KNOWN, TARE_NVML_SUM_NOT_KNOWN
	};
	int result = memory_v2(nvml, device, &m);

	if (nvml_is_not_known(result))
		result = memory_v1(nvml, device, &m);
	if (result && !nvml_is_not_known(result))
		return tare_nvml_fail(nvml, result, "nvmlDeviceGetMemoryInfo", err);
	*out = m;
	return 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

void tare_nvml_uuid(const char *text, uint64_t *high, uint64_t *low)
{
	const char *at = strchr(text, '-');
	int n = 0;

	*high = *low = 0;
	for (; at && *at && n < 32; at++) {
		int digit = hex(*at);

		if (digit < 0)
			continue;
		if (n++ < 16)
			*high = *high << 4 | (uint64_t)digit;
		else
			*low = *low << 4 | (uint64_t)digit;
	}
}
