# SPDX-License-Identifier: Apache-2.0
"""Thin adapters around Tare's C libraries and its program.

`with tare.phase(name):` and `tare.mark(name)` mark what a program is at (tare.phases);
`tare.call(function, …)` calls a function in a process that is recorded (tare.calls);
`tare.graphs`: CUDA graphs in constant memory.
"""

from tare.phases import begin as phase_begin, end as phase_end, mark, phase
from tare.phases import pop as phase_pop, push as phase_push

__all__ = ["call", "mark", "phase", "phase_begin", "phase_end", "phase_pop", "phase_push"]


def call(function, *args, **kwargs):
    """tare.calls.call, whose modules only those load who call it."""
    from tare import calls
    return calls.call(function, *args, **kwargs)
