# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 with Adam under DistributedDataParallel; started by torchrun."""
import os

import torch
import torch.distributed
import torchvision

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
net = torch.nn.parallel.DistributedDataParallel(torchvision.models.resnet50().cuda(), device_ids=[rank])
opt = torch.optim.Adam(net.parameters())
x = torch.randn(32, 3, 224, 224, device="cuda")
y = torch.randint(0, 1000, (32,), device="cuda")
for step in range(5):
    torch.cuda.nvtx.range_push("step")
    opt.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
print("rank %d loss %.3f reserved %.1f MiB" % (rank, loss.item(), torch.cuda.memory_reserved() / 2**20))
torch.distributed.destroy_process_group()
