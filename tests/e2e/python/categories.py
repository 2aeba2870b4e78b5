# SPDX-License-Identifier: Apache-2.0
"""Trains a small CNN and says, at some moments, what is there: the oracle of t_categories.py.

    categories.py WHAT TRUTH [DEVICE]    WHAT: sgd, momentum, adam, accumulation, inference, threads, workers

Each moment is a phase mark; TRUTH gets one line for each: {"mark": …, "parameter": bytes, …}. What is saved for
the backward pass is learned in a step of its own before, because the hooks that tell would keep it.
"""
import json
import os
import sys
import threading

import torch
import torch.nn.functional as F

import tare

WHAT, TRUTH = sys.argv[1], open(sys.argv[2], "w")
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
ROUND = 512 if DEVICE == "cuda" else 1  # what PyTorch's allocator rounds blocks to
BATCH, STEPS = 16, 4


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = torch.nn.Conv2d(width, width, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(width)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class Net(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, width, 3, padding=1)
        self.layers = torch.nn.Sequential(Block(width), Block(width), torch.nn.MaxPool2d(2), Block(width))
        self.fc = torch.nn.Linear(width * 16 * 16, 256)
        self.head = torch.nn.Linear(256, 10)

    def forward(self, x):
        x = self.layers(F.relu(self.stem(x)))
        return self.head(F.relu(self.fc(x.flatten(1))))


def sizes(tensors):
    """Bytes of the blocks of different storages."""
    blocks = {}
    for tensor in tensors:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        if tensor.device.type == DEVICE:
            blocks[storage.data_ptr()] = -(-storage.nbytes() // ROUND) * ROUND
    return blocks


def note(mark, net, optimizer=None, saved=(), inputs=(), outputs=()):
    known = {}

    def take(tensors):
        new = {at: size for at, size in sizes(tensors).items() if at not in known}
        known.update(new)
        return sum(new.values())
    entry = {"mark": mark, "pid": os.getpid(),
             "parameter": take(list(net.parameters())),
             "buffer/state": take(list(net.buffers())),
             "gradient": take([p.grad for p in net.parameters() if p.grad is not None]),
             "optimizer state": take([t for state in (optimizer.state if optimizer else {}).values()
                                      for t in state.values() if isinstance(t, torch.Tensor)]),
             "input": take(inputs)}
    entry["activation"] = take(list(saved) + list(outputs)) if isinstance(saved, list) else saved
    TRUTH.write(json.dumps(entry) + "\n")
    TRUTH.flush()
    tare.mark(mark)


def batch():
    return torch.randn(BATCH, 3, 32, 32, device=DEVICE), torch.randint(0, 10, (BATCH,), device=DEVICE)


def saved_bytes(net):
    """What a forward pass of this batch size saves for its backward pass, beside parameters, buffers and inputs."""
    kept = []

    def pack(tensor):
        kept.append(tensor.detach())  # the tensor itself would keep the graph that keeps it
        return kept[-1]
    x, y = batch()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss = F.cross_entropy(net(x), y)
    other = sizes(list(net.parameters()) + list(net.buffers()) + [x, y])
    return sum(size for at, size in sizes(kept + [loss]).items() if at not in other)


def train():
    net = Net().to(DEVICE)
    make = {"sgd": lambda p: torch.optim.SGD(p, lr=0.01),
            "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
            "adam": torch.optim.Adam, "accumulation": torch.optim.Adam}[WHAT]
    optimizer = make(net.parameters())
    every = 4 if WHAT == "accumulation" else 1
    saved = saved_bytes(net)
    for step in range(STEPS * every):
        if step % every == 0:
            optimizer.zero_grad(set_to_none=True)
        x, y = batch()
        loss = F.cross_entropy(net(x), y)
        note("forward %d" % step, net, optimizer, saved, [x, y])
        loss.backward()
        note("backward %d" % step, net, optimizer, [], [x, y], [loss])
        if step % every == every - 1:
            optimizer.step()
            note("step %d" % step, net, optimizer, [], [x, y], [loss])


def infer():
    net = Net().to(DEVICE).eval()
    with torch.no_grad():
        for step in range(STEPS):
            x, _ = batch()
            out = net(x)
            note("step %d" % step, net, None, [], [x], [out])


class All:
    """Several networks and their optimizers as one, for note()."""

    def __init__(self):
        self.nets, self.optimizers, self.inputs, self.losses = [], [], {}, {}

    def parameters(self):
        return [p for net in self.nets for p in net.parameters()]

    def buffers(self):
        return [b for net in self.nets for b in net.buffers()]

    @property
    def state(self):
        return {p: kept for optimizer in self.optimizers for p, kept in optimizer.state.items()}


def train_on_threads(count=4):
    """Each thread has a network of its own; after each step all wait until one has said what is there."""
    everything, number, steps = All(), threading.Lock(), iter(range(STEPS))
    barrier = threading.Barrier(count, lambda: note("step %d" % next(steps), everything, everything, [],
                                                    [t for pair in everything.inputs.values() for t in pair],
                                                    list(everything.losses.values())))

    def run(thread):
        net = Net(8)
        optimizer = torch.optim.Adam(net.parameters())
        with number:
            everything.nets.append(net)
            everything.optimizers.append(optimizer)
        for _ in range(STEPS):
            optimizer.zero_grad(set_to_none=True)
            x, y = batch()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            everything.inputs[thread], everything.losses[thread] = (x, y), loss
            barrier.wait()
            del everything.inputs[thread], everything.losses[thread]
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, index):
        return torch.full((3, 32, 32), float(index)), index % 10


def train_from_workers(count=4):
    """Batches come through shared memory; of those that workers have made already some may be here."""
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for step, (x, y) in enumerate(torch.utils.data.DataLoader(Samples(), batch_size=BATCH, num_workers=count)):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        note("step %d" % step, net, optimizer, [], [x, y], [loss])


if __name__ == "__main__":
    torch.set_num_threads(1 if WHAT in ("threads", "workers") else torch.get_num_threads())
    {"inference": infer, "threads": train_on_threads, "workers": train_from_workers}.get(WHAT, train)()
