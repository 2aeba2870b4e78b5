# SPDX-License-Identifier: Apache-2.0
"""256 MiB pinned, 512 MiB on the GPU, 100 MiB on the host; says what PyTorch counts, then waits for a line."""

import sys

import torch

torch.ones(1, device="cuda")
print("started", flush=True)
sys.stdin.readline()
pinned = torch.ones(64 << 20, pin_memory=True)
device = torch.ones(128 << 20, device="cuda")
host = torch.ones(25 << 20)
torch.cuda.synchronize()
free, total = torch.cuda.mem_get_info()
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), free, flush=True)
sys.stdin.readline()
