/* SPDX-License-Identifier: Apache-2.0 */
/* What a handle of a stream stands for. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "sim.h"

/* Those that a stream may have (CUlaunchAttributeID). */
#define STREAM_ATTRIBUTES 17

struct sim_stream {
	struct sim_object object;
	unsigned flags;
	int priority;
	uint64_t id;
	struct sim_line line;
	CUstreamAttrValue attributes[STREAM_ATTRIBUTES];
};

/* The default streams have small numbers as handles. */
bool sim_stream_is_default(CUstream stream);

#endif
