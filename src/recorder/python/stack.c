/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From frames to ids in the log. Most stacks were seen before, so a table says what (code object, place
 * in it) is called in the log. But a code object can die and another be made at its address, often with
 * its name and strings at the same addresses as well; so every hit compares the contents too.
 */
#include "recorder/python/stack.h"

#include <pthread.h>

#include "recorder/emit.h"
#include "recorder/python/code.h"
#include "recorder/python/interpreter.h"
#include "recorder/python/walk.h"
#include "recorder/recorder.h"
#include "recorder/ring.h"

#define SLOTS 8192u /* a power of two, 64 bytes each, touched as needed */
#define PROBES 4u
#define MULTIPLIER 0x9e3779b97f4a7c15u

/* `turn` is odd while a thread writes; a reader whose turn was interrupted has found nothing. */
struct slot {
	uint64_t code;
	uint64_t content;
	int32_t at;
	uint32_t turn;
	uint32_t id, epoch;
};
static struct slot slots[SLOTS];

/* The longest a name in the log can be is shorter than this. */
enum { NAME_BYTES = 1024 };

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * MULTIPLIER;
	return hash ^ hash >> 29;
}

static uint64_t word_at(const uint8_t *from)
{
	uint64_t word;

	__builtin_memcpy(&word, from, sizeof(word)); /* a load; memcpy would be a call (-fno-builtin) */
	return word;
}

static uint64_t up_to_seven_at(const uint8_t *from, size_t bytes)
{
	uint32_t low, high;

	if (bytes < 4)
		return bytes ? (uint64_t)from[0] | (uint64_t)from[bytes / 2] << 8 | (uint64_t)from[bytes - 1] << 16 : 0;
	__builtin_memcpy(&low, from, sizeof(low));
	__builtin_memcpy(&high, from + bytes - 4, sizeof(high));
	return (uint64_t)low << 32 | high;
}

/* Products do not wait for each other, so this takes little longer than its loads. */
static uint64_t product(uint64_t word, unsigned int place)
{
	static const uint64_t odd[8] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
					0xd6e8feb86659fd93u, 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
					0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u};

	word ^= word >> 32;
	return word * odd[place];
}

/*
 * Everything of up to 64 bytes; of more, eight words from end to end and the size. What is compared is
 * old and new content of the same address, size and code name.
 */
static uint64_t sample(uintptr_t at, size_t bytes)
{
	const uint8_t *from = (const uint8_t *)at;
	uint64_t hash = bytes * MULTIPLIER;
	unsigned int i, words = 7;
	size_t step = 8;

	if (bytes < 8)
		return hash + product(up_to_seven_at(from, bytes), 0);
	if (bytes > 64)
		step = (bytes - 8) / 7;
	else
		words = (unsigned int)(bytes - 1) / 8;
	for (i = 0; i < words; i++)
		hash += product(word_at(from + i * step), i);
	return hash + product(word_at(from + bytes - 8), 7);
}

static uint64_t content_of_text(const struct tare_python_layout *l, uintptr_t text)
{
	unsigned int width;
	uintptr_t at;
	size_t bytes;

	return tare_python_characters(l, text, &at, &bytes, &width, TARE_PYTHON_TRUST) ? sample(at, bytes) : 0;
}

/* Neighbours in a stack often share their file. */
struct file_seen {
	uintptr_t file;
	uint64_t content;
};

/* What tells a code object from any other that was or will be at its address. */
static uint64_t content_of(const struct tare_python *p, uintptr_t address, const struct tare_python_code *code,
			   struct file_seen *seen)
{
	const struct tare_python_layout *l = &p->layout;
	uint64_t table_bytes = 0;
	int version = 0;

	if (p->has_versions)
		tare_python_load_int(address + l->version, &version, TARE_PYTHON_TRUST);
	if (version)
		return product(code->name, 0) + product(code->file, 1) + product(code->table, 2) +
		       product((uint64_t)(unsigned int)version << 32 | (unsigned int)code->first, 3);
	if (seen->file != code->file) {
		seen->file = code->file;
		seen->content = content_of_text(l, code->file);
	}
	tare_python_load(code->table + TARE_PYTHON_SIZE, &table_bytes, TARE_PYTHON_TRUST);
	return mix(mix(seen->content, content_of_text(l, code->name) + (unsigned int)code->first),
		   sample(code->table + TARE_PYTHON_BYTES, table_bytes));
}

static struct slot *slot_of(const struct tare_python_frame *frame, uint32_t probe)
{
	uint64_t hash = (frame->code >> 4 ^ (uint64_t)(unsigned int)frame->at << 40) * MULTIPLIER;

