/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and captures of the fake driver, and the device that runs what they hold. */
#include "fake_cuda_private.h"

#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = 16 };

struct event {
	uint64_t recorded, reached;
};
struct op {
	struct op *next;
	struct graph *run; /* a copy: later updates do not touch it */
	size_t at;
	struct event *record, *wait;
	uint64_t count;
};
struct stream {
	bool is_used;
	uint64_t id;
	struct graph *capture;
	bool fan_in;
	struct op *first, **last;
};
static struct stream streams[STREAMS_MAX];
static uint64_t last_stream;

CUstream fake_stream_new(void)
{
	struct stream *stream = &streams[3]; /* before that, handles would look like default streams' */

	pthread_mutex_lock(&fake_lock);
	while (stream->is_used)
		if (++stream == &streams[STREAMS_MAX])
			abort();
	memset(stream, 0, sizeof(*stream));
	stream->is_used = true;
	stream->id = ++last_stream;
	stream->last = &stream->first;
	pthread_mutex_unlock(&fake_lock);
	return (CUstream)stream;
}

void fake_stream_delete(CUstream stream)
{
	((struct stream *)stream)->is_used = false;
}

static void push(struct stream *stream, struct op op)
{
	struct op *made = malloc(sizeof(*made));

	*made = op;
	made->next = NULL;
	pthread_mutex_lock(&fake_lock);
	*stream->last = made;
	stream->last = &made->next;
	pthread_mutex_unlock(&fake_lock);
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	ENTER();
	*event = calloc(1, sizeof(struct event));
	fake.events++;
	return flags == CU_EVENT_DISABLE_TIMING ? CUDA_SUCCESS : 1;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	ENTER_FREE();
	free(event);
	fake.events--;
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream)
{
	struct event *event = (struct event *)handle;

	ENTER();
	push((struct stream *)stream, (struct op){ .record = event, .count = ++event->recorded });
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle)
{
	struct event *event = (struct event *)handle;

	ENTER();
	return event->reached >= event->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event)
{
	ENTER();
	(void)event;
	fake_run(0);
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned int flags)
{
	struct event *event = (struct event *)handle;

	ENTER();
	if (event->recorded)
		push((struct stream *)stream, (struct op){ .wait = event, .count = event->recorded });
	return flags ? 1 : CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	ENTER();
	(void)stream;
	fake_run(0);
	return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
	ENTER();
	*id = ((struct stream *)stream)->id;
	return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
	(void)mode;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, int *status)
{
	ENTER();
	*status = ((struct stream *)stream)->capture != NULL;
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, int mode)
{
	struct stream *stream = (struct stream *)handle;

	ENTER();
	if (stream->capture || mode < 0 || mode > 2)
		return 1;
	stream->capture = calloc(1, sizeof(struct graph));
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
	struct stream *stream = (struct stream *)handle;
	struct graph *captured = stream->capture;
	CUresult entered = fake_enter();

	*graph = NULL;
	if (!captured)
		return 401;
	stream->capture = NULL; /* in any case: the stream is usable again */
	if (entered != CUDA_SUCCESS || captured->is_spoilt) {
		fake_free_graph(captured);
		return entered != CUDA_SUCCESS ? entered : 901;
	}
	*graph = (CUgraph)captured;
	fake.graphs++;
	return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	ENTER();
	return exec && stream ? CUDA_SUCCESS : 1;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	ENTER();
	push((struct stream *)stream, (struct op){ .run = fake_copy_graph(((struct exec *)exec)->shape) });
	return CUDA_SUCCESS;
}

/* ---- the program ---- */
static CUresult give(struct stream *stream, struct node node)
{
	struct graph *graph = stream->capture ? stream->capture : calloc(1, sizeof(*graph));
	struct node *made = fake_add_node(graph, node.type);

	node.graph = graph;
	node.index = made->index;
	node.depends_on_all = stream->fan_in;
	stream->fan_in = false;
	*made = node;
	fake_point(made);
	if (!stream->capture)
		push(stream, (struct op){ .run = graph });
	return CUDA_SUCCESS;
}

CUresult fake_launch(const struct fake_kernel *kernel, unsigned grid, unsigned cluster, CUstream stream, void **params)
{
	struct node node = {
		.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = (struct fake_kernel *)kernel, .grid = grid, .cluster = cluster
	};
	size_t i;

	for (i = 0; i < kernel->params_nr; i++)
		memcpy(node.values[i], params[i], kernel->sizes[i]);
	return give((struct stream *)stream, node);
}

CUresult fake_memset(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	struct node node = { .type = CU_GRAPH_NODE_TYPE_MEMSET };

	node.set = (CUDA_MEMSET_NODE_PARAMS){ to, bytes, value, 1, bytes, 1 };
	return give((struct stream *)stream, node);
}

CUresult fake_memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	struct node node = { .type = CU_GRAPH_NODE_TYPE_MEMCPY };

	node.copy.dstDevice = to;
	node.copy.srcDevice = from;
	node.copy.WidthInBytes = bytes;
	node.copy.Height = node.copy.Depth = 1;
	return give((struct stream *)stream, node);
}

CUresult fake_node(int type, CUstream stream)
{
	return give((struct stream *)stream, (struct node){ .type = type });
}

void fake_fan_in(CUstream stream)
{
	((struct stream *)stream)->fan_in = true;
}

CUresult fake_synchronous_call(CUstream handle)
{
	struct stream *stream = (struct stream *)handle;

	if (!stream->capture)
		return CUDA_SUCCESS;
	stream->capture->is_spoilt = true;
	return 900;
}

/* ---- the device ---- */
static void run_node(struct node *node)
{
	if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
		node->kernel->run(node->grid, node->cluster, node->pointers);
	else if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
		memset((void *)(uintptr_t)node->set.dst, (int)node->set.value, node->set.width);
	else if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY)
		memmove((void *)(uintptr_t)node->copy.dstDevice, (void *)(uintptr_t)node->copy.srcDevice,
		        node->copy.WidthInBytes);
}

static bool can_go_on(const struct stream *stream)
{
	return stream->first && !(stream->first->wait && stream->first->wait->reached < stream->first->count);
}

static void step(struct stream *stream)
{
	struct op *op = stream->first;

	if (op->run && op->at < op->run->count) {
		run_node(op->run->nodes[op->at++]);
		if (op->at < op->run->count)
			return;
	}
	if (op->record && op->count > op->record->reached)
		op->record->reached = op->count;
	stream->first = op->next;
	if (!op->next)
		stream->last = &stream->first;
	if (op->run)
		fake_free_graph(op->run);
	free(op);
}

static struct stream *choose(unsigned *seed)
{
	struct stream *ready[STREAMS_MAX];
	size_t i, n = 0;

	for (i = 0; i < STREAMS_MAX; i++)
		if (streams[i].is_used && can_go_on(&streams[i]))
			ready[n++] = &streams[i];
	if (!n)
		return NULL;
	return ready[*seed ? (size_t)rand_r(seed) % n : 0];
}

void fake_run_some(unsigned seed, unsigned nodes)
{
	struct stream *stream;

	pthread_mutex_lock(&fake_lock);
	while (nodes-- && (stream = choose(&seed)))
		step(stream);
	pthread_mutex_unlock(&fake_lock);
}

void fake_run(unsigned seed)
{
	fake_run_some(seed, UINT32_MAX);
}

bool fake_is_idle(void)
{
	size_t i;

	for (i = 0; i < STREAMS_MAX; i++)
		if (streams[i].is_used && streams[i].first)
			return false;
	return true;
}
