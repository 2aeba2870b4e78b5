#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 in training with Adam, batch 8, for so many seconds; says how many steps that were."""

import sys
import time

import torch
import torchvision

model = torchvision.models.resnet50().cuda()
optimizer = torch.optim.Adam(model.parameters())
images = torch.randn(8, 3, 224, 224, device="cuda")
labels = torch.randint(0, 1000, (8,), device="cuda")
until, steps = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < until:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    steps += 1
torch.cuda.synchronize()
print("steps", steps)
