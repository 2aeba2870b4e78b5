# SPDX-License-Identifier: Apache-2.0
"""What t_sweep_cpu.py sweeps for its phases: N MiB that one phase makes, and as many for a moment in the next."""

import sys

import tare
import torch

torch.set_num_threads(1)
size = int(sys.argv[1])
with tare.phase("build n=%d" % size):
    kept = torch.ones(size << 18)
with tare.phase("compute"):
    passing = kept.clone()
    del passing
