/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX: phases that programs and libraries mark already.
 *
 * Version 3 is a header: every library that uses it looks for a tool by itself, at its first call, in
 * NVTX_INJECTION64_PATH. `tare run` puts the recorder there. A tool that was named there before is
 * loaded by us and gets every call as if we were not there; what it answers is what the program gets.
 */
#ifndef TARE_RECORDER_NVTX_H
#define TARE_RECORDER_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/nvtx/names.h"
#include "recorder/phase/phase.h"

/* Types of answers, by what a function marks. */
#define NVTX_ANSWER_MARK  void
#define NVTX_ANSWER_BEGIN uint64_t
#define NVTX_ANSWER_END   void
#define NVTX_ANSWER_PUSH  int
#define NVTX_ANSWER_POP   int

/* Records it, unless this call is itself inside one of ours. */
void tare_nvtx_add(enum tare_phase_what what, nvtx_domain domain, struct tare_nvtx_text text, uint64_t id);
/* The same of a call that has data beside it, or in its event. */
void tare_nvtx_add_data(enum tare_phase_what what, nvtx_domain domain, struct tare_nvtx_text text, uint64_t id,
                        const struct nvtx_data *data, size_t count);

/* nvtx.c: the other tool's library, loaded once; NULL: there is none */
void *tare_nvtx_other_tool(void);
/* Is NVTX to be taken part in here? */
bool tare_nvtx_is_wanted(void);
/* Puts `on` into a place for a function, in front of what the other tool has put there since it was `before`: that is `next`. */
void tare_nvtx_attach(nvtx_function *slot, nvtx_function on, nvtx_function *next, nvtx_function before);

/* A symbol that programs of the old library look up: ours, if it is in `real`; else NULL. */
void *tare_nvtx_swap(const char *name, void *real);
bool tare_nvtx_is_name(const char *name);

#endif
