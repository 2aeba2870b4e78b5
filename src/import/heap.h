/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of a program as another tool counted it, by the places that asked for it. */
#ifndef TARE_IMPORT_HEAP_H
#define TARE_IMPORT_HEAP_H

#include "import/import_reader.h"

/* No machine has more; a reader refuses larger sums. */
#define TARE_IMPORT_HEAP_MAX (UINT64_C(1) << 44)

struct tare_import_heap;

/* Adds the device whose memory it is. */
struct tare_import_heap *tare_import_heap_new(struct tare_import_out *out);
void tare_import_heap_free(struct tare_import_heap *heap);
int tare_import_heap_device(const struct tare_import_heap *heap);

/* A frame; its id. What is not known is "" or 0; of a function without source the file is its library. */
uint32_t tare_import_heap_frame(struct tare_import_heap *heap, const char *file, const char *function, uint32_t line);
/* Frames from the innermost out; the id of the place. Told twice it is two places, so readers keep it. */
enum { TARE_IMPORT_FRAMES_MAX = 1024 }; /* the outer ones of a deeper stack are left out */
uint32_t tare_import_heap_place(struct tare_import_heap *heap, const uint32_t *frames, size_t depth);

/* A place (0: not known which) has so much more. It counts from the next tell on. */
void tare_import_heap_add(struct tare_import_heap *heap, uint32_t place, int64_t bytes);
/* No place has anything any more, in the same way. */
void tare_import_heap_clear(struct tare_import_heap *heap);
/*
 * What was added since the last one happened until t, in that order: the recording gets the moment with most in
 * between, and the last. What only went from one place to another is no moment of its own.
 */
void tare_import_heap_tell(struct tare_import_heap *heap, int64_t t_ns);
uint64_t tare_import_heap_bytes(const struct tare_import_heap *heap); /* with what is not told */

#endif
