/* SPDX-License-Identifier: Apache-2.0 */
/* From tare_graphs_begin() to the end of a capture, and the memory handed out in between. */
#include "graphs/graphs.h"

#include "graphs/error.h"
#include "graphs/plan.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64
#define BOTH        (unsigned)(TARE_GRAPHS_REHEARSE | TARE_GRAPHS_FOREIGN)
#define FLAGS       (BOTH | TARE_GRAPHS_DECLARED)

/* The arena whose foreign capture is open, by device: where pool_alloc() finds it. */
static struct tare_graphs *foreign[DEVICES_MAX];

static int no_memory(void)
{
	return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "capture: no host memory");
}

void tare_capture_free(struct tare_graphs *graphs, struct tare_capture *capture)
{
	tare_replay_wait(graphs);
	if (capture->group)
		tare_groups_leave(&graphs->groups, capture->group, capture->tmpl);
	tare_template_drop(capture->tmpl);
	tare_mapping_close(capture->mapping);
	free(capture->kept);
	free(capture->reads);
	free(capture);
}

/* ---- begin ---- */
static int check_how(struct tare_graphs *graphs, uint64_t key, const struct tare_graphs_capture *given,
                     struct tare_graphs_capture *how)
{
	memset(how, 0, sizeof(*how));
	if (given && given->size < offsetof(struct tare_graphs_capture, after))
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "how.size is %zu; set it to sizeof(struct tare_graphs_capture)",
		                        given->size);
	if (given)
		memcpy(how, given, given->size < sizeof(*how) ? given->size : sizeof(*how));
	if (how->flags & ~FLAGS || (how->flags & BOTH) == BOTH)
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "how.flags makes no sense");
	if (graphs->open.capture)
		return tare_graphs_fail(TARE_GRAPHS_ORDER, "begin: the capture of key %llu is still open; end it first",
		                        (unsigned long long)graphs->open.capture->key);
	if (how->after && graphs->shared)
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "begin: pieces need addresses of their own; create the arena "
		                                              "without TARE_GRAPHS_ONE_RANGE");
	if (how->after && *how->after == key)
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "begin: a piece cannot come after itself");
	return 0;
}

/* This piece gets no memory in which an earlier piece of its capture keeps something. */
static int avoid_earlier(struct tare_graphs *graphs, struct tare_capture *capture, uint64_t key)
{
	const struct tare_capture *at = tare_capture_find(graphs, key);
	int rc = 0;

	if (!at)
		return tare_graphs_fail(TARE_GRAPHS_NO_KEY,
		                        "begin: key %llu, which this one comes after, "
		                        "was not captured",
		                        (unsigned long long)key);
	capture->after = at->id;
	for (; !rc && at; at = at->after ? tare_capture_by_id(graphs, at->after) : NULL)
		rc = tare_reads_avoid(capture, at);
	return rc;
}

static const struct tare_rehearsal *rehearsal_of(const struct tare_graphs *graphs, uint64_t key)
{
	size_t i;

	for (i = 0; i < graphs->rehearsals_nr; i++)
		if (graphs->rehearsals[i].key == key)
			return &graphs->rehearsals[i];
	return NULL;
}

static int start(struct tare_graphs *graphs, CUstream stream, unsigned flags)
{
	int rc;

	if (flags & TARE_GRAPHS_FOREIGN) {
		if (graphs->device >= DEVICES_MAX || __atomic_load_n(&foreign[graphs->device], __ATOMIC_ACQUIRE))
			return tare_graphs_fail(TARE_GRAPHS_ORDER, "begin: another arena captures on this device; end that first");
		__atomic_store_n(&foreign[graphs->device], graphs, __ATOMIC_RELEASE);
		return 0;
	}
	if (flags & TARE_GRAPHS_REHEARSE)
		return tare_replay_order(graphs, stream);
	rc = tare_graphs_cuda(tare_cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	                      "begin: cuStreamBeginCapture");
	return rc;
}

static int begin(struct tare_graphs *graphs, uint64_t key, CUstream stream, const struct tare_graphs_capture *how)
{
	const struct tare_rehearsal *plan = how->flags & TARE_GRAPHS_REHEARSE ? NULL : rehearsal_of(graphs, key);
	struct tare_capture *capture = calloc(1, sizeof(*capture));
	int rc = 0;

	if (!capture)
		return no_memory();
	capture->key = key;
	capture->id = ++graphs->last_id;
	if (graphs->shared)
		graphs->shared->refs++, capture->mapping = graphs->shared;
	else
		rc = tare_mapping_open(&graphs->arena, &capture->mapping);
	if (!rc && how->after)
		rc = avoid_earlier(graphs, capture, *how->after);
	if (!rc)
		rc = start(graphs, stream, how->flags);
	if (rc) {
		tare_mapping_close(capture->mapping);
		free(capture);
		return rc;
	}
	graphs->open.capture = capture;
	graphs->open.flags = how->flags;
	graphs->open.stream = stream;
	tare_blocks_init(&graphs->open.blocks, plan ? plan->items : NULL, plan ? plan->items_nr : 0);
	return 0;
}

