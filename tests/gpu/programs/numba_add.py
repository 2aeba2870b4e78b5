# SPDX-License-Identifier: Apache-2.0
import numpy

if not hasattr(numpy, "row_stack"):  # older Numba beside NumPy 2.4
    numpy.row_stack = numpy.vstack
import numba.cuda as cuda

@cuda.jit
def add(a, b):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += b[i]

a = cuda.to_device(numpy.ones(1 << 20, dtype=numpy.float32))
b = cuda.to_device(numpy.ones(1 << 20, dtype=numpy.float32))
add[4096, 256](a, b)
cuda.synchronize()
print(a.copy_to_host().sum())
