/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULARITY (2ull << 20)
#define NODES_MAX   600
#define STREAMS_MAX 16

struct fake_world fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int memory_fd = -1;
static uint64_t memory_end;

struct physical {
	uint64_t bytes, offset;
	unsigned refs;
	bool is_released;
};
static struct mapping {
	uint64_t address, bytes;
	struct physical *physical;
	bool is_accessible;
} * maps;
static size_t maps_nr;

struct node {
	int type;
	struct fake_kernel *kernel;
	unsigned grid, cluster;
	unsigned char values[FAKE_PARAMS][64];
	void *pointers[FAKE_PARAMS];
	CUDA_MEMCPY3D copy;
	CUDA_MEMSET_NODE_PARAMS set;
	bool depends_on_all;
	struct graph *graph;
	size_t index;
};
struct graph {
	struct node *nodes[NODES_MAX];
	size_t count;
	bool is_spoilt;
};
struct exec {
	struct graph
		*shape; /* a copy of what it was instantiated from, with the current parameters */
	struct graph *from;
};
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
static struct fake_context {
	int dummy;
} the_context;
static CUcontext current = (CUcontext)&the_context;

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.total = 8ull << 30;
	if (memory_fd < 0)
		memory_fd = memfd_create("fake_cuda", 0);
}

/* Every entry point begins with this. */
static CUresult enter(void)
{
	__atomic_add_fetch(&fake.calls, 1, __ATOMIC_SEQ_CST);
	if (fake.is_lost)
		return 719; /* CUDA_ERROR_LAUNCH_FAILED */
	return fake.fail_at && fake.calls == fake.fail_at ? fake.fail_with : CUDA_SUCCESS;
}

#define ENTER()                                                                                    \
	do {                                                                                       \
		CUresult entered = enter();                                                        \
		if (entered != CUDA_SUCCESS)                                                       \
			return entered;                                                            \
	} while (0)
/* What frees works on a lost device too, as closing the context would. */
#define ENTER_FREE()                                                                               \
	do {                                                                                       \
		enter();                                                                           \
	} while (0)

/* ---- driver, context ---- */
CUresult cuInit(unsigned int flags)
{
	ENTER();
	return flags ? 1 : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	ENTER();
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
						  : "CUDA_ERROR_SOMETHING";
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	ENTER();
	current = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	*context = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	ENTER();
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	ENTER();
	fake_run(0);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	ENTER();
	*bytes = fake.total;
	return device ? 101 : CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	ENTER();
	*total = fake.total;
	*free_bytes = fake.total - fake.used;
	return CUDA_SUCCESS;
}

