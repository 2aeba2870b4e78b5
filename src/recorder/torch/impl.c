/* SPDX-License-Identifier: Apache-2.0 */
/* Learns how PyTorch's C++ keeps a tensor, and reads its memory and gradient there. */
#include "recorder/torch/impl.h"

#include "recorder/elf/elfsym.h"
#include "recorder/python/memory.h"

/*
 * Python's object begins with 16 bytes of its own; then comes the pointer to the tensor, or a flag before it (up to
 * 2.9). A class of c10 that counts its references begins with a virtual table and one word of counts (from 2.10 on),
 * or two. Storage is the first member of a tensor, the address of its memory the first of a storage; then come, in a
 * tensor, what autograd knows, and further on the object of Python, whose lowest bit is a flag.
 */
enum { OBJECT_HEAD = 16, WORD = 8, COUNTS_MAX = 2, OBJECT_FAR = 128, TRIES = 64, VIRTUAL_HEAD = 2 * WORD };

static const char *const libraries[TARE_TORCH_LIBRARIES] = { "libc10.so", "libtorch_cpu.so", "libtorch_python.so",
	                                                         "libtorch_cuda.so", "libc10_cuda.so" };

bool tare_torch_find(struct tare_torch *t)
{
	struct tare_elf_object object;
	uintptr_t table;
	int i;

	for (i = 0; i < TARE_TORCH_LIBRARIES; i++) {
		t->storage_tables[i] = 0;
		if (!tare_elf_find_object(libraries[i], &object))
			continue;
		table = (uintptr_t)tare_elf_symbol(&object, "_ZTVN3c1011StorageImplE", NULL);
		t->storage_tables[i] = table ? table + VIRTUAL_HEAD : 0;
	}
	if (!tare_elf_find_object(libraries[0], &object))
		return false;
	table = (uintptr_t)tare_elf_symbol(&object, "_ZTVN3c1010TensorImplE", NULL);
	t->tensor_table = table + VIRTUAL_HEAD;
	*(void **)&t->gradient = tare_elf_symbol(&object, "_ZNK3c1010TensorImpl4gradEv", NULL);
	*(void **)&t->requires_grad = tare_elf_symbol(&object, "_ZNK3c1010TensorImpl13requires_gradEv", NULL);
	return table && t->storage_tables[0] && t->gradient && t->requires_grad;
}

static bool is_storage_table(const struct tare_torch *t, uintptr_t table)
{
	int i;

	for (i = 0; i < TARE_TORCH_LIBRARIES; i++)
		if (table && t->storage_tables[i] == table)
			return true;
	return false;
}

/* What is pointed to from there begins with such a table. */
static bool learn_pointer(uintptr_t at, uint64_t *out, uint64_t *table)
{
	return tare_python_load(at, out, TARE_PYTHON_ASK) && *out &&
	       tare_python_load((uintptr_t)*out, table, TARE_PYTHON_ASK);
}

static uint64_t learn_impl(struct tare_torch *t, uintptr_t object)
{
	uint64_t impl, table;
	int at;

	for (at = OBJECT_HEAD; at <= OBJECT_HEAD + WORD; at += WORD) {
		if (!learn_pointer(object + at, &impl, &table) || table != t->tensor_table)
			continue;
		t->impl_in_object = (uint8_t)at;
		return impl;
	}
	return 0;
}

static bool learn_storage(struct tare_torch *t, uintptr_t impl)
{
	uint64_t storage, table;
	int counts;

	for (counts = 1; counts <= COUNTS_MAX; counts++) {
		int at = (1 + counts) * WORD;

		if (!learn_pointer(impl + at, &storage, &table) || !is_storage_table(t, table))
			continue;
		t->storage_in_impl = (uint8_t)at;
		return true;
	}
	return false;
}

static void learn_object(struct tare_torch *t, uintptr_t impl, uintptr_t object)
{
	uint64_t word;
	int at;

	for (at = t->storage_in_impl + 2 * WORD; at < OBJECT_FAR; at += WORD)
		if (tare_python_load(impl + at, &word, TARE_PYTHON_ASK) && (word & ~UINT64_C(1)) == object) {
			t->object_in_impl = (uint8_t)at;
			return;
		}
}

bool tare_torch_learn(struct tare_torch *t, const struct py_object *tensor)
{
	uint64_t impl;

	if (t->storage_in_impl)
		return true;
	if (t->tries >= TRIES || !t->tensor_table)
		return false;
	t->tries++;
	impl = learn_impl(t, (uintptr_t)tensor);
	if (!impl || !learn_storage(t, (uintptr_t)impl))
		return false;
	learn_object(t, (uintptr_t)impl, (uintptr_t)tensor);
	return true;
}

uintptr_t tare_torch_impl(const struct tare_torch *t, const struct py_object *tensor)
{
	uintptr_t impl = tare_python_word((uintptr_t)tensor + t->impl_in_object);

	return impl && tare_python_word(impl) == t->tensor_table ? impl : 0;
}

uint64_t tare_torch_memory(const struct tare_torch *t, uintptr_t impl)
{
	uintptr_t storage = tare_python_word(impl + t->storage_in_impl);

	if (!storage || !is_storage_table(t, tare_python_word(storage)))
		return 0;
	return tare_python_word(storage + t->storage_in_impl);
}

/* The gradient is followed by the function that the tensor is the result of. */
bool tare_torch_is_leaf(const struct tare_torch *t, uintptr_t impl)
{
	uintptr_t meta = tare_python_word(impl + t->storage_in_impl + WORD);

	return !meta || !tare_python_word((uintptr_t)t->gradient(impl) + WORD);
}

bool tare_torch_requires_grad(const struct tare_torch *t, uintptr_t impl)
{
	return t->requires_grad(impl);
}

uintptr_t tare_torch_gradient(const struct tare_torch *t, uintptr_t impl)
{
	uintptr_t meta = tare_python_word(impl + t->storage_in_impl + WORD);
	uintptr_t gradient = meta ? *t->gradient(impl) : 0;

	return gradient && tare_python_word(gradient) == t->tensor_table ? gradient : 0;
}

struct py_object *tare_torch_object(const struct tare_torch *t, uintptr_t impl)
{
	uintptr_t object = t->object_in_impl ? tare_python_word(impl + t->object_in_impl) & ~(uintptr_t)1 : 0;

	/* The object is the tensor's only if it refers back to the same impl. */
	return object && tare_python_word(object + t->impl_in_object) == impl ? (struct py_object *)object : NULL;
}
