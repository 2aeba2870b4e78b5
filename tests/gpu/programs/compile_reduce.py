# SPDX-License-Identifier: Apache-2.0
"""torch.compile(mode="reduce-overhead"): Inductor's kernels in CUDA graph trees, for three batch sizes."""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
fast = torch.compile(net, mode="reduce-overhead", dynamic=False)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for size in (64, 32, 16):
    x = torch.randn(size, 1024, device="cuda")
    for step in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        loss = fast(x).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
torch.cuda.synchronize()
print("loss %.4f reserved %.1f MiB" % (loss.item(), torch.cuda.memory_reserved() / 2**20))
