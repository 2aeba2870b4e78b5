/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a span of time of which there are no events any more, or of an instant in it. */
#ifndef TARE_BASE_EXTENT_H
#define TARE_BASE_EXTENT_H

#include "base/owned.h"

#include <stddef.h>
#include <stdint.h>

struct tare_extent_value {
	int64_t used, t_ns; /* bytes in use on the device, from that moment on */
};

struct tare_extent {
	int device; /* tare_device.index; -1: tensors on the CPU */
	int64_t from_ns, until_ns;
	struct tare_extent_value low, high;
	/* Of an instant, where both are the same, what --at takes: "oom#1", "phase:epoch#2:end"; NULL: of a span. */
	TARE_OWNED char *what;
};

/* `what` of an instant of a phase: its name, which of that name it is (unsigned long long), and begin, peak or end. */
#define TARE_EXTENT_PHASE "phase:%s#%llu:%s"

struct tare_extent_list {
	TARE_OWNED struct tare_extent *items;
	size_t nr, cap;
};

/* `what` may be NULL; the text is copied. */
void tare_extent_add(struct tare_extent_list *list, const struct tare_extent *extent);
TARE_FREES(tare_extent_list_free, tare_extent_list);

#endif
