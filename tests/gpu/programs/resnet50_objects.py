# SPDX-License-Identifier: Apache-2.0
"""ResNet-50, batch 32, with an optimizer (sgd, momentum, adam, accumulate: Adam, 4 batches a step), and what
its own objects take at marked instants, as lines of JSON that tests/gpu/tensors/objects.py reads. With
`profile` as second argument the last step runs under torch.profiler, whose categories at its peak come last."""
import contextlib
import json
import sys

import torch
import torchvision

def blocks():
    """Of every block that the allocator handed out: its size, by address."""
    return {block["address"]: block["size"] for segment in torch.cuda.memory_snapshot()
            for block in segment["blocks"] if block["state"] == "active_allocated"}


def taken(sizes, tensors):
    """What the blocks of their storages take, each once."""
    return sum(sizes[at] for at in {t.untyped_storage().data_ptr() for t in tensors if t is not None})


def optimizer_of(kind, parameters):
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=0.01)
    if kind == "momentum":
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    return torch.optim.Adam(parameters)


def state_of(optimizer):
    return [t for state in optimizer.state.values() for t in state.values()
            if isinstance(t, torch.Tensor) and t.is_cuda]


class Program:
    def __init__(self, kind):
        self.net = torchvision.models.resnet50().cuda()
        self.optimizer = optimizer_of(kind, self.net.parameters())
        self.batches = 4 if kind == "accumulate" else 1
        self.x = torch.randn(32, 3, 224, 224, device="cuda")
        self.y = torch.randint(0, 1000, (32,), device="cuda")

    def say(self, mark):
        sizes = blocks()
        tensors = {"parameter": self.net.parameters(), "buffer/state": self.net.buffers(),
                   "gradient": [p.grad for p in self.net.parameters()],
                   "optimizer state": state_of(self.optimizer), "input": [self.x, self.y]}
        print(json.dumps(dict({"mark": mark}, **{k: taken(sizes, v) for k, v in tensors.items()})), flush=True)

    @contextlib.contextmanager
    def mark(self, name):
        torch.cuda.nvtx.range_push(name)
        yield
        self.say(name)
        torch.cuda.nvtx.range_pop()

    def step(self, number):
        self.optimizer.zero_grad()
        for batch in range(self.batches):
            with self.mark("forward %d.%d" % (number, batch)):
                loss = torch.nn.functional.cross_entropy(self.net(self.x), self.y)
            with self.mark("backward %d.%d" % (number, batch)):
                loss.backward()
        with self.mark("step %d" % number):
            self.optimizer.step()


def timeline_peak(prof):
    """torch.profiler's categories of the GPU's memory where their sum is largest: {name: bytes}."""
    from torch.profiler._memory_profiler import MemoryProfileTimeline, _CATEGORY_TO_INDEX
    _, sizes = MemoryProfileTimeline(prof._memory_profile())._coalesce_timeline("cuda:0")
    most = max(sizes, key=sum)
    return {getattr(c, "name", "UNKNOWN") if c is not None else "UNKNOWN": int(most[i + 1])
            for c, i in _CATEGORY_TO_INDEX.items()}


def main(kind, profile=None):
    program = Program(kind)
    for number in range(4):
        program.step(number)
    if profile:
        with torch.profiler.profile(profile_memory=True, record_shapes=True, with_stack=True) as prof:
            program.step(4)
        torch.cuda.synchronize()
        try:
            print(json.dumps({"profiler": timeline_peak(prof)}), flush=True)
        except Exception as error:  # its insides change from version to version
            print(json.dumps({"profiler": None, "why": "%s: %s" % (type(error).__name__, error)}), flush=True)
    torch.cuda.synchronize()


main(*sys.argv[1:])
