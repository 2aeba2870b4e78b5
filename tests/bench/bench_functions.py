#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that blocks come from; as a program, what bench_lines.py looks at, which imports little."""
import ctypes
import marshal
import sys

LEAVES = 8
BLOCKS = 40
MARK_AT = 0x123456789000  # in every process
PAGE = 4096


def made(name, file, call, line="return call()"):
    """A function with a code object of its own, as each function of a real stack has."""
    scope = {"call": call}
    code = compile("def %s():\n    x = 1\n    %s\n" % (name, line), file, "exec")
    exec(marshal.loads(marshal.dumps(code)), scope)  # as from a .pyc
    return scope[name]


class Layer:
    def __init__(self, forward):
        self.forward = forward


def called_as_module(forward):
    """As PyTorch calls a module, for which the recorder knows it by file and function."""
    scope = {}
    exec(compile("def _call_impl(self):\n    return self.forward()\n", "/usr/lib/torch/nn/modules/module.py", "exec"),
         scope)
    call, layer = scope["_call_impl"], Layer(forward)
    return lambda: call(layer)


def child(library, depth, maps, in_modules):
    with open("/proc/self/maps") as now, open(maps, "w") as kept:
        kept.write(now.read())
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

    if in_modules:
        leaves = [called_as_module(leaf) for leaf in leaves]

    def all_blocks():
        for i in range(BLOCKS):
            leaves[i % LEAVES]()

    function = all_blocks
    for i in range(depth - 5):  # child, <module>, all_blocks and the leaf's two are frames too
        function = made("f%d" % i, "/usr/lib/module%d.py" % (i // 3), function)
    function()


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "--modules")
