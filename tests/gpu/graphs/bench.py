# SPDX-License-Identifier: Apache-2.0
"""What graphs of many sizes cost with tare.graphs, for programs of several kinds.

    bench.py MODEL MODE     prints one line of JSON

MODEL: mlp (48 layers), decode (a transformer's decode step, whole), pieces (the same, one graph per
       layer's halves and attention between them run eagerly), lattice (conjugate gradients on 4-D
       lattices: sizes, shapes and iteration counts mixed), tiny (10 small kernels), wide (24 layers
       on many rows: every step lasts more than ten times an update).
MODE:  largest   the neediest size alone
       all       every size: memory, right answers, growth over many replays
       few       the same with one executable graph at a time (execs_max=1)
       device    the same with switches by the card (by_device=True)
       plain     every size, ascending, PyTorch's own graphs with one shared pool
       pair      time: one executable graph per topology against one per size, switching every step
       pair-device  the same, and the card switches
"""

import json
import os
import random
import statistics
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it bf16 products vary run by run

import torch

from tare import graphs

MIB = 1 << 20
MANY = 100_000
SECONDS = float(os.environ.get("BENCH_SECONDS", 10))  # for MANY replays; fewer are said


def mlp():
    net = torch.nn.Sequential(*[layer for _ in range(48) for layer in
                                (torch.nn.Linear(2048, 2048), torch.nn.GELU())]).cuda().bfloat16()
    x = torch.randn(128, 2048, device="cuda", dtype=torch.bfloat16)
    return {bs: [lambda before, bs=bs: net(x[:bs])] for bs in range(1, 129)}


class Block(torch.nn.Module):
    def __init__(self, width, heads, room, length):
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        for name in ("k", "v"):
            self.register_buffer(name, torch.randn(room, heads, length, width // heads))

    def before(self, x):
        return self.qkv(self.norms[0](x))

    def attend(self, qkv):
        bs = qkv.shape[0]
        q, k, v = qkv.view(bs, 3, self.heads, 1, -1).unbind(1)
        self.k[:bs, :, -1:], self.v[:bs, :, -1:] = k, v
        y = torch.nn.functional.scaled_dot_product_attention(q, self.k[:bs], self.v[:bs])
        return y.reshape(bs, -1)

    def after(self, x, y):
        x = x + self.out(y)
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


def blocks():
    layers = torch.nn.ModuleList([Block(1024, 16, 64, 512) for _ in range(12)]).cuda().bfloat16()
    return layers, torch.randn(64, 1024, device="cuda", dtype=torch.bfloat16)


def decode():
    layers, x = blocks()

    def step(bs):
        y = x[:bs]
        for layer in layers:
            y = layer.after(y, layer.attend(layer.before(y)))
        return y

    return {bs: [lambda before, bs=bs: step(bs)] for bs in range(1, 65)}


def pieces():
    """Captured: all but attention. Attention writes to memory that the next piece reads."""
    layers, x = blocks()
    attended = torch.zeros_like(x)

    def first(bs):
        return x[:bs], layers[0].before(x[:bs])

    def middle(bs, i, before):
        y = layers[i].after(before[0], attended[:bs])
        return y, (layers[i + 1].before(y) if i + 1 < len(layers) else y)

    def eager(bs, i, before):
        attended[:bs] = layers[i].attend(before[1])

    plan = {}
    for bs in range(4, 65, 4):
        steps = [lambda before, bs=bs: first(bs)]
        for i in range(len(layers)):
            steps.append(("eager", lambda before, bs=bs, i=i: eager(bs, i, before)))
            steps.append(lambda before, bs=bs, i=i: middle(bs, i, before))
        plan[bs] = steps
    return plan


def lattice():
    def solve(source, iterations):
        def matrix(f):
            total = 8.5 * f
            for axis in range(1, 5):
                total = total - torch.roll(f, 1, axis) - torch.roll(f, -1, axis)
            return total

        answer, rest = torch.zeros_like(source), source
        way, norm = rest, (rest * rest).sum()
        for _ in range(iterations):
            image = matrix(way)
            length = norm / (way * image).sum()
            answer, rest = answer + length * way, rest - length * image
            new = (rest * rest).sum()
            way, norm = rest + (new / norm) * way, new
        return answer

    plan = {}
    for side in (6, 8, 10):
        source = torch.randn(8, side, side, side, 4 * side, device="cuda")
        for bs in range(1, 9):
            for iterations in (20, 60):
                plan[bs, side, iterations] = [
                    lambda before, s=source[:bs], n=iterations: solve(s, n)]
    return plan


def tiny():
    x = torch.randn(128, 1024, device="cuda")

    def step(bs):
        y = x[:bs]
        for _ in range(10):
            y = y * 1.01
        return y

    return {bs: [lambda before, bs=bs: step(bs)] for bs in range(1, 129)}


def wide():
    net = torch.nn.Sequential(*[layer for _ in range(24) for layer in
                                (torch.nn.Linear(4096, 4096), torch.nn.GELU())]).cuda().bfloat16()
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    return {rows: [lambda before, rows=rows: net(x[:rows])] for rows in range(1024, 4097, 256)}


MODELS = {"mlp": mlp, "decode": decode, "pieces": pieces, "lattice": lattice, "tiny": tiny, "wide": wide}


def used():
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return total - free


def run_eagerly(steps):
    before = None
    for step in steps:
        if isinstance(step, tuple):
            step[1](before)
        else:
            before = step(before)
    return before


def capture(arena, key, steps):
    """The steps that a replay goes through: names of graphs, and functions that run eagerly."""
    done, before, after = [], None, None
    for i, step in enumerate(steps):
        if isinstance(step, tuple):
            done.append(step[1])
            continue
        with arena.capture((key, i), after=after) as graph:
            before = graph.outputs = step(before)
        after = key, i
        done.append(after)
    return done


def replay(arena, steps):
    outputs = None
    for step in steps:
        if callable(step):
            step(outputs)
        else:
            outputs = arena.replay(step)
    return outputs


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b)) if isinstance(a, tuple) else torch.equal(a, b)