/* ---- virtual memory ---- */
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
				       int option)
{
	ENTER();
	*granularity = GRANULARITY;
	return prop->type == CU_MEM_ALLOCATION_TYPE_PINNED && !option ? CUDA_SUCCESS : 1;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr wish,
			     unsigned long long flags)
{
	char *at;

	ENTER();
	if (!size || size % GRANULARITY || alignment || wish || flags)
		return 1;
	at = mmap(NULL, size + GRANULARITY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		  -1, 0);
	if (at == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address = ((CUdeviceptr)(uintptr_t)at + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
	fake.reservations++;
	return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	size_t i;

	ENTER_FREE();
	for (i = 0; i < maps_nr; i++)
		if (maps[i].address - address < size)
			return 1;
	munmap((void *)(uintptr_t)address, size);
	fake.reservations--;
	return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct physical *made;

	ENTER();
	fake.creates++;
	if (!size || size % GRANULARITY || flags ||
	    prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return 1;
	if (fake.used + size > fake.total)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made = calloc(1, sizeof(*made));
	made->bytes = size;
	made->offset = memory_end;
	memory_end += size;
	if (ftruncate(memory_fd, (off_t)memory_end))
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake.used += size;
	fake.high = fake.used > fake.high ? fake.used : fake.high;
	fake.handles++;
	*handle = (uintptr_t)made;
	return CUDA_SUCCESS;
}

static void drop_physical(struct physical *physical)
{
	if (physical->refs || !physical->is_released)
		return;
	fake.used -= physical->bytes;
	free(physical);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *physical = (void *)(uintptr_t)handle;

	ENTER_FREE();
	physical->is_released = true;
	fake.handles--;
	drop_physical(physical);
	return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct physical *physical = (void *)(uintptr_t)handle;
	size_t i;

	ENTER();
	fake.creates++;
	if (offset || size != physical->bytes) /* as measured on an H200 */
		return 801;
	if (flags || address % GRANULARITY)
		return 1;
	for (i = 0; i < maps_nr; i++)
		if (address < maps[i].address + maps[i].bytes && maps[i].address < address + size)
			return 1;
	maps = realloc(maps, (maps_nr + 1) * sizeof(*maps));
	maps[maps_nr++] = (struct mapping){ address, size, physical, false };
	physical->refs++;
	fake.maps++;
	return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	size_t i;

	ENTER_FREE();
	for (i = 0; i < maps_nr; i++)
		if (maps[i].address == address && maps[i].bytes == size)
			break;
	if (i == maps_nr)
		return 1;
	mmap((void *)(uintptr_t)address, size, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	maps[i].physical->refs--;
	drop_physical(maps[i].physical);
	maps[i] = maps[--maps_nr];
	fake.maps--;
	return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
			size_t count)
{
	uint64_t done = 0;
	size_t i;

	ENTER();
	if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
		return 1;
	for (i = 0; i < maps_nr; i++) {
		if (maps[i].address - address >= size)
			continue;
		mmap((void *)(uintptr_t)maps[i].address, maps[i].bytes, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_FIXED, memory_fd, (off_t)maps[i].physical->offset);
		done += maps[i].bytes;
	}
	return done == size ? CUDA_SUCCESS : 1;
}

/* ---- graphs ---- */
static struct node *add_node(struct graph *graph, int type)
{
	struct node *node = calloc(1, sizeof(*node));

	node->type = type;
	node->graph = graph;
	node->index = graph->count;
	graph->nodes[graph->count++] = node;
	if (graph->count >= NODES_MAX)
		abort();
	return node;
}

static void point(struct node *node)
{
	int i;

	for (i = 0; i < FAKE_PARAMS; i++)
		node->pointers[i] = node->values[i];
}

static struct graph *copy_graph(const struct graph *graph)
{
	struct graph *copy = calloc(1, sizeof(*copy));
	size_t i;

	for (i = 0; i < graph->count; i++) {
		struct node *node = add_node(copy, 0);

		*node = *graph->nodes[i];
		node->graph = copy;
		point(node);
	}
	return copy;
}

static void free_graph(struct graph *graph)
{
	size_t i;

	for (i = 0; i < graph->count; i++)
		free(graph->nodes[i]);
	free(graph);
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
	ENTER();
	*clone = (CUgraph)copy_graph((struct graph *)graph);
	fake.graphs++;
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	ENTER_FREE();
	free_graph((struct graph *)graph);
	fake.graphs--;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
	struct graph *graph = (struct graph *)handle;
	size_t i;

	ENTER();
	for (i = 0; nodes && i < *count; i++)
		nodes[i] = (CUgraphNode)graph->nodes[i];
	*count = graph->count;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
	struct graph *graph = (struct graph *)handle;
	size_t i, j, n = 0;

	ENTER();
	for (i = 1; i < graph->count; i++)
		for (j = graph->nodes[i]->depends_on_all ? 0 : i - 1; j < i; j++, n++)
			if (from) {
				from[n] = (CUgraphNode)graph->nodes[j];
				to[n] = (CUgraphNode)graph->nodes[i];
			}
	*count = n;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
			    CUgraphEdgeData *data, size_t *count)
{
	if (data)
		memset(data, 0, *count * sizeof(*data));
	return cuGraphGetEdges(handle, from, to, count);
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type)
{
	ENTER();
	*type = ((struct node *)node)->type;
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *params)
{
	struct node *node = (struct node *)handle;

	ENTER();
	memset(params, 0, sizeof(*params));
	params->func = (CUfunction)node->kernel;
	params->gridDimX = node->grid;
	params->gridDimY = params->gridDimZ = params->blockDimX = params->blockDimY =
		params->blockDimZ = 1;
	params->kernelParams = node->pointers;
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, int attribute,
				       CUlaunchAttributeValue *value)
{
	struct node *node = (struct node *)handle;

	ENTER();
	memset(value, 0, sizeof(*value));
	if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
		memcpy(value, &node->cluster, sizeof(node->cluster));
	return attribute == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION ? 1 : CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	ENTER();
	*params = ((struct node *)node)->copy;
	return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	ENTER();
	*params = ((struct node *)node)->set;
	return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	ENTER();
	(void)node;
	*graph = NULL;
	return 1;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	struct fake_kernel *kernel = (struct fake_kernel *)function;

	if (fake.params_unknown || index >= kernel->params_nr)
		return 1;
	*offset = 0;
	*size = kernel->sizes[index];
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}

/* ---- executable graphs ---- */
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	struct exec *made;
	uint64_t bytes = ((struct graph *)graph)->count * fake.exec_bytes_per_node;

	ENTER();
	fake.creates++;
	if (flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
		return 1;
	if (fake.used + bytes > fake.total)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made = calloc(1, sizeof(*made));
	made->shape = copy_graph((struct graph *)graph);
	made->from = (struct graph *)graph;
	fake.used += bytes;
	fake.high = fake.used > fake.high ? fake.used : fake.high;
	fake.execs++;
	*exec = (CUgraphExec)made;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
	struct exec *exec = (struct exec *)handle;

	ENTER_FREE();
	fake.used -= exec->shape->count * fake.exec_bytes_per_node;
	free_graph(exec->shape);
	free(exec);
	fake.execs--;
	return CUDA_SUCCESS;
}

static bool same_shape(const struct graph *a, const struct graph *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->nodes[i]->type != b->nodes[i]->type ||
		    a->nodes[i]->depends_on_all != b->nodes[i]->depends_on_all ||
		    a->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
		    a->nodes[i]->set.height !=
			    b->nodes[i]->set.height) /* 2D memsets do not change */
			return false;
	return true;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle,
			      CUgraphExecUpdateResultInfo *info)
{
	struct graph *shape = ((struct exec *)handle)->shape, *graph = (struct graph *)graph_handle;
	size_t i;

	ENTER();
	memset(info, 0, sizeof(*info));
	if (!same_shape(shape, graph)) {
		info->result = 2;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	for (i = 0; i < graph->count; i++) {
		struct node *to = shape->nodes[i];
		unsigned cluster = to->cluster; /* silently stays */

		*to = *graph->nodes[i];
		to->cluster = cluster;
		to->graph = shape;
		point(to);
	}
	return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node_handle,
					   const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct exec *exec = (struct exec *)handle;
	struct node *node = (struct node *)node_handle, *to;
	size_t i;

	ENTER();
	if (node->graph != exec->from) /* a node of the graph that was instantiated */
		return 1;
	to = exec->shape->nodes[node->index];
	to->kernel = (struct fake_kernel *)params->func;
	to->grid = params->gridDimX;
	for (i = 0; i < to->kernel->params_nr; i++)
		memcpy(to->values[i], params->kernelParams[i], to->kernel->sizes[i]);
	return CUDA_SUCCESS;
}

/* ---- streams and events ---- */
CUstream fake_stream_new(void)
{
	struct stream *stream =
		&streams[3]; /* before that, handles would look like default streams' */

	pthread_mutex_lock(&lock);
	while (stream->is_used)
		if (++stream == &streams[STREAMS_MAX])
			abort();
	memset(stream, 0, sizeof(*stream));
	stream->is_used = true;
	stream->id = ++last_stream;
	stream->last = &stream->first;
	pthread_mutex_unlock(&lock);
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
	pthread_mutex_lock(&lock);
	*stream->last = made;
	stream->last = &made->next;
	pthread_mutex_unlock(&lock);
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
		push((struct stream *)stream,
		     (struct op){ .wait = event, .count = event->recorded });
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
	CUresult entered = enter();

	*graph = NULL;
	if (!captured)
		return 401;
	stream->capture = NULL; /* in any case: the stream is usable again */
	if (entered != CUDA_SUCCESS || captured->is_spoilt) {
		free_graph(captured);
		return entered != CUDA_SUCCESS ? entered : 901;
	}
	*graph = (CUgraph)captured;
	fake.graphs++;
	return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	ENTER();
	push((struct stream *)stream,
	     (struct op){ .run = copy_graph(((struct exec *)exec)->shape) });
	return CUDA_SUCCESS;
}

/* ---- the program ---- */
static CUresult give(struct stream *stream, struct node node)
{
	struct graph *graph = stream->capture ? stream->capture : calloc(1, sizeof(*graph));
	struct node *made = add_node(graph, node.type);

	node.graph = graph;
	node.index = made->index;
	node.depends_on_all = stream->fan_in;
	stream->fan_in = false;
	*made = node;
	point(made);
	if (!stream->capture)
		push(stream, (struct op){ .run = graph });
	return CUDA_SUCCESS;
}

CUresult fake_launch(const struct fake_kernel *kernel, unsigned grid, unsigned cluster,
		     CUstream stream, void **params)
{
	struct node node = { .type = CU_GRAPH_NODE_TYPE_KERNEL,
			     .kernel = (struct fake_kernel *)kernel,
			     .grid = grid,
			     .cluster = cluster };
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
		memmove((void *)(uintptr_t)node->copy.dstDevice,
			(void *)(uintptr_t)node->copy.srcDevice, node->copy.WidthInBytes);
}

static bool can_go_on(const struct stream *stream)
{
	return stream->first &&
	       !(stream->first->wait && stream->first->wait->reached < stream->first->count);
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
		free_graph(op->run);
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

	pthread_mutex_lock(&lock);
	while (nodes-- && (stream = choose(&seed)))
		step(stream);
	pthread_mutex_unlock(&lock);
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
