/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module is loaded from. PTX is read as far as the books need it (sim_ptx.c). Any other image
 * is opaque, with one exception that lets a test say what a kernel needs:
 *
 *   tare-sim-module
 *   kernel NAME code=BYTES local=BYTES params=BYTES touches=N printf=1 malloc=1 assert=1
 *   global NAME BYTES
 *
 * In an opaque image every name is a small kernel, and every global has 4 KiB.
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
	struct sim_param {
		uint64_t offset, size;
	} * param; /* those of `params`, where the image names them one by one */
	unsigned param_nr;
	unsigned touches; /* its first parameters are pointers that it reads */
	bool has_printf, has_malloc, has_assert;
	int says;                     /* enum sim_says (sim_answer.h) */
	struct sim_function *made[2]; /* the function and the kernel of this name, once asked for */
	struct sim_loaded {
		struct sim_context *context;
		uint64_t id;  /* of the context: addresses are used again */
	} loaded[16];     /* where its code is */
	uint64_t address; /* of a global, when it was asked for */
};

struct sim_image {
	struct sim_symbol *symbols;
	unsigned kernels;
	bool is_opaque, is_library;
	bool has_printf, has_malloc, has_assert; /* one of its kernels */
	unsigned refs;                           /* a module taken from a library has the library's */
	uint64_t rest_in;                        /* id of the context that has its globals and runtime, of a library's */
};

CUresult sim_image_read(const void *data, struct sim_image **image);
CUresult sim_image_read_file(const char *path, struct sim_image **image);
void sim_image_drop(struct sim_image *image);
/* NULL: it has none of that name. */
struct sim_symbol *sim_image_find(struct sim_image *image, const char *name, bool is_global);

/* NULL: no memory. */
struct sim_symbol *sim_image_add(struct sim_image *image, const char *name, bool is_global);

bool sim_ptx_is(const char *text);
/* False: no memory. */
bool sim_ptx_read(struct sim_image *image, const char *text);

struct sim_module { /* a module or a library */
	struct sim_object object;
	struct sim_image *image;
	struct sim_object *library; /* that a module was taken from */
};

/* Takes the image over, also when it fails. */
CUresult sim_module_new(enum sim_kind kind, struct sim_context *context, struct sim_image *image, void **handle);

/* Code on the device, in the steps in which the driver takes room for it. */
CUresult sim_code_load(struct sim_context *context, struct sim_symbol *symbol);
/* What printf and malloc need, once in a context that has code with them. */
CUresult sim_code_runtime(struct sim_context *context, const struct sim_image *image);
void sim_code_runtime_end(struct sim_context *context, const struct sim_image *image);
/* Takes the code of a kernel off every context that has it. */
void sim_code_unload_symbol(struct sim_symbol *symbol);
bool sim_code_is_loaded(const struct sim_symbol *symbol, const struct sim_context *context);
/* Memory of a global, in `context`. */
CUresult sim_code_global(CUdeviceptr *dptr, size_t *bytes, struct sim_context *context, struct sim_image *image,
                         const char *name);
/* Memory of all globals that an image names. */
CUresult sim_code_globals(struct sim_context *context, struct sim_image *image);
void sim_code_drop_globals(struct sim_image *image);

struct sim_function {
	struct sim_object object;
	void *parent; /* module of a function, library of a kernel */
	struct sim_image *image;
	struct sim_symbol *about;
};

/* The function or kernel of this name; the same handle each time. */
CUresult sim_function_get(enum sim_kind kind, struct sim_object *parent, struct sim_image *image, const char *name,
                          void **handle);
/* Of a function or a kernel. */
CUresult sim_function_from(const void *handle, struct sim_function **function);
/* Its code is loaded, in the current context. */
CUresult sim_function_of(const void *handle, struct sim_function **function);
void sim_function_end(struct sim_object *object);
void sim_module_end(struct sim_object *object); /* of a library too */
/* Lazily, once for each context. */
CUresult sim_function_load(struct sim_context *context, struct sim_function *function);

#endif
