#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same of two ranks: torchrun --nproc-per-node 2 ranks.py ddp|fsdp. One line of JSON a rank."""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    said = {"case": sys.argv[1], "rank": rank, "context": used()}
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    x = torch.ones(1024, device="cuda")
    dist.all_reduce(x)
    torch.cuda.synchronize()
    said["after_first_collective"] = used()
    model = nn.Sequential(*[nn.Sequential(nn.Linear(2048, 8192), nn.GELU(), nn.Linear(8192, 2048)) for _ in range(6)]).cuda()
    if sys.argv[1] == "ddp":
        model = nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    else:
        from torch.distributed.fsdp import fully_shard
        for part in model:
            fully_shard(part)
        fully_shard(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-4)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(512, 2048, device="cuda")).pow(2).mean().backward()
        optimizer.step()
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, rank)
    torch.cuda.synchronize()
    said.update(used=used(), peak_allocated=torch.cuda.max_memory_allocated(), peak_reserved=torch.cuda.max_memory_reserved(),
                everyone=everyone)
    dist.barrier()
    print(json.dumps(said), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
