/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From frames to the id of their stack in the log. Every frame is looked at every time: one that is
 * where it was, at the same place of the same code object, may still be another call, from another
 * line. So the thread's last stack is compared with what is there (shared.c), and what costs is only done
 * for frames inwards of the first one that differs: they are read, their lines are looked up, and the hash
 * that a stack is known by goes on from there.
 */
#include "recorder/python/stack.h"

#include <pthread.h>

#include "recorder/elf/libc.h"
#include "recorder/log/emit.h"
#include "recorder/python/calls.h"
#include "recorder/python/content.h"
#include "recorder/python/deaths.h"
#include "recorder/python/ids.h"
#include "recorder/python/interpreter.h"
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
	return tare_python_word(tare_python_word(state + l->interpreter) + l->interpreter_id) *
	       TARE_PYTHON_MULTIPLIER;
}

/* What tells its code object from all others. */
static inline uint64_t content_of(struct job *job, uintptr_t code)
{
	const struct tare_python_layout *l = &job->p->layout;
	uint64_t number = job->p->has_versions ? tare_python_number(code, l->version, l->first) : 0;

	return likely(number >> 32) ? number ^ job->age.interpreter
				    : tare_python_content(l, code, &job->file);
}

/* One frame as it is; false: it cannot be read. */
TARE_HOT static bool read_frame(const struct job *job, uint64_t frame,
				struct tare_python_link *link, struct tare_python_seen *seen,
				bool *is_shown)
{
	const struct tare_python_layout *l = &job->p->layout;
	struct tare_python_frame place;

	link->frame = frame;
	link->at = tare_python_at(l, frame);
	seen->code = tare_python_word(frame + l->code);
	seen->number = TARE_PYTHON_NO_CODE;
	*is_shown = false;
	if (tare_python_is_internal(l, frame))
		return true;
	place.code = tare_python_code_of(seen->code);
	if (!place.code)
		return false;
	if (l->owner != TARE_PYTHON_NONE &&
	    tare_python_word(place.code + TARE_PYTHON_TYPE) != job->p->code_type)
		return true;
	place.at = tare_python_offset(l, frame, place.code);
	*is_shown = tare_python_is_shown(l, &place, job->p->code_type);
	seen->number = job->p->has_versions ? tare_python_half(place.code + l->version) : 0;
	if (!seen->number)
		seen->number = TARE_PYTHON_NO_NUMBER;
	return true;
}

/* The line of a frame that is shown; its id is 0: nothing can be written. */
TARE_HOT static void look_at_line(struct job *job, uint64_t at, uintptr_t word,
				  struct tare_python_known *known)
{
	const struct tare_python_layout *l = &job->p->layout;
	struct tare_python_frame frame = { .code = tare_python_code_of(word) };
	struct tare_python_code code;

	frame.at = tare_python_offset(l, at, frame.code);
	if (likely(tare_python_id_alive(&frame, job->age.deaths, known)))
		return;
	known->content = content_of(job, frame.code);
	tare_python_code_load(l, frame.code, &code, TARE_PYTHON_TRUST);
	tare_python_id(l, &frame, &code, job->age.deaths, known);
}

/* A stack that the log does not have: its lines are those of the links up to `top`. */
TARE_COLD static uint32_t write_stack(const struct tare_python_memo *memo, int top)
{
	uint64_t lines[TARE_PYTHON_FRAMES];
	uint32_t n = 0;
	int i;

	for (i = top; i >= 0; i--)
		if (memo->seen[i].line)
			lines[n++] = memo->seen[i].line;
	return tare_emit_line_stack(memo->seen[top].hash, lines, n);
}

/* Of the innermost call that tells. */
TARE_HOT static uint64_t module_of(const struct job *job, int count)
{
	const struct tare_python_memo *memo = job->memo;
	uint64_t module = 0;
	int at = count ? memo->seen[count - 1].call : -1;

	for (; at >= 0 && !module; at = at ? memo->seen[at - 1].call : -1)
		module = tare_python_call_module(job->p, memo->links[at].frame);
	return module;
}

