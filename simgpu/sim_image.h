/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module is loaded from. An image is opaque, with one exception that lets a test say what a
 * kernel needs:
 *
 *   tare-sim-module
 *   kernel NAME code=BYTES local=BYTES params=BYTES touches=N
 *   global NAME BYTES
 *
 * In any other image every name is a small kernel, and every global has 4 KiB.
 */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include "sim.h"

struct sim_symbol {
	struct sim_symbol *next;
	char name[256];
	bool is_global;
	uint64_t code; /* bytes of a kernel's code, or of a global */
	uint64_t local, params;
	unsigned touches; /* its first parameters are pointers that it reads */
	struct sim_function *made[2]; /* the function and the kernel of this name, once asked for */
	uint64_t address; /* of a global, when it was asked for */
};

struct sim_image {
	struct sim_symbol *symbols;
	unsigned kernels;
	bool is_opaque;
	unsigned refs; /* a module taken from a library has the library's */
};

CUresult sim_image_read(const void *data, struct sim_image **image);
CUresult sim_image_read_file(const char *path, struct sim_image **image);
void sim_image_drop(struct sim_image *image);
/* NULL: it has none of that name. */
struct sim_symbol *sim_image_find(struct sim_image *image, const char *name, bool is_global);

/* Code or data of a module, in the steps in which the driver takes room for it. */
CUresult sim_code_load(struct sim_context *context, uint64_t bytes);
CUresult sim_code_global(CUdeviceptr *dptr, size_t *bytes, struct sim_context *context,
			 struct sim_image *image, const char *name);

struct sim_function {
	struct sim_object object;
	void *parent; /* module of a function, library of a kernel */
	struct sim_image *image;
	struct sim_symbol *about;
	uint64_t loaded[16]; /* ids of the contexts that have its code */
};

/* The function or kernel of this name; the same handle each time. */
CUresult sim_function_get(enum sim_kind kind, struct sim_object *parent, struct sim_image *image,
			  const char *name, void **handle);
void sim_function_end(struct sim_object *object);
CUresult sim_function_load(struct sim_context *context, struct sim_function *function);

#endif
