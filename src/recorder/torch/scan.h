/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tensors are for: parameters and buffers of modules, gradients, state of optimizers. The recorder
 * asks the interpreter for a moment of its main thread (Py_AddPendingCall), looks through the objects
 * there and writes SCANNED records and a SCAN.
 *
 * Nothing of Python's bytecode runs in a scan, only functions of C: no frame of ours, no signal handler,
 * no tracing and no other thread comes between. No object is kept, and none is asked what it is: its type
 * is read, and only tensors whose type is exactly torch.Tensor or Parameter are asked for more.
 */
#ifndef TARE_RECORDER_TORCH_SCAN_H
#define TARE_RECORDER_TORCH_SCAN_H

#include <stdbool.h>
#include <stdint.h>

struct tare_scan_result {
	bool only_modules; /* is all that is wanted */
	uint64_t objects;  /* looked at */
	uint32_t entries;  /* SCANNED records written */
	uint32_t flags;    /* enum tare_scan_flag */
};

/* A block was handed out, at `now`: asks for a scan if it is time for one. `flags`: enum tare_tensor_flag. */
void tare_scan_ask(uint32_t flags, uint64_t now);

/* A module was called that no scan has told of: asks for one of modules when the next block comes. */
void tare_scan_ask_modules(void);

/* scan_walk.c: pre: the GIL is held. False: there is nothing to look at, or not now. */
bool tare_scan_walk(struct tare_scan_result *result);

#endif
