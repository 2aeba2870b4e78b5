/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all processes of one simulated machine share: who has taken how much of which device.
 *
 * A file in the folder TARE_SIM_DIR, mapped by the simulated libcuda and libnvidia-ml of every
 * process. Without that variable it is a memfd, and the machine has one process.
 *
 * Nobody has to tidy up. A process locks the byte of its own slot in that file, and the kernel drops
 * this lock when the process ends, by whatever death, or starts another program. A slot whose byte
 * nobody locks is empty.
 */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_lock.h"
#include "sim_profile.h"

#define SIM_SLOTS   1024 /* processes of a machine that have called cuInit */
#define SIM_SHARES  512  /* pieces of memory that more than one process may hold */
#define SIM_HOLDERS 64   /* processes that hold one of them */

struct sim_slot {
	uint32_t pid;                   /* 0: empty */
	uint64_t opened;                /* bit d: the driver is started on device d */
	uint16_t contexts[SIM_DEVICES]; /* that NVML lists the process for */
	uint64_t cookie;                /* sim_process_cookie(): tells a program from the one it replaced */
	char name[32];
	uint64_t used[SIM_DEVICES];
	uint64_t calls; /* driver calls that may change memory; see script command `drift` */
	uint64_t calls_seen;
};

/*
 * Physical memory with a handle that was exported. It is on the device until the last process that
 * holds it lets go or dies; NVML counts it for the first of them.
 */
struct sim_share {
	uint64_t id; /* 0: empty */
	uint64_t bytes;
	uint32_t device;
	struct sim_holder {
		uint16_t slot; /* plus 1; 0: none */
		uint16_t handles;
	} holders[SIM_HOLDERS];
};

struct sim_shared {
	struct sim_lock lock;
	uint32_t slots_high; /* no slot beyond this one was ever used */
	int64_t drift[SIM_DEVICES];
	struct sim_slot slots[SIM_SLOTS];
	struct sim_share shares[SIM_SHARES];
};

/* Maps the state, once. NULL: not possible, and a sentence on stderr said why. */
struct sim_shared *sim_state_open(void);

/* Between these two the state is the caller's alone. Taken for a few loads and stores only. */
void sim_state_lock(struct sim_shared *shared);
void sim_state_unlock(struct sim_shared *shared);

/* A new slot for this process. NULL: the machine is full. */
struct sim_slot *sim_state_join(struct sim_shared *shared);
/* The one it has. NULL: it never called cuInit. */
struct sim_slot *sim_state_self(struct sim_shared *shared);

/* Locked: empties the slots of processes that are gone, then sums up. */
void sim_state_reclaim(struct sim_shared *shared);
/* `init` is what a device takes once, for all processes that have opened it. */
uint64_t sim_state_used(const struct sim_shared *shared, int device, const struct tare_profile *profile);
/* What one process has: its own and what it holds first. */
uint64_t sim_state_used_by(const struct sim_shared *shared, const struct sim_slot *slot, int device);

/* sim_share.c. All of them take the lock. */
/* Moves `bytes` from this process's own to a share that it holds. False: there are too many. */
bool sim_share_make(struct sim_shared *shared, struct sim_slot *self, uint64_t id, int device, uint64_t bytes);
/* One more handle of this process. False: no such share. */
bool sim_share_hold(struct sim_shared *shared, struct sim_slot *self, uint64_t id);
void sim_share_drop(struct sim_shared *shared, struct sim_slot *self, uint64_t id);
/* Locked: takes a process that is gone off every share. */
void sim_share_forget(struct sim_shared *shared, uint32_t slot);

#endif
