/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch's allocator for GPUs says of itself: the function in C below torch.cuda.memory_stats(), which
 * reads its bookkeeping and calls nothing of CUDA. Only that allocator is asked: the statistics of
 * cudaMallocAsync come from the driver, and pluggable allocators have none.
 */
#include <string.h>

#include "recorder/cuda/devices.h"
#include "recorder/log/emit.h"
#include "recorder/python/code.h"
#include "recorder/torch/scan_api.h"
#include "record/clock.h"

enum { NAME_BYTES = 16, TRIES = 3 };

/* Not in a forked child either, where a thread that is not there any more may hold the allocator's lock. */
static bool is_initialized(const struct tare_scan_api *py, struct py_object *torch_c)
{
	struct py_object *said = tare_scan_item(py, tare_scan_module(py, "torch.cuda"), "_initialized");
	struct py_object *is_bad_fork = tare_scan_call(py, tare_scan_builtin(py, torch_c, "_cuda_isInBadFork"), NULL);
	bool is =
		said && is_bad_fork && tare_scan_type(said) == tare_scan_type(is_bad_fork) && py->PyObject_IsTrue(said) > 0;

	return !tare_scan_is_true(py, is_bad_fork) && is;
}

/* Until 1.13 there was no other, and no such function. */
static bool is_native(const struct tare_scan_api *py, struct py_object *torch_c)
{
	struct py_object *ask = tare_scan_item(py, torch_c, "_cuda_getAllocatorBackend");
	struct py_object *name;
	char text[NAME_BYTES];
	bool is;

	if (!ask)
		return true;
	name = tare_scan_call(py, tare_scan_builtin(py, torch_c, "_cuda_getAllocatorBackend"), NULL);
	is = name && tare_scan_type(name) == tare_scan_type(tare_scan_item(py, tare_scan_module(py, "sys"), "version")) &&
	     tare_python_text(&py->python->layout, (uintptr_t)name, text, sizeof(text), TARE_PYTHON_TRUST) &&
	     !strcmp(text, "native");
	tare_scan_release(py, name);
	return is;
}

/* A dict in a dict, both made for us. */
static struct py_object *part(const struct tare_scan_api *py, struct py_object *whole, const char *name)
{
	struct py_object *found = tare_scan_item(py, whole, name);

	return found && tare_scan_type(found) == tare_scan_type(whole) ? found : NULL;
}

static uint64_t current(const struct tare_scan_api *py, struct py_object *stats, const char *name)
{
	struct py_object *number = tare_scan_item(py, part(py, part(py, stats, name), "all"), "current");
	uint64_t value = number ? py->PyLong_AsUnsignedLongLong(number) : TARE_NOT_KNOWN;

	if (!py->PyErr_Occurred())
		return value;
	py->PyErr_Clear();
	return TARE_NOT_KNOWN;
}

static bool ask(const struct tare_scan_api *py, struct py_object *function, int device,
                struct tare_rec_pool_witness *out)
{
	struct py_object *ordinal = py->PyLong_FromLong(device), *stats = NULL;

	memset(out, 0, sizeof(*out));
	out->device = device;
	if (ordinal)
		stats = tare_scan_call(py, function, ordinal);
	else
		py->PyErr_Clear();
	tare_scan_release(py, ordinal);
	if (!stats || tare_scan_type(stats) != tare_scan_type(py->PyImport_GetModuleDict())) {
		tare_scan_release(py, stats);
		return false;
	}
	out->allocated = current(py, stats, "allocated_bytes");
	out->reserved = current(py, stats, "reserved_bytes");
	out->active = current(py, stats, "active_bytes");
	out->requested = current(py, stats, "requested_bytes");
	out->inactive_split = current(py, stats, "inactive_split_bytes");
	tare_scan_release(py, stats);
	return out->reserved && out->reserved != TARE_NOT_KNOWN && out->allocated != TARE_NOT_KNOWN;
}

/* Threads that run no Python may allocate meanwhile: only what is the same before and after is of that moment. */
static void record(const struct tare_scan_api *py, struct py_object *function, int device)
{
	struct tare_rec_pool_witness before, after;
	uint64_t stamp;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (!ask(py, function, device, &before))
			return;
		stamp = tare_clock_ticks();
		if (!ask(py, function, device, &after))
			return;
		if (memcmp(&before, &after, sizeof(before)) == 0) {
			tare_emit_pool_witness(&before, stamp);
			return;
		}
	}
}

void tare_pool_self_report(const struct tare_scan_api *py)
{
	struct py_object *torch_c = tare_scan_module(py, "torch._C");
	struct py_object *stats = tare_scan_builtin(py, torch_c, "_cuda_memoryStats");
	int i;

	if (!stats || tare_devices_count() == 0 || !is_initialized(py, torch_c) || !is_native(py, torch_c))
		return;
	for (i = 0; i < tare_devices_count(); i++)
		record(py, stats, i);
}
