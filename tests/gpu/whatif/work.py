# SPDX-License-Identifier: Apache-2.0
"""A program whose requests for memory are the same under every setting: work.py NAME [SNAPSHOT] [FRACTION]

With SNAPSHOT (or "-") it keeps the history of memory and writes it there; with FRACTION it may have so much of the
card. Prints a line of JSON: what was reserved at most, and whether memory ran out.
"""
import json
import random
import sys

import torch


def resnet():
    """Batches of several sizes, as the last one of an epoch is."""
    import torchvision

    net = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for batch in (32, 48, 24, 40, 32, 16):
        x = torch.randn(batch, 3, 224, 224, device="cuda")
        y = torch.randint(0, 1000, (batch,), device="cuda")
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


def sequences():
    """A transformer over sentences of several lengths."""
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0)
    net = torch.nn.TransformerEncoder(layer, 8).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    lengths = random.Random(7)
    for _ in range(30):
        x = torch.randn(16, lengths.randrange(64, 768), 512, device="cuda")
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()


def mixed():
    """Tensors of all sizes that come and go, on two streams."""
    choose = random.Random(11)
    side = torch.cuda.Stream()
    kept = []
    for _ in range(4000):
        size = int(2 ** choose.uniform(9, 26))
        if choose.random() < 0.2:
            with torch.cuda.stream(side):
                kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        else:
            kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        while len(kept) > 60:
            kept.pop(choose.randrange(len(kept)))


def shared():
    """Batches that one stream makes and another works on (record_stream), as a loader that copies ahead does."""
    choose = random.Random(5)
    copies, works = torch.cuda.Stream(), torch.cuda.current_stream()
    kept, weights = [], torch.randn(2048, 2048, device="cuda")
    for step in range(600):
        with torch.cuda.stream(copies):
            batch = torch.randn(choose.randrange(16, 2048), 2048, device="cuda")
        works.wait_stream(copies)
        batch.record_stream(works)
        y = batch @ weights
        if choose.random() < 0.3:
            y.record_stream(copies)
            with torch.cuda.stream(copies):
                y.mul_(2)
        kept.append(y)
        del batch, y
        while len(kept) > 8:
            kept.pop(choose.randrange(len(kept)))
        if step % 50 == 49:
            torch.cuda.synchronize()


def graphs():
    """Four batch sizes captured into one pool, and one with a pool of its own that goes before the end."""
    net = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]).cuda()
    pool, kept = None, []
    for batch in (64, 32, 16, 8):
        x = torch.randn(batch, 1024, device="cuda")
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            net(x)
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            y = net(x)
        pool = graph.pool()
        kept.append((graph, x, y))
    x = torch.randn(256, 1024, device="cuda")
    own = torch.cuda.CUDAGraph()
    with torch.cuda.graph(own):
        y = net(x)
    own.replay()
    del own, y
    torch.cuda.empty_cache()
    for graph, x, y in kept:
        graph.replay()
    [torch.empty(3 << 20, device="cuda") for _ in range(8)]


def main(name, snapshot="-", fraction=None):
    if fraction:
        torch.cuda.set_per_process_memory_fraction(float(fraction))
    if snapshot != "-":
        torch.cuda.memory._record_memory_history(max_entries=1000000)
    ran_out = False
    try:
        {"resnet": resnet, "sequences": sequences, "mixed": mixed, "shared": shared, "graphs": graphs}[name]()
    except torch.OutOfMemoryError:
        ran_out = True
    torch.cuda.synchronize()
    if snapshot != "-":
        torch.cuda.memory._dump_snapshot(snapshot)
    print(json.dumps({"reserved": torch.cuda.max_memory_reserved(), "allocated": torch.cuda.max_memory_allocated(), "ran_out": ran_out,
                      "total": torch.cuda.get_device_properties(0).total_memory}), flush=True)


main(*sys.argv[1:])
