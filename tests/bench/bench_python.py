#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python stack of an event costs, by its depth. Prints, and judges nothing.

    tests/bench/bench_python.py LIBRARY [DEPTH…]      with any Python from 3.6 on
"""
import ctypes
import marshal
import os
import shutil
import sys
import tempfile

TIMES = 500  # short enough to be left alone by other processes


def main():
    folder = tempfile.mkdtemp()
    os.environ["TARE_RECORDING"] = folder
    library = ctypes.PyDLL(os.path.abspath(sys.argv[1]))
    library.bench.restype = ctypes.c_double
    library.bench.argtypes = [ctypes.c_long, ctypes.POINTER(ctypes.c_uint)]
    times = ctypes.c_long(TIMES)
    stack = ctypes.c_uint()

    def measure():
        return library.bench(times, ctypes.byref(stack))

    def best(depth):
        """One line at each depth; each function has a code object of its own, as in a real stack."""
        function = measure
        for i in range(depth - 3):  # best, main and <module> are frames too; measure is the last
            scope = {"call": function}
            code = compile("def f%d():\n    x = 1\n    return call()\n" % i, "/usr/lib/module%d.py" % (i // 3), "exec")
            exec(marshal.loads(marshal.dumps(code)), scope)  # as from a .pyc
            function = scope["f%d" % i]
        return min(function() for _ in range(300))

    best(4)
    if not stack.value and not library.bench(times, ctypes.byref(stack)):
        print("no Python stacks here")
    for depth in [int(d) for d in sys.argv[2:]] or [8, 64, 128]:
        ns = best(depth)
        print("Python %d.%d, depth %3d: %6.1f ns a stack" % (sys.version_info[0], sys.version_info[1], depth, ns))
    shutil.rmtree(folder)


main()
