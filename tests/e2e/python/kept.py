# SPDX-License-Identifier: Apache-2.0
"""What programs keep beside what is trained, and what they say of it: the oracle of t_kept.py.

    kept.py WHAT TRUTH    WHAT: a row of `programs`

TRUTH gets one line: {"parameter": bytes, …}, as it is at the end; `named`: of tensors by their names, `roots`: modules that
are in no other.
"""
import collections
import copy
import json
import sys

import torch

STEPS, WIDTH, BATCH = 12, 96, 16


def size(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.embed.weight.requires_grad_(False)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH + 8 * i) for i in range(4))
        self.register_buffer("mask", torch.ones(WIDTH, WIDTH))

    def forward(self, x):
        x = self.embed(x) * self.mask[0]
        return sum(torch.tanh(layer(x)).pow(2).mean() for layer in self.layers)


class Lion:
    """An optimizer that is no torch.optim.Optimizer."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.momentum = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        for p, m in zip(self.parameters, self.momentum):
            m.mul_(.9).add_(p.grad, alpha=.1)
            p.add_(m.sign(), alpha=-1e-4)

    def state(self):
        return self.momentum


class LateAdam:
    """Makes what it keeps in its first step, in a dictionary."""

    def __init__(self, parameters):
        self.parameters, self.kept = list(parameters), {}

    @torch.no_grad()
    def step(self):
        for i, p in enumerate(self.parameters):
            if i not in self.kept:
                self.kept[i] = (p.new_zeros(p.shape), torch.zeros_like(p))
            mean, square = self.kept[i]
            mean.mul_(.9).add_(p.grad, alpha=.1)
            square.mul_(.99).addcmul_(p.grad, p.grad, value=.01)
            p.addcdiv_(mean, square.sqrt().add_(1e-8), value=-1e-3)

    def state(self):
        return [t for pair in self.kept.values() for t in pair]


def train(make, average_of=None):
    net = Net()
    trained = [p for p in net.parameters() if p.requires_grad]
    average = copy.deepcopy(net) if average_of == "module" else None
    of = {"trained": trained, "state_dict": net.state_dict().values()}.get(average_of, [])
    plain = [t.detach().clone() for t in of]
    optimizer = make(trained)
    for _ in range(STEPS):
        x = torch.randn(BATCH, WIDTH)
        for p in trained:
            p.grad = None
        net(x).backward()
        optimizer.step()
        if average:
            with torch.no_grad():
                for a, p in zip(average.parameters(), net.parameters()):
                    a.lerp_(p, .01)
        for a, p in zip(plain, of):
            a.lerp_(p.detach(), .01)
    frozen = [net.embed.weight] + plain + (list(average.parameters()) if average else [])
    state = optimizer.state() if hasattr(optimizer, "kept") or isinstance(optimizer, Lion) else [
        t for state in optimizer.state.values() for t in state.values() if isinstance(t, torch.Tensor)]
    return {"parameter": size(trained), "frozen": size(frozen), "gradient": size(p.grad for p in trained),
            "optimizer state": size(state), "buffer/state": size([net.mask] + ([average.mask] if average else []))}


def train_by_hand():
    """Without modules: tensors that ask for gradients, and a velocity for each."""
    trained = [(torch.randn(WIDTH, WIDTH + 8 * i) * .1).requires_grad_() for i in range(3)]
    velocities = [torch.zeros_like(p) for p in trained]
    data = torch.randn(BATCH, WIDTH)
    for _ in range(STEPS):
        for p in trained:
            p.grad = None
        sum(torch.tanh(data @ p).pow(2).mean() for p in trained).backward()
        with torch.no_grad():
            for p, velocity in zip(trained, velocities):
                velocity.mul_(.9).add_(p.grad)
                p.sub_(velocity, alpha=.1)
    return {"parameter": size(trained), "gradient": size(p.grad for p in trained), "optimizer state": size(velocities)}


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, -1)
        if cache:
            k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
        return torch.softmax(q @ k.transpose(1, 2), -1) @ v, (k.contiguous(), v.contiguous())


@torch.no_grad()
def generate():
    layers = torch.nn.ModuleList(Attention() for _ in range(3)).eval()
    caches, x = [None] * 3, torch.randn(2, 8, WIDTH)
    for _ in range(40):
        for i, layer in enumerate(layers):
            x, caches[i] = layer(x, caches[i])
        x = x[:, -1:]
    return {"parameter": size(layers.parameters()), "buffer/state": size(t for cache in caches for t in cache)}


def average_of_one_step():
    """An average that is never trained, from its first line on; there is no second backward pass to compare."""
    net = Net()
    average = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.Adam(p for p in net.parameters() if p.requires_grad)
    net(torch.randn(BATCH, WIDTH)).backward()
    optimizer.step()
    for a, p in zip(average.parameters(), net.parameters()):
        a.data.lerp_(p.data, .01)
    keep(net, average, optimizer)
    trained = [p for p in net.parameters() if p.requires_grad]
    return {"parameter": size(trained), "frozen": size([net.embed.weight] + list(average.parameters()))}


def teach():
    """Two roots of one class, each in a variable."""
    def make():
        return torch.nn.Sequential(torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.Tanh(), torch.nn.Linear(2 * WIDTH, 8))

    teacher, student = make().requires_grad_(False), make()
    optimizer = torch.optim.SGD(student.parameters(), .1)
    for _ in range(STEPS):
        x = torch.randn(BATCH, WIDTH)
        optimizer.zero_grad()
        (student(x) - teacher(x)).pow(2).mean().backward()
        optimizer.step()
    keep(teacher, student)
    return {"parameter": size(student.parameters()), "frozen": size(teacher.parameters()),
            "named": {"teacher.0.weight": size([teacher[0].weight]), "student.0.weight": size([student[0].weight])},
            "roots": ["student", "teacher"]}


@torch.no_grad()
def collect():
    """Results in a list, the last of them too."""
    net, results = torch.nn.Linear(WIDTH, WIDTH), []
    for _ in range(STEPS):
        results.append(net(torch.randn(BATCH, WIDTH)))
    keep(net, results)
    return {"parameter": size(net.parameters()), "buffer/state": size(results), "activation": 0,
            "named": {"results": size(results)}}


class Memory:
    def __init__(self):
        self.samples = collections.deque(maxlen=12)

    def add(self, *sample):
        self.samples.append(sample)


def play():
    """Samples in an object of the program, as they come and go; every fourth is learnt from."""
    net, memory = torch.nn.Linear(WIDTH, 2), Memory()
    optimizer, state = torch.optim.Adam(net.parameters()), torch.randn(WIDTH)
    for step in range(32):
        with torch.no_grad():
            action = int(net(state).argmax())
        after = torch.randn(WIDTH)
        memory.add(state, action, after)
        state = after
        if step % 4 == 3:
            batch = torch.stack([sample[0] for sample in list(memory.samples)])
            optimizer.zero_grad()
            net(batch).pow(2).mean().backward()
            optimizer.step()
    kept = {id(t): t for sample in memory.samples for t in sample if isinstance(t, torch.Tensor)}.values()
    keep(net, memory, optimizer)
    return {"parameter": size(net.parameters()), "buffer/state": size(kept), "named": {"memory": size(kept)}}


kept_to_the_end = []


def keep(*things):
    """The program ends with all of it."""
    kept_to_the_end.extend(things)


programs = {
    "lion": lambda: train(Lion),
    "late": lambda: train(LateAdam),
    "adam": lambda: train(torch.optim.Adam),
    "average": lambda: train(torch.optim.Adam, "module"),
    "plain": lambda: train(torch.optim.Adam, "trained"),
    "plain_state": lambda: train(Lion, "state_dict"),
    "by_hand": train_by_hand,
    "cache": generate,
    "one_step": average_of_one_step,
    "teacher": teach,
    "results": collect,
    "replay": play,
}

if __name__ == "__main__":
    import os

    torch.manual_seed(1)
    torch.set_num_threads(1)
    truth = programs[sys.argv[1]]
    with open(sys.argv[2], "w") as file:
        kept = truth()
        file.write(json.dumps(kept) + "\n")
    os._exit(0)
