# SPDX-License-Identifier: Apache-2.0
"""ns of a call of c10::cuda::getCurrentCUDAStream, the median of 25 turns, on the default stream and on another.

    stream_cost.py LIBRARY      stream_cost.c, compiled
"""
import ctypes
import glob
import os
import statistics
import sys

import torch


def main(library):
    torch.empty(1, device="cuda")
    c10 = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10_cuda.so*"))[0])
    ask = ctypes.cast(c10["_ZN3c104cuda20getCurrentCUDAStreamEa"], ctypes.c_void_p)
    measure = ctypes.CDLL(os.path.abspath(library)).ns_of_a_call
    measure.restype, measure.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_long]

    def median():
        return statistics.median(measure(ask, 100000) for _ in range(25))

    default = median()
    with torch.cuda.stream(torch.cuda.Stream()):
        print("%.1f %.1f" % (default, median()))


main(*sys.argv[1:])
