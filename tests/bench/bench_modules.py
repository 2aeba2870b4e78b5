#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to know for which module a block or a node of autograd is made. Prints, and judges nothing.

    tests/bench/bench_modules.py LIBRARY [DEPTH…]      with any Python from 3.6 on
"""
import ctypes
import os
import shutil
import sys
import tempfile

TIMES, ROUNDS = 500, 300
STACK, BLOCK, NODE = range(3)
CALL = compile("def _call_impl(self, forward):\n    return forward(self)\n", "/x/torch/nn/modules/module.py", "exec")
FORWARD = compile("def forward(self):\n    return call(self, inner)\n", "/x/model.py", "exec")


class Module:
    pass


def main():
    folder = tempfile.mkdtemp()
    os.environ["TARE_RECORDING"] = folder
    library = ctypes.PyDLL(os.path.abspath(sys.argv[1]))
    library.bench_module.restype = ctypes.c_double
    library.bench_module.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.POINTER(ctypes.c_uint)]
    flags, module = ctypes.c_uint(), Module()

    def nested(depth, inner):
        """A call of a module in one of another, and so on: two frames each."""
        for _ in range(depth // 2):
            scope = {}
            exec(CALL, scope)
            scope.update(call=scope["_call_impl"], inner=inner)
            exec(FORWARD, scope)
            inner = scope["forward"]
        return inner

    def best(depth, what):
        measure = nested(depth, lambda _: library.bench_module(times, what, flags))
        times = ctypes.c_long(TIMES)
        return min(measure(module) for _ in range(ROUNDS))

    for depth in [int(d) for d in sys.argv[2:]] or [8, 64]:
        stack, block, node = (best(depth, what) for what in (STACK, BLOCK, NODE))
        print("Python %d.%d, depth %3d: stack %6.1f ns, with its module %6.1f, a node's module %6.1f"
              % (sys.version_info[0], sys.version_info[1], depth, stack, block, node))
    shutil.rmtree(folder)


main()
