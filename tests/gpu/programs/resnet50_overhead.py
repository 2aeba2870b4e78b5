# SPDX-License-Identifier: Apache-2.0
"""What recording costs a step of ResNet-50, batch 8, Adam.

    resnet50_overhead.py                  prints the median step, in ms
    resnet50_overhead.py toggle TARE      recorded: recording is paused and resumed every 20 steps in this
                                          one process; prints the difference, median and 95 % interval
    resnet50_overhead.py peers TARE       the same beside torch's memory history and torch.profiler, each
                                          switched on for 20 steps in turn: a line for each
"""
import contextlib
import os
import random
import statistics
import subprocess
import sys
import time

import torch
import torchvision

STEPS, BLOCKS, WARM, ROUNDS = 20, 24, 40, 12


def make_step():
    torch.backends.cudnn.benchmark = True
    net = torchvision.models.resnet50().cuda()
    opt = torch.optim.Adam(net.parameters())
    x = torch.randn(8, 3, 224, 224, device="cuda")
    y = torch.randint(0, 1000, (8,), device="cuda")

    def step():
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()

    return step


def block(step):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / STEPS * 1e3


def control(tare, word):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TARE_") and k != "LD_PRELOAD"}
    subprocess.run([tare, "ctl", os.environ["TARE_RECORDING"], word], check=True, env=clean,
                   stdout=subprocess.DEVNULL)


def interval(values, rounds=4000):
    random.seed(1)
    medians = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(rounds))
    return medians[int(0.025 * rounds)], medians[int(0.975 * rounds)]


@contextlib.contextmanager
def recording(tare):
    control(tare, "resume")
    yield
    control(tare, "pause")


@contextlib.contextmanager
def history(stacks):
    torch.cuda.memory._record_memory_history("all", stacks=stacks)
    yield
    torch.cuda.memory._record_memory_history(None)


def profiler():
    return torch.profiler.profile(profile_memory=True, with_stack=True)


def peers(step, tare):
    """Everything in turn, in an order drawn anew each round, against the block of nothing in that round."""
    tools = {"nothing": contextlib.nullcontext, "recording": lambda: recording(tare),
             "memory history, python": lambda: history("python"),
             "memory history, all": lambda: history("all"), "torch.profiler": profiler}
    control(tare, "pause")
    shares = {name: [] for name in tools}
    for _ in range(ROUNDS):
        took = {}
        for name in random.sample(sorted(tools), len(tools)):
            with tools[name]():
                step()
                took[name] = block(step)
        for name in tools:
            shares[name].append(100 * (took[name] / took["nothing"] - 1))
    control(tare, "resume")
    for name in list(tools)[1:]:
        print("%s: %+.2f %% (95 %% interval %+.2f to %+.2f)" % (
            name, statistics.median(shares[name]), *interval(shares[name])))


def main():
    step = make_step()
    for _ in range(WARM):
        step()
    if sys.argv[1:2] == ["peers"]:
        peers(step, sys.argv[2])
        return
    if sys.argv[1:2] != ["toggle"]:
        print("%.4f" % statistics.median(block(step) for _ in range(BLOCKS)))
        return
    plain, shares = [], []
    for n in range(BLOCKS):
        both = {}
        for word in ("pause", "resume") if n % 2 else ("resume", "pause"):
            control(sys.argv[2], word)
            step()
            both[word] = block(step)
        plain.append(both["pause"])
        shares.append(100 * (both["resume"] / both["pause"] - 1))
    control(sys.argv[2], "resume")
    low, high = interval(shares)
    print("%.3f %.3f %.3f %.3f" % (statistics.median(plain), statistics.median(shares), low, high))


main()
