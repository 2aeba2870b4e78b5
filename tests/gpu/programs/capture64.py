# SPDX-License-Identifier: Apache-2.0
"""The forum question: a model captured into a CUDA graph for each of 64 batch sizes, largest first."""
import sys

import torch

net = torch.nn.Sequential(*[layer for _ in range(8) for layer in (torch.nn.Linear(2048, 2048), torch.nn.GELU())])
net = net.half().cuda().eval()
x = torch.randn(64, 2048, dtype=torch.half, device="cuda")
graphs, outputs, pool = [], [], None
with torch.no_grad():
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        net(x)
    torch.cuda.current_stream().wait_stream(stream)
    for size in range(64, 0, -1):
        graph = torch.cuda.CUDAGraph()
        torch.cuda.nvtx.range_push("capture size=%d" % size)
        with torch.cuda.graph(graph, pool=pool):
            outputs.append(net(x[:size]))
        torch.cuda.nvtx.range_pop()
        graphs.append(graph)
        if "--share-pool" in sys.argv:
            pool = graph.pool()
for graph in graphs:
    graph.replay()
torch.cuda.synchronize()
with torch.no_grad():
    right = all(torch.allclose(y, net(x[:len(y)]), atol=1e-2) for y in outputs)
print("%d graphs, reserved %.1f MiB" % (len(graphs), torch.cuda.memory_reserved() / 2**20))
sys.exit(0 if right else "the replays do not compute what the model does")
