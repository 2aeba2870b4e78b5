#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with a CUDA graph for each size, with PyTorch's own graphs or with tare.graphs: what it takes, how long it is.

    beside.py PROGRAM MODE [small]     prints one line of JSON

PROGRAM: server (../programs/mini_server.py: continuous batching, a paged cache, 35 sizes), static (decoding by transformers
         with a static cache, ../programs/static_cache.py: 16 sizes).
MODE:    alone (PyTorch, the largest size only), smallest (PyTorch, one shared pool, the smallest size first), largest (the same,
         the largest first), tare (tare.graphs.install(), the smallest first), tare-largest, tare-few (the smallest
         first, one executable graph at a time), tare-device (the smallest first, the card switches), tare-keepN (the smallest first, the N
         executable graphs that were used last), nodes (PyTorch, the smallest first: which nodes the graphs have, how many topologies and
         lists of functions there are, and how many nodes a graph would have that has those of all).
small:   a model for a simulated card.

The programs do not know of it: `install()` is the one line that a program gets.
"""
import collections
import ctypes
import difflib
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
        mixed(graphs, row)


def mixed(graphs, row):
    """A few sizes come most of the time, as in a server: the k-th most used one k times less often than the first."""
    keys, chosen, host, done = list(graphs), random.Random(5), [], []
    chosen.shuffle(keys)
    for n in chosen.choices(keys, [1 / k for k in range(1, len(keys) + 1)], k=20 if SMALL else 3 * STEPS):
        time_replay(graphs[n], host, done)
    row["mixed_p50"], row["mixed_p99"] = percentile(host, 0.5), percentile(host, 0.99)
    row["mixed_mean"] = round(sum(host) / len(host), 1)


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


NODE_TYPES = ("kernel", "memcpy", "memset", "host", "graph", "empty", "wait", "record", "signal", "external wait", "alloc", "free")


class KernelParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2"""
    _fields_ = [("func", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("params", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kern", ctypes.c_void_p), ("ctx", ctypes.c_void_p)]


def nodes_of(cu, graph):
    """(type, function, block, shared memory) of each node, in the driver's order."""
    count, said = ctypes.c_size_t(), []
    assert cu.cuGraphGetNodes(graph, None, ctypes.byref(count)) == 0
    nodes = (ctypes.c_void_p * count.value)()
    assert cu.cuGraphGetNodes(graph, nodes, ctypes.byref(count)) == 0
    for node in nodes:
        kind, params = ctypes.c_int(), KernelParams()
        assert cu.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind)) == 0
        if kind.value == 0:
            assert cu.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(node), ctypes.byref(params)) == 0
        name = kind_of_copy(cu, node) if kind.value == 1 else NODE_TYPES[kind.value]
        said.append((name, params.func or params.kern, tuple(params.block), params.shared))
    return said


class Memcpy(ctypes.Structure):
    """CUDA_MEMCPY3D, as far as the kinds of memory"""
    _fields_ = [("src", ctypes.c_size_t * 4), ("src_type", ctypes.c_int), ("src_host", ctypes.c_void_p), ("src_device", ctypes.c_uint64),
                ("src_array", ctypes.c_void_p * 2), ("src_pitch", ctypes.c_size_t * 2), ("dst", ctypes.c_size_t * 4),
                ("dst_type", ctypes.c_int), ("rest", ctypes.c_byte * 80)]


def kind_of_copy(cu, node):
    params = Memcpy()
    assert cu.cuGraphMemcpyNodeGetParams(ctypes.c_void_p(node), ctypes.byref(params)) == 0
    return "memcpy %d to %d" % (params.src_type, params.dst_type)


def with_nodes_of(all_of_them, more):
    """The first list, with what the second has in addition where it stands there."""
    out = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, all_of_them, more, autojunk=False).get_opcodes():
        out += all_of_them[a:b] + ([] if what in ("equal", "delete") else more[c:d])
    return out


def list_nodes(program):
    """What stands in the way of one executable graph for all."""
    cu, lists = ctypes.CDLL("libcuda.so.1"), {}
    for n in program.sizes:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph):
            program.run(n)
        lists[n] = nodes_of(cu, ctypes.c_void_p(graph.raw_cuda_graph()))
    union, lengths = [], []
    for said in lists.values():
        union = with_nodes_of(union, said)
        lengths.append(len(union))
    kinds = collections.Counter(kind for said in lists.values() for kind, *_ in said)
    print(json.dumps({"program": NAME, "nodes_of_all": dict(kinds), "graphs": len(lists),
                      "nodes": sorted(set(map(len, lists.values()))),
                      "nodes_of_a_graph_with_all": lengths,
                      "rows_of_types": len({tuple(kind for kind, *_ in said) for said in lists.values()}),
                      "rows_of_functions": len({tuple(said) for said in lists.values()}),
                      "rows_without_blocks": len({tuple(x[:2] for x in said) for said in lists.values()})}), flush=True)


@torch.no_grad()
def main():
    torch.manual_seed(1)
    if IS_TARE:
        from tare import graphs as tare_graphs

        keep = 1 if MODE == "tare-few" else int(MODE.partition("tare-keep")[2] or 0)
        tare_graphs.install(execs_max=keep, execs_per_group=keep or 1, by_device=MODE == "tare-device")
    torch.cuda.Stream()  # PyTorch makes its streams together: not in what is measured
    program = {"server": Server, "static": Static}[NAME]()
    for n in program.sizes:  # nothing may be loaded in a capture
        program.run(n)
    sizes = program.sizes[:1] if MODE == "alone" else program.sizes if MODE.endswith("largest") else program.sizes[::-1]
    if MODE == "nodes":
        list_nodes(program)
        return
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
