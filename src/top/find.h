/* SPDX-License-Identifier: Apache-2.0 */
/* Which recordings are being written on this machine, or in folders that somebody names. */
#ifndef TARE_TOP_FIND_H
#define TARE_TOP_FIND_H

#include "base/args.h"
#include "base/map.h"
#include "top/follow.h"

struct tare_finder {
	const struct tare_operands *folders; /* recordings, or folders that have some */
	bool is_only_folders;                /* processes are not looked at */
	bool is_only_alive;                  /* a recording that is named is followed only while it is written */
	bool is_brief;                       /* nobody asks what grows, nor what training had at most */
	struct tare_map looked; /* pid → how often its environment was looked at, and when it was seen last */
	uint64_t turn;
	struct tare_follow **items; /* what was found, in the order in which it was found */
	size_t count, cap;
};

/*
 * Looks for recordings by the environment of processes, which `tare run` tells where to, and in folders. What ended
 * goes from the list. A process is looked at only while it is new, so it costs the reading of /proc's list.
 */
void tare_find_turn(struct tare_finder *f);
void tare_finder_free(struct tare_finder *f);

/* False: `path` is neither a recording nor a folder. */
bool tare_find_is_folder(const char *path);
/* The folder is a recording itself. */
bool tare_find_is_recording(const char *folder);

#endif
