/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulated library says its version is, to those who ask by cudaLibraryPropertyType. */
#ifndef TARE_SIM_VERSION_H
#define TARE_SIM_VERSION_H

#include <stdbool.h>
#include <stddef.h>

struct sim_version {
	int major, minor, patch;
};

/* Property 0 is MAJOR_VERSION, 1 MINOR_VERSION, 2 PATCH_LEVEL. False: there is no such property. */
static inline bool sim_version_property(const struct sim_version *version, int property, int *value)
{
	if (!value || property < 0 || property > 2)
		return false;
	*value = property == 0 ? version->major : property == 1 ? version->minor : version->patch;
	return true;
}

#endif
