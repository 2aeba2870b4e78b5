/* SPDX-License-Identifier: Apache-2.0 */
/* What the command is, as far as that decides whether it can be recorded. */
#ifndef TARE_SESSION_TARGET_H
#define TARE_SESSION_TARGET_H

#include <stdbool.h>

struct tare_target {
	char path[4096]; /* found along PATH; empty: not found */
	bool is_static;  /* no dynamic linker: nothing can be loaded into it */
	bool is_32_bit;
	bool is_setuid; /* the dynamic linker drops LD_PRELOAD */
	bool is_asan;   /* linked with gcc's AddressSanitizer, which ends a program that loads another library first */
	bool is_script; /* "#!": its interpreter is what runs */
	/* the program does its work somewhere else: how to record it there */
	const char *elsewhere;
};

/* What to do about such a program. */
#define TARE_TARGET_ASAN                                                                                               \
	"gcc's AddressSanitizer wants its library to be loaded before any other: set "                                     \
	"ASAN_OPTIONS=verify_asan_link_order=0, or link the program with -static-libasan"
/* Does ASAN_OPTIONS say that another may come first? */
bool tare_target_may_be_second(void);

void tare_target_look(struct tare_target *out, const char *command);

#endif
