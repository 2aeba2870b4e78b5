/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/python/ids.h"

#include "recorder/base/scratch.h"
#include "recorder/log/emit.h"
#include "recorder/python/content.h"
#include "recorder/python/deaths.h"
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
} __attribute__((aligned(64)));
static struct slot slots[SLOTS];

/* The longest a name in the log can be is shorter than this. */
enum { NAME_BYTES = 1024 };

static struct slot *slot_of(const struct tare_python_frame *frame, uint32_t probe)
{
	uint64_t hash = (frame->code >> 4 ^ (uint64_t)(unsigned int)frame->at << 40) *
			TARE_PYTHON_MULTIPLIER;

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
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return !(turn & 1) && __atomic_load_n(&s->turn, __ATOMIC_RELAXED) == turn;
	}
	return false;
}

/* Into a slot that is free or out of date, else over the first. */
static void keep(const struct tare_python_frame *frame, uint64_t content, uint64_t deaths,
		 uint32_t id)
{
	struct slot *s = slot_of(frame, 0);
	uint32_t turn, i, epoch = tare_ring_epoch();

	for (i = 0; i < PROBES; i++) {
		struct slot *other = slot_of(frame, i);

		if (other->epoch != epoch ||
		    (other->code == frame->code && other->at == frame->at)) {
			s = other;
			break;
		}
	}
	turn = __atomic_load_n(&s->turn, __ATOMIC_RELAXED);
	if ((turn & 1) || !__atomic_compare_exchange_n(&s->turn, &turn, turn + 1, false,
						       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	s->code = frame->code;
	s->content = content;
	s->deaths = deaths;
	s->at = frame->at;
	s->id = id;
	s->epoch = epoch;
	__atomic_store_n(&s->turn, turn + 2, __ATOMIC_RELEASE);
}

TARE_COLD static uint32_t write_line(const struct tare_python_layout *l,
				     const struct tare_python_frame *frame,
				     const struct tare_python_code *code)
{
	char *text = tare_scratch_take(NAME_BYTES);
	uint32_t file, function;

	if (!text)
		return 0;
	if (!tare_python_text(l, code->file, text, NAME_BYTES, TARE_PYTHON_TRUST))
		text[0] = '\0';
	file = tare_emit_path(text);
	if (!tare_python_text(l, code->name, text, NAME_BYTES, TARE_PYTHON_TRUST))
		text[0] = '\0';
	function = tare_emit_string(text);
	tare_scratch_give(text, NAME_BYTES);
	return tare_emit_line(file, function,
			      (uint32_t)tare_python_code_line(l, code, frame->at,
							      TARE_PYTHON_TRUST));
}

TARE_HOT uint32_t tare_python_id_alive(const struct tare_python_frame *frame, uint64_t deaths,
				       uint64_t *content)
{
	struct slot slot;

	if (deaths == TARE_PYTHON_DEATHS_UNKNOWN || !find(frame, &slot) || slot.deaths != deaths)
		return 0;
	*content = slot.content;
	return slot.id;
}

TARE_HOT uint32_t tare_python_id(const struct tare_python_layout *l,
				 const struct tare_python_frame *frame,
				 const struct tare_python_code *code, uint64_t content,
				 uint64_t deaths)
{
	struct slot slot;
	uint32_t id;

	if (likely(find(frame, &slot) && slot.content == content)) {
		if (unlikely(slot.deaths != deaths))
			keep(frame, content, deaths, slot.id);
		return slot.id;
	}
	id = write_line(l, frame, code);
	if (id)
		keep(frame, content, deaths, id);
	return id;
}
