# SPDX-License-Identifier: Apache-2.0
"""Recordings of a program whose last allocations are still there at the end, to be compared."""

from harness import MIB, fixture

SWEEP = ["sgd-1.tare", "sgd-4.tare", "adam-1.tare", "adam-4.tare"]


def hold(box, rec, *sizes, **more):
    lines = "".join("alloc %d\n" % size for size in sizes)
    return box.record(fixture("e2e_steps"), rec=rec, input=lines.encode(), **more)


def hold_sweep(box, **more):
    """Optimizers × accumulation, 8 MiB more in each."""
    for i, rec in enumerate(SWEEP):
        hold(box, rec, (8 + 8 * i) * MIB, **more)
