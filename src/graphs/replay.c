/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches keys in an order in which none overwrites what another still needs, and says whether the output of a key is
 * still valid.
 */
#include "graphs/graphs.h"

#include "graphs/error.h"

/* ---- finding ---- */
/* The number of captures with a smaller key. */
static size_t position(const struct tare_graphs *graphs, uint64_t key)
{
	size_t low = 0, high = graphs->captures_nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graphs->captures[middle]->key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct tare_capture *tare_capture_find(const struct tare_graphs *graphs, uint64_t key)
{
	size_t at = position(graphs, key);

	return at < graphs->captures_nr && graphs->captures[at]->key == key ? graphs->captures[at] : NULL;
}

struct tare_capture *tare_capture_by_id(const struct tare_graphs *graphs, uint64_t id)
{
	size_t i;

	for (i = 0; i < graphs->captures_nr; i++)
		if (graphs->captures[i]->id == id)
			return graphs->captures[i];
	return NULL;
}

static bool is_in_a_region(const struct tare_gpu_arena *arena, CUdeviceptr address)
{
	size_t i;

	for (i = 0; i < arena->regions_nr; i++)
		if (address - arena->regions[i].start < arena->regions[i].bytes)
			return true;
	return false;
}

struct tare_capture *tare_capture_at(const struct tare_graphs *graphs, CUdeviceptr address)
{
	size_t i;

	if (!is_in_a_region(&graphs->arena, address))
		return NULL;
	for (i = 0; i < graphs->captures_nr; i++)
		if (address - graphs->captures[i]->mapping->base < graphs->captures[i]->mapping->mapped)
			return graphs->captures[i];
	return NULL;
}

/* ---- order ---- */
/* A number of the stream; 0: which stream it is cannot be known. */
static uint64_t identify(CUstream stream)
{
	unsigned long long id;

	if (tare_cu.cuStreamGetId && tare_cu.cuStreamGetId(stream, &id) == CUDA_SUCCESS)
		return id + 1;
	return (uintptr_t)stream > 2 ? (uintptr_t)stream : 0; /* 0, 1, 2: a stream per context or thread */
}

static int refuse(struct tare_graphs *graphs)
{
	CUresult result = tare_cu.cuEventQuery(graphs->done);

	if (result == CUDA_SUCCESS)
		return 0;
	if (result != CUDA_ERROR_NOT_READY)
		return tare_graphs_cuda(result, "launch: cuEventQuery");
	graphs->stats.refusals++;
	return tare_graphs_fail(TARE_GRAPHS_BUSY, "launch: another stream still replays in this arena; wait for it, "
	                                          "or use an arena per stream");
}

int tare_replay_order(struct tare_graphs *graphs, CUstream stream)
{
	uint64_t id = identify(stream);
	int rc;

	if (graphs->is_unordered) { /* a replay ran that no event covers */
		rc = tare_graphs_cuda(tare_cu.cuCtxSynchronize(), "launch: cuCtxSynchronize");
		graphs->is_unordered = rc != 0;
		return rc;
	}
	if (!graphs->has_run || (id && id == graphs->stream_id))
		return 0;
	if (graphs->flags & TARE_GRAPHS_REFUSE_OVERLAP)
		return refuse(graphs);
	rc = tare_graphs_cuda(tare_cu.cuStreamWaitEvent(stream, graphs->done, 0), "launch: cuStreamWaitEvent");
	if (!rc)
		graphs->stats.waits++;
	return rc;
}

void tare_replay_claim(struct tare_graphs *graphs, const struct tare_gpu_mapping *mapping, uint64_t id)
{
	size_t i;

	for (i = 0; i < mapping->chunks_nr; i++)
		graphs->arena.chunks[mapping->chunks[i]].writer = id;
}

int tare_replay_record(struct tare_graphs *graphs, CUstream stream, const struct tare_gpu_mapping *mapping, uint64_t id)
{
	int rc;

	tare_replay_claim(graphs, mapping, id);
	graphs->stream_id = identify(stream);
	rc = tare_graphs_cuda(tare_cu.cuEventRecord(graphs->done, stream), "launch: cuEventRecord");
	graphs->has_run = true;
	graphs->is_unordered = rc != 0;
	return rc;
}

void tare_replay_wait(struct tare_graphs *graphs)
{
	if (graphs->is_unordered)
		tare_cu.cuCtxSynchronize();
	else if (graphs->has_run)
		tare_cu.cuEventSynchronize(graphs->done);
	graphs->is_unordered = false;
	graphs->has_run = false;
}

/* ---- what still holds ---- */
static int is_anothers(size_t chunk, void *arg)
{
	const struct tare_capture *capture = arg;

	return capture->mapping->arena->chunks[chunk].writer != capture->id;
}

static bool is_intact(const struct tare_capture *capture)
{
	return !tare_capture_each_kept(capture, is_anothers, (void *)capture);
}

/* Does memory that the graph reads still hold what the other capture wrote? */
static int check_reads(struct tare_graphs *graphs, const struct tare_capture *capture)
{
	size_t i;

	for (i = 0; i < capture->reads_nr; i++) {
		const struct tare_capture *other = tare_capture_by_id(graphs, capture->reads[i]);

		if (other && is_intact(other))
			continue;
		graphs->stats.refusals++;
		if (!other)
			return tare_graphs_fail(TARE_GRAPHS_STALE,
			                        "key %llu reads memory of a key that was dropped or captured "
			                        "again; capture it again too",
			                        (unsigned long long)capture->key);
		return tare_graphs_fail(TARE_GRAPHS_STALE,
		                        "key %llu reads what key %llu wrote, and that was not replayed or has "
		                        "been overwritten since; launch %llu first",
		                        (unsigned long long)capture->key, (unsigned long long)other->key,
		                        (unsigned long long)other->key);
	}
	return 0;
}

int tare_graphs_check(struct tare_graphs *graphs, tare_graphs_address address)
{
	const struct tare_arena_chunk *chunk;
	const struct tare_capture *capture;
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	if (graphs->shared)
		return tare_leave(&enter,
		                  tare_graphs_fail(TARE_GRAPHS_UNSUPPORTED, "with TARE_GRAPHS_ONE_RANGE an address does not "
		                                                            "say whose it is; keep track of launches"));
	capture = tare_capture_at(graphs, address);
	if (!capture)
		return tare_leave(&enter, tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "0x%llx is in no capture of this arena",
		                                           (unsigned long long)address));
	chunk = tare_mapping_chunk(capture->mapping, address);
	if (!chunk || chunk->writer != capture->id)
		rc = tare_graphs_fail(TARE_GRAPHS_STALE,
		                      "0x%llx belongs to key %llu, which was not replayed or was overwritten "
		                      "by another key since; read or copy outputs before the next replay",
		                      (unsigned long long)address, (unsigned long long)capture->key);
	return tare_leave(&enter, rc);
}

