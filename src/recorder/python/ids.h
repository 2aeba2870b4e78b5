/* SPDX-License-Identifier: Apache-2.0 */
/* What places in code objects are called in the log. */
#ifndef TARE_RECORDER_PYTHON_IDS_H
#define TARE_RECORDER_PYTHON_IDS_H

#include "recorder/python/code.h"
#include "recorder/python/walk.h"

/*
 * What is known of the line that a frame is at. `content`: of content.h; `calls_module`: the frame is PyTorch's call
 * of a module, which is its first argument.
 */
struct tare_python_known {
	uint64_t content;
	uint32_t id; /* of the line in the log; 0: nothing can be written */
	bool calls_module;
};

/*
 * It is written to the log the first time. `content` is given; `deaths`: of code objects, counted before that was
 * read, or unknown.
 */
void tare_python_id(const struct tare_python_layout *l, const struct tare_python_frame *frame,
                    const struct tare_python_code *code, uint64_t deaths, struct tare_python_known *known);

/* The same, if it is known because no code object has died since; else false. */
bool tare_python_id_alive(const struct tare_python_frame *frame, uint64_t deaths, struct tare_python_known *known);

#endif
