#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank of a transformer of 24 layers: torchrun --nproc-per-node N many_ranks.py fsdp|ddp [small]; prints what its card has as JSON.

`small` has 4 layers of 256: the ranks then cost what PyTorch costs. `own` in it is what the process has for itself in RAM (Private_Dirty).
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist

LAYERS, WIDTH, HEADS, BATCH, LENGTH, STEPS = (4, 256, 4, 2, 64, 3) if sys.argv[2:] == ["small"] else (24, 1024, 16, 4, 512, 3)


def spread(model, kind, device):
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[device])
    from torch.distributed.fsdp import fully_shard
    for layer in model:
        fully_shard(layer)
    return fully_shard(model)


def own():
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("Private_Dirty"))


def main():
    device = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    model = torch.nn.Sequential(*[torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, batch_first=True, device="cuda")
                                  for _ in range(LAYERS)])
    model = spread(model, sys.argv[1], device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        model(torch.randn(BATCH, LENGTH, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    free, total = torch.cuda.mem_get_info()
    print(json.dumps({"rank": dist.get_rank(), "world": dist.get_world_size(), "used": total - free,
                      "peak_allocated": torch.cuda.max_memory_allocated(),
                      "peak_reserved": torch.cuda.max_memory_reserved(),
                      "own": own(), "cpu_s": round(time.process_time(), 2)}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
