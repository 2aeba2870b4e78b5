/* SPDX-License-Identifier: Apache-2.0 */
/* Calls what the parts of the recorder do at a start, a fork, an opened log, an end. */
#include "recorder/base/parts.h"

/* What recorder/parts.c puts into this section; a test of the floor may have none. */
extern const struct tare_part_table __start_tare_parts __attribute__((weak, visibility("hidden")));

#define TELL(what, ...)                                                                                                \
	do {                                                                                                               \
		if (&__start_tare_parts)                                                                                       \
			__start_tare_parts.what(__VA_ARGS__);                                                                      \
	} while (0)

void tare_parts_start(char **envp)
{
	TELL(start, envp);
}

void tare_parts_forked(void)
{
	TELL(forked, );
}

void tare_parts_opened(void)
{
	TELL(opened, );
}

void tare_parts_device(int ordinal)
{
	TELL(device, ordinal);
}

void tare_parts_end(void)
{
	TELL(end, );
}
