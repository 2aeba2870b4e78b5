/* SPDX-License-Identifier: Apache-2.0 */
/* Brackets a call of the driver: reads what is used before and after, and records it. */
#include "recorder/hooks/call.h"

#include <errno.h>
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/devices.h"
#include "recorder/cuda/first.h"
#include "recorder/cuda/handles.h"
#include "recorder/hooks/graphs.h"
#include "recorder/hooks/pools.h"
#include "recorder/log/emit.h"
#include "recorder/phase/comm.h"
#include "recorder/phase/phase.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/tensors.h"
#include "recorder/vram/limit.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

/* A call that takes memory may take more than it was asked for: a pool 32 MiB at once. */
#define OTHERS_BYTES (64u << 20)

enum tare_class tare_sync_class;

enum sizing { NONE, WEIGHED, PAGES, EXACT, HOST };

#define TARE_CLASS(id, key, name, sizing, account) [TARE_CLASS_##key] = sizing,
static const uint8_t sizing_of[TARE_CLASS_NR] = {
#include "record/class.def"
};

/*
 * Where the size is known, or nothing was ever seen to change, weighing is a check, and gives way when
 * time is short; where only the driver's counter can tell, it is needed.
 */
static enum tare_weigh_need need_of(const struct tare_call *call)
{
	enum sizing sizing = sizing_of[call->class];
	bool is_counted = (call->class == TARE_CLASS_VMM || call->class == TARE_CLASS_VMM_MAP) && !tare_handles_shared;
	bool is_size_known = sizing == PAGES || is_counted || (sizing == EXACT && call->effect == TARE_EFFECT_NEW);
	bool is_free = sizing == HOST || call->class == TARE_CLASS_EVENT;

	if (call->class == TARE_CLASS_DRIVER || call->class == TARE_CLASS_CONTEXT)
		return TARE_WEIGH_ALWAYS;
	/* Whether freed memory goes is no longer ours to say, once it was shared. */
	if (sizing == PAGES && call->effect == TARE_EFFECT_DEL && tare_handles_shared)
		return TARE_WEIGH_NEEDED;
	return is_size_known || is_free ? TARE_WEIGH_USEFUL : TARE_WEIGH_NEEDED;
}

/*
 * What other processes use is asked for only where it can matter, for it costs more than all the
 * rest: before a call, when something changed since our last call on the device; after it, when
 * something changed inside it that only weighing can size.
 */
static uint64_t last_others[TARE_WEIGH_DEVICES];
TARE_OF_PROCESS(last_others);

static uint64_t read_peers(const struct tare_call *call, uint64_t *used, uint64_t *since)
{
	uint64_t peers = tare_weigh_others(call->device, used, since);

	__atomic_store_n(&last_others[call->device], peers, __ATOMIC_RELAXED);
	return peers;
}

static uint64_t others_before(struct tare_call *call, uint64_t *since)
{
	return call->changed_before ? read_peers(call, &call->before, since)
	                            : __atomic_load_n(&last_others[call->device], __ATOMIC_RELAXED);
}

/* `since`: when the reading began. */
static void weigh_before(struct tare_call *call, uint64_t *since)
{
	enum tare_weigh_need need = need_of(call);
	bool by_cuda = false;

	call->before = call->after = call->peers_before = call->peers_after = TARE_NOT_KNOWN;
	if (call->device < 0 || call->device >= TARE_WEIGH_DEVICES || sizing_of[call->class] == NONE)
		return;
	if (call->is_light && need == TARE_WEIGH_USEFUL)
		return;
	if (!tare_weigh_allowed(need)) {
		call->flags |= TARE_EVENT_UNWEIGHED;
		return;
	}
	call->before = tare_devices_used(call->device, &by_cuda);
	call->is_weighed = call->before != TARE_NOT_KNOWN;
	call->changed_before = call->is_weighed && call->before != tare_weigh_last_used(call->device);
	if (call->is_weighed &&
	    (need >= TARE_WEIGH_NEEDED || (call->changed_before && tare_weigh_allowed(TARE_WEIGH_SPARE))))
		call->peers_before = others_before(call, since);
	if (by_cuda)
		call->flags |= TARE_EVENT_BY_CUDA;
	if (!call->is_light && (need >= TARE_WEIGH_NEEDED || sizing_of[call->class] == HOST))
		tare_rss_read(&call->rss_before);
}

