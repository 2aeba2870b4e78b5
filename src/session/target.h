/* SPDX-License-Identifier: Apache-2.0 */
/* What the command is, as far as that decides whether it can be recorded. */
#ifndef TARE_SESSION_TARGET_H
#define TARE_SESSION_TARGET_H

#include <stdbool.h>

struct tare_target {
	char path[4096]; /* found along PATH; empty: not found */
	bool is_static; /* no dynamic linker: nothing can be loaded into it */
	bool is_32_bit;
	bool is_setuid; /* the dynamic linker drops LD_PRELOAD */
	bool is_script; /* "#!": its interpreter is what runs */
	const char *elsewhere; /* the program does its work somewhere else: how to record it there */
};

void tare_target_look(struct tare_target *out, const char *command);

#endif