/* ---- launch ---- */
static int check_stream(CUstream stream, const char *what)
{
	int status = CU_STREAM_CAPTURE_STATUS_NONE;
	int rc = tare_graphs_cuda(tare_cu.cuStreamIsCapturing(stream, &status), "launch: cuStreamIsCapturing");

	if (!rc && status != CU_STREAM_CAPTURE_STATUS_NONE)
		rc = tare_graphs_fail(TARE_GRAPHS_CAPTURE,
		                      "%s: the stream is capturing, and a replay cannot be part of a "
		                      "graph; %s after the capture",
		                      what, what);
	return rc;
}

static int no_key(const char *what, uint64_t key)
{
	return tare_graphs_fail(TARE_GRAPHS_NO_KEY, "%s: key %llu was not captured", what, (unsigned long long)key);
}

static int launch(struct tare_graphs *graphs, uint64_t key, CUstream stream)
{
	const struct tare_capture *capture = tare_capture_find(graphs, key);
	CUgraphExec exec;
	int rc;

	if (!capture)
		return no_key("launch", key);
	if (graphs->open.capture && graphs->open.flags & TARE_GRAPHS_REHEARSE) {
		graphs->stats.refusals++;
		return tare_graphs_fail(TARE_GRAPHS_BUSY,
		                        "launch: key %llu is being rehearsed in this arena; "
		                        "end the rehearsal first",
		                        (unsigned long long)graphs->open.capture->key);
	}
	rc = check_stream(stream, "launch");
	if (!rc)
		rc = check_reads(graphs, capture);
	if (!rc)
		rc = tare_replay_order(graphs, stream);
	if (!rc)
		rc = tare_group_ready(&graphs->groups, capture->group, capture->tmpl, stream, &exec);
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuGraphLaunch(exec, stream), "launch: cuGraphLaunch");
	if (rc)
		return rc;
	graphs->stats.launches++;
	return tare_replay_record(graphs, stream, capture->mapping, capture->id);
}

int tare_graphs_launch(struct tare_graphs *graphs, uint64_t key, CUstream stream)
{
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	return rc ? rc : tare_leave(&enter, launch(graphs, key, stream));
}

static int prepare(struct tare_graphs *graphs, uint64_t key, CUstream stream)
{
	const struct tare_capture *capture = tare_capture_find(graphs, key);
	uint64_t repeats = graphs->stats.repeats;
	CUgraphExec exec;
	int rc;

	if (!capture)
		return no_key("prepare", key);
	rc = check_stream(stream, "prepare");
	if (!rc && capture->group->is_device)
		return 0; /* the card does it in front of the launch, and not while another runs */
	if (!rc)
		rc = tare_group_ready(&graphs->groups, capture->group, capture->tmpl, stream, &exec);
	if (rc || graphs->stats.repeats != repeats) { /* it was ready, and no launch repeats it */
		graphs->stats.repeats = repeats;
		return rc;
	}
	graphs->stats.prepared++;
	return tare_graphs_cuda(tare_cu.cuGraphUpload(exec, stream), "prepare: cuGraphUpload");
}

int tare_graphs_prepare(struct tare_graphs *graphs, uint64_t key, CUstream stream)
{
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	return rc ? rc : tare_leave(&enter, prepare(graphs, key, stream));
}

int tare_graphs_drop(struct tare_graphs *graphs, uint64_t key)
{
	struct tare_capture *gone;
	struct tare_enter enter;
	size_t at, i;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	gone = tare_capture_find(graphs, key);
	if (!gone)
		return tare_leave(&enter, tare_graphs_fail(TARE_GRAPHS_NO_KEY, "drop: key %llu was not captured",
		                                           (unsigned long long)key));
	at = position(graphs, key);
	graphs->captures_nr--;
	for (i = at; i < graphs->captures_nr; i++)
		graphs->captures[i] = graphs->captures[i + 1];
	tare_capture_free(graphs, gone);
	tare_arena_trim(&graphs->arena);
	return tare_leave(&enter, 0);
}
