# SPDX-License-Identifier: Apache-2.0
"""What recording costs a step of ResNet-50, batch 8, Adam.

    resnet50_overhead.py                  prints the median step, in ms
    resnet50_overhead.py toggle TARE      recorded: recording is paused and resumed every 20 steps in this
                                          one process; prints the difference, median and 95 % interval
"""
import os
import random
import statistics
import subprocess
import sys
import time

import torch
import torchvision

STEPS, BLOCKS, WARM = 20, 24, 40


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


def main():
    step = make_step()
    for _ in range(WARM):
        step()
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
