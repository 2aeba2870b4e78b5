/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for PyTorch where a file names no library that asks for memory. */
#include "import/torch_library.h"

#define LIBRARY       "libc10_cuda.so"
#define LIBRARY_BEGIN UINT64_C(0x1000)
#define LIBRARY_END   UINT64_C(0x2000)

void tare_torch_library_name(struct tare_import_out *out)
{
	struct tare_rec_object object = {
		.head = { .kind = TARE_KIND_OBJECT }, .begin = LIBRARY_BEGIN, .end = LIBRARY_END, .bytes = sizeof(LIBRARY) - 1
	};
	struct tare_rec_stack stack = { .head = { .kind = TARE_KIND_STACK }, .id = TARE_TORCH_LIBRARY_STACK, .depth = 1 };
	uint64_t pc = LIBRARY_BEGIN + 1;

	tare_import_add(out, 0, &object, sizeof(object), LIBRARY, object.bytes);
	tare_import_add(out, 0, &stack, sizeof(stack), &pc, sizeof(pc));
}

struct tare_rec_event tare_torch_library_call(enum tare_effect effect, enum tare_class class, int device, uint32_t api)
{
	return (struct tare_rec_event){ .head = { .kind = TARE_KIND_EVENT },
		                            .stack = TARE_TORCH_LIBRARY_STACK,
		                            .effect = (uint8_t)effect,
		                            .class = (uint8_t) class,
		                            .device = (int16_t)device,
		                            .api = api,
		                            .context = (uint64_t)device + 1,
		                            .before = TARE_NOT_KNOWN,
		                            .after = TARE_NOT_KNOWN,
		                            .peers_before = TARE_NOT_KNOWN,
		                            .peers_after = TARE_NOT_KNOWN,
		                            .missing = TARE_NOT_KNOWN };
}
