# SPDX-License-Identifier: Apache-2.0
"""Blocks on several streams: three of PyTorch's (two priorities), one of the program's own, one of another thread, and
those on which graphs are captured into private pools. Says at marked instants what torch.cuda.memory_snapshot() has
for each stream, and what number PyTorch gives the stream, as lines of JSON for tests/gpu/tensors/streams.py."""
import contextlib
import ctypes
import json
import threading

import torch

MIB = 1 << 20
streams = {}  # cudaStream_t → c10::StreamId


def megabytes(n):
    return torch.empty(int(n * MIB), dtype=torch.uint8, device="cuda")


def known(stream):
    streams[stream.cuda_stream] = stream.stream_id
    return stream


def external():
    handle = ctypes.c_uint64(0)
    torch.cuda.cudart().cudaStreamCreate(ctypes.addressof(handle))
    assert handle.value
    return known(torch.cuda.ExternalStream(handle.value))


@contextlib.contextmanager
def mark(name):
    """What the allocator has when this ends is what the phase of that name ends with."""
    torch.cuda.nvtx.range_push(name)
    yield
    segments = torch.cuda.memory_snapshot()
    torch.cuda.nvtx.range_pop()
    rows = {}
    for segment in segments:
        row = rows.setdefault(segment["stream"], {"reserved": 0, "live": 0})
        row["reserved"] += segment["total_size"]
        row["live"] += segment["allocated_size"]
    print(json.dumps({"mark": name, "streams": [
        {"handle": handle, "id": streams.get(handle), **row} for handle, row in sorted(rows.items())]}), flush=True)


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def capture(x, stream, pool=None):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool, stream=stream):
        y = x
        for _ in range(8):
            y = y * 2 + 1
    graph.replay()
    return graph, y


def main():
    keep = [megabytes(50)]
    known(torch.cuda.default_stream())
    low, high, other = (known(torch.cuda.Stream(priority=p)) for p in (0, -1, 0))
    with mark("sides"):
        for i, stream in enumerate((low, high, other, external())):
            with torch.cuda.stream(stream):
                blocks = [megabytes(3 + i) for _ in range(20)] + [torch.empty(100, device="cuda") for _ in range(50)]
            keep += blocks[::7]
            blocks = None
    with mark("back and forth"):
        for i in range(200):
            with torch.cuda.stream((low, high, other)[i % 3]):
                block = megabytes(1 + i % 5)
            keep += [megabytes(0.25)] if i % 20 == 0 else []
        block = None
    with mark("thread"):
        def work():
            keep.append(megabytes(12))
            with torch.cuda.stream(known(torch.cuda.Stream(priority=-1))):
                keep.append(megabytes(33))
        in_thread(work)
    with mark("used elsewhere"):  # what another stream still uses is taken back, and cannot be handed out yet
        with torch.cuda.stream(low):
            block = megabytes(64)
            block.record_stream(high)
            block = None
    torch.cuda.synchronize()
    with mark("graphs"):
        x = torch.zeros(1 << 20, device="cuda")
        for_graphs = known(torch.cuda.Stream())
        first, y = capture(x, for_graphs)
        second, z = capture(x, for_graphs, first.pool())
        third, w = capture(x, known(torch.cuda.Stream(priority=-1)))
    with mark("emptied"):
        torch.cuda.empty_cache()
    with mark("named"):  # a thread on the default stream asks for memory of another one
        with torch.cuda.stream(other):
            keep.append(megabytes(2))
        named = [torch.cuda.caching_allocator_alloc(size, stream=other) for size in [3 * MIB] + [4096] * 40]
    for at in named:
        torch.cuda.caching_allocator_delete(at)
    assert keep and first and second and third and y is not None and z is not None and w is not None


main()
