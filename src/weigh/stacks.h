/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_WEIGH_STACKS_H
#define TARE_WEIGH_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the threads of a process have their stack pointers, as far as the kernel tells. {0}: nowhere. */
struct tare_weigh_stacks {
	uint64_t *pointers; /* the lowest first */
	size_t count, cap;
};

void tare_weigh_stacks_find(struct tare_weigh_stacks *s, const char *root, pid_t pid);
bool tare_weigh_stacks_have(const struct tare_weigh_stacks *s, uint64_t start, uint64_t end);
void tare_weigh_stacks_free(struct tare_weigh_stacks *s);

#endif
