/* SPDX-License-Identifier: Apache-2.0
 * What cuDNN takes as workspace for convolutions: keys on stdin, "KEY = BYTES BYTES" on stdout, which are the workspaces of
 * the first two plans of its instant heuristic. Only what cuDNN documents is asked.
 *
 * A key is a line: fwd|bwd_data|bwd_filter W X Y PADS STRIDES DILATIONS COMPUTE, where W, X and Y are TYPE:DIMS/STRIDES and
 * types are numbers of cudnnDataType_t; of a line that is an answer already, what is after " = " is not looked at.
 *
 *     gcc -O1 -I/usr/local/include -I/usr/local/cuda/include tests/gpu/conv_answers.c -o conv_answers -ldl
 *     ./conv_answers <keys >answers                      with a handle on the first device
 *     ./conv_answers --device CARD.json <keys >answers   the same without a device: properties of a card, as --json prints
 *     ./conv_answers --json >CARD.json                   them (cuDNN 9.8 and newer)
 * and these before them: --library FILE, a libcudnn.so.9 (or libcudnn_graph.so.9) of its own; --part I/N, only each N-th key
 * beginning with the I-th; --engines, after each line " # ENGINE:KNOB=VALUE,… ENGINE:…", which plans these are;
 * --count N, plans a key (2).
 *
 * On a GPU a key takes 3 ms, nearly all of it the CPU's, so many processes share it; without a device 0.3 ms, which needs no
 * driver either. Over 16 of them, into 16 files:
 *     for i in $(seq 0 15); do ./conv_answers --part $i/16 <keys >answers.$i & done; wait
 *     cat answers.? answers.?? >answers; grep -c = answers
 * The first line is a comment with the version of cuDNN and the card. tools/conv-shapes.py makes keys. */
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t desc_t;

enum { DIMS = 8, PLANS = 16, KNOBS = 64 };

/* cuDNN, found when this is run. */
static struct {
	size_t (*version)(void);
	cudnnStatus_t (*handle)(cudnnHandle_t *);
	cudnnStatus_t (*create)(cudnnBackendDescriptorType_t, desc_t *);
	cudnnStatus_t (*destroy)(desc_t);
	cudnnStatus_t (*finalize)(desc_t);
	cudnnStatus_t (*set)(desc_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, int64_t, const void *);
	cudnnStatus_t (*get)(desc_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, int64_t, int64_t *, void *);
} dnn;

/* What answers: a device, or the properties of one. */
static cudnnHandle_t handle;
static desc_t properties;

/* Descriptors of the key that is being answered, and its first error. */
static desc_t made[256];
static int made_count;
static cudnnStatus_t failed;
static const char *failed_at;

static void check(cudnnStatus_t status, const char *what)
{
	if (status != CUDNN_STATUS_SUCCESS && failed == CUDNN_STATUS_SUCCESS) {
		failed = status;
		failed_at = what;
	}
}

static void end(const char *what, const char *why)
{
	fprintf(stderr, "conv_answers: %s: %s\n", what, why);
	exit(1);
}

static desc_t make(cudnnBackendDescriptorType_t type)
{
	desc_t made_one = NULL;

	check(dnn.create(type, &made_one), "create");
	if (made_count == (int)(sizeof(made) / sizeof(made[0])))
		end("descriptors", "too many for a key");
	made[made_count++] = made_one;
	return made_one;
}

static void set(desc_t d, int name, cudnnBackendAttributeType_t type, int64_t count, const void *of)
{
	check(dnn.set(d, (cudnnBackendAttributeName_t)name, type, count, of), "set");
}

static void forget_from(int first)
{
	while (made_count > first)
		dnn.destroy(made[--made_count]);
}

/* "1,2,3" → numbers; how many. */
static int read_numbers(char *text, int64_t *numbers)
{
	int count = 0;
	char *state;

	for (char *one = strtok_r(text, ",", &state); one && count < DIMS; one = strtok_r(NULL, ",", &state))
		numbers[count++] = strtoll(one, NULL, 10);
	return count;
}

/* "TYPE:DIMS/STRIDES" → a tensor; NULL if it is none. */
static desc_t read_tensor(int64_t id, char *text)
{
	char *dims_text = strchr(text, ':'), *strides_text = strchr(text, '/');
	int64_t dims[DIMS], strides[DIMS], alignment = 16;
	cudnnDataType_t type = (cudnnDataType_t)atoi(text);
	desc_t tensor;
	int count;

	if (!dims_text || !strides_text || strides_text < dims_text)
		return NULL;
	*strides_text = 0;
	count = read_numbers(dims_text + 1, dims);
	if (count < 3 || read_numbers(strides_text + 1, strides) != count)
		return NULL;
	tensor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, count, dims);
	set(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, count, strides);
	set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
	set(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
	check(dnn.finalize(tensor), "tensor");
	return tensor;
}

