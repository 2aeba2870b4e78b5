/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of packages that lie beside the libraries which a program had loaded. */
#ifndef TARE_SESSION_VERSIONS_H
#define TARE_SESSION_VERSIONS_H

#include "base/json.h"
#include "session/told_paths.h"
#include "trace/recording.h"

enum { TARE_VERSIONS_MOST = 64, TARE_VERSIONS_TEXT = 64 };

struct tare_versions {
	struct tare_version {
		char name[TARE_VERSIONS_TEXT], version[TARE_VERSIONS_TEXT];
	} items[TARE_VERSIONS_MOST]; /* by name */
	size_t count;
	char *folders[TARE_VERSIONS_MOST]; /* of packages, while they are looked through */
	size_t folder_nr;
};

/* When the program has ended. `told`: as for tare_symbols_write(). */
void tare_versions_find(struct tare_versions *v, struct tare_recording *recording, const struct tare_told_paths *told);
/* An object `versions`. */
void tare_versions_describe(const struct tare_versions *v, struct tare_json *j);

#endif
