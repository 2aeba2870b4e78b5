# SPDX-License-Identifier: Apache-2.0
"""A 12-layer MLP under FullyShardedDataParallel, a unit per layer; started by torchrun."""
import os

import torch
import torch.distributed
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
layers = [FSDP(torch.nn.Sequential(torch.nn.Linear(4096, 4096), torch.nn.GELU()).cuda(), use_orig_params=True)
          for _ in range(12)]
net = FSDP(torch.nn.Sequential(*layers), use_orig_params=True)
opt = torch.optim.Adam(net.parameters())
x = torch.randn(256, 4096, device="cuda")
for step in range(5):
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
torch.cuda.synchronize()
print("rank %d loss %.4f reserved %.1f MiB" % (rank, loss.item(), torch.cuda.memory_reserved() / 2**20))
torch.distributed.destroy_process_group()
