/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN, as a program asks it: the workspace of a plan for a convolution, out of tables or by rule. */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { INT64 = 3, DATA_TYPE = 1, DESCRIPTOR = 15, FLOAT = 4, HANDLE = 0 };
enum {
	CONVOLUTION = 1,
	HEURISTICS = 4,
	PLAN = 5,
	FORWARD = 10,
	FILTER = 11,
	GRAPH = 15,
	TENSOR = 17,
	CONFIGURATION = 3
};

typedef void *descriptor;

static struct {
	int (*cudnnCreate)(void **);
	int (*cudnnDestroy)(void *);
	int (*cudnnCreateDropoutDescriptor)(descriptor *);
	int (*cudnnDestroyDropoutDescriptor)(descriptor);
	int (*cudnnSetDropoutDescriptor)(descriptor, void *, float, void *, size_t, unsigned long long);
	int (*cudnnCreateRNNDescriptor)(descriptor *);
	int (*cudnnDestroyRNNDescriptor)(descriptor);
	int (*cudnnSetRNNDescriptor_v8)(descriptor, int, int, int, int, int, int, int, int, int, int, int, int, descriptor,
	                                unsigned);
	int (*cudnnCreateRNNDataDescriptor)(descriptor *);
	int (*cudnnDestroyRNNDataDescriptor)(descriptor);
	int (*cudnnSetRNNDataDescriptor)(descriptor, int, int, int, int, int, const int *, void *);
	int (*cudnnGetRNNTempSpaceSizes)(void *, descriptor, int, descriptor, size_t *, size_t *);
	int (*cudnnBackendCreateDescriptor)(int, descriptor *);
	int (*cudnnBackendDestroyDescriptor)(descriptor);
	int (*cudnnBackendFinalize)(descriptor);
	int (*cudnnBackendSetAttribute)(descriptor, int, int, int64_t, const void *);
	int (*cudnnBackendGetAttribute)(descriptor, int, int, int64_t, int64_t *, void *);
} dnn;

static void open_cudnn(void)
{
	char path[4096];
	void *library;

	context_open(NULL);
	snprintf(path, sizeof(path), "%s/libs/libcudnn.so.9", getenv("TARE_TEST_SIMGPU"));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		test_fail(__FILE__, __LINE__, "%s", dlerror());
#define FIND(name) CHECK((*(void **)&dnn.name = dlsym(library, #name)) != NULL)
	FIND(cudnnCreate);
	FIND(cudnnDestroy);
	FIND(cudnnCreateDropoutDescriptor);
	FIND(cudnnDestroyDropoutDescriptor);
	FIND(cudnnSetDropoutDescriptor);
	FIND(cudnnCreateRNNDescriptor);
	FIND(cudnnDestroyRNNDescriptor);
	FIND(cudnnSetRNNDescriptor_v8);
	FIND(cudnnCreateRNNDataDescriptor);
	FIND(cudnnDestroyRNNDataDescriptor);
	FIND(cudnnSetRNNDataDescriptor);
	FIND(cudnnGetRNNTempSpaceSizes);
	FIND(cudnnBackendCreateDescriptor);
	FIND(cudnnBackendDestroyDescriptor);
	FIND(cudnnBackendFinalize);
	FIND(cudnnBackendSetAttribute);
	FIND(cudnnBackendGetAttribute);
}

static descriptor all_made[64];
static int made_nr;

static descriptor make(int kind)
{
	descriptor made = NULL;

	CHECK_INT(dnn.cudnnBackendCreateDescriptor(kind, &made), 0);
	CHECK(made_nr < 64);
	all_made[made_nr++] = made;
	return made;
}

static void end_all(void)
{
	while (made_nr)
		CHECK_INT(dnn.cudnnBackendDestroyDescriptor(all_made[--made_nr]), 0);
}

static void set(descriptor of, int name, int type, int64_t count, const void *values)
{
	CHECK_INT(dnn.cudnnBackendSetAttribute(of, name, type, count, values), 0);
}

static descriptor make_tensor(int64_t n, int64_t channels, int64_t size)
{
	int64_t dims[] = { n, channels, size, size };
	int64_t strides[] = { channels * size * size, size * size, size, 1 };
	descriptor tensor = make(TENSOR);
	int type = 0;

	set(tensor, 901, DATA_TYPE, 1, &type);
	set(tensor, 902, INT64, 4, dims);
	set(tensor, 903, INT64, 4, strides);
	CHECK_INT(dnn.cudnnBackendFinalize(tensor), 0);
	return tensor;
}

