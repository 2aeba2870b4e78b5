/* SPDX-License-Identifier: Apache-2.0 */
/* What every probe needs in the process that calls the driver: a context, weighing, sending results. */
#include "calibrate/probe.h"

#include "base/now.h"
#include "witness/nvml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_MAX 64

bool tare_bench_send(struct tare_bench *bench, struct tare_message *message)
{
	return write(bench->out, message, sizeof(*message)) == (ssize_t)sizeof(*message);
}

/* ---- driver calls ---- */
bool tare_bench_result(struct tare_bench *bench, const char *name, CUresult result)
{
	char room[32];

	bench->scale.has_last = false; /* what the call took is no noise */
	if (result != CUDA_SUCCESS)
		snprintf(bench->failure, sizeof(bench->failure), "%s answered %s", name, tare_driver_error(result, room));
	return result == CUDA_SUCCESS;
}

bool tare_bench_missing(struct tare_bench *bench, const char *name)
{
	snprintf(bench->failure, sizeof(bench->failure), "this driver has no %s", name);
	return false;
}

void tare_bench_before(struct tare_bench *bench)
{
	bench->before = tare_scale_check(&bench->scale);
	bench->before_ns = tare_now_ns(CLOCK_MONOTONIC);
}

bool tare_bench_after(struct tare_bench *bench, int64_t *change, bool is_done)
{
	int64_t took = tare_now_ns(CLOCK_MONOTONIC) - bench->before_ns;
	uint64_t now;

	if (!is_done)
		return false;
	/* Somebody who changes it during the call changes it after the call as well. */
	tare_scale_watch(&bench->scale, took);
	now = tare_scale_check(&bench->scale);
	if (bench->before == TARE_NOT_KNOWN || now == TARE_NOT_KNOWN) {
		snprintf(bench->failure, sizeof(bench->failure), "nobody says how much memory is in use");
		return false;
	}
	*change = (int64_t)(now - bench->before);
	return true;
}

CUcontext tare_bench_context(struct tare_bench *bench)
{
	CUcontext context = NULL;

	return TARE_DO(bench, cuCtxCreate_v2, &context, 0, bench->device) ? context : NULL;
}

void tare_bench_end_context(struct tare_bench *bench, CUcontext context)
{
	if (context)
		TARE_DO(bench, cuCtxDestroy_v2, context);
	TARE_DO(bench, cuCtxSetCurrent, bench->base);
}

uint64_t tare_bench_free(struct tare_bench *bench)
{
	size_t free = 0, total = 0;

	return TARE_DO(bench, cuMemGetInfo_v2, &free, &total) ? free : 0;
}

/* ---- what was found ---- */
static void put(struct tare_bench *bench, struct tare_message *message, const char *fmt, va_list ap)
{
	vsnprintf(message->why, sizeof(message->why), fmt, ap);
	tare_bench_send(bench, message);
}

static void put_number(struct tare_bench *bench, struct tare_message *message, const char *fmt, va_list ap)
{
	message->kind = TARE_MESSAGE_VALUE;
	tare_profile_set_number(&bench->known, message->key, message->value);
	bench->is_known[message->key] = true;
	put(bench, message, fmt, ap);
}

void tare_bench_put(struct tare_bench *bench, enum tare_profile_key key, uint64_t value, const char *fmt, ...)
{
	struct tare_message message = { .key = key, .value = value, .low = value, .high = value };
	va_list ap;

	va_start(ap, fmt);
	put_number(bench, &message, fmt, ap);
	va_end(ap);
}

void tare_bench_put_range(struct tare_bench *bench, enum tare_profile_key key, uint64_t value, uint64_t low,
                          uint64_t high, const char *fmt, ...)
{
	struct tare_message message = { .key = key, .value = value, .low = low, .high = high };
	va_list ap;

	va_start(ap, fmt);
	put_number(bench, &message, fmt, ap);
	va_end(ap);
}

void tare_bench_put_text(struct tare_bench *bench, enum tare_profile_key key, const char *text, const char *fmt, ...)
{
	struct tare_message message = { .kind = TARE_MESSAGE_VALUE, .key = key };
	va_list ap;

	snprintf(message.text, sizeof(message.text), "%s", text);
	va_start(ap, fmt);
	put(bench, &message, fmt, ap);
	va_end(ap);
}

