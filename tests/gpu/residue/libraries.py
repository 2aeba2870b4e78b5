# SPDX-License-Identifier: Apache-2.0
"""Part `libraries` of program.py: handles, pools and communicators that a program has itself, and the sleep of an engine.

The engine does what the documents of vLLM say of its sleep mode: weights and cache are physical memory mapped to addresses that stay
(cuMemCreate, cuMemMap). Level 1 copies the weights to pinned memory and drops the cache, level 2 drops both; waking up maps new
memory at the same addresses and copies the weights back.
"""

import ctypes

import torch

MIB = 1 << 20
WEIGHTS, CACHE = 512 * MIB, 256 * MIB


class Prop(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("where", ctypes.c_int), ("id", ctypes.c_int),
                ("meta", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):
    _fields_ = [("where", ctypes.c_int), ("id", ctypes.c_int), ("flags", ctypes.c_int)]


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 128)]


class Mapped:
    """Addresses that stay, with memory or without."""

    def __init__(self, cu, check, size):
        self.cu, self.check, self.size, self.at, self.handle = cu, check, size, ctypes.c_uint64(), None
        check(cu.cuMemAddressReserve(ctypes.byref(self.at), ctypes.c_size_t(size), ctypes.c_size_t(0), ctypes.c_uint64(0),
                                     ctypes.c_ulonglong(0)), "cuMemAddressReserve")
        self.wake()

    def wake(self):
        prop, access, self.handle = Prop(type=1, where=1), Access(where=1, flags=3), ctypes.c_uint64()
        self.check(self.cu.cuMemCreate(ctypes.byref(self.handle), ctypes.c_size_t(self.size), ctypes.byref(prop),
                                       ctypes.c_ulonglong(0)), "cuMemCreate")
        self.check(self.cu.cuMemMap(self.at, ctypes.c_size_t(self.size), ctypes.c_size_t(0), self.handle, ctypes.c_ulonglong(0)),
                   "cuMemMap")
        self.check(self.cu.cuMemSetAccess(self.at, ctypes.c_size_t(self.size), ctypes.byref(access), ctypes.c_size_t(1)),
                   "cuMemSetAccess")

    def sleep(self):
        self.check(self.cu.cuMemUnmap(self.at, ctypes.c_size_t(self.size)), "cuMemUnmap")
        self.check(self.cu.cuMemRelease(self.handle), "cuMemRelease")


class Libraries:
    """One of each; each method that is a step gives its own back."""

    def __init__(self, library, check):
        self.check, self.cu = check, library("libcuda.so.1")
        torch.nn.functional.conv2d(torch.ones(1, 1, 8, 8, device="cuda"), torch.ones(1, 1, 3, 3, device="cuda"))  # loads cuDNN
        self.dnn, self.dnn_handle = library("libcudnn.so"), ctypes.c_void_p()
        check(self.dnn.cudnnCreate(ctypes.byref(self.dnn_handle)), "cudnnCreate")
        self.sparse, self.sparse_handle = library("libcusparse.so"), ctypes.c_void_p()
        check(self.sparse.cusparseCreate(ctypes.byref(self.sparse_handle)), "cusparseCreate")
        self.cupy()
        self.nccl, self.comms = library("libnccl.so"), [self.communicator(library) for _ in range(2)]
        self.weights, self.cache = Mapped(self.cu, check, WEIGHTS), Mapped(self.cu, check, CACHE)
        self.kept = torch.empty(WEIGHTS, dtype=torch.uint8, pin_memory=True)

    def cupy(self):
        try:
            import cupy
        except ImportError:
            self.pool = None
            return
        self.pool = cupy.get_default_memory_pool()
        cupy.zeros(256 * MIB, dtype=cupy.uint8)  # no name has it: the pool keeps it

    def communicator(self, library):
        nccl, comm, made = library("libnccl.so"), ctypes.c_void_p(), Id()
        self.check(nccl.ncclGetUniqueId(ctypes.byref(made)), "ncclGetUniqueId")
        self.check(nccl.ncclCommInitRank(ctypes.byref(comm), 1, made, 0), "ncclCommInitRank")
        return comm

    def cudnn_destroy(self):
        self.check(self.dnn.cudnnDestroy(self.dnn_handle), "cudnnDestroy")

    def cusparse_destroy(self):
        self.check(self.sparse.cusparseDestroy(self.sparse_handle), "cusparseDestroy")

    def cupy_free(self):
        if self.pool is None:
            raise RuntimeError("no CuPy here")
        self.pool.free_all_blocks()

    def nccl_suspend(self):
        if not hasattr(self.nccl, "ncclCommSuspend"):
            version = ctypes.c_int()
            self.nccl.ncclGetVersion(ctypes.byref(version))
            raise RuntimeError("NCCL %d has no ncclCommSuspend" % version.value)
        self.check(self.nccl.ncclCommSuspend(self.comms[0], 1), "ncclCommSuspend")

    def nccl_abort(self):
        self.check(self.nccl.ncclCommAbort(self.comms.pop()), "ncclCommAbort")

    def nccl_comm_destroy(self):
        self.check(self.nccl.ncclCommDestroy(self.comms.pop()), "ncclCommDestroy")

    def sleep_1(self):
        self.check(self.cu.cuMemcpyDtoH_v2(ctypes.c_void_p(self.kept.data_ptr()), self.weights.at, ctypes.c_size_t(WEIGHTS)),
                   "cuMemcpyDtoH")
        self.weights.sleep()
        self.cache.sleep()

    def wake_up(self):
        self.weights.wake()
        self.check(self.cu.cuMemcpyHtoD_v2(self.weights.at, ctypes.c_void_p(self.kept.data_ptr()), ctypes.c_size_t(WEIGHTS)),
                   "cuMemcpyHtoD")
        self.cache.wake()

    def sleep_2(self):
        self.weights.sleep()
        self.cache.sleep()


STEPS = (("cudnn_destroy", "cudnn"), ("cusparse_destroy", "cusparse"), ("cupy_free", "cupy"), ("nccl_suspend", "nccl"),
         ("nccl_abort", "nccl"), ("nccl_comm_destroy", "nccl"), ("sleep_1", "vmm"), ("wake_up", "vmm"), ("sleep_2", "vmm"))
