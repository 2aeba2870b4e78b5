/* SPDX-License-Identifier: Apache-2.0 */
/* What is about to be executed, as the kernel will find it: from here, with our root and our folder. */
#ifndef TARE_RECORDER_EXEC_TARGET_H
#define TARE_RECORDER_EXEC_TARGET_H

#include <stdbool.h>

struct tare_exec_target {
	int folder;       /* as of execveat; AT_FDCWD */
	const char *path; /* the program's, and perhaps no pointer at all */
	int flags;        /* AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW */
	bool is_searched; /* along PATH, where it has no slash */
};

/* Whether we can be loaded into it. Where we cannot, the dynamic linker says so on its stderr. */
bool tare_exec_target_loads_us(const struct tare_exec_target *target);

#endif
