/* SPDX-License-Identifier: Apache-2.0 */
/* `--by category` and `--by tensor`: what tensors are for, and what each is called. */
#ifndef TARE_VIEW_TENSORS_H
#define TARE_VIEW_TENSORS_H

#include "base/str.h"
#include "ledger/ledger.h"

struct tare_emit;
struct tare_by_ask;

/* Where tensors are: on a GPU, or in the memory of the CPU, of one process. */
struct tare_tensor_place {
	const struct tare_ledger *ledger;
	const struct tare_device_ledger *device; /* NULL: the CPU, and then … */
	const struct tare_host_ledger *host;
	const struct tare_tensor_rows *rows;
};

int tare_tensor_place_nr(const struct tare_ledger *l);
struct tare_tensor_place tare_tensor_place(const struct tare_ledger *l, int i);
/* "GPU 0  NVIDIA H200 · at peak 1.9 s" */
void tare_tensor_place_title(struct tare_str *title, const struct tare_tensor_place *p);

/* Below its table, for people: how much of it is in shared memory, which other processes may have, too. */
void tare_tensor_place_shared(struct tare_emit *e, const struct tare_tensor_place *p);

/* Of fewer than one byte in so many are parameters: what a multiple of them is says nothing. */
enum { TARE_PARAMETERS_COUNT = 1000 };

/* Into `sums`, the largest first; returns how many there are. */
int tare_category_sums(const struct tare_tensor_rows *rows, struct tare_category_sum sums[TARE_CATEGORY_NR]);

/* tensor.c: of --by tensor */
void tare_tensors_rows(struct tare_emit *e, const struct tare_by_ask *ask);
void tare_tensors_text(struct tare_emit *e, const struct tare_tensor_place *p);

#endif
