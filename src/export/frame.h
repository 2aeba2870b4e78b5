/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of stacks, each once. */
#ifndef TARE_EXPORT_FRAME_H
#define TARE_EXPORT_FRAME_H

#include "export/export.h"

/* The number of a frame that says this. is_row: it is a row's label, and no line of a program. */
uint32_t tare_export_frame(struct tare_export_stacks *s, const char *text, size_t len, bool is_row);

#endif
