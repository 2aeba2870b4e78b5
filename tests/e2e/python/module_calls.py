# SPDX-License-Identifier: Apache-2.0
"""Calls modules as each PyTorch does, in any Python, and is handed out blocks by the library that stands for its
allocator (argument 1). Prints a line for each block: its bytes, and the address and class of its module."""
import ctypes
import sys
import threading

MIB = 1 << 20
c10 = ctypes.CDLL(sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
c10.c10_cuda_segment.restype = ctypes.c_uint64
c10.c10_cuda_segment.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
c10.c10_cuda_block.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.c_bool]

# Up to 1.5, from 1.6 on, and from 2.1 on, where a function inside of the call uses its module.
OLD = """
class Module(object):
    def __call__(self, *input):
        return self.forward(*input)
"""
MIDDLE = """
class Module(object):
    def _call_impl(self, *input):
        forward_call = self.forward
        return forward_call(*input)
    __call__ = _call_impl
"""
NEW = """
class Module(object):
    def _wrapped_call_impl(self, *args):
        return self._call_impl(*args)

    def _call_impl(self, *args):
        def inner():
            return self.forward(*args)
        return inner() if args else self.forward()
    __call__ = _wrapped_call_impl
"""
# A frame of it never tells its module, so that of a caller is the block's.
SILENT = """
class Module(object):
    def __init__(self, forward):
        self.forward = forward

    def _call_impl(self):
        def inner():
            return self.forward()
        return inner()
    __call__ = _call_impl
"""


def start():
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    return c10.c10_cuda_segment(ctypes.cast(cuda.cuMemAlloc_v2, ctypes.c_void_p), 200 * MIB)


class Blocks:
    def __init__(self, at):
        self.at, self.bytes = at, 512

    def take(self, module):
        self.at += 2 * MIB
        self.bytes += 512
        c10.c10_cuda_block(self.at, self.bytes, False)
        print(self.bytes, id(module) if module else 0, type(module).__name__ if module else "-")


def module_of(source):
    scope = {}
    exec(compile(source, "/x/site-packages/torch/nn/modules/module.py", "exec"), scope)
    return scope["Module"]


def classes_of(source, blocks):
    base = module_of(source)

    class Leaf(base):
        def forward(self, *args):
            blocks.take(self)

    class Outer(base):
        def __init__(self):
            self.leaves = [Leaf() for _ in range(3)]

        def forward(self, *args):
            blocks.take(self)
            for leaf in self.leaves:  # the same frames at the same places, of others each time
                leaf(*args)
            blocks.take(self)
    return Outer


def deep(calls, then):
    return deep(calls - 1, then) if calls else then()


def far_out(blocks):
    """A module far outwards of its blocks: behind calls that do not tell theirs, or frames; two blocks of each stack."""
    class Far(module_of(OLD)):
        def forward(self, what, told):
            def take_two():
                for _ in range(2):
                    blocks.take(self if told else None)
            what(take_two)

    silent = module_of(SILENT)

    def nest(calls):
        def take_inside(take):
            for _ in range(calls):
                take = silent(take)
            take()
        return take_inside

    far = Far()
    for calls in (1, 2, 3, 4, 9):
        far(nest(calls), True)
    far(lambda take: deep(100, take), True)
    far(lambda take: deep(200, take), False)  # only the innermost 128 frames are looked at
    far(lambda take: deep(400, take), False)


def main():
    blocks = Blocks(start())
    blocks.take(None)
    for source in (OLD, MIDDLE, NEW):
        outer = classes_of(source, blocks)()
        outer()
        outer(1)
        blocks.take(None)
        thread = threading.Thread(target=outer)
        thread.start()
        thread.join()
    far_out(blocks)


main()