/* A thread that remembers nothing. */
TARE_COLD static struct tare_python_here look_without_memo(struct job *job, uint64_t frame)
{
	struct tare_python_here here = { 0, 0 };
	struct tare_python_known known;
	uint64_t lines[TARE_PYTHON_FRAMES], hash = TARE_KIND_LINE_STACK;
	struct tare_python_link link;
	struct tare_python_seen seen;
	uint32_t n = 0, i;
	bool is_shown;

	for (; frame && n < TARE_PYTHON_FRAMES;
	     frame = tare_python_word(frame + job->p->layout.back)) {
		if (!read_frame(job, frame, &link, &seen, &is_shown))
			return here;
		if (!is_shown)
			continue;
		look_at_line(job, frame, seen.code, &known);
		if (known.calls_module && !here.module)
			here.module = tare_python_call_module(job->p, frame);
		lines[n] = known.id;
		if (!lines[n++])
			return here;
	}
	for (i = n; i-- > 0;)
		hash = tare_python_mix(hash, lines[i]);
	here.stack = n ? tare_emit_line_stack_known(hash) : 0;
	if (!here.stack && n)
		here.stack = tare_emit_line_stack(hash, lines, n);
	return here;
}

/*
 * Reads the frames from `frame` to that of the last of the `shared` links, or as many as a stack has, into the
 * end of the links, as the innermost comes first. Returns where they begin; -1: they cannot be read, or are
 * too many to be remembered. What a frame's `line` says is whether it is shown.
 */
TARE_HOT static int read_links(struct job *job, uint64_t *frame, int shared)
{
	struct tare_python_memo *memo = job->memo;
	uint64_t until = shared ? memo->links[shared - 1].frame : 0;
	uint32_t shown = 0;
	int at = TARE_PYTHON_CHAIN;
	bool is_shown;

	while (*frame && *frame != until && shown < TARE_PYTHON_FRAMES) {
		if (at == shared)
			return -1;
		at--;
		if (!read_frame(job, *frame, &memo->links[at], &memo->seen[at], &is_shown))
			return -1;
		memo->seen[at].line = is_shown;
		memo->seen[at].depth = shown += is_shown;
		*frame = tare_python_word(*frame + job->p->layout.back);
	}
	return at;
}

/* A signal handler may leave by longjmp at any point of this; then the link does not count. */
TARE_HOT static bool remember(struct job *job, int place)
{
	struct tare_python_memo *memo = job->memo;
	const struct tare_python_link *link = &memo->links[place];
	struct tare_python_seen *seen = &memo->seen[place], *outer = place ? seen - 1 : NULL;

	seen->depth = (outer ? outer->depth : 0) + seen->line;
	seen->hash = outer ? outer->hash : TARE_KIND_LINE_STACK;
	seen->stack = 0;
	seen->call = outer ? outer->call : -1;
	if (seen->line) {
		struct tare_python_known known;

		look_at_line(job, link->frame, seen->code, &known);
		seen->content = known.content;
		seen->line = known.id;
		if (unlikely(!seen->line))
			return false;
		if (known.calls_module) {
			seen->call = (int16_t)place;
			tare_python_call_learn(job->p, &job->age, tare_python_code_of(seen->code));
		}
		seen->hash = tare_python_mix(seen->hash, seen->line);
	} else if (seen->number != TARE_PYTHON_NO_CODE) {
		seen->content = content_of(job, tare_python_code_of(seen->code));
	}
	*tare_python_place(memo, link->frame) = (uint8_t)place;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	memo->count = place + 1;
	return true;
}

/* The shown frames of the innermost 128, no more and no less, are those of `shared` links and `more`. */
static bool is_whole(const struct tare_python_memo *memo, int shared, uint32_t more)
{
	uint32_t depth = memo->seen[shared - 1].depth + more;

	return memo->is_cut ? depth == TARE_PYTHON_FRAMES : depth <= TARE_PYTHON_FRAMES;
}

/*
 * Makes the memo hold the stack, of which it shares so many links. Returns how many the stack has; 0: it has
 * none or is too long; -1: nothing can be written.
 */