/* A call whose size is known changed the device by what it can hardly have: somebody else may have moved inside it. */
static bool is_of_others(const struct tare_call *call)
{
	bool is_growth = call->after > call->before;
	uint64_t change = is_growth ? call->after - call->before : call->before - call->after;

	if (!change || need_of(call) >= TARE_WEIGH_NEEDED)
		return false;
	if (is_growth != (call->effect == TARE_EFFECT_NEW))
		return true;
	return change > (is_growth ? call->asked : 0) + OTHERS_BYTES;
}

static void weigh_after(struct tare_call *call)
{
	bool by_cuda = call->flags & TARE_EVENT_BY_CUDA, is_asked;

	if (call->is_weighed || (call->flags & TARE_EVENT_UNWEIGHED))
		tare_weigh_driver_took(call->end - call->begin);
	if (tare_weigh_is_short(call->end - call->begin))
		call->flags &= ~(uint32_t)TARE_EVENT_UNWEIGHED;
	if (!call->is_weighed)
		return;
	if (call->rss_before.is_read && !tare_weigh_is_short(call->end - call->begin))
		tare_rss_read(&call->rss_after);
	call->after = call->before;
	if (!tare_weigh_is_short(call->end - call->begin)) {
		call->after = tare_devices_used(call->device, &by_cuda);
		call->reading_after = tare_clock_ticks() - call->end;
	}
	/* Two readings on different scales are no difference. */
	if (call->after == TARE_NOT_KNOWN || by_cuda != !!(call->flags & TARE_EVENT_BY_CUDA)) {
		call->before = call->after = TARE_NOT_KNOWN;
		return;
	}
	call->flags |= TARE_EVENT_WEIGHED;
	tare_weigh_saw(call->device, call->after);
	is_asked = need_of(call) >= TARE_WEIGH_NEEDED || is_of_others(call);
	if (is_of_others(call) && call->peers_before == TARE_NOT_KNOWN && tare_weigh_allowed(TARE_WEIGH_SPARE))
		call->peers_before = __atomic_load_n(&last_others[call->device], __ATOMIC_RELAXED);
	if (call->peers_before == TARE_NOT_KNOWN)
		return;
	call->peers_after = call->peers_before;
	if (call->after != call->before && is_asked) {
		uint64_t after = call->after, since;

		call->peers_after = read_peers(call, &call->after, &since);
		if (call->after != after)
			call->reading_after = tare_clock_ticks() - call->end;
		tare_weigh_saw(call->device, call->after);
	}
	if (call->peers_after != TARE_NOT_KNOWN)
		call->flags |= TARE_EVENT_PEERS;
}

static void note_sync_class(enum tare_class class)
{
	if (class == TARE_CLASS_POOL)
		tare_sync_class = TARE_CLASS_POOL;
	else if (class == TARE_CLASS_MANAGED && tare_sync_class == TARE_CLASS_NONE)
		tare_sync_class = TARE_CLASS_MANAGED;
}

/*
 * While recording is paused, what the log knows may end, and must not stay in the books: ends are
 * recorded, of objects that came while there was a log. Everything else only shows in the counter.
 */
static bool is_recorded(enum tare_control_command command, enum tare_class class, enum tare_effect effect)
{
	if (likely(command == TARE_COMMAND_RECORD))
		return true;
	note_sync_class(class);
	return command == TARE_COMMAND_PAUSE && effect == TARE_EFFECT_DEL && tare_ring_is_own();
}

static bool begin(struct tare_call *call, enum tare_api api, enum tare_class class, enum tare_effect effect)
{
	enum tare_control_command command;

	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop)
		return false;
	tare_fork_check();
	if (tare_is_vfork_child())
		return false;
	command = tare_ring_command();
	if (!is_recorded(command, class, effect))
		return false;
	if (unlikely(tare_config.disabled_hook) && strcmp(tare_config.disabled_hook, tare_api_rows[api].symbol) == 0)
		return false;
	tare_thread.depth++;
	memset(call, 0, sizeof(*call));
	call->saved_errno = errno;
	call->api = api;
	call->class = class;
	call->effect = effect;
	call->device = -1;
	tare_phase_log_opens();
	call->is_light = command != TARE_COMMAND_RECORD;
	tare_devices_start();
	return true;
}

