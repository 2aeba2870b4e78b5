/* SPDX-License-Identifier: Apache-2.0 */
/* A program that trains in the memory of the CPU: its tensors one by one, and what each was taken for. */
#ifndef TARE_TEST_HOST_TRAINING_H
#define TARE_TEST_HOST_TRAINING_H

#include "ledger_world.h"

#define NN "/x/torch/nn/modules/"

/* Where things are made. */
static const struct tare_line program[] = { { "train.py", "main", 10 }, { 0 } };
static const struct tare_line loss[] = { { "/x/torch/nn/functional.py", "cross_entropy", 7 },
	                                     { "train.py", "main", 12 },
	                                     { 0 } };
static const struct tare_line init[] = { { "/x/torch/nn/init.py", "kaiming_uniform_", 3 },
	                                     { NN "linear.py", "__init__", 5 },
	                                     { "train.py", "main", 5 },
	                                     { 0 } };
static const struct tare_line linear[] = { { NN "linear.py", "forward", 114 }, { NN "module.py", "_call_impl", 1190 },
	                                       { "train.py", "forward", 3 },       { NN "module.py", "_call_impl", 1190 },
	                                       { "train.py", "main", 11 },         { 0 } };
static const struct tare_line relu[] = { { NN "activation.py", "forward", 98 },
	                                     { NN "module.py", "_call_impl", 1190 },
	                                     { "train.py", "forward", 4 },
	                                     { NN "module.py", "_call_impl", 1190 },
	                                     { "train.py", "main", 11 },
	                                     { 0 } };
static const struct tare_line backward[] = { { "/x/torch/autograd/__init__.py", "backward", 197 },
	                                         { "train.py", "main", 13 },
	                                         { 0 } };
static const struct tare_line recompute[] = { { NN "linear.py", "forward", 114 },
	                                          { NN "module.py", "_call_impl", 1190 },
	                                          { "/x/torch/utils/checkpoint.py", "backward", 140 },
	                                          { 0 } };
static const struct tare_line adam[] = { { "/x/torch/optim/adam.py", "step", 141 }, { "train.py", "main", 14 }, { 0 } };
static const struct tare_line loader[] = { { "/x/torch/utils/data/_utils/collate.py", "collate", 160 },
	                                       { "train.py", "main", 9 },
	                                       { 0 } };
static const struct tare_line reduce[] = { { "/x/torch/nn/parallel/distributed.py", "_sync", 3 },
	                                       { "train.py", "main", 6 },
	                                       { 0 } };

extern int64_t now; /* ms, of what happened last */

/* At the next millisecond: a block comes there, of these flags (enum tare_tensor_flag), or of 0 bytes goes. */
void put(struct world *w, uint64_t at, int64_t bytes, unsigned int flags, const struct tare_line *frames);
/* The same, of 1000 bytes and its address, by which it is found again. */
void make(struct world *w, uint64_t at, unsigned int flags, const struct tare_line *frames);
void take(struct world *w, uint64_t at, unsigned int flags);

enum { GRAD = TARE_TENSOR_GRAD, IN_BACKWARD = TARE_TENSOR_BACKWARD };

/* By their addresses: what there is at an instant, by which rule. */
const char *rule_in(struct tare_ledger *l, uint64_t at);
const char *rule_at(struct world *w, int64_t t_ms, uint64_t at);
#define CHECK_RULE(w, at, name) CHECK_STR(rule_at(w, now, at), name)

/* One step of training. x, the linear's output, a scratch of it, the loss, the gradient and what passes in it. */
enum {
	X = 0x1000,
	OUT = 0x2000,
	INNER = 0x3000,
	LOSS = 0x4000,
	GRADIENT = 0x5000,
	PASSING = 0x6000,
	STATE = 0x7000,
	SCRATCH = 0x8000,
	CHEAP = 0x9000
};

void forward(struct world *w);
void step(struct world *w, bool is_first);
void end_step(struct world *w);

struct world *training(int steps);

#endif
