# SPDX-License-Identifier: Apache-2.0
"""What t_cpu_tensors.py runs under Debian's PyTorch. The last line of output is JSON."""

import json
import sys
import threading

import torch


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.kept = torch.zeros(3333, dtype=torch.uint8)
        raise ValueError("this node fails")


def failing():
    x = torch.ones(1000, requires_grad=True)
    try:
        Failing.apply(x).sum().backward()
    except ValueError:
        pass
    kept = [torch.zeros(4444, dtype=torch.uint8)]
    with torch.no_grad():
        kept.append(torch.zeros(5555, dtype=torch.uint8))
    other = threading.Thread(target=lambda: kept.append(torch.zeros(6666, dtype=torch.uint8)))
    other.start()
    other.join()
    return {"inside": 3333, "behind": 4444, "no_grad": 5555, "thread": 6666}


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(16 * 8 * 8, 10))


def step(net, optimizer):
    inputs = torch.randn(8, 3, 16, 16)
    loss = torch.nn.functional.cross_entropy(net(inputs), torch.arange(8) % 10)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def profiled():
    """What torch's profiler is told of memory. (To which operator it gives that depends on microseconds.)"""
    torch.set_num_threads(1)
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as prof:
        step(net, optimizer)
        shared = torch.zeros(4096).share_memory_()
        del shared
    events = [e for e in prof.profiler.kineto_results.events() if e.name() == "[memory]"]
    return {"bytes": [e.nbytes() for e in events]}


print(json.dumps({"failing": failing, "profiled": profiled}[sys.argv[1]]()))
