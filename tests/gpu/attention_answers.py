#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What attention takes beside its results, by PyTorch's own record of its allocator: one line a shape, way and direction.

    tests/gpu/attention_answers.py >answers.csv       a GPU with PyTorch; about a minute

Columns: way (cudnn, flash, efficient, math, or default: what PyTorch chose), type, batch, heads, heads of keys, length,
length of keys, width, causal, dropout, mask; then the bytes that the forward pass asked for, in order, and those of the
backward pass.
"""
import itertools
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

WAYS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def asked(call):
    """What the allocator was asked for while this ran."""
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history(context=None, max_entries=10000)
    result = call()
    torch.cuda.synchronize()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(None)
    return result, [event["size"] for event in trace if event["action"] == "alloc"]


def answer(way, kind, batch, heads, kv, length, keys, width, causal, dropout, mask):
    def tensor(count, rows):
        return torch.randn(batch, rows, count, width, device="cuda", dtype=TYPES[kind]).transpose(1, 2).requires_grad_()
    q, k, v = tensor(heads, length), tensor(kv, keys), tensor(kv, keys)
    bias = torch.zeros(batch, 1, length, keys, device="cuda", dtype=TYPES[kind]) if mask else None

    def forward():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, bias, dropout, causal, enable_gqa=heads != kv)

    def both():
        out, first = asked(forward)
        gradient = torch.ones_like(out)
        _, second = asked(lambda: out.backward(gradient))
        return first, second
    if way == "default":
        return both()
    with sdpa_kernel(WAYS[way]):
        return both()


def main():
    print("# PyTorch %s, cuDNN %s, %s" % (torch.__version__, torch.backends.cudnn.version(), torch.cuda.get_device_name()))
    print("way,type,batch,heads,kv,length,keys,width,causal,dropout,mask,forward,backward")
    grid = list(itertools.product(("cudnn", "default"), ("bf16", "fp16"), (1, 8), ((12, 12), (16, 4)), (128, 512, 1024), (64, 128),
                                  (False, True), (0.0,), (False,)))
    grid += list(itertools.product(("cudnn", "default", "flash", "efficient"), ("bf16",), (1, 3, 4, 8, 16), ((12, 12), (8, 8)),
                                   (100, 256, 300, 2048), (32, 64, 80), (True,), (0.0, 0.1), (False,)))
    grid += list(itertools.product(("cudnn", "default"), ("bf16",), (2, 8), ((12, 12),), (128, 256, 300), (64,), (False,), (0.0, 0.1),
                                   (True,)))
    for way, kind, batch, (heads, kv), length, width, causal, dropout, mask in grid:
        about = (way, kind, batch, heads, kv, length, length, width, causal, dropout, mask)
        try:
            first, second = answer(*about)
            found = " ".join(map(str, first)), " ".join(map(str, second))
        except RuntimeError as error:
            found = "refused: " + str(error).split("\n")[0].replace(",", ";"), ""
        print(",".join(map(str, about)) + ",%s,%s" % found)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
