#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program of the question in its own terms: a graph for each of 128 batch sizes, inputs and output in pinned memory.

    pinned_question.py MODE [SIZES [WIDTH]]     prints one line of JSON

MODE: one (PyTorch, the largest size alone), smallest, largest (PyTorch, one shared pool; which size comes first), tare (the smallest
      first, tare.graphs.install() is the only line more), tare-largest, tare-few (one executable graph at a time), tare-device.

A capture copies both inputs from pinned memory to the GPU, computes, and copies the result back by a call of cudaMemcpyAsync through
ctypes, of which PyTorch knows nothing. The answers are compared with the CPU's.
"""
import ctypes
import gc
import json
import os
import random
import sys
import time

import torch

MODE, SIZES, WIDTH = sys.argv[1], *(int(a) for a in (sys.argv[2:] + ["128", "1024"][len(sys.argv) - 2:]))
MIB, TO_HOST = 1 << 20, 2
a, b, result = (torch.zeros(SIZES, WIDTH).pin_memory() for _ in range(3))


def runtime():
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        path = next(line.split(None, 5)[5].strip() for line in maps if "libcudart.so" in line)
    library = ctypes.CDLL(path)
    library.cudaMemcpyAsync.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    return library


RT = runtime()


def compute(n):
    x, y = a[:n].to("cuda", non_blocking=True), b[:n].to("cuda", non_blocking=True)
    out = x ** 2 + y * 2
    error = RT.cudaMemcpyAsync(result.data_ptr(), out.data_ptr(), out.nbytes, TO_HOST, torch.cuda.current_stream().cuda_stream)
    assert error == 0, error


def used():
    torch.cuda.synchronize()
    gc.collect()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return total - free


def wrong(graphs):
    count = 0
    for n in random.Random(3).sample(list(graphs), len(graphs)):
        a[:n].normal_()
        b[:n].normal_()
        result.fill_(-1)
        graphs[n].replay()
        torch.cuda.synchronize()
        want = torch.full_like(result, -1)
        want[:n] = a[:n] ** 2 + b[:n] * 2
        count += not torch.allclose(want, result)
    return count


def main():
    if MODE.startswith("tare"):
        from tare import graphs as tare_graphs

        tare_graphs.install(execs_max=1 if MODE == "tare-few" else 0, by_device=MODE == "tare-device")
    torch.cuda.Stream()
    for n in (1, SIZES):
        compute(n)
    sizes = [SIZES] if MODE == "one" else list(range(1, SIZES + 1))[::-1 if MODE.endswith("largest") else 1]
    before, graphs, pool = used(), {}, None
    begin = time.perf_counter()
    for n in sizes:
        graphs[n] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[n], pool=pool):
            compute(n)
        pool = pool or graphs[n].pool()
    row = {"mode": MODE, "sizes": len(sizes), "start_s": round(time.perf_counter() - begin, 2)}
    row["captured_MiB"] = (used() - before) / MIB
    row["wrong"] = None if os.environ.get("SIM") else wrong(graphs)
    host, order = [], random.Random(2).choices(sizes, k=4 * SIZES)
    for n in order:
        torch.cuda.synchronize()
        at = time.perf_counter()
        graphs[n].replay()
        host.append((time.perf_counter() - at) * 1e6)
    host.sort()
    row["host_p50_us"], row["host_p99_us"] = (round(host[int(q * len(host))], 1) for q in (0.5, 0.99))
    row["after_replays_MiB"] = (used() - before) / MIB
    if MODE.startswith("tare"):
        row["stats"] = tare_graphs.stats()
    print(json.dumps(row), flush=True)


main()
