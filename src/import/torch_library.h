/* SPDX-License-Identifier: Apache-2.0 */
/* The library that asks for memory in files of PyTorch, which name none: an object, and a stack with an address in it. */
#ifndef TARE_IMPORT_TORCH_LIBRARY_H
#define TARE_IMPORT_TORCH_LIBRARY_H

#include "import/import_reader.h"
#include "record/format.h"

#define TARE_TORCH_LIBRARY_STACK 1

void tare_torch_library_name(struct tare_import_out *out);
/* A call of it, for which nothing was read; what it did is not filled in. */
struct tare_rec_event tare_torch_library_call(enum tare_effect effect, enum tare_class class, int device, uint32_t api);

#endif