int tare_graphs_begin(struct tare_graphs *graphs, uint64_t key, CUstream stream,
                      const struct tare_graphs_capture *given)
{
	struct tare_graphs_capture how;
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = check_how(graphs, key, given, &how);
	if (!rc)
		rc = begin(graphs, key, stream, &how);
	return tare_leave(&enter, rc);
}

/* ---- memory ---- */
int tare_open_check(const struct tare_graphs *graphs, const char *what)
{
	if (graphs->open.capture)
		return 0;
	return tare_graphs_fail(TARE_GRAPHS_ORDER, "%s: no capture is open; call tare_graphs_begin first", what);
}

static int alloc(struct tare_graphs *graphs, size_t bytes, CUstream stream, tare_graphs_address *address)
{
	struct tare_open *open = &graphs->open;
	uint64_t high = open->blocks.high, offset;
	int rc;

	if (!bytes || !address)
		return tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "alloc: no bytes or no place for the address");
	if (tare_blocks_alloc(&open->blocks, bytes, (uintptr_t)stream, &offset))
		return no_memory();
	rc = tare_mapping_grow(open->capture->mapping, open->blocks.high);
	if (rc) {
		tare_blocks_free(&open->blocks, offset);
		open->blocks.high = high;
		return rc;
	}
	if (open->flags & TARE_GRAPHS_REHEARSE) /* the work runs now, so older outputs are gone */
		tare_replay_claim(graphs, open->capture->mapping, 0);
	*address = open->capture->mapping->base + offset;
	return 0;
}

int tare_graphs_alloc(struct tare_graphs *graphs, size_t bytes, CUstream stream, tare_graphs_address *address)
{
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = tare_open_check(graphs, "alloc");
	return tare_leave(&enter, rc ? rc : alloc(graphs, bytes, stream, address));
}

int tare_graphs_free(struct tare_graphs *graphs, tare_graphs_address address)
{
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = tare_open_check(graphs, "free");
	if (!rc && tare_blocks_free(&graphs->open.blocks, address - graphs->open.capture->mapping->base))
		rc = tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "free: 0x%llx is no allocation of this capture",
		                      (unsigned long long)address);
	return tare_leave(&enter, rc);
}

void *tare_graphs_pool_alloc(size_t bytes, int device, CUstream stream)
{
	struct tare_graphs *graphs = NULL;
	tare_graphs_address address;

	if (device >= 0 && device < DEVICES_MAX)
		graphs = __atomic_load_n(&foreign[device], __ATOMIC_ACQUIRE);
	if (!graphs || tare_graphs_alloc(graphs, bytes, stream, &address))
		return NULL;
	return (void *)(uintptr_t)address;
}

void tare_graphs_pool_free(void *address, size_t bytes, int device, CUstream stream)
{
	(void)address;
	(void)bytes;
	(void)device;
	(void)stream;
}

/* ---- end ---- */
static void close_open(struct tare_graphs *graphs)
{
	if (graphs->open.flags & TARE_GRAPHS_FOREIGN)
		__atomic_store_n(&foreign[graphs->device], NULL, __ATOMIC_RELEASE);
	tare_blocks_fini(&graphs->open.blocks);
	memset(&graphs->open, 0, sizeof(graphs->open));
}

/* Frees what a failed capture had: no graph that can run has its addresses or memory. */
static void give_up(struct tare_graphs *graphs)
{
	struct tare_capture *capture = graphs->open.capture;

	close_open(graphs);
	if (capture->group)
		tare_groups_leave(&graphs->groups, capture->group, capture->tmpl);
	tare_template_drop(capture->tmpl);
	tare_mapping_close(capture->mapping);
	tare_arena_trim(&graphs->arena);
	free(capture->kept);
	free(capture->reads);
	free(capture);
}

static int insert(struct tare_graphs *graphs, struct tare_capture *capture)
{
	struct tare_capture **more = realloc(graphs->captures, (graphs->captures_nr + 1) * sizeof(*more));
	size_t at;

	if (!more)
		return no_memory();
	graphs->captures = more;
	for (at = graphs->captures_nr; at && more[at - 1]->key > capture->key; at--)
		more[at] = more[at - 1];
	more[at] = capture;
	graphs->captures_nr++;
	return 0;
}

static struct tare_capture *replace(struct tare_graphs *graphs, struct tare_capture *capture)
{
	size_t i;

	for (i = 0; i < graphs->captures_nr; i++)
		if (graphs->captures[i]->key == capture->key) {
			struct tare_capture *old = graphs->captures[i];

			graphs->captures[i] = capture;
			return old;
		}
	return NULL;
}

