# SPDX-License-Identifier: Apache-2.0
"""Phases on a real GPU: a network moved to the GPU by one line, six captures marked by NVTX with a
parameter in their name, and the cost of emit_nvtx. Line 28 is a phase by --phase. Prints the device's
memory around the line and each capture, from torch.cuda.mem_get_info, and the time of a step."""
import statistics
import time

import torch
from torch import nn


def used():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free


def row(name, before):
    now = used()
    print("phase\t%s\t%.1f\t%+.1f" % (name, now / 2**20, (now - before) / 2**20), flush=True)
    return now


torch.cuda.init()
torch.zeros(1, device="cuda")
net = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)])
before = used()
net = net.to("cuda")  # keep this on its line: tests/gpu/phases.sh names it


row("phases_torch.py:28", before)
x = torch.randn(64, 2048, device="cuda")
keep = []
with torch.no_grad():
    net(x)
    before = used()
    for max_iter in (100, 200, 400, 800, 1200, 1600):
        name = "force_graph max_iter=%d" % max_iter
        torch.cuda.nvtx.range_push(name)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x
            for _ in range(max_iter // 8):
                y = net(y)
        graph.replay()
        used()
        torch.cuda.nvtx.range_pop()
        keep.append((graph, y))
        before = row(name, before)


def step():
    net.zero_grad()
    net(x).sum().backward()


def time_of(count):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / count * 1e6


time_of(50)
plain, marked = [], []
for _ in range(15):
    plain.append(time_of(20))
    with torch.autograd.profiler.emit_nvtx():
        marked.append(time_of(20))
print("step %.1f us, with emit_nvtx %.1f us" % (statistics.median(plain), statistics.median(marked)))
