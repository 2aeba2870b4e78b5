/* SPDX-License-Identifier: Apache-2.0 */
/* What places in code objects are called in the log. */
#ifndef TARE_RECORDER_PYTHON_IDS_H
#define TARE_RECORDER_PYTHON_IDS_H

#include "recorder/python/code.h"
#include "recorder/python/walk.h"

/* The id of the line that a frame is at; written to the log the first time. `content`: of content.h. 0: nothing can be written. */
uint32_t tare_python_id(const struct tare_python_layout *l, const struct tare_python_frame *frame,
			const struct tare_python_code *code, uint64_t content);

#endif