	return &slots[((hash >> 40) + probe) & (SLOTS - 1)];
}

static uint32_t find(const struct tare_python_frame *frame, uint64_t content, uint32_t epoch)
{
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		const struct slot *s = slot_of(frame, i);
		uint32_t turn = __atomic_load_n(&s->turn, __ATOMIC_ACQUIRE);
		uint32_t id = s->id;

		if (s->code != frame->code || s->at != frame->at || s->content != content || s->epoch != epoch)
			continue;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(turn & 1) && __atomic_load_n(&s->turn, __ATOMIC_RELAXED) == turn)
			return id;
	}
	return 0;
}

/* Into a slot that is free or out of date, else over the first. */
static void keep(const struct tare_python_frame *frame, uint64_t content, uint32_t epoch, uint32_t id)
{
	struct slot *s = slot_of(frame, 0);
	uint32_t turn, i;

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
	s->content = content;
	s->at = frame->at;
	s->id = id;
	s->epoch = epoch;
	__atomic_store_n(&s->turn, turn + 2, __ATOMIC_RELEASE);
}

__attribute__((noinline)) static uint32_t write_line(const struct tare_python_layout *l,
						     const struct tare_python_frame *frame,
						     const struct tare_python_code *code, uint64_t content)
{
	char text[NAME_BYTES];
	uint32_t file, function, id;

	if (!tare_python_text(l, code->file, text, sizeof(text), TARE_PYTHON_TRUST))
		text[0] = '\0';
	file = tare_emit_string(text);
	if (!tare_python_text(l, code->name, text, sizeof(text), TARE_PYTHON_TRUST))
		text[0] = '\0';
	function = tare_emit_string(text);
	id = tare_emit_line(file, function,
			    (uint32_t)tare_python_code_line(l, code, frame->at, TARE_PYTHON_TRUST));
	if (id)
		keep(frame, content, tare_ring_epoch(), id);
	return id;
}

/*
 * Up to 3.11 Python names the first thread state that a thread ever had, which is of another interpreter
 * while it runs a sub-interpreter. The state that has the GIL is this thread's too if it says so; it may
 * be another thread's that ends right now, so the kernel is asked. (A thread that has released the GIL
 * inside a sub-interpreter is seen where it went in.)
 */
static uintptr_t state_with_gil(const struct tare_python *p, uintptr_t own)
{
	uintptr_t holder = (uintptr_t)p->holder();
	uint64_t thread;

	if (holder && holder != own && p->next_interpreter(p->first_interpreter()) &&
	    tare_python_load(holder + p->layout.thread, &thread, TARE_PYTHON_ASK) &&
	    thread == (uint64_t)pthread_self())
		return holder;
	return own;
}

/* Thread states go while Python ends, also those of threads that are in C code. */
static uintptr_t state_of(const struct tare_python *p)
{
	uintptr_t own = (uintptr_t)p->own_state();

	if (!own || (p->is_finalizing ? p->is_finalizing() != 0 : *p->finalizing != NULL))
		return 0;
	return p->layout.thread == TARE_PYTHON_NONE ? own : state_with_gil(p, own);
}

uint32_t tare_python_stack(void)
{
	const struct tare_python *p;
	struct tare_python_frame frames[TARE_PYTHON_FRAMES];
	uint64_t ids[TARE_PYTHON_FRAMES];
	struct file_seen seen = {0, 0};
	uint32_t epoch = tare_ring_epoch();
	uintptr_t state;
	int n, i;

	if (!(tare_config.stacks & TARE_STACKS_PYTHON))
		return 0;
	p = tare_python_interpreter();
	state = p ? state_of(p) : 0;
	if (!state)
		return 0;
	n = tare_python_walk(&p->layout, state, p->code_type, frames, TARE_PYTHON_FRAMES, TARE_PYTHON_TRUST);
	for (i = 0; i < n; i++) {
		struct tare_python_code code;
		uint64_t content;

		if (!tare_python_code_load(&p->layout, frames[i].code, &code, TARE_PYTHON_TRUST))
			return 0;
		content = content_of(p, frames[i].code, &code, &seen);
		ids[i] = find(&frames[i], content, epoch);
		if (unlikely(!ids[i]))
			ids[i] = write_line(&p->layout, &frames[i], &code, content);
		if (!ids[i])
			return 0; /* nothing can be written */
	}
	return n > 0 ? tare_emit_line_stack(ids, (uint32_t)n) : 0;
}
