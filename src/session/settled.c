/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how far the logs of a folder no longer change. */
#include "session/settled.h"

#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "record/clock.h"
#include "session/lanes.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct tare_settled {
	struct tare_strmap below;  /* "431-0" → the position */
	struct tare_strmap oldest; /* → the stamp of the oldest record that is in no log */
	struct tare_strmap whole;  /* → no record that comes is older than this stamp */
};

/* "431-0" of "431-0.ring"; NULL: it does not end so. */
static char *stem_of(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0 ? tare_xstrndup(name, n - m) : NULL;
}

/* 0: nothing of it can be settled. The oldest first: what is drained afterwards, before it is settled, is not older. */
static void settle(struct tare_settled *settled, const char *folder, const char *stem)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	struct tare_lanes *lanes;
	uint64_t below = 0, oldest = UINT64_MAX, now = tare_clock_ticks();

	tare_str_addf(&path, "%s/%s", folder, stem);
	lanes = tare_lanes_open(path.data, NULL);
	if (!lanes || tare_lanes_header(lanes)->clock != TARE_CLOCK_HERE)
		now = 0;
	if (lanes) {
		oldest = tare_lanes_oldest(lanes);
		tare_lanes_settle(lanes, &below);
	}
	*tare_strmap_put(&settled->below, stem, NULL) = below;
	*tare_strmap_put(&settled->oldest, stem, NULL) = oldest;
	*tare_strmap_put(&settled->whole, stem, NULL) = oldest < now ? oldest : now;
	tare_lanes_close(lanes);
}

struct tare_settled *tare_settled_new(const char *folder)
{
	struct tare_settled *settled = tare_xcalloc(1, sizeof(*settled));
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		TARE_FREED_HERE char *stem = stem_of(entry->d_name, ".ring");

		if (stem)
			settle(settled, folder, stem);
	}
	if (dir)
		closedir(dir);
	return settled;
}

static const uint64_t *look_up(const struct tare_strmap *map, const char *log)
{
	const char *slash = strrchr(log, '/');
	TARE_FREED_HERE char *stem = stem_of(slash ? slash + 1 : log, ".events");
	const uint64_t *found = stem ? tare_strmap_get(map, stem) : NULL;

	return found;
}

uint64_t tare_settled_below(const struct tare_settled *settled, const char *log, bool has_ring)
{
	const uint64_t *below = look_up(&settled->below, log);

	return below ? *below : has_ring ? 0 : UINT64_MAX;
}

uint64_t tare_settled_oldest(const struct tare_settled *settled, const char *log)
{
	const uint64_t *oldest = look_up(&settled->oldest, log);

	return oldest ? *oldest : UINT64_MAX;
}

uint64_t tare_settled_whole(const struct tare_settled *settled, const char *log)
{
	const uint64_t *whole = look_up(&settled->whole, log);

	return whole ? *whole : UINT64_MAX;
}

void tare_settled_free(struct tare_settled *settled)
{
	if (!settled)
		return;
	tare_strmap_free(&settled->below);
	tare_strmap_free(&settled->oldest);
	tare_strmap_free(&settled->whole);
	free(settled);
}
