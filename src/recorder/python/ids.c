/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the places in code objects that the log has names for. */
#include "recorder/python/ids.h"

#include <string.h>

#include "recorder/base/scratch.h"
#include "recorder/log/emit.h"
#include "recorder/python/content.h"
#include "recorder/python/interpreter.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"

#define SLOTS  8192u /* a power of two, 64 bytes each, touched as needed */
#define PROBES 4u

/* `turn` is odd while a thread writes; a reader whose turn was interrupted has found nothing. */
struct slot {
	uint64_t code;
	uint64_t content;
	uint64_t deaths; /* of code objects, when that was the content */
	int32_t at;
	uint32_t turn;
	uint32_t id, epoch;
	bool calls_module;
} __attribute__((aligned(64)));
static struct slot slots[SLOTS];

/* The longest a name in the log can be is shorter than this. */
enum { NAME_BYTES = 1024 };

static struct slot *slot_of(const struct tare_python_frame *frame, uint32_t probe)
{
	uint64_t hash = (frame->code >> 4 ^ (uint64_t)(unsigned int)frame->at << 40) * TARE_PYTHON_MULTIPLIER;

	return &slots[((hash >> 40) + probe) & (SLOTS - 1)];
}

/* A copy of the slot of that code at that place, whatever it contained. */
TARE_HOT static bool find(const struct tare_python_frame *frame, struct slot *out)
{
	uint32_t i, epoch = tare_ring_epoch();

	for (i = 0; i < PROBES; i++) {
		const struct slot *s = slot_of(frame, i);
		uint32_t turn = __atomic_load_n(&s->turn, __ATOMIC_ACQUIRE);

		if (s->code != frame->code || s->at != frame->at || s->epoch != epoch)
			continue;
		out->content = s->content;
		out->deaths = s->deaths;
		out->id = s->id;
		out->calls_module = s->calls_module;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return !(turn & 1) && __atomic_load_n(&s->turn, __ATOMIC_RELAXED) == turn;
	}
	return false;
}

/* Into a slot that is free or out of date, else over the first. */
static void keep(const struct tare_python_frame *frame, uint64_t deaths, const struct tare_python_known *known)
{
	struct slot *s = slot_of(frame, 0);
	uint32_t turn, i, epoch = tare_ring_epoch();

	for (i = 0; i < PROBES; i++) {
		struct slot *other = slot_of(frame, i);

		if (other->epoch != epoch || (other->code == frame->code && other->at == frame->at)) {
			s = other;
			break;
		}
	}
	turn = __atomic_load_n(&s->turn, __ATOMIC_RELAXED);
	if ((turn & 1) ||
	    !__atomic_compare_exchange_n(&s->turn, &turn, turn + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	s->code = frame->code;
	s->content = known->content;
	s->deaths = deaths;
	s->at = frame->at;
	s->id = known->id;
	s->calls_module = known->calls_module;
	s->epoch = epoch;
	__atomic_store_n(&s->turn, turn + 2, __ATOMIC_RELEASE);
}

/* Where PyTorch calls a module: Module.__call__, which is another function from 1.6 on, and a third one from 2.1 on. */
static bool is_module_call(const char *file, const char *function)
{
	static const char calls[] = "torch/nn/modules/module.py";
	size_t length = strlen(file);

	return length >= sizeof(calls) - 1 && strcmp(file + length - (sizeof(calls) - 1), calls) == 0 &&
	       (strcmp(function, "_call_impl") == 0 || strcmp(function, "_wrapped_call_impl") == 0 ||
	        strcmp(function, "__call__") == 0);
}

TARE_COLD static void write_line(const struct tare_python_layout *l, const struct tare_python_frame *frame,
                                 const struct tare_python_code *code, struct tare_python_known *known)
{
	char *text = tare_scratch_take(2 * NAME_BYTES), *name;
	uint32_t file, function;

	if (!text)
		return;
	name = text + NAME_BYTES;
	if (!tare_python_text(l, code->file, text, NAME_BYTES, TARE_PYTHON_TRUST))
		text[0] = '\0';
	file = tare_emit_path(text);
	if (!tare_python_text(l, code->name, name, NAME_BYTES, TARE_PYTHON_TRUST))
		name[0] = '\0';
	function = tare_emit_string(name);
	known->calls_module = is_module_call(text, name);
	tare_scratch_give(text, 2 * NAME_BYTES);
	known->id = tare_emit_line(file, function, (uint32_t)tare_python_code_line(l, code, frame->at, TARE_PYTHON_TRUST));
}

TARE_HOT bool tare_python_id_alive(const struct tare_python_frame *frame, uint64_t deaths,
                                   struct tare_python_known *known)
{
	struct slot slot;

	if (deaths == TARE_PYTHON_DEATHS_UNKNOWN || !find(frame, &slot) || slot.deaths != deaths)
		return false;
	known->content = slot.content;
	known->id = slot.id;
	known->calls_module = slot.calls_module;
	return true;
}

TARE_HOT void tare_python_id(const struct tare_python_layout *l, const struct tare_python_frame *frame,
                             const struct tare_python_code *code, uint64_t deaths, struct tare_python_known *known)
{
	struct slot slot;

	known->id = 0;
	known->calls_module = false;
	if (likely(find(frame, &slot) && slot.content == known->content)) {
		known->id = slot.id;
		known->calls_module = slot.calls_module;
		if (unlikely(slot.deaths != deaths))
			keep(frame, deaths, known);
		return;
	}
	write_line(l, frame, code, known);
	if (known->id)
		keep(frame, deaths, known);
}
