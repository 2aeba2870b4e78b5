#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pins host memory in the ways of the threads that docs/RESIDUE.md answers, and says what each took.

    pinned.py [--scale N]      sizes are divided by N (1): on a machine with little memory the ratios are the same

A line of JSON for each way: bytes asked for, what became resident as shared memory (RssShmem) and otherwise, what PyTorch's
allocator says of itself, and what the card has less. Each is held while it is looked at, and is a range of NVTX.
"""

import argparse
import json
import time

import torch


def status(key):
    with open("/proc/self/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) << 10
    return 0


def look():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    stats = torch.cuda.host_memory_stats() if hasattr(torch.cuda, "host_memory_stats") else {}
    return {"shmem": status("RssShmem"), "anon": status("RssAnon"), "file": status("RssFile"), "card": total - free,
            "torch": stats.get("allocated_bytes.current", 0), "active": stats.get("active_bytes.current", 0)}


def way(name, asked, make):
    before = look()
    torch.cuda.nvtx.range_push(name)
    held = make()
    end = time.monotonic() + 2.5
    while held is not None and time.monotonic() < end:  # the program goes on, and now and then its objects are looked through
        on_card = torch.ones(1 << 20, device="cuda")
        time.sleep(0.05)
    on_card = None
    after = look()
    torch.cuda.nvtx.range_pop()
    said = {key: after[key] - before[key] for key in after}
    print(json.dumps({"way": name, "asked": asked, **said}), flush=True)
    return held


def registered(size):
    data = torch.empty(size, dtype=torch.uint8)
    error = torch.cuda.cudart().cudaHostRegister(data.data_ptr(), size, 0)
    if int(error):
        raise RuntimeError("cudaHostRegister says %s" % error)
    return data


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--scale", type=int, default=1)
    scale = ask.parse_args().scale
    torch.ones(1 << 20, device="cuda").sum().item()
    blocks = (2053 // scale, 1089536)  # vLLM's, of issue 53042
    weights = (9 << 28) // scale       # 2.25 GiB
    kept = way("zeros", blocks[0] * blocks[1], lambda: torch.zeros(blocks, dtype=torch.int8, pin_memory=True))
    del kept
    way("cached", 0, lambda: None)
    torch._C._host_emptyCache()
    way("emptied", 0, lambda: None)
    source = torch.empty(weights, dtype=torch.uint8)
    kept = way("pin_memory", weights, source.pin_memory)
    del kept, source
    torch._C._host_emptyCache()
    kept = way("register", weights, lambda: registered(weights))
    torch.cuda.cudart().cudaHostUnregister(kept.data_ptr())


if __name__ == "__main__":
    main()