static int finish(struct tare_graphs *graphs, CUgraph graph)
{
	struct tare_capture *capture = graphs->open.capture, *old;
	bool is_planned = graphs->open.blocks.plan_nr > 0;
	int rc;

	capture->bytes = graphs->open.blocks.high;
	rc = tare_template_make(graph, &capture->tmpl);
	if (!rc)
		rc = tare_reads_find_kept(graphs, capture);
	if (!rc)
		rc = tare_reads_find(graphs, capture);
	if (!rc && graphs->groups.device.apply) /* joining sets nodes of what may be running */
		tare_replay_wait(graphs);
	if (!rc)
		rc = tare_groups_join(&graphs->groups, capture->tmpl, &capture->group);
	if (rc)
		goto fail;
	old = replace(graphs, capture);
	if (!old) {
		rc = insert(graphs, capture);
		if (rc)
			goto fail;
	}
	close_open(graphs);
	graphs->stats.planned += is_planned;
	if (!graphs->shared)
		tare_mapping_settle(capture->mapping);
	if (old) {
		tare_capture_free(graphs, old);
		tare_arena_trim(&graphs->arena);
	}
	return 0;
fail:
	give_up(graphs);
	return rc;
}

/* The work of a rehearsal must be over before its memory is freed. */
static int finish_rehearsal(struct tare_graphs *graphs)
{
	struct tare_capture *capture = graphs->open.capture;
	struct tare_rehearsal *old = (struct tare_rehearsal *)rehearsal_of(graphs, capture->key), *more = old;
	struct tare_item *items = graphs->open.blocks.items;
	size_t count = graphs->open.blocks.items_nr;
	int rc;

	rc = tare_graphs_cuda(tare_cu.cuStreamSynchronize(graphs->open.stream), "end: cuStreamSynchronize");
	tare_replay_record(graphs, graphs->open.stream, capture->mapping, 0);
	if (!rc && !old) {
		more = realloc(graphs->rehearsals, (graphs->rehearsals_nr + 1) * sizeof(*more));
		rc = more ? 0 : no_memory();
		if (more) {
			graphs->rehearsals = more;
			more += graphs->rehearsals_nr++;
			more->items = NULL;
		}
	}
	if (!rc) {
		tare_plan(items, count);
		free(more->items);
		*more = (struct tare_rehearsal){ capture->key, items, count };
		graphs->open.blocks.items = NULL;
	}
	give_up(graphs);
	return rc;
}

static int end(struct tare_graphs *graphs)
{
	CUgraph graph = NULL;
	int rc;

	if (graphs->open.flags & TARE_GRAPHS_FOREIGN)
		return tare_graphs_fail(TARE_GRAPHS_ORDER, "end: this capture is foreign; end it with tare_graphs_adopt");
	if (graphs->open.flags & TARE_GRAPHS_REHEARSE)
		return finish_rehearsal(graphs);
	rc = tare_graphs_cuda(tare_cu.cuStreamEndCapture(graphs->open.stream, &graph), "end: cuStreamEndCapture");
	if (!rc)
		return finish(graphs, graph);
	if (graph)
		tare_cu.cuGraphDestroy(graph);
	give_up(graphs);
	return rc;
}

int tare_graphs_end(struct tare_graphs *graphs)
{
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = tare_open_check(graphs, "end");
	return tare_leave(&enter, rc ? rc : end(graphs));
}

static int adopt(struct tare_graphs *graphs, CUgraph graph)
{
	CUgraph copy;
	int rc;

	if (!(graphs->open.flags & TARE_GRAPHS_FOREIGN))
		return tare_graphs_fail(TARE_GRAPHS_ORDER, "adopt: this capture is not foreign; end it with tare_graphs_end");
	rc = tare_graphs_cuda(tare_cu.cuGraphClone(&copy, graph), "adopt: cuGraphClone");
	if (!rc)
		return finish(graphs, copy);
	give_up(graphs);
	return rc;
}

int tare_graphs_adopt(struct tare_graphs *graphs, CUgraph graph)
{
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = tare_open_check(graphs, "adopt");
	return tare_leave(&enter, rc ? rc : adopt(graphs, graph));
}

/* Gives up the open capture. The stream stays its owner's. */
void tare_graphs_abort(struct tare_graphs *graphs)
{
	struct tare_enter enter;
	CUgraph graph = NULL;

	if (!graphs || tare_enter(&enter, graphs))
		return;
	if (graphs->open.capture) {
		if (graphs->open.flags & TARE_GRAPHS_REHEARSE)
			tare_cu.cuStreamSynchronize(graphs->open.stream);
		else if (!(graphs->open.flags & TARE_GRAPHS_FOREIGN))
			tare_cu.cuStreamEndCapture(graphs->open.stream, &graph);
		if (graph)
			tare_cu.cuGraphDestroy(graph);
		give_up(graphs);
	}
	tare_leave(&enter, 0);
}
