# SPDX-License-Identifier: Apache-2.0
"""A model captured for every batch size up to 128, in the memory of the largest.

    PYTHONPATH=python python3 examples/graphs_torch.py              tare.graphs
    PYTHONPATH=python python3 examples/graphs_torch.py install      torch.cuda.graph, one line added
    python3 examples/graphs_torch.py plain                          torch.cuda.graph as it is

tests/gpu/graphs/bench.py has larger ones: a 48-layer MLP, a transformer's decode step whole and in
pieces, lattice solvers.
"""

import sys

import torch

mode = sys.argv[1] if len(sys.argv) > 1 else "tare"
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda().eval()
x = torch.randn(128, 1024, device="cuda")


def used():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return (total - free) / (1 << 20)


with torch.no_grad():
    for bs in range(1, 129):  # warm up: nothing is to be loaded in a capture
        model(x[:bs])
    torch.cuda.Stream()
    torch.cuda.empty_cache()
    before = used()
    if mode == "tare":
        from tare import graphs

        for bs in range(1, 129):
            with graphs.capture(bs) as capture:
                capture.outputs = model(x[:bs])
        y = graphs.replay(17)
    else:
        if mode == "install":
            import tare.graphs

            tare.graphs.install()
        captured, outputs = {}, {}
        for bs in range(1, 129):
            captured[bs] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured[bs]):
                outputs[bs] = model(x[:bs])
        captured[17].replay()
        y = outputs[17]
    print(f"{mode}: 128 graphs, {used() - before:.1f} MiB, "
          f"right: {torch.allclose(y, model(x[:17]), atol=1e-5)}")
