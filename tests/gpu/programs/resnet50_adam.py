# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 with Adam, batch 32, six steps: what DESIGN's figures were measured with."""
import torch, torchvision

torch.backends.cudnn.benchmark = True
net = torchvision.models.resnet50().cuda()
opt = torch.optim.Adam(net.parameters())
x = torch.randn(32, 3, 224, 224, device="cuda")
y = torch.randint(0, 1000, (32,), device="cuda")
for step in range(6):
    opt.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
torch.cuda.synchronize()
print("loss %.3f reserved %d allocated_peak %d" % (loss.item(), torch.cuda.memory_reserved(), torch.cuda.max_memory_allocated()))
