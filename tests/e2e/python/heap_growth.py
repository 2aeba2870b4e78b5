#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small programs without a framework, some of which forget to let go of something: heap_growth.py NAME

`heap_growth.py --list` prints the name of each, and the function in which it grows, or "-"."""

import time

from listed import main, program

kept = []


def rounds(number, act):
    for i in range(number):
        act(i)
        time.sleep(.02)


# ---- programs that leak ----

@program("keep")
def sessions():
    def keep(i):
        kept.append(bytearray(200_000))
    rounds(120, keep)


@program("keep_a_little")
def small_sessions():
    def keep_a_little(i):
        kept.append(bytearray(4096))
    rounds(120, keep_a_little)


@program("keep_late")
def sessions_that_begin_late():
    def keep_late(i):
        work = bytearray(1 << 20)
        if i > 50:
            kept.append(bytearray(100_000))
        del work
    rounds(160, keep_late)


@program("extend")
def one_buffer_that_is_extended():
    """By realloc, time and again: a part of it more than it needs each time."""
    buffer = bytearray()

    def extend(i):
        buffer.extend(b"x" * 20_000)
    rounds(120, extend)


@program("take_in")
def table_that_doubles():
    """A dict: its table is new and twice as large whenever it is full, and is all that the heap is asked for."""
    table = {}

    def take_in(i):
        for k in range(i * 1000, i * 1000 + 1000):
            table[k] = None
    rounds(120, take_in)


# ---- programs that do not ----

@program(None)
def cache_that_fills():
    rounds(120, lambda i: kept.append(bytearray(200_000)) if i < 50 else bytearray(200_000))


@program(None)
def working_memory():
    rounds(120, lambda i: bytearray(1 << 20))


@program(None)
def queue():
    def work(i):
        kept.append(bytearray(100_000))
        if i % 25 == 24:
            kept.clear()
    rounds(120, work)


@program(None)
def window():
    def work(i):
        kept.append(bytearray(100_000))
        del kept[:-20]
    rounds(120, work)


@program(None)
def slow_import():
    """A module that reads tables as it is imported, for two seconds, which is all that the program does."""
    import heap_growth_module
    kept.append(heap_growth_module)


@program(None)
def start_and_then_work():
    for _ in range(40):
        kept.append(bytearray(500_000))
        time.sleep(.02)
    rounds(80, lambda i: bytearray(100_000))


if __name__ == "__main__":
    main()
