/* SPDX-License-Identifier: Apache-2.0 */
#include "session/settled.h"

#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "session/lanes.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct tare_settled {
	struct tare_strmap below; /* "431-0" → the position */
};

/* "431-0" of "431-0.ring"; NULL: it does not end so. */
static char *stem_of(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0 ? tare_xstrndup(name, n - m) : NULL;
}

/* 0: nothing of it can be settled. */
static uint64_t settle(const char *folder, const char *stem)
{
	struct tare_str path = { 0 };
	struct tare_lanes *lanes;
	uint64_t below = 0;

	tare_str_addf(&path, "%s/%s", folder, stem);
	lanes = tare_lanes_open(path.data, NULL);
	if (lanes)
		tare_lanes_settle(lanes, &below);
	tare_lanes_close(lanes);
	tare_str_free(&path);
	return below;
}

struct tare_settled *tare_settled_new(const char *folder)
{
	struct tare_settled *settled = tare_xcalloc(1, sizeof(*settled));
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *stem = stem_of(entry->d_name, ".ring");

		if (stem)
			*tare_strmap_put(&settled->below, stem, NULL) = settle(folder, stem);
		free(stem);
	}
	if (dir)
		closedir(dir);
	return settled;
}

uint64_t tare_settled_below(const struct tare_settled *settled, const char *log, bool has_ring)
{
	const char *slash = strrchr(log, '/');
	char *stem = stem_of(slash ? slash + 1 : log, ".events");
	const uint64_t *below = stem ? tare_strmap_get(&settled->below, stem) : NULL;

	free(stem);
	return below ? *below : has_ring ? 0 : UINT64_MAX;
}

void tare_settled_free(struct tare_settled *settled)
{
	if (!settled)
		return;
	tare_strmap_free(&settled->below);
	free(settled);
}
