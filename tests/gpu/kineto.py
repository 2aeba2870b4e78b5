#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torch.profiler writes of a few training steps on a GPU, imported: the most in tensors and the most held must be PyTorch's own figures.

    tests/gpu/kineto.py TARE [OUTPUT_FOLDER]      needs PyTorch 2.x and one GPU; under a minute
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function


def train(steps, model, optimizer):
    for _ in range(steps):
        with record_function("train step"):
            loss = model(torch.randn(512, 1024, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def imported(tare, path, out):
    """Bytes in tensors at most, as the command says, and the report at the peak."""
    rec = os.path.join(out, "trace.tare")
    said = subprocess.run([tare, "import", path, "-f", "-o", rec], check=True, capture_output=True, text=True).stdout
    report = subprocess.run([tare, "report", rec, "--at", "peak", "--json"], check=True, capture_output=True, text=True).stdout
    most = re.search(r"tensors of up to ([\d,]+) bytes", said)
    return int(most.group(1).replace(",", "")) if most else None, json.loads(report)


def main():
    tare = os.path.abspath(sys.argv[1])
    out = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(out, exist_ok=True)
    model = torch.nn.Sequential(*(layer for _ in range(4) for layer in (torch.nn.Linear(1024, 1024), torch.nn.GELU()))).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    train(1, model, optimizer)
    torch.cuda.reset_peak_memory_stats()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True, record_shapes=True, with_stack=True) as p:
        train(3, model, optimizer)
    allocated, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "allocated", allocated, "reserved", reserved)
    p.export_chrome_trace(os.path.join(out, "trace.json.gz"))
    paths = ["trace.json.gz"]
    for name in ("timeline.json", "timeline.json.gz", "timeline.raw.json.gz"):
        p.export_memory_timeline(os.path.join(out, name), device="cuda:0")
        paths.append(name)
    failed = False
    for name in paths:
        most, report = imported(tare, os.path.join(out, name), out)
        used = report["devices"][0]["used_bytes"]
        is_trace = name == "trace.json.gz"
        # A timeline has sizes of tensors, and only those that the profiler could follow.
        good = not report["degraded"] and (not is_trace or (most, used) == (allocated, reserved))
        failed |= not good
        print(f"{name:22} tensors {most} used {used} {'ok' if good else 'DIFFERENT ' + ' '.join(report['degraded'])}")
    return failed


sys.exit(main())
