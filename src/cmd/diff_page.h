/* SPDX-License-Identifier: Apache-2.0 */
/* `tare diff --html`: the first recording compared with each of the others, as a page. */
#ifndef TARE_CMD_DIFF_PAGE_H
#define TARE_CMD_DIFF_PAGE_H

#include "base/args.h"

enum { TARE_DIFF_PAGE_MAX = 24 };

/* `at`: none, one for all, or one for the first and one for the others. One operand: its two instants. */
int tare_diff_page(const char *file, const char *const *operands, size_t operand_nr, const struct tare_operands *at,
                   bool is_confidential, struct tare_err *err);

#endif
