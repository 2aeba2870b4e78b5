#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many cache lines and pages the recorder adds to handing a block of a tensor out and taking it back.

    tests/bench/bench_lines.py TARE LIBC10_CUDA [DEPTH…]      with any Python from 3.6 on; needs valgrind

In the step of a model few of them are in the caches, so this is what a block costs there; and unlike its time it is the
same on every machine, whatever else runs. Counted are lines of code and of data between two marks in a list of
all accesses to memory (valgrind's lackey), without those of the same program when it is not recorded. Every block
comes from another line of Python than the last. Takes minutes: all of Python's start is in that list.
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench_tensors import LEAVES, made  # noqa: E402

BLOCKS, FIRST = 40, 24  # … of which those from there on count, LEAVES of them
MARK_AT = 0x123456789000  # in every process
LINE, PAGE = 64, 4096


def child(library, depth):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    private, anonymous, fixed = 2, 0x20, 0x10
    if libc.mmap(MARK_AT, PAGE, 3, private | anonymous | fixed, -1, 0) != MARK_AT:
        sys.exit("the mark's page is taken")
    block = ctypes.PyDLL(library).c10_cuda_bench_marked
    block.argtypes = [ctypes.c_void_p]
    mark = ctypes.c_void_p(MARK_AT)
    leaves = [made("leaf%d" % i, "/usr/lib/leaf%d.py" % (i // 3), lambda: block(mark)) for i in range(LEAVES)]

    def all_blocks():
        for i in range(BLOCKS):
            leaves[i % LEAVES]()

    function = all_blocks
    for i in range(depth - 5):  # child, <module>, all_blocks and the leaf's two are frames too
        function = made("f%d" % i, "/usr/lib/module%d.py" % (i // 3), function)
    function()


def blocks_of(fifo):
    """The accesses between each pair of marks, as bytes: the rest of the list is too long to be looked at."""
    mark, rest, inside = b"%012x," % MARK_AT, b"", None
    with open(fifo, "rb", buffering=0) as trace:
        for chunk in iter(lambda: trace.read(1 << 20), b""):
            pieces = (rest + chunk).split(mark)
            rest = pieces.pop()
            for piece in pieces:
                if inside is not None:
                    yield inside + piece
                inside = b"" if inside is None else None
            if inside is not None:
                inside, rest = inside + rest[:-len(mark)], rest[-len(mark):]
            else:
                rest = rest[-len(mark):]


def count(accesses):
    lines = [line for line in accesses.splitlines()[1:-1] if line[:3] in (b"I  ", b" L ", b" S ", b" M ")]
    code, data = set(), set()
    for line in lines:
        at, size = line[3:].split(b",")
        at = int(at, 16)
        (code if line[:1] == b"I" else data).update((at, at + int(size) - 1))
    return [sum(line[:1] == b"I" for line in lines)] + [len({at // unit for at in group})
                                                          for group in (code, data) for unit in (LINE, PAGE)]


def measure(command, library, depth):
    """Means of the blocks that count."""
    folder = tempfile.mkdtemp()
    fifo = os.path.join(folder, "accesses")
    os.mkfifo(fifo)
    running = subprocess.Popen(
        [word.replace("FOLDER", folder) for word in command] +
        ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + fifo, sys.executable, "-S", "-E",
         os.path.abspath(__file__), "--child", library, str(depth)], stderr=subprocess.DEVNULL)
    counts = [count(block) for block in blocks_of(fifo)][FIRST:FIRST + LEAVES]
    running.wait()
    shutil.rmtree(folder)
    return [sum(column) / LEAVES for column in zip(*counts)]


def main():
    if sys.argv[1] == "--child":
        child(sys.argv[2], int(sys.argv[3]))
        return
    tare, library = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    for depth in [int(d) for d in sys.argv[3:]] or [16, 64]:
        plain = measure([], library, depth)
        for stacks in ("none", "python"):
            found = measure([tare, "record", "-o", "FOLDER/rec", "--no-probe", "--stacks", stacks, "--"], library, depth)
            print("Python %d.%d, stacks %-6s depth %3d: %5.0f instructions, code: %4.0f lines in %3.0f pages, "
                  "data: %4.0f lines in %3.0f pages" % (sys.version_info[:2] + (stacks + ",", depth) + tuple(
                      with_it - without for with_it, without in zip(found, plain))), flush=True)


main()
