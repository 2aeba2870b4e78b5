/* SPDX-License-Identifier: Apache-2.0 */
/* Says whether CUDA_VISIBLE_DEVICES hides a GPU. */
#include "session/vram.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool has_own_order(struct tare_nvml *nvml)
{
	const char *order = getenv("CUDA_DEVICE_ORDER");

	if (order && !strcmp(order, "PCI_BUS_ID"))
		return false;
	for (int i = 1; i < tare_nvml_device_count(nvml); i++)
		if (strcmp(tare_nvml_device(nvml, i)->name, tare_nvml_device(nvml, 0)->name) != 0)
			return true;
	return false;
}

/* One word of the list: a number, or the begin of a UUID. Of any other kind nothing is known. */
static bool may_be(const char *word, size_t len, struct tare_nvml *nvml, const struct tare_nvml_device *device)
{
	if (isdigit((unsigned char)*word))
		return has_own_order(nvml) || strtol(word, NULL, 10) == device->index;
	if (!strncmp(word, "GPU-", 4))
		return !device->uuid[0] || !strncmp(word, device->uuid, len);
	return true;
}

bool tare_visible(struct tare_nvml *nvml, const struct tare_nvml_device *device)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");

	if (!list)
		return true;
	while (*list && *list != '-') { /* what is behind -1 is hidden */
		size_t len;

		list += strspn(list, " ");
		len = strcspn(list, ", ");
		if (len && may_be(list, len, nvml, device))
			return true;
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return false;
}
