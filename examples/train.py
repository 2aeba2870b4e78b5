# SPDX-License-Identifier: Apache-2.0
"""A training as small as one can be, on a GPU if there is one: the README and docs/TUTORIAL.md record it."""

import torch

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).to(device)
optimizer = torch.optim.Adam(net.parameters())

for step in range(5):
    x = torch.randn(256, 512, device=device)
    loss = (net(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained")
