/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From frames to the id of their stack in the log. Every frame is looked at every time: one that is
 * where it was, at the same place of the same code object, may still be another call, from another
 * line. So the thread's last stack is compared with what is there (memo.c), which gives a key of all places of the
 * stack, and that is looked up (wholes.c). Lines are only looked up of a stack whose key is not known.
 */
#include "recorder/python/stack.h"

#include "recorder/base/scratch.h"
#include "recorder/elf/libc.h"
#include "recorder/log/emit.h"
#include "recorder/python/calls.h"
#include "recorder/python/content.h"
#include "recorder/python/interpreter.h"
#include "recorder/python/ids.h"
#include "recorder/python/memo.h"
#include "recorder/python/walk.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"

/* Of one stack. */
struct job {
	const struct tare_python *p;
	struct tare_python_memo *memo; /* or NULL */
	struct tare_python_age age;
	struct tare_python_file_seen file;
};

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
	    thread == (uint64_t)tare_libc()->thread_self())
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

/* Each interpreter begins to count at 1, from 3.13 on; and no two have the same id. */
static uint64_t interpreter_of(const struct tare_python_layout *l, uintptr_t state)
{
	if (l->interpreter == TARE_PYTHON_NONE)
		return 0;
	return tare_python_word(tare_python_word(state + l->interpreter) + l->interpreter_id) * TARE_PYTHON_MULTIPLIER;
}

/* What tells its code object from all others. */
static inline uint64_t content_of(struct job *job, uintptr_t code)
{
	const struct tare_python_layout *l = &job->p->layout;
	uint64_t number = job->p->has_versions ? tare_python_number(code, l->version, l->first) : 0;

	return likely(number >> 32) ? number ^ job->age.interpreter : tare_python_content(l, code, &job->file);
}

/* One frame as it is; false: it cannot be read. */
static bool read_frame(const struct job *job, uint64_t frame, struct tare_python_frame *place, bool *is_shown)
{
	const struct tare_python_layout *l = &job->p->layout;

	*is_shown = false;
	if (tare_python_is_internal(l, frame))
		return true;
	place->code = tare_python_code_of(tare_python_word(frame + l->code));
	if (!place->code)
		return false;
	if (l->owner != TARE_PYTHON_NONE && tare_python_word(place->code + TARE_PYTHON_TYPE) != job->p->code_type)
		return true;
	place->at = tare_python_offset(l, frame, place->code);
	*is_shown = tare_python_is_shown(l, place, job->p->code_type);
	return true;
}

/* The line of a frame that is shown; its id is 0: nothing can be written. */
static void look_at_line(struct job *job, const struct tare_python_frame *frame, struct tare_python_known *known)
{
	const struct tare_python_layout *l = &job->p->layout;
	struct tare_python_code code;

	if (likely(tare_python_id_alive(frame, job->age.deaths, known)))
		return;
	known->content = content_of(job, frame->code);
	tare_python_code_load(l, frame->code, &code, TARE_PYTHON_TRUST);
	tare_python_id(l, frame, &code, job->age.deaths, known);
}

static void note_call(struct tare_python_whole *whole, int from_innermost)
{
	int i = 0;

	while (i < TARE_PYTHON_WHOLE_CALLS && whole->calls[i] >= 0)
		i++;
	if (i < TARE_PYTHON_WHOLE_CALLS && from_innermost < TARE_PYTHON_CHAIN)
		whole->calls[i] = (int16_t)from_innermost;
}

/* A stack of which nothing is known: looks up the lines of all its frames, and is written if the log has it not. */
TARE_COLD static struct tare_python_here look_at_all(struct job *job, uint64_t frame, struct tare_python_whole *whole)
{
	uint64_t lines[TARE_PYTHON_FRAMES], hash = TARE_KIND_LINE_STACK;
	struct tare_python_here here = { 0, 0 };
	struct tare_python_frame place;
	struct tare_python_known known;
	uint32_t n = 0, i;
	bool is_shown;
	int looked;

	*whole = (struct tare_python_whole){ 0, { -1, -1, -1 } };
	for (looked = 0; frame && n < TARE_PYTHON_FRAMES; frame = tare_python_word(frame + job->p->layout.back), looked++) {
		if (!read_frame(job, frame, &place, &is_shown))
			return here;
		if (!is_shown)
			continue;
		look_at_line(job, &place, &known);
		lines[n] = known.id;
		if (!lines[n++])
			return here;
		if (!known.calls_module)
			continue;
		tare_python_call_learn(job->p, &job->age, place.code);
		note_call(whole, looked);
		if (!here.module)
			here.module = tare_python_call_module(job->p, frame);
	}
	for (i = n; i-- > 0;)
		hash = tare_python_mix(hash, lines[i]);
	here.stack = n ? tare_emit_line_stack_known(hash) : 0;
	if (!here.stack && n)
		here.stack = tare_emit_line_stack(hash, lines, n);
	whole->stack = here.stack;
	return here;
}

/* The frame of a call that is noted. */
static inline uint64_t frame_of(const struct job *job, int count, int16_t from_innermost)
{
	return job->memo->links[count - 1 - from_innermost].frame;
}

