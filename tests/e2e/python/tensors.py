# SPDX-License-Identifier: Apache-2.0
"""Makes tensors as PyTorch's allocator does, through the library that stands for it (argument 1), line by line."""
import ctypes
import sys

MIB = 1 << 20
c10 = ctypes.CDLL(sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
c10.c10_cuda_segment.restype = ctypes.c_uint64
c10.c10_cuda_segment.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
c10.c10_cuda_block.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.c_bool]


def start():
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0


def segment():
    return c10.c10_cuda_segment(ctypes.cast(cuda.cuMemAlloc_v2, ctypes.c_void_p), 20 * MIB)  # SEGMENT


def weights(at):
    c10.c10_cuda_block(at, 3 * MIB, False)  # WEIGHTS


def step(at):
    c10.c10_cuda_block(at + 4 * MIB, 2 * MIB, False)  # ACTIVATIONS
    c10.c10_cuda_block(at + 4 * MIB, -2 * MIB, False)


def main():
    start()
    at = segment()
    assert at
    weights(at)
    for _ in range(40000 if "long" in sys.argv else 50):
        step(at)
    step(at)


main()
