#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains ResNet-50 on made-up pictures, each part in a phase, and says in JSON what it has behind each: train.py STEPS"""

import json
import sys
import time

SAID = {}


def status():
    with open("/proc/self/status", encoding="ascii") as file:
        values = dict(line.split(":", 1) for line in file)
    return {name: int(values[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM", "RssAnon", "RssFile", "RssShmem")}


begin = status()
import torch

nvtx = torch.cuda.nvtx
SAID["import torch"] = {"before": begin, "after": status()}


class Part:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        nvtx.range_push(self.name)
        self.before = status()

    def __exit__(self, *how):
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        SAID[self.name] = {"before": self.before, "after": status()}
        nvtx.range_pop()


def main():
    steps = int(sys.argv[1])
    with Part("import torchvision"):
        import torchvision
    with Part("model on the CPU"):
        model = torchvision.models.resnet50()
    with Part("first use of CUDA"):
        torch.zeros(1, device="cuda")
    with Part("to(cuda)"):
        model = model.to("cuda")
    with Part("pinned batches"):
        batches = [torch.randn(32, 3, 224, 224).pin_memory() for _ in range(4)]
    optimizer = torch.optim.Adam(model.parameters())
    labels = torch.randint(1000, (32,), device="cuda")

    def step(i):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batches[i % 4].to("cuda", non_blocking=True)), labels)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()

    with Part("first step"):
        step(0)
    with Part("steps"):
        took = []
        for i in range(steps):
            at = time.perf_counter()
            step(i)
            took.append(time.perf_counter() - at)
    parameters = list(model.parameters()) + list(model.buffers())
    print(json.dumps({
        "parts": SAID,
        "step_ms": sorted(took)[len(took) // 2] * 1e3 if took else None,
        "weights": sum(p.numel() * p.element_size() for p in parameters),
        "pinned": sum(b.numel() * b.element_size() for b in batches),
        "end": status(),
    }))


main()
