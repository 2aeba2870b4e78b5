/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading how much device memory is in use, before and after a driver call, by NVML, which sees the
 * whole device and needs no context. Without NVML the driver is asked: cuda/devices.h.
 *
 * The time spent on it is capped at TARE_WEIGH_SHARE of the time the program has run, and
 * TARE_WEIGH_DRIVER_SHARE of what the driver took for the calls. Calls whose effect is computed anyway
 * give way first.
 */
#ifndef TARE_RECORDER_WEIGH_H
#define TARE_RECORDER_WEIGH_H

#include <stdbool.h>
#include <stdint.h>

#define TARE_WEIGH_SHARE        200 /* one part in 200: 0.5 % */
#define TARE_WEIGH_DRIVER_SHARE 50  /* and one in 50 of the time the driver itself took: 2 % */
#define TARE_WEIGH_DEVICES      64

/* SPARE: nothing is lost without it. ALWAYS: the books are worthless without it, and the call slow. */
enum tare_weigh_need { TARE_WEIGH_SPARE, TARE_WEIGH_USEFUL, TARE_WEIGH_NEEDED, TARE_WEIGH_ALWAYS };

/* Opens NVML in this process, once, and again in a forked child. */
void tare_weigh_open(void);

/* NVML's index of the device with this UUID, -1 if it does not know it. `ordinal` is then weighed by it. */
int tare_weigh_map(int ordinal, const uint8_t uuid[16]);
int tare_weigh_index(int ordinal); /* the same, once it is mapped */
int tare_weigh_nvml_count(void);

/* The driver took so long for a call that was weighed, or should have been. */
void tare_weigh_driver_took(uint64_t ticks);
/* Too short for the driver to have asked the kernel for anything: nothing changed in it. */
bool tare_weigh_is_short(uint64_t ticks);

/* NVML and the driver make system calls, and take more stack than we do. */
bool tare_weigh_may_call(void);

/* False: the time allowed for weighing is used up. */
bool tare_weigh_allowed(enum tare_weigh_need need);

void tare_weigh_spend(uint64_t since); /* ticks; on a reading */
void tare_weigh_account(uint64_t *spent_ticks, uint64_t *run_ticks);

/* What a device had in use when we last read it, 0: never; and a reading taken elsewhere. */
uint64_t tare_weigh_last_used(int device);
void tare_weigh_saw(int device, uint64_t used);

/* Bytes in use, as NVML says; TARE_NOT_KNOWN if it does not. */
uint64_t tare_weigh_used_by_index(int nvml_index);
bool tare_weigh_is_v1(void); /* NVML's older figure is all there is */

struct tare_weigh_memory {
	uint64_t total, reserved, used; /* TARE_NOT_KNOWN where NVML does not say */
	bool is_v1;
};
bool tare_weigh_memory(int nvml_index, struct tare_weigh_memory *out);

/*
 * Of `used`, which was read just now, what processes that are not this one have; TARE_NOT_KNOWN where NVML does not list
 * them. The counter is read again behind the list, and both once more where it has moved; `since` is then when the last
 * reading of it began.
 */
uint64_t tare_weigh_others(int ordinal, uint64_t *used, uint64_t *since);

/* Around the creation of this process's first context on a device: NVML may know us by another pid. */
void tare_weigh_learn_own_pid(int ordinal, bool before);

#endif
