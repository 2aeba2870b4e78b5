# SPDX-License-Identifier: Apache-2.0
"""What t_sweep_cpu.py sweeps under Debian's PyTorch: N MiB that stay and as many for a moment, and a step of training."""

import sys

import torch

MIB = 1 << 18  # floats

torch.set_num_threads(1)
kept = torch.ones(int(sys.argv[1]) * MIB)
passing = kept.clone()
print(int(passing[0]))
del passing
network = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(network.parameters())
network(torch.ones(8, 64)).sum().backward()
optimizer.step()