static descriptor make_convolution(void)
{
	int64_t zeros[] = { 0, 0 }, ones[] = { 1, 1 };
	descriptor conv = make(CONVOLUTION);
	int type = 0;

	set(conv, 100, DATA_TYPE, 1, &type);
	set(conv, 102, INT64, 2, ones);  /* dilations */
	set(conv, 103, INT64, 2, ones);  /* strides */
	set(conv, 105, INT64, 2, zeros); /* paddings */
	CHECK_INT(dnn.cudnnBackendFinalize(conv), 0);
	return conv;
}

/* The workspace of a plan for one graph of these operations. */
static int64_t workspace_of_graph(descriptor *operations, int count)
{
	descriptor graph = make(GRAPH), heuristics = make(HEURISTICS), configuration = make(CONFIGURATION),
			   plan = make(PLAN);
	int64_t got = 0, workspace = -1;

	set(graph, 801, DESCRIPTOR, count, operations);
	CHECK_INT(dnn.cudnnBackendFinalize(graph), 0);
	set(heuristics, 201, DESCRIPTOR, 1, &graph);
	CHECK_INT(dnn.cudnnBackendFinalize(heuristics), 0);
	CHECK_INT(dnn.cudnnBackendGetAttribute(heuristics, 202, DESCRIPTOR, 1, &got, &configuration), 0);
	CHECK_INT(got, 1);
	set(plan, 401, DESCRIPTOR, 1, &configuration);
	CHECK_INT(dnn.cudnnBackendFinalize(plan), 0);
	CHECK_INT(dnn.cudnnBackendGetAttribute(plan, 402, INT64, 1, &got, &workspace), 0);
	end_all();
	return workspace;
}

/* The workspace of the first plan for a convolution of 1×1: `images` of `channels` × `size` × `size`. */
static int64_t workspace_of(int direction, int64_t images, int64_t channels, int64_t size, int64_t results)
{
	int first = direction == FORWARD ? 700 : 712;
	descriptor conv = make_convolution(), operation = make(direction);
	descriptor tensors[] = { make_tensor(results, channels, 1), make_tensor(images, channels, size),
		                     make_tensor(images, results, size) };

	set(operation, first + 2, DESCRIPTOR, 1, &conv);
	for (int i = 0; i < 3; i++)
		set(operation, first + 3 + i, DESCRIPTOR, 1, &tensors[i]);
	CHECK_INT(dnn.cudnnBackendFinalize(operation), 0);
	return workspace_of_graph(&operation, 1);
}

/* On an H200 what an H100 answered is assumed. */
TEST(cudnn_workspace_out_of_a_table)
{
	setenv("TARE_SIM_CUDNN", "", 1);
	open_cudnn();
	CHECK_INT(workspace_of(FORWARD, 200, 256, 22, 128), 400);
	CHECK_INT(workspace_of(FILTER, 200, 256, 22, 128), 26214400);
	CHECK_INT(workspace_of(FILTER, 3, 256, 22, 128), 3 * 256 * 128 * 4); /* is in none */
}

TEST(cudnn_workspace_by_rule)
{
	const char *file = "t_cudnn.log";
	char line[1024] = "";
	FILE *log;

	setenv("TARE_SIM_CUDNN", "", 1);
	setenv("TARE_SIM_TABLES", "", 1);
	unlink(file);
	setenv("TARE_SIM_CONVOLUTIONS", file, 1);
	open_cudnn();
	CHECK_INT(workspace_of(FORWARD, 200, 256, 22, 128), 0);
	log = fopen(file, "r");
	CHECK(log && fgets(line, sizeof(line), log));
	fclose(log);
	unlink(file);
	CHECK_STR(line, "fwd 0:128,256,1,1/256,1,1,1 0:200,256,22,22/123904,484,22,1 "
	                "0:200,128,22,22/61952,484,22,1 0,0 1,1 1,1 0 = 0 # rule shape\n");
}

static descriptor make_matrices(int64_t heads, int64_t rows, int64_t columns)
{
	int64_t dims[] = { 2, heads, rows, columns };
	int64_t strides[] = { heads * rows * columns, rows * columns, columns, 1 };
	descriptor tensor = make(TENSOR);
	int type = 2; /* half */

	set(tensor, 901, DATA_TYPE, 1, &type);
	set(tensor, 902, INT64, 4, dims);
	set(tensor, 903, INT64, 4, strides);
	return tensor;
}

