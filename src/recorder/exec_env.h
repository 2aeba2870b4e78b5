/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a program that is about to be executed: what it needs to be recorded is put into
 * it, or what would only be in its way is taken out.
 */
#ifndef TARE_RECORDER_EXEC_ENV_H
#define TARE_RECORDER_EXEC_ENV_H

#include <stdbool.h>

#include "recorder/exec_target.h"

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
