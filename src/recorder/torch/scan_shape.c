/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor says of its type and its shape: by getters in C, which make a tuple, and no bytecode runs. */
#include "recorder/base/plib.h"
#include "recorder/log/emit.h"
#include "recorder/torch/scan_tensor.h"

enum { DTYPE_NAME = 17, DTYPE_BYTES = 32, DIMENSIONS_MAX = 12, TEXT = 320 };

/* A torch.dtype keeps its name behind a byte that says which it is. */
static bool add_type(const struct tare_scan_tensors *t, struct py_object *tensor, char *text)
{
	struct py_object *dtype = tare_scan_call(t->py, t->dtype, tensor);
	const char *name;
	size_t n = 0;

	text[0] = '\0';
	if (!dtype)
		return false;
	name = (const char *)dtype + DTYPE_NAME;
	while (n < DTYPE_BYTES &&
	       ((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= '0' && name[n] <= '9') || name[n] == '_')) {
		text[n] = name[n];
		n++;
	}
	text[n] = '\0';
	tare_scan_release(t->py, dtype);
	return n > 1 && n < DTYPE_BYTES;
}

static bool add_shape(const struct tare_scan_tensors *t, struct py_object *tensor, char *text)
{
	struct py_object *shape = tare_scan_call(t->py, t->shape, tensor);
	intptr_t count = shape ? t->py->PyTuple_Size(shape) : -1, i;
	size_t n = 0;

	for (i = 0; i < count && count <= DIMENSIONS_MAX; i++) {
		unsigned long long size = t->py->PyLong_AsUnsignedLongLong(t->py->PyTuple_GetItem(shape, i));

		tare_plib_format(text + n, TEXT / 2 - n, "%s%U", i ? ", " : " [", (uint64_t)size);
		while (text[n])
			n++;
	}
	if (t->py->PyErr_Occurred())
		t->py->PyErr_Clear();
	tare_plib_format(text + n, TEXT / 2 - n, "%s", count > 0 ? "]" : " []");
	tare_scan_release(t->py, shape);
	return count >= 0 && count <= DIMENSIONS_MAX;
}

uint32_t tare_scan_shape(struct tare_scan_tensors *t, struct py_object *tensor)
{
	char text[TEXT];
	size_t n = 0;

	if (!t->may_call || !t->shape || !t->dtype || !tare_scan_is_plain(t, tensor) || !add_type(t, tensor, text))
		return 0;
	while (text[n])
		n++;
	return add_shape(t, tensor, text + n) ? tare_emit_string(text) : 0;
}
