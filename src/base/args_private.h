/* SPDX-License-Identifier: Apache-2.0 */
/* What args*.c share. */
#ifndef TARE_BASE_ARGS_PRIVATE_H
#define TARE_BASE_ARGS_PRIVATE_H

#include "base/args.h"

/* args_bash.c: the options in the order of their table, --help last; NULL ends. */
const struct tare_opt *tare_args_visible(const struct tare_command *cmd, size_t i);

#endif
