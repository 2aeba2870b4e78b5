/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From frames to the id of their stack in the log. Every frame is looked at every time: one that is
 * where it was, at the same place of the same code object, may still be another call, from another
 * line. What costs is only done for frames inwards of the first one that differs from the thread's last
 * stack: their lines are looked up, and the hash that a stack is known by goes on from there.
 */
#include "recorder/python/stack.h"

#include <pthread.h>

#include "recorder/emit.h"
#include "recorder/python/content.h"
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
	int count;
	uint64_t interpreter; /* whose numbers code objects have */
	struct tare_python_file_seen file;
	struct tare_python_frame frames[TARE_PYTHON_FRAMES]; /* innermost first */
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

/* Each interpreter begins to count at 1, from 3.13 on; and no two have the same id. */
static uint64_t interpreter_of(const struct tare_python_layout *l, uintptr_t state)
{
	if (l->interpreter == TARE_PYTHON_NONE)
		return 0;
	return tare_python_word(tare_python_word(state + l->interpreter) + l->interpreter_id) *
	       TARE_PYTHON_MULTIPLIER;
}

/* Of the frame that so many lie outside of. */
static inline const struct tare_python_frame *frame_at(const struct job *job, int depth)
{
	return &job->frames[job->count - 1 - depth];
}

/* What tells its code object from all others. */
static inline uint64_t content_of(struct job *job, const struct tare_python_frame *frame)
{
	const struct tare_python_layout *l = &job->p->layout;
	uint64_t number =
		job->p->has_versions ? tare_python_number(frame->code, l->version, l->first) : 0;

	return likely(number >> 32) ? number ^ job->interpreter
				    : tare_python_content(l, frame->code, &job->file);
}

/* How many frames, from the outermost, are as they were; of the first `depth` it is known. */
static inline int count_unchanged(struct job *job, int depth)
{
	const struct tare_python_memo *memo = job->memo;
	const struct tare_python_seen *seen = &memo->seen[depth];
	const struct tare_python_frame *frame = frame_at(job, depth);
	const struct tare_python_layout l = job->p->layout;
	struct tare_python_file_seen file = { 0, 0 };
	uint64_t interpreter = job->interpreter;
	int most = memo->count < job->count ? memo->count : job->count;

	if (job->p->has_versions)
		for (; depth < most; depth++, seen++, frame--) {
			if (seen->code != frame->code || seen->at != frame->at ||
			    seen->content != (tare_python_number(frame->code, l.version, l.first) ^
					      interpreter))
				break;
		}
	else
		for (; depth < most; depth++, seen++, frame--) {
			if (seen->code != frame->code || seen->at != frame->at ||
			    seen->content != tare_python_content(&l, frame->code, &file))
				break;
		}
	return depth;
}

/* Inwards of `depth`. What the last stack had was shown. */
static bool leave_out_others(struct job *job, int depth)
{
	int most = job->count - depth, count = 0, i;

	for (i = 0; i < most; i++)
		if (tare_python_is_shown(&job->p->layout, &job->frames[i], job->p->code_type))
			job->frames[count++] = job->frames[i];
	if (count == most)
		return false;
	for (i = most; i < job->count; i++)
		job->frames[count++] = job->frames[i];
	job->count = count;
	return true;
}

static uint32_t line_of(struct job *job, int depth, uint64_t *content)
{
	const struct tare_python_frame *frame = frame_at(job, depth);
	struct tare_python_code code;

	*content = content_of(job, frame);
	tare_python_code_load(&job->p->layout, frame->code, &code, TARE_PYTHON_TRUST);
	return tare_python_id(&job->p->layout, frame, &code, *content);
}

/* A signal handler may leave by longjmp at any point of this; then the entry does not count. */
static void remember(struct job *job, int depth, uint64_t content, uint32_t line, uint64_t hash)
{
	const struct tare_python_frame *frame = frame_at(job, depth);
	struct tare_python_memo *memo = job->memo;

	memo->seen[depth] = (struct tare_python_seen){
		.code = frame->code, .content = content, .hash = hash, .at = frame->at, .line = line
	};
	__atomic_signal_fence(__ATOMIC_RELEASE);
	memo->count = depth + 1;
}

/* A stack that the log does not have. */
__attribute__((noinline)) static uint32_t write_stack(struct job *job, uint64_t hash)
{
	uint64_t lines[TARE_PYTHON_FRAMES], content;
	int depth;

	for (depth = 0; depth < job->count; depth++) {
		uint64_t line =
			job->memo ? job->memo->seen[depth].line : line_of(job, depth, &content);

		if (!line)
			return 0;
		lines[job->count - 1 - depth] = line;
	}
	return tare_emit_line_stack(hash, lines, (uint32_t)job->count);
}

static uint32_t id_of(struct job *job)
{
	struct tare_python_memo *memo = job->memo;
	uint32_t epoch = tare_ring_epoch(), id;
	uint64_t hash = TARE_KIND_LINE_STACK;
	int depth = 0;

	if (memo && memo->epoch == epoch)
		depth = count_unchanged(job, 0);
	if (depth < job->count && leave_out_others(job, depth) && memo && memo->epoch == epoch)
		depth = count_unchanged(job, depth);
	if (job->count == 0)
		return 0;
	if (depth == job->count && memo->seen[depth - 1].stack)
		return memo->seen[depth - 1].stack;
	if (depth > 0)
		hash = memo->seen[depth - 1].hash;
	if (memo && depth < job->count) {
		memo->count = depth;
		memo->epoch = epoch;
		__atomic_signal_fence(__ATOMIC_RELEASE);
	}
	for (; depth < job->count; depth++) {
		uint64_t content;
		uint32_t line = line_of(job, depth, &content);

		if (unlikely(!line))
			return 0; /* nothing can be written */
		hash = tare_python_mix(hash, line);
		if (memo)
			remember(job, depth, content, line, hash);
	}
	id = tare_emit_line_stack_known(hash);
	if (unlikely(!id))
		id = write_stack(job, hash);
	if (memo)
		memo->seen[job->count - 1].stack = id;
	return id;
}

uint32_t tare_python_stack(void)
{
	const struct tare_python *p;
	uintptr_t state;
	struct job job;

	if (!(tare_config.stacks & TARE_STACKS_PYTHON))
		return 0;
	p = tare_python_interpreter();
	state = p ? state_of(p) : 0;
	if (!state)
		return 0;
	job.count = tare_python_walk_checked(&p->layout, state, job.frames, TARE_PYTHON_FRAMES);
	if (job.count <= 0)
		return 0;
	job.p = p;
	job.interpreter = p->has_versions ? interpreter_of(&p->layout, state) : 0;
	job.file = (struct tare_python_file_seen){ 0, 0 };
	job.memo = tare_python_memo();
	return id_of(&job);
}
