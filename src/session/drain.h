/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying the rings of recorded processes into their logs while they run. */
#ifndef TARE_SESSION_DRAIN_H
#define TARE_SESSION_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tare_control;
struct tare_drain;

/* `control`: as of tare_lanes_open(). */
struct tare_drain *tare_drain_new(const char *folder, struct tare_control *control);
/* Looks for new rings and writes out what is finished. Returns the bytes written. */
uint64_t tare_drain_turn(struct tare_drain *drain);
/*
 * The last turn: waits for nothing, writes everything of processes that have ended and removes
 * their rings. Rings of processes that still run stay with them. Returns how many those are.
 */
int tare_drain_finish(struct tare_drain *drain);
void tare_drain_free(struct tare_drain *drain);

/* 0, or the errno with which writing a log failed last (a full disk). */
int tare_drain_error(const struct tare_drain *drain);
/* A ring was cut short, or its counts contradict each other: what it held is in part lost. */
bool tare_drain_is_damaged(const struct tare_drain *drain);
uint64_t tare_drain_lost(const struct tare_drain *drain, uint32_t *reason);

/* Readable as soon as one of the processes ends; -1 where the kernel has no such thing. */
int tare_drain_fd(const struct tare_drain *drain);
/* … or as soon as `fd` is, until that is closed. */
void tare_drain_wake_by(const struct tare_drain *drain, int fd);

/* The next process that was found ended since the last call: how, as far as its parent left it to be seen. */
struct tare_drain_end {
	pid_t pid;
	uint32_t generation;
	int status; /* as wait(2) gives it, -1: not known */
};
bool tare_drain_next_end(struct tare_drain *drain, struct tare_drain_end *out);

/* Every process seen so far, for the witness; returns how many, at most `max`. */
struct tare_drain_process {
	pid_t pid;
	uint32_t generation;
	bool is_over; /* its log is ended, or a later generation of the pid has begun */
};
size_t tare_drain_processes(const struct tare_drain *drain, struct tare_drain_process *out, size_t max);

#endif