/* The convolution of the words from PADS on; NULL if they are none. */
static desc_t read_convolution(char **words)
{
	int64_t pads[DIMS], strides[DIMS], dilations[DIMS], count = read_numbers(words[0], pads);
	cudnnDataType_t compute = (cudnnDataType_t)atoi(words[3]);
	cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	desc_t conv;

	if (!count || read_numbers(words[1], strides) != count || read_numbers(words[2], dilations) != count)
		return NULL;
	conv = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	set(conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
	set(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	set(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &count);
	set(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, count, pads);
	set(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, count, pads);
	set(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, count, dilations);
	set(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, count, strides);
	check(dnn.finalize(conv), "convolution");
	return conv;
}

/* A direction: its word, its descriptor, and the first of its attributes, which are in the same order in all three: alpha,
 * beta, the convolution, W, X, Y. */
static const struct direction {
	const char *word;
	cudnnBackendDescriptorType_t type;
	int first;
} directions[] = {
	{ "fwd", CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA },
	{ "bwd_data", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA },
	{ "bwd_filter", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA },
};

/* A key's words → a graph of its one operation; NULL if the key is none. */
static desc_t read_graph(char **words)
{
	const struct direction *direction = NULL;
	float one = 1, zero = 0;
	desc_t parts[4], operation, graph;

	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
		if (!strcmp(words[0], directions[i].word))
			direction = &directions[i];
	parts[0] = read_convolution(words + 4);
	for (int i = 1; i < 4; i++)
		parts[i] = read_tensor(" wxy"[i], words[i]);
	if (!direction || !parts[0] || !parts[1] || !parts[2] || !parts[3])
		return NULL;
	operation = make(direction->type);
	set(operation, direction->first, CUDNN_TYPE_FLOAT, 1, &one);
	set(operation, direction->first + 1, CUDNN_TYPE_FLOAT, 1, &zero);
	for (int i = 0; i < 4; i++)
		set(operation, direction->first + 2 + i, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &parts[i]);
	check(dnn.finalize(operation), "operation");
	graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &operation);
	if (handle)
		set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
	check(dnn.finalize(graph), "graph");
	return graph;
}

/* The heuristic's plans for a graph, best first; how many. */
static int64_t ask_plans(desc_t graph, desc_t *configs, int64_t count)
{
	desc_t heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_INSTANT;
	int64_t got = 0;

	set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
	set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
	if (properties)
		set(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &properties);
	check(dnn.finalize(heuristic), "heuristic");
	for (int i = 0; i < count; i++)
		configs[i] = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	check(dnn.get(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &got, configs),
	      "plans");
	return failed ? 0 : got;
}

/* The workspace of a plan; -1 if the plan cannot be had. */
static int64_t ask_workspace(desc_t config)
{
	desc_t plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	int64_t bytes = -1, got = 0;

	set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
	if (handle)
		set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
	else
		set(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &properties);
	check(dnn.finalize(plan), "plan");
	if (!failed)
		check(dnn.get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &got, &bytes), "workspace");
	return failed ? -1 : bytes;
}

/* " ENGINE:KNOB=VALUE,…" of a plan. */
static void print_engine(desc_t config)
{
	desc_t engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR), knobs[KNOBS];
	int64_t index = -1, got = 0;

	check(dnn.get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &engine), "engine");
	check(dnn.get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &got, &index), "index");
	printf(" %lld:", (long long)index);
	for (int i = 0; i < KNOBS; i++)
		knobs[i] = make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	got = 0;
	check(dnn.get(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, KNOBS, &got, knobs),
	      "knobs");
	for (int64_t i = 0; i < got && !failed; i++) {
		cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
		int64_t value = 0, one = 0;

		check(dnn.get(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one, &type), "knob");
		check(dnn.get(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one, &value), "value");
		printf("%s%d=%lld", i ? "," : "", (int)type, (long long)value);
	}
}

/* The rest of a key's line: the workspaces of the first plans that can be had. */
static void answer(char *key, int wanted, int with_engines)
{
	char *words[8] = { NULL }, *state;
	desc_t graph, configs[PLANS], good[PLANS];
	int64_t got;
	int count = 0, first;

	for (char *one = strtok_r(key, " ", &state); one && count < 8; one = strtok_r(NULL, " ", &state))
		words[count++] = one;
	graph = count == 8 ? read_graph(words) : NULL;
	if (!graph) {
		printf(" # not a key\n");
		return;
	}
	got = ask_plans(graph, configs, wanted + 4 < PLANS ? wanted + 4 : PLANS);
	if (failed)
		printf(" # status %d at %s", (int)failed, failed_at);
	count = 0;
	for (int64_t i = 0; i < got && count < wanted; i++) {
		int64_t bytes;

		first = made_count;
		failed = CUDNN_STATUS_SUCCESS;
		bytes = ask_workspace(configs[i]);
		forget_from(first);
		if (bytes < 0)
			continue;
		printf(" %lld", (long long)bytes);
		good[count++] = configs[i];
	}
	if (with_engines) {
		printf(" #");
		for (int i = 0; i < count; i++) {
			first = made_count;
			failed = CUDNN_STATUS_SUCCESS;
			print_engine(good[i]);
			forget_from(first);
		}
	}
	printf("\n");
}

