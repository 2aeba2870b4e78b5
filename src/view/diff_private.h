/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a diff share. */
#ifndef TARE_VIEW_DIFF_PRIVATE_H
#define TARE_VIEW_DIFF_PRIVATE_H

#include "base/map.h"
#include "view/diff.h"

/* A place and a name, as one key: is_new NULL: only if it is there, else NULL. */
uint64_t *tare_diff_slot(struct tare_strmap *map, int place, const char *name, size_t len, bool *is_new);

/* By pid and name, as two instants of a recording have them, then by name, then what is left over on both sides. */
void tare_diff_pair_processes(struct tare_diff_side *a, struct tare_diff_side *b);

/* Makes the totals. [i] of what is returned: the total that place i of the second report belongs to; to be freed. */
int *tare_diff_pair_places(struct tare_diff *d);

/* The same line of a program that lies in another folder now: what each report has once, and not both at one path. */
void tare_diff_pair_lines(struct tare_diff *d, const int *places);

#endif