/* Queries of 16 heads by keys of so many. */
static descriptor make_product(int64_t heads)
{
	descriptor product = make(19), left = make_matrices(16, 128, 64), right = make_matrices(heads, 64, 128),
			   out = make_matrices(16, 128, 128);

	set(product, 1520, DESCRIPTOR, 1, &left);
	set(product, 1521, DESCRIPTOR, 1, &right);
	set(product, 1522, DESCRIPTOR, 1, &out);
	return product;
}

static int64_t attention(int products, int64_t heads)
{
	descriptor made[5];
	int i;

	for (i = 0; i < products; i++)
		made[i] = make_product(heads);
	return workspace_of_graph(made, products);
}

TEST(cudnn_workspace_of_attention)
{
	setenv("TARE_SIM_CUDNN", "", 1);
	open_cudnn();
	CHECK_INT(attention(1, 16), 0);
	CHECK_INT(attention(2, 16), 256);
	CHECK_INT(attention(2, 4), 256);
	CHECK_INT(attention(5, 16), 256);
	CHECK_INT(attention(5, 4), 256 + 2 * 2 * 16 * 128 * 64 * 2);
}

static void check_rnn(const int *about, float dropout, const size_t *expected)
{
	descriptor drop, rnn, data;
	size_t work, reserve;
	void *handle;

	CHECK_INT(dnn.cudnnCreate(&handle), 0);
	CHECK_INT(dnn.cudnnCreateDropoutDescriptor(&drop), 0);
	CHECK_INT(dnn.cudnnSetDropoutDescriptor(drop, handle, dropout, NULL, 0, 1), 0);
	CHECK_INT(dnn.cudnnCreateRNNDescriptor(&rnn), 0);
	CHECK_INT(dnn.cudnnSetRNNDescriptor_v8(rnn, 0, about[0], 2, about[2] - 1, 0, about[7], 0, 0, about[3], about[4],
	                                       about[4], about[1], drop, (unsigned)about[8]),
	          0);
	CHECK_INT(dnn.cudnnCreateRNNDataDescriptor(&data), 0);
	CHECK_INT(dnn.cudnnGetRNNTempSpaceSizes(handle, rnn, 1, data, &work, &reserve), 2000);
	CHECK_INT(dnn.cudnnSetRNNDataDescriptor(data, about[7], 0, about[6], about[5], about[3], NULL, NULL), 0);
	CHECK_INT(dnn.cudnnGetRNNTempSpaceSizes(handle, rnn, 0, data, &work, &reserve), 0);
	CHECK_INT(work, expected[0]);
	CHECK_INT(reserve, 0);
	CHECK_INT(dnn.cudnnGetRNNTempSpaceSizes(handle, rnn, 1, data, &work, &reserve), 0);
	CHECK_INT(work, expected[1]);
	CHECK_INT(reserve, expected[2]);
	CHECK_INT(dnn.cudnnDestroyRNNDataDescriptor(data), 0);
	CHECK_INT(dnn.cudnnDestroyRNNDescriptor(rnn), 0);
	CHECK_INT(dnn.cudnnDestroyDropoutDescriptor(drop), 0);
	CHECK_INT(dnn.cudnnDestroy(handle), 0);
}

/* Kind, layers, directions, input, hidden, batch, length, type, padded; as an H100 answered. */
TEST(cudnn_sizes_of_recurrent_networks)
{
	open_cudnn();
	check_rnn((int[]){ 2, 3, 2, 256, 512, 32, 200, 0, 0 }, 0, (size_t[]){ 273678592, 273678592, 445645056 });
	check_rnn((int[]){ 2, 3, 2, 256, 512, 32, 200, 0, 1 }, 0, (size_t[]){ 308019712, 308019712, 445645056 });
	check_rnn((int[]){ 3, 2, 1, 100, 300, 20, 35, 2, 1 }, 0.5f, (size_t[]){ 20937632, 20937632, 5486528 });
	check_rnn((int[]){ 0, 1, 1, 64, 64, 8, 16, 0, 0 }, 0, (size_t[]){ 8456448, 8489216, 33024 });
}

static void *without_context(void *of)
{
	void *handle = NULL;
	CUcontext context = NULL;

	(void)of;
	CHECK_INT(dnn.cudnnCreate(&handle), 0);
	OK(cu.cuCtxGetCurrent(&context));
	CHECK(context != NULL);
	CHECK_INT(dnn.cudnnDestroy(handle), 0);
	return NULL;
}

/* As the runtime that libraries are on has it. */
TEST(a_thread_without_a_context_gets_the_first_device)
{
	pthread_t thread;

	open_cudnn();
	CHECK_INT(pthread_create(&thread, NULL, without_context, NULL), 0);
	CHECK_INT(pthread_join(thread, NULL), 0);
}
