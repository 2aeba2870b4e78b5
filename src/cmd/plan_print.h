/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_PLAN_PRINT_H
#define TARE_CMD_PLAN_PRINT_H

#include "base/emit.h"
#include "fit/plan.h"

struct tare_plan_card {
	double total, used; /* bytes; used: what others have */
	bool is_used_known;
	bool is_memory; /* of a machine, where nothing opened a GPU: there is no card */
	double context; /* added to every cell: another card's context less that of the measured one */
};

/* `list` may be NULL: then no account is known. */
void tare_plan_print(struct tare_emit *e, const struct tare_plan *plan, const struct tare_plan_card *card,
                     const char *target, bool has_expression, struct tare_series_list *list);

#endif