void tare_bench_lack(struct tare_bench *bench, enum tare_profile_key key, const char *fmt, ...)
{
	struct tare_message message = { .kind = TARE_MESSAGE_LACK, .key = key };
	va_list ap;

	va_start(ap, fmt);
	put(bench, &message, fmt, ap);
	va_end(ap);
}

/* What a noisy probe would have said may come with the next pass. */
bool tare_bench_needs(struct tare_bench *bench, enum tare_profile_key key)
{
	if (bench->is_known[key])
		return true;
	snprintf(bench->failure, sizeof(bench->failure), "it needs %s, which is not known", tare_profile_rows[key].name);
	bench->scale.is_noisy |= bench->had_noise;
	return false;
}

/* ---- start ---- */
/* Which device is ours is not known before cuInit, which opens all of them: weigh all. */
static void weigh_all(struct tare_bench *bench, uint64_t used[DEVICES_MAX])
{
	struct tare_nvml_memory memory;
	int i, count = bench->scale.nvml ? tare_nvml_device_count(bench->scale.nvml) : 0;

	for (i = 0; i < count && i < DEVICES_MAX; i++)
		used[i] = tare_nvml_memory(bench->scale.nvml, i, &memory, NULL) ? TARE_NOT_KNOWN : memory.used;
}

/* As NVML writes it. A partition's begins with MIG. */
static void write_uuid(struct tare_bench *bench, const CUuuid *uuid)
{
	char hex[33], prefix[][5] = { "GPU-", "MIG-" };
	size_t i;

	for (i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)uuid->bytes[i]);
	for (i = 0; i < 2; i++) {
		snprintf(bench->uuid, sizeof(bench->uuid), "%s%.8s-%.4s-%.4s-%.4s-%.12s", prefix[i], hex, hex + 8, hex + 12,
		         hex + 16, hex + 20);
		tare_scale_find(&bench->scale, bench->uuid);
		if (bench->scale.device >= 0)
			return;
	}
}

static bool find_device(struct tare_bench *bench)
{
	CUuuid uuid = { { 0 } };
	int count = 0;

	if (!TARE_DO(bench, cuDeviceGetCount, &count))
		return false;
	if (bench->ordinal >= count) {
		snprintf(bench->failure, sizeof(bench->failure),
		         count ? "CUDA shows %d GPUs here, counted from 0" : "CUDA shows no GPU here", count);
		return false;
	}
	if (!TARE_DO(bench, cuDeviceGet, &bench->device, bench->ordinal))
		return false;
	if (tare_cu.cuDeviceGetUuid_v2 ? TARE_DO(bench, cuDeviceGetUuid_v2, &uuid, bench->device)
	                               : TARE_DO(bench, cuDeviceGetUuid, &uuid, bench->device))
		write_uuid(bench, &uuid);
	else
		tare_scale_find(&bench->scale, "");
	return true;
}

bool tare_bench_start(struct tare_bench *bench, const char *driver, const char *nvml)
{
	uint64_t before[DEVICES_MAX], after[DEVICES_MAX], again[DEVICES_MAX];
	int64_t begin, took;
	int at;

	tare_scale_open(&bench->scale, nvml);
	if (!tare_driver_load(driver, bench->failure, sizeof(bench->failure)))
		return false;
	weigh_all(bench, again);
	for (begin = tare_now_ns(CLOCK_MONOTONIC); tare_now_ns(CLOCK_MONOTONIC) - begin < TARE_SCALE_GATE_NS;)
		weigh_all(bench, before);
	begin = tare_now_ns(CLOCK_MONOTONIC);
	if (!TARE_DO(bench, cuInit, 0))
		return false;
	took = tare_now_ns(CLOCK_MONOTONIC) - begin;
	weigh_all(bench, after);
	if (!find_device(bench))
		return false;
	at = bench->scale.device;
	if (at >= 0)
		tare_scale_watch(&bench->scale, took > TARE_SCALE_GATE_NS ? took : TARE_SCALE_GATE_NS);
	bench->init = at < 0 || bench->scale.is_noisy || at >= DEVICES_MAX || before[at] != again[at] ||
	                      after[at] != tare_scale_read(&bench->scale)
	                  ? TARE_NOT_KNOWN
	                  : after[at] - before[at];
	return true;
}
