# SPDX-License-Identifier: Apache-2.0
"""What t_cpu_tensors.py runs under Debian's PyTorch. The last line of output is JSON."""

import gc
import itertools
import json
import os
import resource
import subprocess
import sys
import threading

import numpy
import torch


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.kept = torch.zeros(3333, dtype=torch.uint8)
        raise ValueError("this node fails")


def failing():
    x = torch.ones(1000, requires_grad=True)
    try:
        Failing.apply(x).sum().backward()
    except ValueError:
        pass
    kept = [torch.zeros(4444, dtype=torch.uint8)]
    with torch.no_grad():
        kept.append(torch.zeros(5555, dtype=torch.uint8))
    other = threading.Thread(target=lambda: kept.append(torch.zeros(6666, dtype=torch.uint8)))
    other.start()
    other.join()
    return {"inside": 3333, "behind": 4444, "no_grad": 5555, "thread": 6666}


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(16 * 8 * 8, 10))


def step(net, optimizer):
    inputs = torch.randn(8, 3, 16, 16)
    loss = torch.nn.functional.cross_entropy(net(inputs), torch.arange(8) % 10)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def reported(profiler):
    """What it was told of memory, in order."""
    return [e.nbytes() for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]


def profiled():
    """What torch's profiler is told of memory. (To which operator it gives that depends on microseconds.)"""
    torch.set_num_threads(1)
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as prof:
        step(net, optimizer)
        shared = torch.zeros(4096).share_memory_()
        del shared
    return {"bytes": reported(prof)}


def held():
    """Bytes of all storages that Python can reach, each once, without those that NumPy owns."""
    sizes = {}
    for found in gc.get_objects():
        if type(found) in (torch.Tensor, torch.nn.Parameter):
            sizes[found.storage().data_ptr()] = found.storage().nbytes()
            if found.grad is not None:
                sizes[found.grad.storage().data_ptr()] = found.grad.storage().nbytes()
    sizes.pop(0, None)
    return sizes


def training():
    """Steps of a small network; at their ends PyTorch itself is asked what it holds."""
    import tare
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[sys.argv[2]]
    torch.set_num_threads(1)
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True)
    profiler.start()
    borrowed = torch.from_numpy(numpy.zeros(3 << 20, dtype=numpy.uint8))  # not PyTorch's memory
    net = network()
    optimizer = kind(net.parameters(), lr=1e-3)
    points = {}
    for number in range(4):
        step(net, optimizer)
        sizes = held()
        del sizes[borrowed.data_ptr()]
        points["step%d" % number] = [sum(sizes.values()), len(sizes)]
        tare.mark("step%d" % number)
    profiler.stop()
    points["peak"] = max(itertools.accumulate(reported(profiler)))
    globals().update(net=net, optimizer=optimizer)  # until Python is taken down
    return points


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((1 << 18,), float(index))


def loading():
    """Workers make samples of 1 MiB and pass batches of two through shared memory."""
    import tare
    loader = torch.utils.data.DataLoader(Samples(), batch_size=2, num_workers=2)
    batches = list(loader)
    tare.mark("loaded")
    own = torch.zeros(5 << 20, dtype=torch.uint8)
    del loader
    globals().update(own=own)
    return {"pid": os.getpid(), "batches": len(batches), "own": own.numel()}


def forking():
    """A child frees what it has of its parent, and makes something of its own."""
    import tare
    own = torch.zeros(3 << 20, dtype=torch.uint8)
    child = os.fork()
    if not child:
        del own
        own = torch.zeros(2 << 20, dtype=torch.uint8)
        tare.mark("in the child")
        os._exit(0)
    os.waitpid(child, 0)
    tare.mark("afterwards")
    return {"pid": os.getpid(), "child": child, "own": own.numel()}


def pausing():
    """What comes while paused is not recorded, what goes is."""
    def control(word):
        subprocess.run([os.environ["TARE_BINARY"], "ctl", os.environ["TARE_RECORDING"], word], check=True,
                       stdout=subprocess.DEVNULL)

    before = [torch.zeros(1 << 20, dtype=torch.uint8), torch.zeros(2 << 20, dtype=torch.uint8)]
    control("pause")
    del before[0]
    meanwhile = torch.zeros(4 << 20, dtype=torch.uint8)
    control("resume")
    before.append(torch.zeros(8 << 20, dtype=torch.uint8))
    del meanwhile
    globals().update(before=before)
    return {"bytes": 10 << 20}


def refused():
    """Two allocations that the system refuses, at two lines, the first of them five times."""
    kept = torch.zeros(16 << 20, dtype=torch.uint8)
    said = []
    for _ in range(5):
        try:
            torch.empty(1 << 50, dtype=torch.uint8)
        except RuntimeError as error:
            said.append(str(error))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    try:
        torch.empty(5 << 30, dtype=torch.uint8)
    except RuntimeError as error:
        said.append(str(error))
    del kept
    return {"said": said}


PARTS = {"refused": refused, "failing": failing, "profiled": profiled, "training": training, "loading": loading,
         "forking": forking, "pausing": pausing}
print(json.dumps(PARTS[sys.argv[1]]()))
