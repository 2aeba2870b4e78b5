# SPDX-License-Identifier: Apache-2.0
"""CuPy on the driver's asynchronous pool instead of its own."""
import cupy

cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)
total = 0.0
for round in range(4):
    arrays = [cupy.ones((1 + 3 * i, 250001), dtype=cupy.float32) for i in range(12)]
    total += float(sum(a.sum() for a in arrays))
    del arrays
    cupy.cuda.Device().synchronize()
print(total)
