# SPDX-License-Identifier: Apache-2.0
"""Trains a model that is wrapped: modules_wrapped.py parallel (DataParallel, on every GPU) or compiled (torch.compile)."""
import sys

import torch

layers = [torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU()) for _ in range(6)]
net = torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10)).cuda()
run = torch.nn.DataParallel(net) if sys.argv[1] == "parallel" else torch.compile(net)
optimizer = torch.optim.Adam(net.parameters())
for step in range(20):
    loss = run(torch.randn(2048, 1024, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("%.6f" % loss.item())
