/* SPDX-License-Identifier: Apache-2.0 */
/* What of a file of heaptrack says where something was asked for: strings, modules, instruction pointers, traces. */
#ifndef TARE_IMPORT_HEAPTRACK_TRACES_H
#define TARE_IMPORT_HEAPTRACK_TRACES_H

#include "import/heap.h"

enum { TARE_HEAPTRACK_MANY = 1 << 27 }; /* of whatever has an index */

struct tare_heaptrack_traces;

struct tare_heaptrack_traces *tare_heaptrack_traces_new(uint64_t version);
/* Whose places they are; said before the first pointer or trace. */
void tare_heaptrack_traces_of(struct tare_heaptrack_traces *t, struct tare_import_heap *heap);
void tare_heaptrack_traces_free(struct tare_heaptrack_traces *t);

/* The next number of a line, in hex, behind spaces; false: what follows is none. */
bool tare_heaptrack_number(const char **text, uint64_t *out);

/* What stands behind the letter of a line; false: it cannot be read. */
bool tare_heaptrack_string(struct tare_heaptrack_traces *t, const char *text);  /* s */
bool tare_heaptrack_pointer(struct tare_heaptrack_traces *t, const char *text); /* i */
bool tare_heaptrack_trace(struct tare_heaptrack_traces *t, const char *text);   /* t */
bool tare_heaptrack_program(struct tare_heaptrack_traces *t, const char *text); /* x: from here on it is a raw file */
bool tare_heaptrack_module(struct tare_heaptrack_traces *t, const char *text);  /* m */

bool tare_heaptrack_is_raw(const struct tare_heaptrack_traces *t);
size_t tare_heaptrack_trace_nr(const struct tare_heaptrack_traces *t);
/* Of trace `index`, which counts from 1 (0: not known): its place in the heap. */
uint32_t tare_heaptrack_place(struct tare_heaptrack_traces *t, uint64_t index);

#endif