static bool begin_weighed(struct tare_call *call)
{
	uint64_t since;

	tare_pools_look(NULL, false); /* or what they gave back would be nobody's */
	since = tare_clock_ticks();
	weigh_before(call, &since);
	errno = call->saved_errno;
	call->begin = tare_clock_ticks();
	call->reading_before = call->begin - since;
	return true;
}

static bool begin_here(struct tare_call *call, enum tare_api api, enum tare_class class, enum tare_effect effect)
{
	CUcontext context;

	if (!begin(call, api, class, effect))
		return false;
	context = tare_context_current();
	call->context = (uint64_t)(uintptr_t)context;
	call->device = tare_context_device(context);
	return true;
}

bool tare_call_begin(struct tare_call *call, enum tare_api api, enum tare_class class, enum tare_effect effect)
{
	return begin_here(call, api, class, effect) && begin_weighed(call);
}

bool tare_call_begin_unweighed(struct tare_call *call, enum tare_api api, enum tare_class class,
                               enum tare_effect effect)
{
	if (!begin_here(call, api, class, effect))
		return false;
	call->before = call->after = call->peers_before = call->peers_after = TARE_NOT_KNOWN;
	errno = call->saved_errno;
	call->begin = tare_clock_ticks();
	return true;
}

void tare_call_weigh(struct tare_call *call, enum tare_class class, enum tare_effect effect)
{
	call->class = class;
	call->effect = effect;
	begin_weighed(call);
}

void tare_call_read_peers(struct tare_call *call)
{
	uint64_t since = call->begin - call->reading_before;

	if (!call->is_weighed || call->peers_before != TARE_NOT_KNOWN)
		return;
	call->peers_before = read_peers(call, &call->before, &since);
	call->begin = tare_clock_ticks();
	call->reading_before = call->begin - since;
}

void tare_call_drop(struct tare_call *call)
{
	tare_pools_ended(call->end);
	errno = call->saved_errno;
	tare_thread.depth--;
}

bool tare_call_begin_on(struct tare_call *call, enum tare_api api, enum tare_class class, enum tare_effect effect,
                        CUdevice device)
{
	if (!begin(call, api, class, effect))
		return false;
	call->device = device;
	return begin_weighed(call);
}

/* Local memory of the function just launched, by a query that the launch has made cheap. */
static void describe_function(struct tare_call *call, uint32_t *name)
{
	const void *handle = (const void *)(uintptr_t)(call->handle ? call->handle : call->parent);
	const void *owner;
	enum tare_function_kind kind = tare_function_find(handle, name, &owner);
	int local = 0;

	if (kind == TARE_FUNCTION_KERNEL && tare_real.cuKernelGetAttribute)
		tare_real.cuKernelGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, (CUkernel)handle, call->device);
	else if (kind == TARE_FUNCTION_FUNCTION && tare_real.cuFuncGetAttribute)
		tare_real.cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, (CUfunction)handle);
	if (local > 0)
		call->local = (uint64_t)local;
}

/* Memory of the device, which a library may say more of. */
static bool is_taken(const struct tare_call *call)
{
	return call->effect == TARE_EFFECT_NEW && (call->class == TARE_CLASS_DEVICE || call->class == TARE_CLASS_VMM);
}

static uint32_t name_of(struct tare_call *call, CUresult result)
{
	const void *owner, *function;
	uint32_t name = 0;

	char part[TARE_COMM_NAME_MAX];

	if (call->name)
		name = tare_emit_string(call->name);
	else if (is_taken(call) && tare_comm_name(part, sizeof(part)))
		name = tare_emit_string(part);
	if (result != CUDA_SUCCESS)
		return name;
	if (call->class == TARE_CLASS_FUNCTION && call->effect == TARE_EFFECT_NEW) {
		tare_function_add((const void *)(uintptr_t)call->handle,
		                  call->api == CU_API_cuLibraryGetKernel ? TARE_FUNCTION_KERNEL : TARE_FUNCTION_FUNCTION, name,
		                  (const void *)(uintptr_t)call->parent);
	} else if (call->class == TARE_CLASS_LAUNCH) {
		describe_function(call, &name);
	} else if (call->class == TARE_CLASS_CODE) {
		function = (const void *)(uintptr_t)(call->parent ? call->parent : call->handle);
		tare_function_find(function, &name, &owner);
		if (call->api == CU_API_cuKernelGetFunction)
			tare_function_add((const void *)(uintptr_t)call->handle, TARE_FUNCTION_FUNCTION, name, owner);
	}
	return name;
}

