#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the recorder adds to handing a block of a tensor out and taking it back. Prints, and judges nothing.

    tests/bench/bench_tensors.py TARE LIBC10_CUDA [DEPTH…]      with any Python from 3.6 on

Two processes run the same: one recorded, one not, a turn of each after the other. What is printed is the
median of the differences, and the interval that holds the true median with 95 %.

    same       one line again and again: what an allocator does in a loop of C++
    another    8 functions in turn, each with a line and a code object of its own, called from one line
    cold KIB   as another, and before each block the program uses so many KiB of its own, which puts what the
               recorder uses out of the caches, and the other way round: what is added to the time of the block, and
               to that of the block and the program's own work. Here one process does both turns, in one of them with
               the recorder off, for where the program's own data lie in the caches differs between processes
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench_functions import LEAVES, made  # noqa: E402

BLOCKS = 400  # of one turn, short enough to be left alone by other processes
TURNS = 401
COLD_KIB = (256, 1024, 4096)
COLD_TURNS = 101
COLD_BLOCKS = 48  # of one turn


def middle_of(values):
    return sorted(values)[len(values) // 2]


def child(library, depth):
    """Answers every line of its input with ns for each block, and of a cold one with the program's own work."""
    library = ctypes.PyDLL(library)
    bench, bench_cold = library.c10_cuda_bench, library.c10_cuda_bench_cold
    bench.restype = ctypes.c_double
    bench.argtypes = [ctypes.c_long]
    bench_cold.restype = None
    bench_cold.argtypes = [ctypes.c_long, ctypes.POINTER(ctypes.c_double * 2)]
    kib, ns = ctypes.c_long(), (ctypes.c_double * 2)()
    at_ns = ctypes.byref(ns)
    some = ctypes.c_long(BLOCKS)
    one = ctypes.c_long(BLOCKS // LEAVES // 4)
    leaves = [made("leaf%d" % i, "/usr/lib/leaf%d.py" % (i // 3), lambda: bench(one)) for i in range(LEAVES)]

    def another():
        return sum(leaf() for leaf in leaves) / LEAVES

    cold_leaves = [made("cold%d" % i, "/usr/lib/cold%d.py" % (i // 3), lambda: bench_cold(kib, at_ns))
                   for i in range(LEAVES)]

    def cold():
        blocks, all_times = [], []
        for i in range(COLD_BLOCKS):
            cold_leaves[i % LEAVES]()
            blocks.append(ns[0])
            all_times.append(ns[1])
        return middle_of(blocks), middle_of(all_times)

    def same():
        return bench(some)

    def wait():
        for line in iter(sys.stdin.readline, ""):
            if line.startswith("cold"):
                kib.value, is_off = map(int, line.split()[1:])
                ctypes.CDLL(None).tare_test_nop(is_off)
                print(*cold(), flush=True)
            else:
                print(same() if line == "same\n" else another(), flush=True)

    function = wait
    for i in range(depth - 5):  # wait, same, child and <module> are frames too, and the lambda of another
        function = made("f%d" % i, "/usr/lib/module%d.py" % (i // 3), function)
    function()


class Child:
    def __init__(self, argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, what):
        self.process.stdin.write(what.encode() + b"\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def in_turn(recorded, plain, turns):
    """Of each figure that both answer: the median of the differences, and its interval."""
    for _ in range(20):
        recorded(), plain()
    differences = zip(*([r - p for r, p in zip(recorded(), plain())] for _ in range(turns)))
    middle, wide = turns // 2, int(0.98 * turns ** 0.5)  # 1.96 standard deviations of a median's rank
    for figure in map(sorted, differences):
        yield "%6.1f ns [%.1f, %.1f]" % (figure[middle], figure[middle - wide], figure[middle + wide])


def measure(tare, library, depth, stacks):
    folder = tempfile.mkdtemp()
    argv = [sys.executable, os.path.abspath(__file__), "--child", library, str(depth)]
    plain = Child(argv)
    os.environ["TARE_TEST_NOP"] = "switch"
    recorded = Child([tare, "record", "-o", os.path.join(folder, "rec"), "--stacks", stacks, "--"] + argv)
    of = "Python %d.%d, stacks %-6s depth %3d" % (sys.version_info[:2] + (stacks + ",", depth))
    for what in ("same", "another"):
        figures = in_turn(lambda: recorded.ask(what), lambda: plain.ask(what), TURNS)
        print("%s, %-10s %s a block" % ((of, what + ":") + tuple(figures)), flush=True)
    for kib in COLD_KIB:
        figures = in_turn(lambda: recorded.ask("cold %d 0" % kib), lambda: recorded.ask("cold %d 1" % kib), COLD_TURNS)
        print("%s, cold %4d: %s a block, %s with the program's own work" % ((of, kib) + tuple(figures)), flush=True)
    plain.end()
    recorded.end()
    shutil.rmtree(folder)


def main():
    if sys.argv[1] == "--child":
        child(sys.argv[2], int(sys.argv[3]))
        return
    tare, library = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    for depth in [int(d) for d in sys.argv[3:]] or [8, 64]:
        for stacks in ("none", "python"):
            measure(tare, library, depth, stacks)


if __name__ == "__main__":
    main()
