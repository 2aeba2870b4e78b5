/* SPDX-License-Identifier: Apache-2.0 */
/* What a program that is about to be executed is, and the environment that it gets. */
#ifndef TARE_RECORDER_EXEC_ENV_H
#define TARE_RECORDER_EXEC_ENV_H

#include <stdbool.h>

/* What is about to be executed, as the kernel will find it: from here, with our root and our folder. */
struct tare_exec_target {
	int folder;       /* as of execveat; AT_FDCWD */
	const char *path; /* the program's, and perhaps no pointer at all */
	int flags;        /* AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW */
	bool is_searched; /* along PATH, where it has no slash */
};

/* Whether we can be loaded into it. Where we cannot, the dynamic linker says so on its stderr. */
bool tare_exec_target_loads_us(const struct tare_exec_target *target);

/*
 * The environment of a program that is about to be executed: what it needs to be recorded is put into
 * it, or what would only be in its way is taken out.
 */
struct tare_exec_env {
	char *const *given; /* the program's */
	char *const *envp;  /* to be used */
	void *room;
	bool is_bare;
};

void tare_exec_env_begin(struct tare_exec_env *env, const struct tare_exec_target *target, char *const given[]);

/*
 * After an attempt that ended so (0 or an errno). True: another one is due, without anything of ours,
 * because with it there is more than the kernel takes. False: it is over, and the memory given back.
 */
bool tare_exec_env_again(struct tare_exec_env *env, int failure);

#endif
