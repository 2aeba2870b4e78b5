/* SPDX-License-Identifier: Apache-2.0 */
/* Names results, and keeps the sentence of a thread's last error. */
#include "graphs/error.h"

#include "graphs/driver.h"

#include <stdarg.h>
#include <stdio.h>

static __thread char text[512];

static const struct {
	int code;
	const char *name, *sentence;
} results[] = { { 0, "OK", "" },
#define X(CODE, NAME, SENTENCE) { CODE, #NAME, SENTENCE },
	            TARE_GRAPHS_RESULTS(X)
#undef X
};

const char *tare_graphs_result_name(int result)
{
	size_t i;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i].code == result)
			return results[i].name;
	return "?";
}

const char *tare_graphs_error(void)
{
	return text;
}

int tare_graphs_fail(int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return code;
}

const char *tare_graphs_cuda_name(int result)
{
	const char *name = NULL;

	if (!tare_cu.cuGetErrorName || tare_cu.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
		name = "an unknown CUDA error";
	return name;
}

static int code_of(int result)
{
	if (result == CUDA_ERROR_OUT_OF_MEMORY)
		return TARE_GRAPHS_DEVICE_MEMORY;
	if (result >= CUDA_ERROR_STREAM_CAPTURE_FIRST && result <= CUDA_ERROR_STREAM_CAPTURE_LAST)
		return TARE_GRAPHS_CAPTURE;
	return TARE_GRAPHS_DRIVER;
}

int tare_graphs_cuda(int result, const char *what)
{
	int code = code_of(result);

	if (result == CUDA_SUCCESS)
		return 0;
	return tare_graphs_fail(code, "%s: %s (%d)%s", what, tare_graphs_cuda_name(result), result,
	                        code == TARE_GRAPHS_DEVICE_MEMORY ? "; free device memory and capture again"
	                        : code == TARE_GRAPHS_CAPTURE
	                            ? "; warm the work up before the capture and keep synchronous calls out of it"
	                            : "");
}
