/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_OWNER_H
#define TARE_LEDGER_OWNER_H

#include "base/str.h"
#include "trace/event.h"

#include <stdbool.h>

/* Is it the CUDA driver, its runtime or Tare's recorder? They ask for memory on somebody's behalf. */
bool tare_owner_is_transparent(const char *path);

/*
 * Is it a transparent library, or one of Tare's that a program calls? No line of the program is in such a
 * library.
 */
/* The same of memory of the host, which libraries of the language ask for on behalf of their callers: new, strdup. */
bool tare_owner_is_of_language(const char *path);
bool tare_owner_is_tool(const char *path);

/* Is it the library of PyTorch's allocator, which reports the blocks of its segments? */
bool tare_owner_is_pool(const char *library);
/* An owner may be a part of a library, as "libnccl: communicator 1: made": the next name of it, and its length; NULL: no more. */
const char *tare_owner_part(const char **rest, size_t *len);
void tare_owner_path_add(struct tare_str *path, const char *owner); /* all of them: tare_row_path_add() */
/* The same of who made a call: rule "owner". */
bool tare_owner_is_pool_of(const struct tare_process *p, const struct tare_stack *stack);

#endif
