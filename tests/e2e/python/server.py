# SPDX-License-Identifier: Apache-2.0
"""A server in the eyes of a page: weights, a cache of 24 GiB, and a request that comes and goes. Its argument is what stands for libc10_cuda."""
import ctypes
import sys

c10, cuda = ctypes.PyDLL(sys.argv[1]), ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) and not cuda.cuCtxSetCurrent(context)
c10.c10_cuda_segment.restype = ctypes.c_uint64
c10.c10_cuda_segment.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
c10.c10_cuda_block.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.c_bool]


def take(size):
    at = c10.c10_cuda_segment(ctypes.cast(cuda.cuMemAlloc_v2, ctypes.c_void_p), size)
    c10.c10_cuda_block(at, size, False)
    return at


def weights():
    return [take(64 << 20) for _ in range(16)]


def cache():
    return take(24 << 30)


def request():
    c10.c10_cuda_block(take(512 << 20), -(512 << 20), False)


kept = weights(), cache()
request()
