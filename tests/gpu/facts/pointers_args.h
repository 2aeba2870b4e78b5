/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a row of cuda_api.def, and values of them that are in order. */
#ifndef TARE_POINTERS_ARGS_H
#define TARE_POINTERS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

enum { PARAMETERS = 14, PAGE = 4096 };

struct parameter {
	char type[64], name[40];
	bool is_pointer, is_handle, is_big; /* big: a struct that is passed in memory */
};

extern void *driver;           /* the library */
extern char *good[PARAMETERS]; /* a page for each parameter that is a pointer */
extern char *constant;         /* a page of zeros that cannot be written */

/* A call by name of what takes words, as all of these do. */
#define CU(symbol, ...) ((int (*)(void *, ...))dlsym(driver, #symbol))(__VA_ARGS__)

/* "(CUcontext *pctx, CUdevice dev)"; returns how many. */
int args_parse(const char *params, struct parameter out[PARAMETERS]);
/* Values with which the call would do what it is there for. */
void args_fill(const char *symbol, const struct parameter *p, int nr, uintptr_t out[PARAMETERS]);
const char *args_image_file(void); /* written once; the caller unlinks it */

#endif
