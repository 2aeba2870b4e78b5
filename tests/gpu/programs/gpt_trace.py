#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a GPT asks PyTorch's allocator for, one file per configuration: for tests/bench/fit_replay.py.

    python3 gpt_trace.py FOLDER [--optimizer adamw] [--vocabulary 32000] [--seq 256,1024] ...

A file is named d_model,layers,seq,batch. A line is the size of a request, or -1-n: the n-th request is freed. On a GPU the
first line is "# peak_allocated peak_reserved" as PyTorch says them. Without a GPU the requests on the CPU are written.
"""

import argparse
import itertools
import os
import sys

os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # is_available() would make fork() unusable

import torch  # noqa: E402
from torch import nn
from torch.nn import functional

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.heads = d // 64
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, 64).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = functional.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, d, layers, seq):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, d), nn.Embedding(seq, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary, bias=False)

    def forward(self, x):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


def train(args, d, layers, seq, batch):
    model = Gpt(args.vocabulary, d, layers, seq).to(DEVICE)
    if args.optimizer == "adamw":
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(args.steps):
        x = torch.randint(0, args.vocabulary, (2, batch, seq)).to(DEVICE)
        loss = functional.cross_entropy(model(x[0]).view(-1, args.vocabulary), x[1].view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def events_of_gpu(work):
    """(address, size), or (address, -size) of what is freed; and PyTorch's peaks."""
    torch.cuda.memory._record_memory_history(context=None, max_entries=10000000)
    work()
    torch.cuda.synchronize()
    signs = {"alloc": 1, "free_requested": -1}
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    return ([(e["addr"], signs[e["action"]] * e["size"]) for e in trace if e["action"] in signs],
            "# %d %d" % (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()))


def events_of_cpu(work):
    from torch._C._profiler import _EventType
    sys.setrecursionlimit(100000)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        work()
    found, todo = [], list(profile.profiler.kineto_results.experimental_event_tree())
    while todo:
        event = todo.pop()
        todo += event.children
        if event.tag == _EventType.Allocation:
            found.append((event.start_time_ns, event.extra_fields.ptr, event.extra_fields.alloc_size))
    return [(address, size) for _, address, size in sorted(found, key=lambda e: e[0])], None


def lines(events):
    live, count = {}, 0
    for address, size in events:
        if size > 0:
            live[address] = count
            count += 1
            yield str(size)
        elif address in live:
            yield str(-1 - live.pop(address))


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder")
    ask.add_argument("--optimizer", choices=("adamw", "sgd"), default="adamw")
    ask.add_argument("--vocabulary", type=int, default=32000)
    ask.add_argument("--steps", type=int, default=2)
    for name, values in (("d-model", "256,512"), ("layers", "2,4,8"), ("seq", "256,1024"), ("batch", "1,2,4")):
        ask.add_argument("--" + name, default=values)
    args = ask.parse_args()
    torch.set_num_threads(1)
    os.makedirs(args.folder, exist_ok=True)
    for cell in itertools.product(*(map(int, v.split(",")) for v in (args.d_model, args.layers, args.seq, args.batch))):
        path = os.path.join(args.folder, "%d,%d,%d,%d" % cell)
        if os.path.exists(path):
            continue
        if GPU and os.fork():  # a process each: an allocator that nothing has used
            if os.wait()[1]:
                sys.exit("%s failed" % path)
            continue
        events, head = (events_of_gpu if GPU else events_of_cpu)(lambda: train(args, *cell))
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write("\n".join(([head] if head else []) + list(lines(events))) + "\n")
        os.rename(path + ".part", path)
        if GPU:
            os._exit(0)


main()
