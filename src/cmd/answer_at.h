/* SPDX-License-Identifier: Apache-2.0 */
/* --answer-at: what a line of a program is to read back from a simulated GPU. */
#ifndef TARE_CMD_ANSWER_AT_H
#define TARE_CMD_ANSWER_AT_H

#include "base/args.h"
#include "base/err.h"

#define TARE_ANSWER_AT_HELP                                                                                                    \
	"what this line of a Python program reads back that a kernel would have computed: a number, 1.0 a float, or several with " \
	"commas between; again for more lines"

/* As the recorder reads them from TARE_SIM_ANSWER_AT, to be freed; NULL: there are none. */
int tare_answer_at_join(const struct tare_operands *given, char **out, struct tare_err *err);

#endif
