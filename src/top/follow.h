/* SPDX-License-Identifier: Apache-2.0 */
/* One recording that is being written, followed: its ledger of now, read again only when something was recorded. */
#ifndef TARE_TOP_FOLLOW_H
#define TARE_TOP_FOLLOW_H

#include "base/err.h"
#include "ledger/live.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A recorded process, as it sees itself. */
struct tare_follow_process {
	uint32_t pid, generation;
	uint64_t pid_namespace; /* 0: not known */
	char *name;
	bool is_over;
};

struct tare_follow {
	char *path;        /* the folder, as it is read here */
	char *label;       /* its last part */
	dev_t device;      /* which folder it is, … */
	ino_t inode;       /* … whatever its path */
	char *sim_profile; /* of a simulated machine, … */
	char *sim_state;   /* … and where its state lies; NULL: it is none */
	char *host;
	bool is_wanted;      /* the last search found it alive */
	bool is_brief;       /* nobody asks what grows, nor what training had at most */
	bool needs_readings; /* NVML does not show its GPU here: what `tare` reads of it is all there is */

	bool has_ledger;
	struct tare_ledger ledger;
	struct tare_ledger_live live;
	struct tare_follow_process *processes;
	size_t process_nr;
	struct tare_err failure; /* why it cannot be read; code 0: it can */

	uint64_t programs_print, tare_print; /* what the logs were when they were read */
	uint64_t sound_print;                /* what segments were without a damaged block in them; 0: not known */
	int64_t read_ns;                     /* when that was, on the monotonic clock; 0: never */
	int64_t cost_ns;                     /* CPU that it took */
	int64_t next_ns;                     /* not again before */
	int64_t behind_ns;                   /* what was recorded in so long a time is not in the ledger yet */
	uint64_t reads;                      /* how often so far */
};

struct tare_follow *tare_follow_new(const char *path);
void tare_follow_free(struct tare_follow *f); /* NULL is fine */

/*
 * Looks whether the programs recorded something, by the sizes and times of their logs, and reads it if so. Reading takes at most a
 * twentieth of the time: what takes long is read less often. `is_once`: nothing is kept for another time. True: it was read.
 */
bool tare_follow_turn(struct tare_follow *f, int64_t now_ns, bool is_once);

/*
 * What is known of it, for who shows it while it is read on: one of its own, which is not read. The ledger and the processes of the last
 * reading go with it.
 */
struct tare_follow *tare_follow_hand_over(struct tare_follow *f);
/* Where the last reading brought no ledger: that of `before` goes on being shown. */
void tare_follow_keep(struct tare_follow *f, struct tare_follow *before);

/* Was it written to in the last seconds? For recordings whose processes cannot be seen from here. */
bool tare_follow_is_fresh(const char *path);

#endif
