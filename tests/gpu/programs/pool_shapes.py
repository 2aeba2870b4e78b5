# SPDX-License-Identifier: Apache-2.0
"""What makes PyTorch's pool hard to read: blocks that pin segments, other streams, CUDA graphs with a pool
of their own, an error of memory that is caught. Says at marked instants what torch counts, as
resnet50_pool.py does."""
import contextlib
import json

import torch

from torch_marks import mark

MIB = 1 << 20


def megabytes(n):
    return torch.empty(n * MIB, dtype=torch.uint8, device="cuda")


def main():
    with mark("pinned"):
        some = [megabytes(6) for _ in range(60)]
        keep = some[::7]
        some = None
    with mark("small"):
        tiny = [torch.empty(128, device="cuda") for _ in range(20000)]
        tiny = tiny[::100]
    with mark("stream"):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            other = [megabytes(30) for _ in range(4)]
        other = other[:1]
    with mark("graph"):
        x = torch.zeros(1024, 1024, device="cuda")
        x @ x  # cuBLAS cannot begin while a stream is captured
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x
            for _ in range(8):
                y = y @ x + 1
        graph.replay()
    with mark("emptied"):
        torch.cuda.empty_cache()
    with mark("no graph"):
        graph = y = None
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    with mark("caught"), contextlib.suppress(torch.cuda.OutOfMemoryError):
        megabytes(free // MIB + 1024)
    print(json.dumps({"peak": torch.cuda.max_memory_allocated()}), flush=True)
    assert keep and tiny and other


main()
