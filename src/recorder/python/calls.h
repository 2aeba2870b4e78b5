/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frame is a call of a module of PyTorch, told by its code object alone: a program has two or three such code
 * objects, so a stack need not be followed outwards of the innermost call, nor its lines be looked up.
 */
#ifndef TARE_RECORDER_PYTHON_CALLS_H
#define TARE_RECORDER_PYTHON_CALLS_H

#include "recorder/python/interpreter.h"

/* As they are now: the number of an interpreter whose code objects have versions, and how many of them have died. */
struct tare_python_age {
	uint64_t interpreter;
	uint64_t deaths; /* or unknown */
};

/* A frame of this code object, which a caller keeps alive, is a call of a module. */
void tare_python_call_learn(const struct tare_python *p, const struct tare_python_age *age, uintptr_t code);

/*
 * The module whose call a frame is: its first argument, which the frame keeps alive. 0: it is another one's, which the
 * frame of the caller has: up to 3.10 there is none where a function inside of the call uses it, and from 3.11 on a cell.
 */
uint64_t tare_python_call_module(const struct tare_python *p, uint64_t frame);

/* The module of the innermost call from `frame` outwards. 0: none is there of a code object that was learnt. */
uint64_t tare_python_call_find(const struct tare_python *p, const struct tare_python_age *age, uint64_t frame);

#endif
