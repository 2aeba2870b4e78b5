# SPDX-License-Identifier: Apache-2.0
"""Phases for `tare run`: what a program is at. See docs/PHASES.md.

    import tare

    with tare.phase("setting precon"):
        ...

    @tare.phase("force_graph max_iter=800")
    def capture(): ...

    tare.mark("after capture 1")

In a program that is not recorded all of this does nothing.
"""

import ctypes
import functools

_PUSH, _POP, _BEGIN, _END, _MARK = 1, 2, 3, 4, 5


def _find():
    try:
        record = ctypes.PyDLL(None).tare_phase_record
    except (OSError, AttributeError, TypeError):
        return None
    record.restype = ctypes.c_uint64
    record.argtypes = (ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p)
    return record


_record = _find()


def _bytes(name):
    return str(name).encode("utf-8", "replace")


def push(name):
    """A phase begins inside those that this thread has begun and not yet ended."""
    if _record:
        _record(_PUSH, 0, _bytes(name))


def pop():
    """The phase that this thread pushed last ends."""
    if _record:
        _record(_POP, 0, None)


def begin(name):
    """A phase that any thread may end, and that need not nest. Give the answer to end()."""
    return _record(_BEGIN, 0, _bytes(name)) if _record else 0


def end(range_id):
    if _record:
        _record(_END, range_id, None)


def mark(name):
    """A moment: what was in use then, and what had changed since the mark before."""
    if _record:
        _record(_MARK, 0, _bytes(name))


class phase:
    """`with tare.phase(name):`, and a decorator."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        push(self.name)
        return self

    def __exit__(self, *_):
        pop()
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with phase(self.name):
                return function(*args, **kwargs)
        return inside