def needs(plan):
    return list(plan)[-1]  # the plans end with the neediest


def measure_all(plan, keys, row):
    arena = graphs.Graphs(execs_max=row["mode"] == "few", by_device=row["mode"] == "device")
    before = used()
    begin = time.perf_counter()
    ready = {key: capture(arena, key, plan[key]) for key in keys}
    row["capture_s"] = round(time.perf_counter() - begin, 2)
    row["captured_MiB"] = round((used() - before) / MIB, 1)
    for key in random.Random(1).choices(keys, k=200):
        replay(arena, ready[key])
    row["replayed_MiB"] = round((used() - before) / MIB, 1)
    row["wrong"] = row["eager_varies"] = 0
    for key in random.Random(2).sample(keys, len(keys)):
        got = replay(arena, ready[key])
        got = tuple(t.clone() for t in got) if isinstance(got, tuple) else got.clone()
        want = run_eagerly(plan[key])
        row["wrong"] += not same(got, want)
        row["eager_varies"] += not same(want, run_eagerly(plan[key]))
    if len(keys) > 1:
        level, chosen = used(), random.Random(3)
        begin = time.perf_counter()
        count = 0
        while count < MANY and time.perf_counter() - begin < SECONDS:
            replay(arena, ready[chosen.choice(keys)])
            count += 1
        row["replays"], row["growth_bytes"] = count, used() - level
    row["stats"], row["groups"] = arena.stats(), arena.groups()
    arena.destroy()


def measure_plain(plan, keys, row):
    before = used()
    pool, kept = None, []
    for key in keys:
        value = None
        for step in plan[key]:
            if isinstance(step, tuple):
                continue
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                value = step(value)
            pool = pool or graph.pool()
            kept.append(graph)
    del value
    for graph in kept[:200]:
        graph.replay()
    row["captured_MiB"] = round((used() - before) / MIB, 1)


def timed(arena, ready, order):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for key in order:
        replay(arena, ready[key])
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / len(order) * 1e6


def alone(arena, ready, order):
    """Host and device time of single steps, the device idle before each."""
    host, device = [], []
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for key in order:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        start.record()
        replay(arena, ready[key])
        end.record()
        host.append((time.perf_counter() - begin) * 1e6)
        torch.cuda.synchronize()
        device.append(start.elapsed_time(end) * 1e3)
    host.sort()
    return {"host_p50": round(statistics.median(host), 1), "host_p99": round(host[int(len(host) * 0.99)], 1),
            "device_p50": round(statistics.median(device), 1)}


def measure_pair(plan, keys, row):
    one = graphs.Graphs(check=False, by_device=row["mode"] == "pair-device")
    many = graphs.Graphs(check=False, execs_per_group=len(keys) * 30)
    ready = {key: capture(one, key, plan[key]) for key in keys}
    also = {key: capture(many, key, plan[key]) for key in keys}
    chosen = random.Random(4)
    order = [chosen.choice(keys) for _ in range(300)]
    order = [key for i, key in enumerate(order) if i == 0 or key != order[i - 1]]  # always a switch
    times = {"switch": [], "separate": []}
    for _ in range(9):
        times["switch"].append(timed(one, ready, order))
        times["separate"].append(timed(many, also, order))
    switch, separate = (statistics.median(times[name]) for name in ("switch", "separate"))
    row["step_us_switch"], row["step_us_separate"] = round(switch, 1), round(separate, 1)
    losses = sorted((a / b - 1) * 100 for a, b in zip(times["switch"], times["separate"]))
    row["loss_percent"] = round(statistics.median(losses), 2)
    row["loss_low"], row["loss_high"] = round(losses[1], 2), round(losses[-2], 2)  # 96 % interval of 9
    row["alone_switch"], row["alone_separate"] = alone(one, ready, order), alone(many, also, order)
    stats = one.stats()
    if stats["device_switches"]:
        row["nodes_per_graph"] = round(stats["template_nodes"] / stats["captures"], 1)
        row["groups"], row["device_switches"] = stats["groups"], stats["device_switches"]
        row["host_switches"] = stats["updates"] + stats["node_switches"]
        return
    nodes = stats["node_switch_nodes"] + stats["updates"] * stats["template_nodes"] / stats["captures"]
    row["switches"] = stats["updates"] + stats["node_switches"]
    row["switch_us"] = round((stats["update_ns"] + stats["node_switch_ns"]) / 1e3 / row["switches"], 1)
    row["switch_ns_per_node"] = round((stats["update_ns"] + stats["node_switch_ns"]) / nodes)
    row["nodes_per_graph"] = round(stats["template_nodes"] / stats["captures"], 1)


@torch.no_grad()
def main():
    name, mode = sys.argv[1:3]
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    torch.cuda.Stream()  # PyTorch makes its streams together: not in what is measured
    plan = MODELS[name]()
    keys = [needs(plan)] if mode == "largest" else list(plan)
    for key in plan:  # warm-up: nothing may be loaded or tuned in a capture
        run_eagerly(plan[key])
    row = {"model": name, "mode": mode, "sizes": len(keys)}
    {"plain": measure_plain, "pair": measure_pair, "pair-device": measure_pair}.get(mode, measure_all)(plan, keys, row)
    print(json.dumps(row), flush=True)


main()