TARE_HOT static int follow(struct job *job, uint64_t innermost, int shared)
{
	struct tare_python_memo *memo = job->memo;
	uint64_t frame = innermost;
	int at, i;

	if (shared && frame == memo->links[shared - 1].frame && is_whole(memo, shared, 0))
		return shared;
	memo->count = shared;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	at = read_links(job, &frame, shared);
	if (at < 0)
		return 0;
	if (shared && !is_whole(memo, shared, at < TARE_PYTHON_CHAIN ? memo->seen[at].depth : 0)) {
		memo->count = shared = 0;
		frame = innermost;
		at = read_links(job, &frame, 0);
		if (at < 0)
			return 0;
	}
	if (!shared)
		memo->is_cut = frame != 0;
	for (i = shared; at < TARE_PYTHON_CHAIN; i++, at++) {
		memo->links[i] = memo->links[at];
		memo->seen[i].code = memo->seen[at].code;
		memo->seen[i].number = memo->seen[at].number;
		memo->seen[i].line = memo->seen[at].line;
		if (!remember(job, i))
			return -1;
	}
	return i;
}

/* As tare_python_shared(). Links that nothing is known of any more are forgotten. */
static int count_shared(struct job *job, uint64_t frame)
{
	struct tare_python_memo *memo = job->memo;
	bool is_alive =
		job->age.deaths != TARE_PYTHON_DEATHS_UNKNOWN && job->age.deaths == memo->deaths;
	uint32_t epoch = tare_ring_epoch();
	int shared = 0;

	if (memo->epoch == epoch && memo->interpreter == job->age.interpreter)
		shared = tare_python_shared(memo, job->p, frame, is_alive);
	if (shared && (is_alive || !job->p->counts_deaths))
		return shared;
	memo->count = shared;
	memo->epoch = epoch;
	memo->interpreter = job->age.interpreter;
	memo->deaths = job->age.deaths;
	return shared;
}

/* The stack that the links make up. */
TARE_HOT static uint32_t id_of(struct tare_python_memo *memo, int count)
{
	struct tare_python_seen *seen = &memo->seen[count - 1];

	if (likely(seen->stack || !seen->depth))
		return seen->stack;
	seen->stack = tare_emit_line_stack_known(seen->hash);
	if (unlikely(!seen->stack))
		seen->stack = write_stack(memo, count - 1);
	return seen->stack;
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

	if (!(tare_config.stacks & TARE_STACKS_PYTHON))
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

	return tare_config.stacks & TARE_STACKS_PYTHON
		       ? innermost(tare_python_interpreter(), &state)
		       : 0;
}

TARE_HOT struct tare_python_here tare_python_here(void)
{
	struct tare_python_here here = { 0, 0 };
	struct job job;
	uint64_t frame = begin(&job);
	int count;

	if (!frame)
		return here;
	count = job.memo ? follow(&job, frame, count_shared(&job, frame)) : 0;
	if (count < 0)
		return here;
	if (!count)
		return look_without_memo(&job, frame);
	here.stack = id_of(job.memo, count);
	here.module = module_of(&job, count);
	return here;
}

/* Learnt code objects are forgotten as one dies: of a stack that has not changed since, its calls are learnt again. */
TARE_COLD static void learn_again(const struct job *job, int count)
{
	const struct tare_python_memo *memo = job->memo;

	for (int at = memo->seen[count - 1].call; at >= 0; at = at ? memo->seen[at - 1].call : -1)
		tare_python_call_learn(job->p, &job->age, tare_python_code_of(memo->seen[at].code));
}

TARE_HOT uint64_t tare_python_module(void)
{
	struct job job;
	uint64_t frame = begin(&job), module;
	int count;

	if (!frame)
		return 0;
	module = tare_python_call_find(job.p, &job.age, frame);
	if (likely(module) || !job.memo)
		return module;
	count = follow(&job, frame, count_shared(&job, frame));
	if (count <= 0)
		return 0;
	learn_again(&job, count);
	return module_of(&job, count);
}

TARE_HOT uint32_t tare_python_stack(void)
{
	return tare_python_here().stack;
}
