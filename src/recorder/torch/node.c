/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch numbers nodes as it makes them, by a function that it calls through the PLT, on the thread whose call of a
 * module is going on. A node keeps its number and that of its thread, at places that have been the same since 1.9;
 * a number that nobody was given there is not known, so an older or later PyTorch is not misread.
 */
#include "recorder/torch/node.h"

#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/real.h"

/* Mangled: at::sequence_number::get_and_increment() and at::RecordFunction::currentThreadId(). */
#define NUMBER _ZN2at15sequence_number17get_and_incrementEv
#define THREAD _ZN2at14RecordFunction15currentThreadIdEv

typedef uint64_t number_fn(void);

number_fn NUMBER;

/* Of a node: a virtual table and a weak pointer come first. A node that adds to a gradient has no number. */
enum { NODE_NUMBER = 24, NODE_THREAD = 48 };
#define NO_NUMBER UINT64_MAX

/* As many as these are known, by the newest. `turn` is odd while a thread writes. Two of them are a cache line. */
#define SLOTS 32768u
static struct slot {
	uint64_t key;
	struct tare_module_seen module;
	uint32_t epoch, turn;
} __attribute__((aligned(32))) slots[SLOTS];
_Static_assert(sizeof(struct slot) == 32, "half a cache line");

static TARE_TLS struct tare_node_now now;

/* PyTorch asked for a number, so its nodes are as they are described here. */
static bool has_numbers TARE_HOT_DATA;

static uint64_t key_of(uint64_t number, uint64_t thread)
{
	return number + 1 + (thread << 40);
}

static struct slot *slot_of(uint64_t key)
{
	return &slots[(key + (key >> 40) * 0x9e3779b1u) & (SLOTS - 1)];
}

static void keep(uint64_t key, struct tare_module_seen module)
{
	struct slot *s = slot_of(key);
	uint32_t turn = __atomic_load_n(&s->turn, __ATOMIC_RELAXED);

	if ((turn & 1) ||
	    !__atomic_compare_exchange_n(&s->turn, &turn, turn + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	s->key = key;
	s->module = module;
	s->epoch = tare_ring_epoch();
	__atomic_store_n(&s->turn, turn + 2, __ATOMIC_RELEASE);
}

static struct tare_module_seen find(uint64_t key)
{
	const struct tare_module_seen none = { 0, 0, 0 };
	const struct slot *s = slot_of(key);
	uint32_t turn = __atomic_load_n(&s->turn, __ATOMIC_ACQUIRE);
	struct tare_module_seen module = s->module;

	if ((turn & 1) || s->key != key || s->epoch != tare_ring_epoch())
		return none;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&s->turn, __ATOMIC_RELAXED) == turn ? module : none;
}

static bool is_wanted(void)
{
	return tare_thread.depth == 0 && tare_config.enabled && !tare_config.nop && !tare_config.no_tensors &&
	       tare_ring_command() == TARE_COMMAND_RECORD;
}

/* PyTorch's number of the calling thread, which stays the same. */
static uint64_t thread_number(void)
{
	static struct tare_torch_real torch TARE_HOT_DATA = { .name = TARE_TORCH_NAME(THREAD) };
	static TARE_TLS uint64_t known;
	number_fn *ask;

	if (likely(known))
		return known;
	ask = (number_fn *)tare_torch_real(&torch);
	known = ask ? ask() : 0;
	return known;
}

TARE_HOT TARE_EXPORT uint64_t NUMBER(void)
{
	static struct tare_torch_real torch TARE_HOT_DATA = TARE_TORCH_ANYWHERE(NUMBER);
	number_fn *real = (number_fn *)tare_torch_real(&torch);
	uint64_t number, module;

	if (unlikely(!real)) /* but whoever called it was linked with it */
		return 0;
	number = real();
	if (!is_wanted())
		return number;
	tare_thread.has_node = true;
	tare_thread.depth++;
	module = tare_python_module();
	if (unlikely(!has_numbers))
		__atomic_store_n(&has_numbers, true, __ATOMIC_RELAXED);
	if (module)
		keep(key_of(number, thread_number()), tare_module_see(module));
	tare_thread.depth--;
	return number;
}

/* One that adds to a gradient goes on with what the node before has made. */
TARE_HOT struct tare_node_now tare_node_enter(const void *node)
{
	const char *at = node;
	struct tare_node_now before = now;
	uint64_t number;

	if (!__atomic_load_n(&has_numbers, __ATOMIC_RELAXED) || !is_wanted())
		return before;
	number = *(const uint64_t *)(at + NODE_NUMBER);
	if (number != NO_NUMBER)
		now.key = key_of(number, *(const uint64_t *)(at + NODE_THREAD));
	now.frame = tare_python_frame();
	return before;
}

/* The node that was the last is kept for one that adds to a gradient, if no other is being evaluated. */
TARE_HOT void tare_node_leave(struct tare_node_now before)
{
	if (tare_thread.backward > 0)
		now = before;
}

TARE_HOT struct tare_module_seen tare_node_module(uint64_t here)
{
	if (here && tare_python_frame() != now.frame)
		return tare_module_see(here);
	return find(now.key);
}
