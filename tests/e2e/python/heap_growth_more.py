#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More small programs, some of which forget to let go of something in a library's hands: heap_growth_more.py NAME

`heap_growth_more.py --list` prints the name of each, and the function in which it grows, or "-"."""

import ctypes
import io
import itertools
import time
import xml.etree.ElementTree

from listed import main, program


def rounds(act, number=150):
    for i in range(number):
        act(i)
        time.sleep(.014)


# ---- programs that leak ----

@program("ask_libc")
def blocks_of_libc():
    """A library's function returns memory, and its caller is to free it."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p

    def ask_libc(i):
        at = libc.malloc(ctypes.c_size_t(30_000))
        ctypes.memset(at, i & 255, 30_000)
    rounds(ask_libc)


@program("next_item")
def items_read_one_by_one():
    """Each item is emptied when it is done with, and stays a child of its document."""
    item = "<item n='%d'>" + "<part>some text of it</part>" * 20 + "</item>"
    text = "<all>" + "".join(item % i for i in range(15_000)) + "</all>"
    events = xml.etree.ElementTree.iterparse(io.BytesIO(text.encode()), events=("end",))

    def next_item(i):
        done = 0
        for _, element in events:
            if element.tag == "item":
                element.clear()
                done += 1
                if done == 100:
                    break
    rounds(next_item)


@program("read_ahead")
def reader_that_lags():
    """Two readers of one stream, of which the second is forgotten: what it has not read is kept for it."""
    first, second = itertools.tee("line %d of a long file" % n for n in itertools.count())

    def read_ahead(i):
        for _ in range(500):
            next(first)
    rounds(read_ahead)
    del second


# ---- programs that do not ----

@program(None)
def warm_up_of_thirty():
    """Thirty rounds in which tables are made for what comes, and then rounds that are all the same."""
    tables = {}

    def work(i):
        key = i if i < 30 else i % 30
        if key not in tables:
            tables[key] = [bytes(1000) for _ in range(200)]
        return [part.upper() for part in tables[key]]
    rounds(work)


@program(None)
def flush_now_and_then():
    """Lines that are kept and written away each forty rounds; the program ends in the middle of forty."""
    lines = []

    def note(i):
        lines.extend("%d %d" % (i, n) * 20 for n in range(300))
        if i % 40 == 39:
            lines.clear()
    rounds(note)


if __name__ == "__main__":
    main()
