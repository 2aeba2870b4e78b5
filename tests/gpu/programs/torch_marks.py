# SPDX-License-Identifier: Apache-2.0
"""Marked instants of a PyTorch program, and what torch counts at them, as lines of JSON."""
import contextlib
import json

import torch

FIGURES = {"live": "allocated_bytes.all.current", "reserved": "reserved_bytes.all.current",
           "stuck": "inactive_split_bytes.all.current", "requested": "requested_bytes.all.current",
           "active": "active_bytes.all.current"}


@contextlib.contextmanager
def mark(name):
    """What torch counts when this ends is what the phase of that name ends with."""
    torch.cuda.nvtx.range_push(name)
    yield
    stats = torch.cuda.memory_stats()
    torch.cuda.nvtx.range_pop()
    row = {figure: stats[key] for figure, key in FIGURES.items() if key in stats}
    print(json.dumps({"mark": name, **row}), flush=True)
