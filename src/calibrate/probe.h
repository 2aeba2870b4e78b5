/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the process that calls the driver: what a probe works with. A probe calls the driver with
 * TARE_DO and TARE_WEIGH, returns when one fails, and puts the constants that it found.
 */
#ifndef TARE_CALIBRATE_PROBE_H
#define TARE_CALIBRATE_PROBE_H

#include "calibrate/driver.h"
#include "calibrate/message.h"
#include "calibrate/scale.h"
#include "profile/profile.h"

struct tare_bench {
	struct tare_scale scale;
	int ordinal; /* as CUDA counts */
	CUdevice device;
	char uuid[96];
	CUcontext base;                   /* the primary context, current between probes */
	uint64_t init, first_init;        /* what cuInit took here, and in a process before; or TARE_NOT_KNOWN */
	struct tare_profile known;        /* constants found so far … */
	bool is_known[TARE_PROFILE_KEYS]; /* … of which these can be relied on */
	bool had_noise;
	uint64_t before; /* a call that is being weighed */
	int64_t before_ns;
	char failure[TARE_MESSAGE_TEXT]; /* of the last call that failed; empty: none */
	int out;                         /* pipe of messages */
};

/* ---- driver calls ---- */
bool tare_bench_result(struct tare_bench *bench, const char *name, CUresult result);
bool tare_bench_missing(struct tare_bench *bench, const char *name);
/* True: it succeeded. */
#define TARE_DO(bench, function, ...)                                                                                  \
	(tare_cu.function ? tare_bench_result(bench, #function, tare_cu.function(__VA_ARGS__))                             \
	                  : tare_bench_missing(bench, #function))

void tare_bench_before(struct tare_bench *bench);
/* False: it cannot be weighed here. */
bool tare_bench_after(struct tare_bench *bench, int64_t *change, bool is_done);
/* The same, and by how much the device's counter changed. */
#define TARE_WEIGH(bench, change, function, ...)                                                                       \
	(tare_bench_before(bench), tare_bench_after(bench, change, TARE_DO(bench, function, __VA_ARGS__)))

/* A context of the probe's own, current; NULL: it failed. The base context is current again after. */
CUcontext tare_bench_context(struct tare_bench *bench);
void tare_bench_end_context(struct tare_bench *bench, CUcontext context);
/* Bytes free on the device, by cuMemGetInfo; 0: not known. */
uint64_t tare_bench_free(struct tare_bench *bench);

/* ---- what was found ---- */
/* `fmt`: the evidence, in a few words. */
void tare_bench_put(struct tare_bench *bench, enum tare_profile_key key, uint64_t value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void tare_bench_put_range(struct tare_bench *bench, enum tare_profile_key key, uint64_t value, uint64_t low,
                          uint64_t high, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void tare_bench_put_text(struct tare_bench *bench, enum tare_profile_key key, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Why there is no value. */
void tare_bench_lack(struct tare_bench *bench, enum tare_profile_key key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether a constant that others are derived from is known. False: bench->failure says which. */
bool tare_bench_needs(struct tare_bench *bench, enum tare_profile_key key);

#define TARE_PROBE(NAME, WHAT) void tare_probe_##NAME(struct tare_bench *bench);
#include "calibrate/probe.def"

/* Starts the driver, weighs that, and finds the device; false: bench->failure says why not. */
bool tare_bench_start(struct tare_bench *bench, const char *driver, const char *nvml);
bool tare_bench_send(struct tare_bench *bench, struct tare_message *message);

#endif
