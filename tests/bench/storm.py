# SPDX-License-Identifier: Apache-2.0
"""Hands blocks out and takes them back, as PyTorch's allocator does: LIBC10_CUDA EVENTS LIVE [LINES].

Of LIVE blocks that are out the oldest goes next; they come from LINES lines. What it makes is for measuring how
reports go with many events (bench_report.py).
"""
import ctypes
import sys

SEGMENT, BLOCK = 20 << 20, 1024


def start(c10, live):
    """As many segments as twice the blocks need; returns where each begins."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    alloc = ctypes.cast(cuda.cuMemAlloc_v2, ctypes.c_void_p)
    c10.c10_cuda_segment.restype = ctypes.c_uint64
    c10.c10_cuda_segment.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    return [c10.c10_cuda_segment(alloc, SEGMENT) for _ in range(2 * live * BLOCK // SEGMENT + 1)]


def lines_of(count):
    """Functions that each hand out a block at a line of their own."""
    made = {}
    text = "".join("def line%d(block, at):\n    block(at, %d, False)\n\n" % (i, BLOCK) for i in range(count))
    exec(compile(text, "/home/me/storm.py", "exec"), made)  # pylint: disable=exec-used
    return [made["line%d" % i] for i in range(count)]


def main():
    c10 = ctypes.PyDLL(sys.argv[1])
    events, live = int(sys.argv[2]), int(sys.argv[3])
    lines = lines_of(int(sys.argv[4]) if len(sys.argv) > 4 else 50)
    block = c10.c10_cuda_block
    block.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.c_bool]
    segments = start(c10, live)
    slots, per_segment = 2 * live, SEGMENT // BLOCK

    def place(number):
        slot = number * 7919 % slots  # neighbours in time are none in memory
        return segments[slot // per_segment] + slot % per_segment * BLOCK

    for i in range((events + live) // 2):
        lines[i * 31 % len(lines)](block, place(i))
        if i >= live:
            block(place(i - live), -BLOCK, False)


main()
