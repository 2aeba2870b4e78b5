#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch on a smaller card: vram.py TARE_FOLDER [OUTPUT_FOLDER]

The same program (train, then fill the card until it is out of memory, twice) without a limit, under
--vram 8, 16 and 24 GiB with the default allocator and with expandable segments, and on what a real
driver leaves of this GPU when another process holds the rest. One table; exit 1 where something is
not as it must be:

    sees     the size that cudart, cudaMemGetInfo and NVML tell
    peak     in use after the training: within 2 % of the run without a limit
    fits     blocks of 256 MiB that were had, and how many plain accounting says
    again    the same after all were given back
"""

import ctypes
import json
import os
import subprocess
import sys

GIB, BLOCK = 1 << 30, 256 << 20
SEGMENT = 20 << 20  # in which expandable segments map memory
CAPS = (8, 16, 24)


# ---- the program ----

def nvml_total():
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    device, memory = ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
    nvml.nvmlDeviceGetMemoryInfo(device, memory)
    return memory[0]


def fill(torch):
    blocks = []
    try:
        while len(blocks) < 4096:
            blocks.append(torch.empty(BLOCK, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        pass
    count = len(blocks)
    del blocks
    torch.cuda.empty_cache()
    return count


def program(wants_fill):
    import torch
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(12))).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(4096, 4096, device="cuda")).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    out = {"peak": total - free, "total": total, "nvml": nvml_total(),
           "properties": torch.cuda.get_device_properties(0).total_memory,
           "torch": torch.cuda.max_memory_reserved()}
    del model, optimizer
    torch.cuda.empty_cache()
    out["free"] = torch.cuda.mem_get_info()[0]
    out["fits"] = [fill(torch), fill(torch)] if wants_fill else None
    print(json.dumps(out))


# ---- the rest of this GPU, held by this process ----

class Ballast:
    """Leaves `left` bytes of the GPU to others, by the driver's own doing."""

    def __init__(self, left):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context, device = ctypes.c_void_p(), 0
        self.cuda.cuInit(0)
        self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        self.cuda.cuCtxSetCurrent(context)
        free, total, self.at = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_ulonglong()
        self.cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        size = (free.value - left) >> 21 << 21
        if self.cuda.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(size)) != 0:
            raise SystemExit("the rest of the GPU cannot be held: %d MiB" % (size >> 20))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cuda.cuMemFree_v2(self.at)
        self.cuda.cuDevicePrimaryCtxRelease_v2(0)


# ---- the comparison ----

def run(tare, out, name, options=(), conf="", wants_fill=True, is_recorded=True):
    argv = [sys.executable, os.path.abspath(__file__), "--program", "fill" if wants_fill else "train"]
    if is_recorded:
        argv = [tare, "run", "-f", "-o", os.path.join(out, name + ".tare")] + list(options) + ["--"] + argv
    env = dict(os.environ)
    env.pop("PYTORCH_CUDA_ALLOC_CONF", None)
    if conf:
        env["PYTORCH_CUDA_ALLOC_CONF"] = conf
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    with open(os.path.join(out, name + ".ledger"), "w", encoding="utf-8") as file:
        file.write(done.stderr)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"error": "exit %d: %s" % (done.returncode, done.stderr.strip()[-300:])}


def expected(free, is_expandable):
    """How many blocks plain accounting says."""
    count = free // BLOCK
    while is_expandable and count and -(-count * BLOCK // SEGMENT) * SEGMENT > free:
        count -= 1
    return count


def main(dist, out):
    tare = os.path.join(dist, "bin", "tare")
    os.makedirs(out, exist_ok=True)
    print("%-26s %-12s %10s %8s %12s %7s" % ("run", "sees", "peak MiB", "of free", "fits", "again"))
    bad = []
    for label, conf in (("default", ""), ("expandable", "expandable_segments:True")):
        free_run = run(tare, out, "uncapped-" + label, conf=conf, wants_fill=False)
        if "error" in free_run:
            bad.append("%s: %s" % (label, free_run["error"]))
            continue
        print("%-26s %-12s %10.1f" % ("no limit, " + label, "%d MiB" % (free_run["total"] >> 20),
                                       free_run["peak"] / (1 << 20)))
        for cap in CAPS:
            name = "%d GiB, %s" % (cap, label)
            got = run(tare, out, "vram%d-%s" % (cap, label), ("--vram", "%dGiB" % cap), conf)
            if "error" in got:
                bad.append("%s: %s" % (name, got["error"]))
                continue
            want = expected(got["free"], bool(conf))
            share = 100.0 * (got["peak"] / free_run["peak"] - 1)
            sees = {got["total"], got["properties"], got["nvml"]}
            print("%-26s %-12s %10.1f %+7.2f%% %5d of %3d %7d" % (
                name, " ".join("%d MiB" % (n >> 20) for n in sorted(sees)), got["peak"] / (1 << 20),
                share, got["fits"][0], want, got["fits"][1]))
            if sees != {cap * GIB}:
                bad.append("%s: sizes %s" % (name, sees))
            if abs(share) > 2:
                bad.append("%s: peak %.1f %% off" % (name, share))
            if got["fits"] != [want, want]:
                bad.append("%s: %s blocks, not %d" % (name, got["fits"], want))
    with Ballast(CAPS[0] * GIB):
        truth = run(tare, out, "ballast", is_recorded=False)
    if "error" in truth:
        bad.append("the rest held by another process: " + truth["error"])
    else:
        print("%-26s %-12s %10s %8s %5d of %3d %7d" % (
            "%d GiB left by the driver" % CAPS[0], "", "", "", truth["fits"][0],
            expected(truth["free"], False), truth["fits"][1]))
        capped = run(tare, out, "vram-again", ("--vram", "%dGiB" % CAPS[0]))
        if capped.get("fits") != truth["fits"]:
            bad.append("%s blocks under --vram, %s where the driver has no more" % (
                capped.get("fits"), truth["fits"]))
    for sentence in bad:
        print("NOT AS IT MUST BE: " + sentence)
    print("8, 16 and 24 GiB, default and expandable: %s" % ("; ".join(bad) if bad else
          "out of memory where plain accounting says, peak within 2 %"))
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(sys.argv[2] == "fill")
        sys.exit(0)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "vram-out"))
