/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the card is. What a program gives a stream is done at once (sim_work.c), but a real card is behind its
 * program, and programs act on that: PyTorch's allocator hands a block out again when an event behind its last use is
 * ready. So the last piece of work that a process gave its cards counts as not done yet. It is done once the process
 * gives them another one, waits for any of them, asks a second time, or a quarter of a second has passed; so nobody
 * asks for ever. Pieces are numbered, and all up to `done` are done. Who is behind whom is as measured
 * (tests/gpu/facts/facts_pending.c).
 */
#include "sim_record.h"
#include "sim_stream.h"

#include <time.h>

#define PIECE_NS 250000000u /* what a piece takes at most */

static uint64_t given, done; /* given: the last piece, done + 1 at most */
static uint64_t waited;      /* the last one when the program waited */
static uint64_t given_ns;
static __thread struct sim_line own; /* the default stream of a thread */

uint64_t sim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* NULL: a default stream without a context. */
static struct sim_line *line_of(CUstream stream, struct sim_context **context)
{
	struct sim_stream *made = sim_object_get(stream, SIM_STREAM);

	if (sim_stream_context(stream, context) != CUDA_SUCCESS)
		return NULL;
	if (made)
		return &made->line;
	return sim_record_is_legacy(stream) ? &(*context)->legacy : &own;
}

static void later(uint64_t *piece, uint64_t other)
{
	if (other > *piece)
		*piece = other;
}

void sim_pending_wait(CUstream stream, uint64_t piece)
{
	struct sim_context *context;
	struct sim_line *line = line_of(stream, &context);

	if (!line)
		return;
	later(&line->piece, piece);
	if (sim_stream_is_blocking(stream))
		later(&context->blocking, piece);
}

void sim_pending_give(CUstream stream)
{
	done = given++;
	given_ns = sim_now_ns();
	sim_pending_wait(stream, given);
}

void sim_pending_finish(void)
{
	done = waited = given;
}

uint64_t sim_pending_last(void)
{
	return given;
}

/* What was given to the legacy stream is none of a blocking one's, but what that is given from now on waits for it. */
uint64_t sim_pending_next(CUstream stream)
{
	struct sim_context *context;
	struct sim_line *line = line_of(stream, &context);
	uint64_t piece = line ? line->piece : 0;

	if (line && sim_stream_is_blocking(stream))
		later(&piece, line == &context->legacy ? context->blocking : context->legacy.piece);
	return piece;
}

bool sim_pending_is_done(uint64_t piece, uint64_t *told)
{
	bool is_first = *told <= waited;

	if (sim_now_ns() - given_ns > PIECE_NS)
		done = given;
	*told = piece > done && is_first ? piece : 0;
	if (piece > done)
		done = given;
	return !*told;
}

CUresult sim_body_cuStreamQuery(CUstream hStream)
{
	struct sim_context *context;
	CUresult result = sim_stream_context(hStream, &context);
	struct sim_line *line;

	if (result == CUDA_SUCCESS)
		result = sim_capture_bears_query(hStream);
	if (result != CUDA_SUCCESS)
		return result;
	line = line_of(hStream, &context);
	return sim_pending_is_done(line == &context->legacy ? context->blocking : line->piece, &line->told)
	           ? CUDA_SUCCESS
	           : CUDA_ERROR_NOT_READY;
}
