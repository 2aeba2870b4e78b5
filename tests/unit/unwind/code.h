/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code to be walked through, compiled with flags of its own (meson.build). Each function calls
 * `then(arg)` from the bottom of its frames and returns something that keeps the compiler from
 * turning its last call into a jump.
 */
#ifndef TARE_TESTS_UNWIND_CODE_H
#define TARE_TESTS_UNWIND_CODE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*code_fn)(void *arg);

int code_recurse(int depth, code_fn then, void *arg);
int code_registers(int depth, code_fn then, void *arg); /* every callee-saved register in use */
int code_alloca(int depth, code_fn then, void *arg);
int code_vla(int depth, code_fn then, void *arg);
int code_aligned(int depth, code_fn then, void *arg); /* realigned to 64 bytes, and variable */
int code_huge(code_fn then, void *arg);               /* a 3 MiB frame */
int code_no_return(code_fn then, void *arg);          /* the call is the last instruction of a function */
int code_bare(int depth, code_fn then, void *arg);    /* no CFI, no frame pointer */
int code_framed(int depth, code_fn then, void *arg);  /* no CFI, frame pointer */
int code_cxx(int depth, code_fn then, void *arg);     /* templates, a virtual call, a throw and a catch */
int code_library(code_fn then, void *arg);            /* in both libraries made of library.c */

#ifdef __cplusplus
}
#endif

#endif