static void open_library(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		end(file, dlerror());
	*(void **)&dnn.version = dlsym(library, "cudnnGetVersion");
	*(void **)&dnn.handle = dlsym(library, "cudnnCreate");
	*(void **)&dnn.create = dlsym(library, "cudnnBackendCreateDescriptor");
	*(void **)&dnn.destroy = dlsym(library, "cudnnBackendDestroyDescriptor");
	*(void **)&dnn.finalize = dlsym(library, "cudnnBackendFinalize");
	*(void **)&dnn.set = dlsym(library, "cudnnBackendSetAttribute");
	*(void **)&dnn.get = dlsym(library, "cudnnBackendGetAttribute");
	if (!dnn.version || !dnn.handle || !dnn.create || !dnn.destroy || !dnn.finalize || !dnn.set || !dnn.get)
		end(file, "is no libcudnn of version 9");
}

/* The properties of a card, out of a file; without one, those of the first device. */
static void open_properties(const char *file)
{
	static char text[1 << 16];
	FILE *in = file ? fopen(file, "r") : NULL;
	size_t size = 0;

	if (file && !in)
		end(file, strerror(errno));
	check(dnn.create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &properties), "create");
	if (in) {
		size = fread(text, 1, sizeof(text), in);
		fclose(in);
		set(properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)size, text);
	} else {
		set(properties, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
	}
	check(dnn.finalize(properties), "properties");
	if (failed)
		end(file ? file : "the device", "cuDNN does not take its properties");
}

static void print_properties(void)
{
	static char text[1 << 16];
	int64_t size = 0;

	open_properties(NULL);
	check(dnn.get(properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, sizeof(text) - 1, &size,
	              text),
	      "json");
	if (failed)
		end("the device", "cuDNN does not tell its properties");
	puts(text);
}

/*
 * The comment that begins the answers. The card is known by the JSON of its properties, "deviceName":"…", which versions
 * before 9.8 do not tell.
 */
static void print_head(const char *file)
{
	static char text[1 << 16];
	desc_t of = properties;
	int64_t size = 0;
	char *name, *last;

	if (!of) {
		of = make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
		set(of, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
		check(dnn.finalize(of), "properties");
	}
	check(dnn.get(of, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, sizeof(text) - 1, &size, text),
	      "json");
	name = failed ? NULL : strstr(text, "\"deviceName\":\"");
	if (name) {
		name += strlen("\"deviceName\":\"");
		last = strchr(name, '"');
		if (last)
			*last = 0;
	}
	printf("# cudnn %zu, card %s, %s\n", dnn.version(), name ? name : "not known",
	       file ? "without a device" : "with a device");
}

int main(int count, char **words)
{
	static char line[4096], key[4096];
	const char *library = "libcudnn.so.9", *device = NULL;
	int part = 0, parts = 1, engines = 0, json = 0, wanted = 2;
	unsigned long number = 0;

	for (int i = 1; i < count; i++) {
		const char *value = i + 1 < count ? words[i + 1] : "";

		if (!strcmp(words[i], "--json"))
			json = 1;
		else if (!strcmp(words[i], "--engines"))
			engines = 1;
		else if (!strcmp(words[i], "--library") && ++i)
			library = value;
		else if (!strcmp(words[i], "--device") && ++i)
			device = value;
		else if (!strcmp(words[i], "--count") && ++i)
			wanted = atoi(value);
		else if (!strcmp(words[i], "--part") && ++i && sscanf(value, "%d/%d", &part, &parts) == 2 && part >= 0 &&
		         part < parts)
			continue;
		else
			end(words[i], "is no option; the head of the source says what is");
	}
	if (wanted < 1 || wanted > PLANS)
		wanted = 2;
	open_library(library);
	if (!device)
		check(dnn.handle(&handle), "handle");
	if (failed)
		end("the first device", "cuDNN makes no handle on it");
	if (device)
		open_properties(device);
	if (json) {
		print_properties();
		return 0;
	}
	print_head(device);
	forget_from(0);
	while (fgets(line, sizeof(line), stdin)) {
		char *answered = strstr(line, " = ");

		if (line[0] == '#' || line[0] == '\n' || (int)(number++ % (unsigned)parts) != part)
			continue;
		if (answered)
			*answered = 0;
		line[strcspn(line, "\n")] = 0;
		memcpy(key, line, sizeof(key));
		printf("%s =", line);
		failed = CUDNN_STATUS_SUCCESS;
		answer(key, wanted, engines);
		forget_from(0);
		fflush(stdout);
	}
	return 0;
}
