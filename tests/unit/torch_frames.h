/* SPDX-License-Identifier: Apache-2.0 */
/* Where a small program that trains makes its tensors: Python stacks, innermost frame first. */
#ifndef TARE_TESTS_UNIT_TORCH_FRAMES_H
#define TARE_TESTS_UNIT_TORCH_FRAMES_H

#include "ledger_world.h"

#define NN "/x/torch/nn/modules/"

static const struct tare_line program[] = { { "train.py", "main", 10 }, { 0 } };
static const struct tare_line init[] = { { "/x/torch/nn/init.py", "kaiming_uniform_", 3 },
	                                     { NN "linear.py", "__init__", 5 },
	                                     { "train.py", "main", 5 },
	                                     { 0 } };
static const struct tare_line linear[] = {
	{ NN "linear.py", "forward", 114 }, { NN "module.py", "_call_impl", 1190 }, { "train.py", "main", 11 }, { 0 }
};
static const struct tare_line backward[] = { { "/x/torch/autograd/__init__.py", "backward", 197 },
	                                         { "train.py", "main", 13 },
	                                         { 0 } };
static const struct tare_line adam[] = { { "/x/torch/optim/adam.py", "step", 141 }, { "train.py", "main", 14 }, { 0 } };

#endif
