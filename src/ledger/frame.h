/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a native stack as people see them: without those of allocators, and of what calls main. */
#ifndef TARE_LEDGER_FRAME_H
#define TARE_LEDGER_FRAME_H

#include "base/str.h"
#include "trace/event.h"

/* Texts are those of the recording, or as good until tare ends. */
struct tare_frame {
	const char *function; /* as a linker knows it; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
	const char *object;   /* path of the program or library; NULL: code that is in none */
	uint64_t offset;      /* from the begin of the function, or of the object where none is known */
};

struct tare_frames {
	struct tare_frame *items; /* innermost first; the first is whose line it is */
	size_t count, cap;
};

/*
 * The frames of the stack from the return address `pc` outwards. In front are left out functions of allocators, and of
 * containers of the language's library, as long as there is another; at the end those that
 * call main and the functions of threads.
 */
void tare_frames_read(struct tare_frames *out, const struct tare_process *process, const struct tare_stack *stack,
                      uint64_t pc);
void tare_frames_free(struct tare_frames *frames);

/* core/jit_name.c: a function that was made at run time, by the name that its process gave it: "leak.js:3 in grow". */
void tare_frame_add_jit(struct tare_str *out, const char *name, bool is_full);

/* "step+0x4f in solver", "solver+0x1234"; where lines are known "FILE:12 in step", with `is_full` the file as compilers name it. */
void tare_frame_add(struct tare_str *out, const struct tare_frame *frame, bool is_full);

#endif
