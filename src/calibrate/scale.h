/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale that constants are weighed with: NVML's figure for the device, as the recorder uses it;
 * where NVML has none, cuMemGetInfo of the current context.
 *
 * Between two driver calls of ours nothing may change. Where it does, somebody else uses the GPU.
 */
#ifndef TARE_CALIBRATE_SCALE_H
#define TARE_CALIBRATE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

struct tare_nvml;

struct tare_scale {
	struct tare_nvml *nvml; /* NULL: not here */
	int device;             /* NVML's, -1: not known yet, or NVML has no figure */
	bool by_cuda;           /* cuMemGetInfo is the scale */
	bool is_noisy;          /* since tare_scale_settle() */
	bool has_last;
	uint64_t last;
};

/* `path`: of NVML, NULL: where the loader finds it. */
void tare_scale_open(struct tare_scale *scale, const char *path);
/* Once the driver has said which device it is. */
void tare_scale_find(struct tare_scale *scale, const char *uuid);

/* Bytes in use, TARE_NOT_KNOWN if nobody can say now (cuMemGetInfo needs a context). */
uint64_t tare_scale_read(struct tare_scale *scale);
/* The same, twice: notes whether it changed by itself, since the last time and now. */
uint64_t tare_scale_check(struct tare_scale *scale);
/* Notes whether it changes by itself within so much time, of which it takes no more than 30 ms. */
#define TARE_SCALE_GATE_NS INT64_C(4000000) /* that it must stand still around a measurement */
void tare_scale_watch(struct tare_scale *scale, int64_t ns);
/* What happens until here is not weighed. */
void tare_scale_settle(struct tare_scale *scale);

#endif
