#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the recorder adds to handing a block of a tensor out and taking it back. Prints, and judges nothing.

    tests/bench/bench_tensors.py TARE LIBC10_CUDA [DEPTH…]      with any Python from 3.6 on

Two processes run the same: one recorded, one not, a turn of each after the other. What is printed is the
median of the differences, and the interval that holds the true median with 95 %.

    same       one line again and again: what an allocator does in a loop of C++
    another    8 functions in turn, each with a line and a code object of its own, called from one line
"""
import ctypes
import marshal
import os
import shutil
import subprocess
import sys
import tempfile

BLOCKS = 400  # of one turn, short enough to be left alone by other processes
TURNS = 401
LEAVES = 8


def made(name, file, call, line="return call()"):
    """A function with a code object of its own, as each function of a real stack has."""
    scope = {"call": call}
    code = compile("def %s():\n    x = 1\n    %s\n" % (name, line), file, "exec")
    exec(marshal.loads(marshal.dumps(code)), scope)  # as from a .pyc
    return scope[name]


def child(library, depth):
    """Answers every line of its input with ns for each block."""
    bench = ctypes.PyDLL(library).c10_cuda_bench
    bench.restype = ctypes.c_double
    bench.argtypes = [ctypes.c_long]
    some = ctypes.c_long(BLOCKS)
    one = ctypes.c_long(BLOCKS // LEAVES // 4)
    leaves = [made("leaf%d" % i, "/usr/lib/leaf%d.py" % (i // 3), lambda: bench(one)) for i in range(LEAVES)]

    def another():
        return sum(leaf() for leaf in leaves) / LEAVES

    def same():
        return bench(some)

    def wait():
        for line in iter(sys.stdin.readline, ""):
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
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(tare, library, depth, stacks):
    folder = tempfile.mkdtemp()
    argv = [sys.executable, os.path.abspath(__file__), "--child", library, str(depth)]
    plain = Child(argv)
    recorded = Child([tare, "record", "-o", os.path.join(folder, "rec"), "--stacks", stacks, "--"] + argv)
    for what in ("same", "another"):
        for _ in range(20):
            plain.ask(what), recorded.ask(what)
        differences = sorted(recorded.ask(what) - plain.ask(what) for _ in range(TURNS))
        middle, wide = TURNS // 2, int(0.98 * TURNS ** 0.5)  # 1.96 standard deviations of a median's rank
        print("Python %d.%d, stacks %-6s depth %3d, %-8s %6.1f ns [%.1f, %.1f] a block" % (
            sys.version_info[0], sys.version_info[1], stacks + ",", depth, what + ":", differences[middle],
            differences[middle - wide], differences[middle + wide]), flush=True)
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


main()
