/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that only pass a call on, and tell a reader of stacks nothing: the interpreter's loader, wrappers and decorators of
 * packages, the recorder's own. web/src/fold.ts leaves out the same ones from pages.
 */
#ifndef TARE_VIEW_PASSING_FRAME_H
#define TARE_VIEW_PASSING_FRAME_H

#include <stdbool.h>
#include <stddef.h>

/* By the whole frame, "/…/site-packages/torch/nn/modules/module.py:1779 in _wrapped_call_impl". */
bool tare_frame_passes_on(const char *frame, size_t len);

#endif
