# SPDX-License-Identifier: Apache-2.0
"""The question's script: one graph per batch size, and what the device has to give for all of them.

    question.py MODE WIDTH [SIZES]     prints one line of JSON

MODE: ascending, descending (largest first), random: plain PyTorch, one shared pool.
      expandable: ascending, with expandable segments. largest: the largest size alone.
      tare-ascending, tare-descending, tare-random, tare-largest: the same with tare.graphs.
      tare-separate: the arena, but an executable graph for every size.
"""

import json
import os
import random
import sys
import time

mode, width = sys.argv[1], int(sys.argv[2])
sizes = int(sys.argv[3]) if len(sys.argv) > 3 else 128
if mode == "expandable":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch  # noqa: E402

MIB = 1 << 20
is_tare = mode.startswith("tare-")
order = mode.removeprefix("tare-")


def model(x):
    a = x + 1
    b = a * 2
    c = torch.relu(b - 3)
    d = a * c
    return d + b


def used():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


x = torch.randn(sizes, width, device="cuda")
batches = list(range(1, sizes + 1))
if order == "descending":
    batches.reverse()
elif order == "random":
    random.Random(1).shuffle(batches)
elif order == "largest":
    batches = [sizes]

stream = torch.cuda.Stream()
with torch.cuda.stream(stream):  # warm-up: kernels, streams, pools
    for bs in {1, sizes}:
        model(x[:bs])
torch.cuda.synchronize()
if is_tare:
    from tare import graphs

    arena = graphs.Graphs(execs_per_group=sizes if order == "separate" else 1)
del stream
torch.cuda.empty_cache()
before = used()
started = time.perf_counter()
kept, outputs = {}, {}
pool = None
for bs in batches:
    if is_tare:
        with arena.capture(bs) as graph:
            outputs[bs] = model(x[:bs])
    else:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            outputs[bs] = model(x[:bs])
        pool = pool or graph.pool()
        kept[bs] = graph
        outputs[bs] = outputs[bs].data_ptr(), outputs[bs].shape  # as engines do: no reference kept
capture_s = time.perf_counter() - started
captured = used() - before

replay = arena.replay if is_tare else lambda bs: kept[bs].replay()
rounds = random.Random(2).choices(batches, k=len(batches))
for bs in rounds:
    replay(bs)
torch.cuda.synchronize()
host_us = []
for bs in rounds * 4:
    begin = time.perf_counter()
    replay(bs)
    host_us.append((time.perf_counter() - begin) * 1e6)
    torch.cuda.synchronize()
after = used()
wrong = 0
if is_tare:  # plain PyTorch's outputs have been given back to the pool here
    for bs in random.Random(3).sample(batches, len(batches)):
        replay(bs)
        wrong += not torch.equal(outputs[bs] + 0, model(x[:bs]))
row = {
    "mode": mode, "width": width, "sizes": len(batches),
    "captured_MiB": round(captured / MIB, 1),
    "after_replays_MiB": round((after - before) / MIB, 1),
    "capture_s": round(capture_s, 2),
    "replay_host_us_p50": round(percentile(host_us, 0.5), 1),
    "replay_host_us_p99": round(percentile(host_us, 0.99), 1),
    "wrong": wrong if is_tare else None,
}
if is_tare:
    row["stats"] = arena.stats()
print(json.dumps(row), flush=True)
