/* SPDX-License-Identifier: Apache-2.0 */
/* What places in code objects are called in the log. */
#ifndef TARE_RECORDER_PYTHON_IDS_H
#define TARE_RECORDER_PYTHON_IDS_H

#include "recorder/python/code.h"
#include "recorder/python/walk.h"

/*
 * The id of the line that a frame is at; written to the log the first time. `content`: of content.h; `deaths`:
 * of code objects, counted before that was read, or unknown. 0: nothing can be written.
 */
uint32_t tare_python_id(const struct tare_python_layout *l, const struct tare_python_frame *frame,
			const struct tare_python_code *code, uint64_t content, uint64_t deaths);

/* The same and its content, if that is known because no code object has died since; else 0. */
uint32_t tare_python_id_alive(const struct tare_python_frame *frame, uint64_t deaths,
			      uint64_t *content);

#endif