/* Of the innermost call that tells. */
static inline uint64_t module_of(const struct job *job, int count, const struct tare_python_whole *whole)
{
	uint64_t module = 0;
	int i;

	for (i = 0; i < TARE_PYTHON_WHOLE_CALLS && whole->calls[i] >= 0 && !module; i++)
		module = tare_python_call_module(job->p, frame_of(job, count, whole->calls[i]));
	if (unlikely(!module && i == TARE_PYTHON_WHOLE_CALLS))
		module = tare_python_call_find(job->p, &job->age, job->memo->links[count - 1].frame);
	return module;
}

/* `whole` is what is known of it, by now. */
static inline struct tare_python_here look(struct job *job, uint64_t frame, int *count, struct tare_python_whole *whole)
{
	struct tare_python_here here;

	*count = job->memo ? tare_python_follow(job->memo, job->p, &job->age, frame) : 0;
	if (likely(*count && tare_python_whole_find(job->memo->keys[*count - 1], whole))) {
		here.stack = whole->stack;
		here.module = module_of(job, *count, whole);
		return here;
	}
	here = look_at_all(job, frame, whole);
	if (*count && here.stack)
		tare_python_whole_keep(job->memo->keys[*count - 1], whole);
	return here;
}

/* The innermost frame, and the thread state that has it; 0: none can be read. */
TARE_HOT static uint64_t innermost(const struct tare_python *p, uintptr_t *state)
{
	*state = p ? state_of(p) : 0;
	return *state ? tare_python_innermost(&p->layout, *state) : 0;
}

/* The same, for what looks at the whole stack. */
TARE_HOT static uint64_t begin(struct job *job)
{
	const struct tare_python *p;
	uintptr_t state;
	uint64_t frame;

	if (!(tare_config.stacks & TARE_STACKS_PYTHON) || tare_ring_is_giving_up())
		return 0;
	p = tare_python_interpreter();
	frame = innermost(p, &state);
	if (!frame)
		return 0;
	job->p = p;
	job->age.interpreter = p->has_versions ? interpreter_of(&p->layout, state) : 0;
	job->age.deaths = p->counts_deaths ? tare_python_deaths() : TARE_PYTHON_DEATHS_UNKNOWN;
	job->file = (struct tare_python_file_seen){ 0, 0 };
	job->memo = tare_python_memo();
	return frame;
}

TARE_HOT uint64_t tare_python_frame(void)
{
	uintptr_t state;

	return tare_config.stacks & TARE_STACKS_PYTHON ? innermost(tare_python_interpreter(), &state) : 0;
}

TARE_HOT struct tare_python_here tare_python_here(void)
{
	struct tare_python_whole whole;
	struct job job;
	uint64_t frame = begin(&job);
	int count;

	return frame ? look(&job, frame, &count, &whole) : (struct tare_python_here){ 0, 0 };
}

/* Learnt code objects are forgotten as one dies, or as others take their place. */
TARE_COLD static void learn_again(const struct job *job, int count, const struct tare_python_whole *whole)
{
	for (int i = 0; i < TARE_PYTHON_WHOLE_CALLS && whole->calls[i] >= 0; i++)
		tare_python_call_learn(job->p, &job->age,
		                       tare_python_code_of(
								   tare_python_word(frame_of(job, count, whole->calls[i]) + job->p->layout.code)));
}

TARE_HOT uint64_t tare_python_module(void)
{
	struct tare_python_whole whole;
	struct job job;
	uint64_t frame = begin(&job), module;
	int count;

	if (!frame)
		return 0;
	module = tare_python_call_find(job.p, &job.age, frame);
	if (likely(module) || !job.memo)
		return module;
	module = look(&job, frame, &count, &whole).module;
	if (count)
		learn_again(&job, count, &whole);
	return module;
}

TARE_HOT uint32_t tare_python_stack(void)
{
	return tare_python_here().stack;
}

/* The frames of this thread from the innermost on, until `see` answers true. `file`: of FILE_BYTES, for the name of each. */
enum { FILE_BYTES = 1024 };
static bool see_frames(const struct job *job, uint64_t frame, char *file, bool (*see)(void *, const char *, int),
                       void *arg)
{
	const struct tare_python_layout *l = &job->p->layout;
	struct tare_python_frame place;
	struct tare_python_code code;
	bool is_shown;

	for (int n = 0; frame && n < TARE_PYTHON_FRAMES; frame = tare_python_word(frame + l->back), n++) {
		if (!read_frame(job, frame, &place, &is_shown))
			return false;
		if (is_shown && tare_python_code_load(l, place.code, &code, TARE_PYTHON_TRUST) &&
		    tare_python_text(l, code.file, file, FILE_BYTES, TARE_PYTHON_TRUST) &&
		    see(arg, file, tare_python_code_line(l, &code, place.at, TARE_PYTHON_TRUST)))
			return true;
	}
	return false;
}

TARE_COLD bool tare_python_see(bool (*see)(void *arg, const char *file, int line), void *arg)
{
	char *file = tare_scratch_take(FILE_BYTES);
	struct job job;
	uint64_t frame;
	bool is_seen;

	if (!file)
		return false;
	frame = begin(&job);
	is_seen = frame && see_frames(&job, frame, file, see, arg);
	tare_scratch_give(file, FILE_BYTES);
	return is_seen;
}
