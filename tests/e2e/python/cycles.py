# SPDX-License-Identifier: Apache-2.0
"""Objects that own a block of an allocator like PyTorch's: some freed at once, some by the cyclic collector."""
import ctypes
import gc
import sys
import threading

lib = ctypes.PyDLL(sys.argv[1])
without_gil = ctypes.CDLL(sys.argv[1])


class Owner:
    def __init__(self, free=lib.c10_cuda_return, bytes=4096):
        at = ctypes.c_ulonglong()
        lib.c10_cuda_take(ctypes.byref(at), ctypes.c_ulong(bytes))
        self.at, self.free = at.value, free

    def __del__(self):
        self.free(ctypes.c_ulonglong(self.at))


gc.disable()
for _ in range(3):
    Owner(bytes=512)  # freed at once
for _ in range(5):
    cycle = Owner(bytes=1024)
    cycle.me = cycle
cycle = Owner(without_gil.c10_cuda_return, 2048)  # whoever frees it does not hold the lock of Python
cycle.me = cycle
cycle = None
assert gc.collect() > 0
assert gc.callbacks == [] and gc.garbage == []
last = Owner(bytes=8192)
thread = threading.Thread(target=Owner)
thread.start()
thread.join()
last = None