void tare_call_is_sync(struct tare_call *call)
{
	call->class = tare_sync_class;
	call->is_quiet = true;
}

/* Managed memory costs something at the first launch after it was made, of whatever function. */
static void remember(const struct tare_call *call)
{
	bool is_managed = call->class == TARE_CLASS_MANAGED;

	if (call->effect == TARE_EFFECT_NEW && (call->class == TARE_CLASS_VMM || call->class == TARE_CLASS_VMM_MAP))
		tare_handle_add(call->handle, call->device);
	if (call->effect == TARE_EFFECT_NEW && (call->class == TARE_CLASS_DEVICE || call->class == TARE_CLASS_VMM_MAP))
		tare_torch_stream_matters();
	if (is_managed && call->effect == TARE_EFFECT_NEW)
		tare_first_rearm();
	if (!is_managed || call->effect == TARE_EFFECT_NEW)
		note_sync_class(call->class);
}

static uint16_t in_steps(uint64_t ticks)
{
	uint64_t steps = ticks / TARE_READING_STEP + 1, long_steps = ticks / TARE_LONG_READING_STEP + 1;

	if (steps < TARE_LONG_READING)
		return ticks ? (uint16_t)steps : 0;
	return (uint16_t)(TARE_LONG_READING | (long_steps < TARE_LONG_READING ? long_steps : TARE_LONG_READING - 1));
}

void tare_call_emit(struct tare_call *call, CUresult result)
{
	struct tare_rec_graph graph;
	struct tare_rec_event event;
	uint64_t stamp;

	remember(call);
	memset(&event, 0, sizeof(event));
	event.tid = tare_sys_gettid() | (call->is_inside ? TARE_TID_INSIDE : 0);
	event.api = tare_emit_string(call->symbol ? call->symbol : tare_api_rows[call->api].symbol);
	event.name = name_of(call, result);
	if (!call->is_light && (tare_config.stacks & TARE_STACKS_NATIVE))
		event.stack = tare_emit_stack();
	if (!call->is_light)
		event.python = tare_python_stack();
	event.effect = (uint8_t)call->effect;
	event.class = (uint8_t)call->class;
	event.device = (int16_t)call->device;
	event.flags = (uint16_t)(call->flags | (result != CUDA_SUCCESS ? TARE_EVENT_FAILED : 0));
	event.result = (uint16_t)result;
	event.ticks = call->end - call->begin;
	event.context = call->context;
	event.handle = call->handle;
	event.parent = call->parent;
	event.asked = call->asked;
	event.granted = call->granted;
	event.before = call->before;
	event.after = call->after;
	event.peers_before = call->peers_before;
	event.peers_after = call->peers_after;
	event.local = call->local;
	event.limit = call->limit;
	if (call->flags & TARE_EVENT_WEIGHED) {
		event.reading_before = in_steps(call->reading_before);
		event.reading_after = in_steps(call->reading_after);
	}
	event.missing = call->missing;
	/* An address is free for others the moment the call that frees it begins. */
	stamp = call->effect == TARE_EFFECT_DEL ? call->begin : call->end;
	if ((call->class == TARE_CLASS_GRAPH || call->class == TARE_CLASS_GRAPHMEM) &&
	    tare_graph_describe(call, result, &graph))
		tare_emit_graph(&graph, stamp);
	tare_emit_event(&event, stamp);
	tare_rss_record(&call->rss_before, &call->rss_after, event.api, event.python, event.stack, stamp);
}

void tare_call_end(struct tare_call *call, CUresult result)
{
	tare_call_end_at(call, result, tare_clock_ticks());
}

void tare_call_end_at(struct tare_call *call, CUresult result, uint64_t end)
{
	call->end = end;
	call->saved_errno = errno;
	tare_pools_look(call, true);
	if (call->class == TARE_CLASS_DEVICE && call->effect == TARE_EFFECT_NEW)
		tare_async_given(call);
	weigh_after(call);
	if (unlikely(result == CUDA_ERROR_OUT_OF_MEMORY) && tare_limit_take_refusal(&call->asked, &call->missing)) {
		call->flags |= TARE_EVENT_REFUSED;
		call->is_quiet = false;
	}
	if (!call->is_quiet || call->changed_before || call->before != call->after)
		tare_call_emit(call, result);
	tare_call_drop(call);
}
