/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tree share: rows, and which recordings have a say on a GPU. */
#ifndef TARE_TOP_TREE_PRIVATE_H
#define TARE_TOP_TREE_PRIVATE_H

#include "top/tree.h"

/* Below `parent`; `name` tells it from its like. Good until the next one is added. */
struct tare_top_row *tare_top_add(struct tare_top_tree *tree, int parent, enum tare_top_kind kind, const char *label,
                                  const char *name);
void tare_top_set(struct tare_top_row *row, int64_t bytes, const char *evidence, bool is_part);
int64_t tare_top_parts(const struct tare_top_tree *tree, int parent);
struct tare_top_course *tare_top_course_of(struct tare_top_tree *tree, uint64_t key);
/* Of what has not been there for as long as a course reaches. */
void tare_top_forget_courses(struct tare_top_tree *tree, bool all);

/* What recordings have of a GPU. */
struct tare_top_claim {
	const struct tare_follow *follow;
	const struct tare_device_ledger *device;
};
struct tare_top_claims {
	struct tare_top_claim *items;
	size_t count, cap;
};
/* `sim_state`: of the machine that the GPU is in; NULL: a real one. */
struct tare_top_claims tare_top_claims_of(const struct tare_finder *found, const char *uuid, const char *sim_state);
void tare_top_claim(struct tare_top_claims *claims, const struct tare_follow *f, const struct tare_device_ledger *d);
void tare_top_claims_free(struct tare_top_claims *claims);
bool tare_top_is_device(const struct tare_follow *f, const struct tare_device_ledger *d, const char *uuid,
                        const char *sim_state);
/* A recorded process has something there. */
bool tare_top_has_program(const struct tare_device_ledger *d);

/* Rows for the processes of a GPU, and what ledgers say of each. */
void tare_top_add_processes(struct tare_top_tree *tree, int gpu, const struct tare_nvml_processes *list,
                            const struct tare_top_claims *claims, const struct tare_top_wish *wish, int64_t now_ns);
/* A row for PyTorch's tensors on the CPU, where a recording has any. */
void tare_top_add_cpu(struct tare_top_tree *tree, const struct tare_finder *found, const struct tare_top_wish *wish,
                      int64_t now_ns);

#endif
