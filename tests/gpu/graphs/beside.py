#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with a CUDA graph for each size, with PyTorch's own graphs or with tare.graphs: what it takes, how long it is.

    beside.py PROGRAM MODE [small]     prints one line of JSON

PROGRAM: server (../programs/mini_server.py: continuous batching, a paged cache, 35 sizes), static (decoding by transformers
         with a static cache, ../programs/static_cache.py: 16 sizes).
MODE:    alone (PyTorch, the largest size only), smallest (PyTorch, one shared pool, the smallest size first), largest (the same,
         the largest first), tare (tare.graphs.install(), the smallest first), tare-largest, tare-few (the smallest
         first, one executable graph at a time), tare-device (the smallest first, the card switches).
small:   a model for a simulated card.

The programs do not know of it: `install()` is the one line that a program gets.
"""
import gc
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs"))

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it bf16 products vary run by run

import torch  # noqa: E402

import tare  # noqa: E402

MIB = 1 << 20
STEPS = 300 if sys.argv[1] == "static" else 100
NAME, MODE = sys.argv[1:3]
SMALL = sys.argv[3:] == ["small"]
IS_TARE = MODE.startswith("tare")


def used():
    """Of the card, without what PyTorch can give back at once."""
    torch.cuda.synchronize()
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return total - free


class Server:
    def __init__(self):
        import mini_server

        large = ["--layers", "16", "--width", "2048", "--heads", "16", "--prompt", "1024", "--vocabulary", "32000", "--cache", "8192"]
        self.module = mini_server
        self.server = mini_server.Server(mini_server.arguments(["--cache", "256", "--most", "64"] if SMALL else large))
        self.server.cache = mini_server.Cache(self.server.o)
        self.sizes = mini_server.sizes(self.server.o.most)

    def run(self, n):
        """One step without a graph; what it answers."""
        self.server.decode(n)
        return self.server.tokens[:n]

    def capture(self, sizes):
        """As the program does, in this order."""
        self.module.sizes = lambda _most: sizes
        self.server.capture()
        return self.server.graphs

    def answer(self, n):
        return self.server.tokens[:n]

    def reset(self):
        """As many requests as fit, each with a page of its own and one token read."""
        most = torch.arange(self.server.o.most, device="cuda")
        self.server.tokens.copy_(most * 37 % self.server.o.vocabulary)
        self.server.tables.copy_(most[:, None].expand_as(self.server.tables))
        self.server.slots.copy_(most * self.module.PAGE)
        self.server.cache.all.zero_()


class Static:
    def __init__(self):
        import static_cache

        self.decoder = static_cache.Decoder(*([2, 256, 512, 4] if SMALL else [16, 2048, 4096, 8]))
        self.sizes = list(range(static_cache.TOKENS, 0, -1))
        self.answers = torch.zeros(self.decoder.words.shape, dtype=torch.long, device="cuda")
        self.run(self.sizes[0])

    def run(self, n):
        self.answers[:, :n] = self.decoder.step(n).argmax(2)
        return self.answers[:, :n]

    def capture(self, sizes):
        graphs, pool = {}, None
        for n in sizes:
            self.run(n)
            torch.cuda.synchronize()
            graphs[n] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[n], pool=pool):
                self.run(n)
            pool = pool or graphs[n].pool()
        return graphs

    def answer(self, n):
        return self.answers[:, :n]

    def reset(self):
        words = self.decoder.words
        words.copy_((torch.arange(words.numel(), device="cuda") * 37 % 8192).view_as(words))
        self.answers.zero_()


def percentile(values, share):
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 1)


def wrong(program, graphs):
    """Sizes, in random order, whose replay does not answer what the same step without a graph does."""
    count = 0
    for n in random.Random(3).sample(list(graphs), len(graphs)):
        program.reset()
        want = program.run(n).clone()
        program.reset()
        graphs[n].replay()
        count += not torch.equal(want, program.answer(n))
    return count


def time_replay(graph, host, done):
    """The card idle before it: until the host is back, and until the card is done, in µs."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    graph.replay()
    host.append((time.perf_counter() - begin) * 1e6)
    torch.cuda.synchronize()
    done.append((time.perf_counter() - begin) * 1e6)


def times(graphs, row):
    """Each step another size: alone, the card idle before it (host and until it is done), and one after the other."""
    keys, chosen, order = list(graphs), random.Random(4), []
    while len(order) < (20 if SMALL else STEPS):
        order += [n for n in [chosen.choice(keys)] if not order or len(keys) == 1 or n != order[-1]]
    host, done = [], []
    for n in order:
        time_replay(graphs[n], host, done)
    begin = time.perf_counter()
    for n in order:
        graphs[n].replay()
    torch.cuda.synchronize()
    row["step_us"] = round((time.perf_counter() - begin) / len(order) * 1e6, 1)
    row["host_p50"], row["host_p99"], row["done_p50"] = percentile(host, 0.5), percentile(host, 0.99), percentile(done, 0.5)
    if IS_TARE:
        prepared(graphs, order, row)


def prepared(graphs, order, row):
    """The next size is prepared while a step runs; then the card is waited for, and the next step launched."""
    ahead, host, done = [], [], []
    for before, n in zip(order, order[1:]):
        graphs[before].replay()
        begin = time.perf_counter()
        graphs[n].prepare()
        ahead.append((time.perf_counter() - begin) * 1e6)
        time_replay(graphs[n], host, done)
    row["prepare_p50"], row["prepare_p99"] = percentile(ahead, 0.5), percentile(ahead, 0.99)
    row["prepared_p50"], row["prepared_p99"], row["prepared_done_p50"] = (
        percentile(host, 0.5), percentile(host, 0.99), percentile(done, 0.5))


@torch.no_grad()
def main():
    torch.manual_seed(1)
    if IS_TARE:
        from tare import graphs as tare_graphs

        tare_graphs.install(execs_max=1 if MODE == "tare-few" else 0, by_device=MODE == "tare-device")
    torch.cuda.Stream()  # PyTorch makes its streams together: not in what is measured
    program = {"server": Server, "static": Static}[NAME]()
    for n in program.sizes:  # nothing may be loaded in a capture
        program.run(n)
    sizes = program.sizes[:1] if MODE == "alone" else program.sizes if MODE.endswith("largest") else program.sizes[::-1]
    before = used()
    with tare.phase("graphs"):
        begin = time.perf_counter()
        graphs = program.capture(sizes)
        torch.cuda.synchronize()
        row = {"program": NAME, "mode": MODE, "sizes": len(sizes), "start_s": round(time.perf_counter() - begin, 2)}
        for n in sizes:
            graphs[n].replay()
        row["bytes"] = used() - before
    row["wrong"] = None if SMALL else wrong(program, graphs)  # a simulated card computes nothing
    if not os.environ.get("BESIDE_BYTES_ONLY"):
        times(graphs, row)
    row["grown"] = used() - before - row["bytes"]
    if IS_TARE:
        stats = tare_graphs.stats()
        row["groups"] = stats["groups"]
        row["nodes"] = round(stats["template_nodes"] / stats["captures"])
        row["stats"] = stats
    print(json.dumps(row), flush=True)


main()
