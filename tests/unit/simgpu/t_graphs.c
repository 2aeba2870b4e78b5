/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what a capture makes of work, dependencies, launches that copy and fill, updates, bad input. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
						  ".visible .entry k(.param .u64 a, .param .u32 b, .param .u64 c)\n"
						  "{\nret;\n}\n";
static CUfunction function;
static CUstream one, two;

static void begin(void)
{
	CUmodule module;

	context_open(NULL);
	OK(cu.cuModuleLoadData(&module, ptx));
	OK(cu.cuModuleGetFunction(&function, module, "k"));
	OK(cu.cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
	OK(cu.cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
}

static void launch(CUstream stream)
{
	uint64_t a = 0xa, c = 0xc;
	uint32_t b = 0xb;
	void *params[] = { &a, &b, &c };

	OK(cu.cuLaunchKernel(function, 2, 3, 4, 32, 1, 1, 64, stream, params, NULL));
}

static size_t dependencies_of(CUgraphNode node)
{
	size_t count = 0;

	OK(cu.cuGraphNodeGetDependencies_v2(node, NULL, NULL, &count));
	return count;
}

TEST(captures_have_ids_graphs_and_dependencies)
{
	CUstreamCaptureStatus status;
	const CUgraphNode *last;
	cuuint64_t id, other;
	CUgraph graph, done;
	size_t count;

	begin();
	OK(cu.cuStreamGetCaptureInfo_v2(one, &status, &id, &graph, &last, &count));
	CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
	CHECK_INT(cu.cuStreamGetCaptureInfo(one, NULL, &id), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuStreamBeginCapture_v2(one, 2));
	OK(cu.cuStreamBeginCapture_v2(two, 2));
	OK(cu.cuStreamGetCaptureInfo(one, &status, &id));
	OK(cu.cuStreamGetCaptureInfo(two, &status, &other));
	CHECK(id && other && id != other);
	launch(one);
	OK(cu.cuStreamGetCaptureInfo_v3(one, &status, NULL, &graph, &last, NULL, &count));
	CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	CHECK_INT(count, 1);
	CHECK_INT(dependencies_of(last[0]), 0);
	launch(one);
	OK(cu.cuStreamGetCaptureInfo_v2(one, &status, NULL, NULL, &last, &count));
	CHECK_INT(count, 1);
	CHECK_INT(dependencies_of(last[0]), 1);
	OK(cu.cuStreamEndCapture(one, &done));
	CHECK(done == graph);
	OK(cu.cuStreamEndCapture(two, &done));
	CHECK(done != graph);
}

TEST(captured_streams_fork_and_join)
{
	CUgraphNode roots[4], nodes[4];
	size_t count = 4, edges = 0;
	CUevent fork, join;
	CUgraph graph;

	begin();
	OK(cu.cuEventCreate(&fork, 0));
	OK(cu.cuEventCreate(&join, 0));
	OK(cu.cuStreamBeginCapture_v2(one, 2));
	launch(one);
	OK(cu.cuEventRecord(fork, one));
	OK(cu.cuStreamWaitEvent(two, fork, 0));
	launch(two);
	launch(one);
	OK(cu.cuEventRecord(join, two));
	OK(cu.cuStreamWaitEvent(one, join, 0));
	launch(one);
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphGetRootNodes(graph, roots, &count));
	CHECK_INT(count, 1);
	CHECK(roots[3] == NULL);
	OK(cu.cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
	CHECK_INT(edges, 4);
	count = 4;
	OK(cu.cuGraphGetNodes(graph, nodes, &count));
	CHECK_INT(count, 4);
	CHECK_INT(dependencies_of(nodes[3]), 2);
	OK(cu.cuGraphNodeGetDependentNodes(nodes[0], roots, &count));
	CHECK_INT(count, 2);
	/* Work after the join that nobody waits for. */
	OK(cu.cuStreamBeginCapture_v2(one, 2));
	OK(cu.cuEventRecord(fork, one));
	OK(cu.cuStreamWaitEvent(two, fork, 0));
	OK(cu.cuEventRecord(join, two));
	OK(cu.cuStreamWaitEvent(one, join, 0));
	launch(two);
	CHECK_INT(cu.cuStreamEndCapture(one, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST(a_program_sets_what_a_capture_waits_for)
{
	CUstreamCaptureStatus status;
	const CUgraphNode *last;
	CUgraphNode empty;
	CUgraph graph, other;
	size_t count;

	begin();
	CHECK_INT(cu.cuStreamUpdateCaptureDependencies(one, NULL, 0, 1), CUDA_ERROR_ILLEGAL_STATE);
	OK(cu.cuStreamBeginCapture_v2(one, 2));
	launch(one);
	OK(cu.cuStreamGetCaptureInfo_v2(one, &status, NULL, &graph, &last, &count));
	OK(cu.cuGraphAddEmptyNode(&empty, graph, last, count));
	OK(cu.cuStreamUpdateCaptureDependencies_v2(one, &empty, NULL, 1, 0));
	OK(cu.cuStreamGetCaptureInfo_v2(one, &status, NULL, &graph, &last, &count));
	CHECK_INT(count, 2);
	OK(cu.cuStreamUpdateCaptureDependencies_v2(one, &empty, NULL, 1, 1));
	OK(cu.cuStreamGetCaptureInfo_v2(one, &status, NULL, &graph, &last, &count));
	CHECK(count == 1 && last[0] == empty);
	CHECK_INT(cu.cuStreamUpdateCaptureDependencies(one, &empty, 1, 2), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuGraphCreate(&other, 0));
	OK(cu.cuGraphAddEmptyNode(&empty, other, NULL, 0));
	CHECK_INT(cu.cuStreamUpdateCaptureDependencies(one, &empty, 1, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuStreamEndCapture(one, &graph));
}

TEST(kernel_nodes_keep_their_parameters)
{
	CUkernelNodeAttrValue value = { .cooperative = 1 };
	CUDA_KERNEL_NODE_PARAMS_v2 about;
	CUgraphNode node, copy;
	size_t count = 1;
	CUgraph graph, clone;

	begin();
	OK(cu.cuStreamBeginCapture_v2(one, 2));
	launch(one);
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphGetNodes(graph, &node, &count));
	OK(cu.cuGraphKernelNodeGetParams_v2(node, &about));
	CHECK(about.func == function && about.gridDimZ == 4 && about.sharedMemBytes == 64);
	CHECK_INT(*(uint64_t *)about.kernelParams[0], 0xa);
	CHECK_INT(*(uint32_t *)about.kernelParams[1], 0xb);
	CHECK_INT(*(uint64_t *)about.kernelParams[2], 0xc);
	OK(cu.cuGraphKernelNodeSetAttribute(node, 2, &value));
	CHECK_INT(cu.cuGraphKernelNodeSetAttribute(node, 3, &value), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuGraphClone(&clone, graph));
	OK(cu.cuGraphDestroy(graph));
	count = 1;
	OK(cu.cuGraphGetNodes(clone, &copy, &count));
	memset(&value, 0, sizeof(value));
	OK(cu.cuGraphKernelNodeGetAttribute(copy, 2, &value));
	CHECK_INT(value.cooperative, 1);
	OK(cu.cuGraphKernelNodeGetParams_v2(copy, &about));
	CHECK_INT(*(uint64_t *)about.kernelParams[2], 0xc);
}

static void count_calls(void *calls)
{
	++*(int *)calls;
}

/* Whatever order nodes were added in, a launch does what they say in that of their edges. */
TEST(launches_do_copies_fills_and_calls)
{
	CUDA_HOST_NODE_PARAMS call;
	unsigned out[4] = { 0 }, in[4] = { 1, 2, 3, 4 };
	CUgraphNode from, to, host;
	CUDA_MEMCPY3D copy = { .srcMemoryType = CU_MEMORYTYPE_HOST,
		                   .srcHost = in,
		                   .srcPitch = 16,
		                   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		                   .dstPitch = 16,
		                   .WidthInBytes = 16,
		                   .Height = 1,
		                   .Depth = 1 };
	CUDA_MEMSET_NODE_PARAMS fill = { .elementSize = 4, .value = 9, .width = 2, .height = 1 };
	CUgraphExec exec;
	CUdeviceptr p;
	int calls = 0;
	CUgraph graph;

	begin();
	call = (CUDA_HOST_NODE_PARAMS){ count_calls, &calls };
	OK(cu.cuMemAlloc_v2(&p, 64));
	copy.dstDevice = fill.dst = p;
	OK(cu.cuGraphCreate(&graph, 0));
	OK(cu.cuGraphAddMemsetNode(&to, graph, NULL, 0, &fill, NULL));
	OK(cu.cuGraphAddMemcpyNode(&from, graph, NULL, 0, &copy, NULL));
	OK(cu.cuGraphAddDependencies(graph, &from, &to, 1));
	CHECK_INT(cu.cuGraphAddDependencies(graph, &from, &to, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuGraphAddHostNode(&host, graph, &to, 1, &call));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphLaunch(exec, one));
	OK(cu.cuMemcpyDtoH_v2(out, p, 16));
	CHECK(out[0] == 9 && out[1] == 9 && out[2] == 3 && out[3] == 4);
	CHECK_INT(calls, 1);
	fill.value = 7;
	OK(cu.cuGraphExecMemsetNodeSetParams(exec, to, &fill, NULL));
	OK(cu.cuGraphNodeSetEnabled(exec, from, 0));
	in[2] = 99;
	OK(cu.cuGraphLaunch(exec, one));
	OK(cu.cuMemcpyDtoH_v2(out, p, 16));
	CHECK(out[0] == 7 && out[2] == 3);
	CHECK_INT(calls, 2);
	/* What is gone is left alone. */
	OK(cu.cuGraphNodeSetEnabled(exec, from, 1));
	OK(cu.cuMemFree_v2(p));
	OK(cu.cuGraphLaunch(exec, one));
	CHECK_INT(calls, 3);
	/* Nodes that wait for each other cannot run. */
	OK(cu.cuGraphAddDependencies(graph, &host, &from, 1));
	CHECK_INT(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuGraphRemoveDependencies(graph, &host, &from, 1));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
}

TEST(memory_of_the_host_that_is_gone_ends_nobody)
{
	CUgraphExec exec;
	CUgraph graph;
	CUdeviceptr p;
	void *host;

	begin();
	OK(cu.cuMemAlloc_v2(&p, 1 << 20));
	OK(cu.cuMemHostAlloc(&host, 1 << 20, 0));
	OK(cu.cuStreamBeginCapture_v2(one, 2));
	OK(cu.cuMemcpyHtoDAsync_v2(p, host, 1 << 20, one));
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuMemFreeHost(host));
	OK(cu.cuGraphLaunch(exec, one));
}

TEST(captures_allocate_and_free)
{
	cuuint64_t held;
	CUgraphExec exec;
	CUdeviceptr p, q;
	CUgraph graph;
	unsigned out;

	begin();
	OK(cu.cuMemAlloc_v2(&q, 4096));
	OK(cu.cuStreamBeginCapture_v2(one, 0));
	OK(cu.cuMemAllocAsync(&p, 3 << 20, one));
	OK(cu.cuMemsetD32Async(p, 5, 100, one));
	OK(cu.cuMemcpyDtoDAsync_v2(q, p, 400, one));
	OK(cu.cuMemFreeAsync(p, one));
	CHECK_INT(cu.cuMemFreeAsync(q, one), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphLaunch(exec, one));
	OK(cu.cuGraphLaunch(exec, one));
	OK(cu.cuMemcpyDtoH_v2(&out, q + 396, 4));
	CHECK_INT(out, 5);
	CHECK_INT(cu.cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE); /* the graph did */
	/* What a graph leaves is the program's to free. */
	OK(cu.cuStreamBeginCapture_v2(one, 0));
	OK(cu.cuMemAllocAsync(&p, 3 << 20, one));
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphLaunch(exec, one));
	CHECK_INT(cu.cuGraphLaunch(exec, one), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &held));
	CHECK_INT(held, 4 << 20);
	OK(cu.cuMemFreeAsync(p, one));
	CHECK_INT(cu.cuMemFreeAsync(p, one), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &held));
	CHECK_INT(held, 0);
	OK(cu.cuGraphLaunch(exec, one));
}

TEST(updates_take_what_has_the_same_shape)
{
	CUgraphExecUpdateResultInfo info;
	CUgraphNode kernel, empty;
	CUgraph graph, other;
	CUgraphExec exec;

	begin();
	OK(cu.cuStreamBeginCapture_v2(one, 0));
	launch(one);
	launch(one);
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphClone(&other, graph));
	OK(cu.cuGraphExecUpdate_v2(exec, other, &info));
	CHECK_INT(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	OK(cu.cuGraphDestroy(other));
	OK(cu.cuGraphLaunch(exec, one));
	OK(cu.cuGraphCreate(&other, 0));
	OK(cu.cuGraphAddEmptyNode(&empty, other, NULL, 0));
	CHECK_INT(cu.cuGraphExecUpdate_v2(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	CHECK_INT(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	OK(cu.cuGraphAddEmptyNode(&kernel, other, &empty, 1));
	CHECK_INT(cu.cuGraphExecUpdate_v2(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	CHECK_INT(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	CHECK(info.errorNode == empty);
}

TEST(conditional_nodes_have_bodies)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_CONDITIONAL };
	CUgraphConditionalHandle handle;
	CUgraphNode node, fill;
	CUDA_MEMSET_NODE_PARAMS about = { .elementSize = 1, .value = 3, .width = 4, .height = 1 };
	unsigned char out[4] = { 0 };
	CUgraph graph, other;
	CUgraphExec exec;
	CUdeviceptr p;

	begin();
	OK(cu.cuMemAlloc_v2(&p, 4));
	OK(cu.cuMemsetD8_v2(p, 0, 4));
	OK(cu.cuGraphCreate(&graph, 0));
	OK(cu.cuGraphCreate(&other, 0));
	CHECK_INT(cu.cuGraphConditionalHandleCreate(&handle, graph, NULL, 1, 2), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuGraphConditionalHandleCreate(&handle, graph, NULL, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
	params.conditional.handle = handle;
	params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
	params.conditional.size = 2;
	CHECK_INT(cu.cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
	params.conditional.size = 1;
	CHECK_INT(cu.cuGraphAddNode_v2(&node, other, NULL, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
	CHECK(params.conditional.phGraph_out && params.conditional.phGraph_out[0]);
	CHECK_INT(cu.cuGraphDestroy(params.conditional.phGraph_out[0]), CUDA_ERROR_INVALID_VALUE);
	about.dst = p;
	OK(cu.cuGraphAddMemsetNode(&fill, params.conditional.phGraph_out[0], NULL, 0, &about, NULL));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphLaunch(exec, one));
	OK(cu.cuMemcpyDtoH_v2(out, p, 4));
	CHECK_INT(out[3], 3);
}

TEST(objects_of_the_program_end_with_their_graphs)
{
	CUuserObject object;
	CUgraphExec exec;
	int calls = 0;
	CUgraph graph;

	begin();
	OK(cu.cuGraphCreate(&graph, 0));
	CHECK_INT(cu.cuUserObjectCreate(&object, &calls, count_calls, 1, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuUserObjectCreate(&object, &calls, count_calls, 1, 1));
	OK(cu.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuGraphDestroy(graph));
	CHECK_INT(calls, 0);
	OK(cu.cuGraphExecDestroy(exec));
	CHECK_INT(calls, 1);
	CHECK_INT(cu.cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST(graphs_print_themselves)
{
	char path[] = "/tmp/t-simgpu-dot-XXXXXX", text[4096] = "";
	CUgraph graph;
	int fd;

	begin();
	OK(cu.cuStreamBeginCapture_v2(one, 0));
	launch(one);
	launch(one);
	OK(cu.cuStreamEndCapture(one, &graph));
	fd = mkstemp(path);
	OK(cu.cuGraphDebugDotPrint(graph, path, 1));
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	unlink(path);
	CHECK(strstr(text, "digraph dot {") == text);
	CHECK(strstr(text, "\\nk\\ngrid 2 3 4 block 32 1 1 shared 64"));
	CHECK(strstr(text, "\"graph_0_node_0\" -> \"graph_0_node_1\""));
	CHECK_INT(cu.cuGraphDebugDotPrint(graph, "/nowhere/at/all", 0), CUDA_ERROR_OPERATING_SYSTEM);
}

TEST(streams_write_values)
{
	CUstreamBatchMemOpParams ops[2] = {
		{ .value = { .operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .value = 6 } },
		{ .value = { .operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .value = 6 } },
	};
	uint64_t out = 0;
	CUdeviceptr p;

	begin();
	OK(cu.cuMemAlloc_v2(&p, 64));
	OK(cu.cuMemsetD8_v2(p, 0, 64));
	OK(cu.cuStreamWriteValue32(one, p, 0xfaceb, 0));
	OK(cu.cuStreamWriteValue64_v2(one, p + 8, 0x123456789abull, 0));
	OK(cu.cuStreamWaitValue64(one, p + 8, 0x123456789abull, 1));
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 0xfaceb);
	OK(cu.cuMemcpyDtoH_v2(&out, p + 8, 8));
	CHECK(out == 0x123456789abull);
	CHECK_INT(cu.cuStreamWriteValue64(one, p + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(cu.cuStreamWriteValue32(one, 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(cu.cuStreamWaitValue32(one, p, 1, 9), CUDA_ERROR_INVALID_VALUE);
	ops[0].value.address = ops[1].value.address = p;
	OK(cu.cuStreamBatchMemOp(one, 2, ops, 0));
	CHECK_INT(cu.cuStreamBatchMemOp(one, 0, ops, 0), CUDA_ERROR_INVALID_VALUE);
	out = 0;
	OK(cu.cuMemcpyDtoH_v2(&out, p, 4));
	CHECK_INT(out, 6);
}

static CUgraphExec running;
static unsigned turns;

static void overwrite_what_is_free(void)
{
	enum { OF_EACH = 8 };
	void *taken[OF_EACH];
	size_t bytes;
	int i;

	for (bytes = 16; bytes < 4096; bytes += 16) {
		for (i = 0; i < OF_EACH; i++) {
			taken[i] = malloc(bytes);
			if (taken[i])
				memset(taken[i], 0xa5, bytes);
		}
		for (i = 0; i < OF_EACH; i++)
			free(taken[i]);
	}
}

static void end_what_runs(void *unused)
{
	(void)unused;
	if (turns++)
		return;
	OK(cu.cuGraphExecDestroy(running));
	CHECK_INT(cu.cuGraphLaunch(running, one), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(cu.cuGraphExecDestroy(running), CUDA_ERROR_INVALID_VALUE);
	overwrite_what_is_free();
}

/* On a card a launch has long returned when a function of its graph tells another thread that it may end the graph. */
TEST(a_graph_may_be_ended_while_it_runs)
{
	CUgraph graph;

	begin();
	OK(cu.cuStreamBeginCapture_v2(one, 0));
	OK(cu.cuLaunchHostFunc(one, end_what_runs, NULL));
	OK(cu.cuLaunchHostFunc(one, end_what_runs, NULL));
	OK(cu.cuStreamEndCapture(one, &graph));
	OK(cu.cuGraphInstantiateWithFlags(&running, graph, 0));
	OK(cu.cuGraphLaunch(running, one));
	CHECK_INT(turns, 2);
	CHECK_INT(cu.cuGraphLaunch(running, one), CUDA_ERROR_INVALID_VALUE);
}
