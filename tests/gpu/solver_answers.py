#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cuSOLVER takes as workspace: a line a question, "FUNCTION TYPE M N = DEVICE HOST", in elements where the function
answers in elements (all but those with an X), else in bytes.

    tests/gpu/solver_answers.py [LIBCUSOLVER] >solver.txt       a GPU; some seconds

What PyTorch asks for is asked: QR, LU, Cholesky, eigenvalues and singular values of square and tall matrices.
"""
import ctypes
import glob
import sys

SIZES = [(n, n) for n in (1, 2, 8, 16, 31, 32, 33, 48, 64, 65, 96, 100, 127, 128, 129, 160, 192, 200, 255, 256, 257, 300, 384, 400, 512, 513,
                          640, 700, 768, 1000, 1024, 1025, 1500, 2048, 2049, 3000, 4096, 5000, 8192)]
SIZES += [(m, n) for m, n in ((64, 32), (128, 32), (200, 50), (256, 64), (512, 128), (1000, 10), (1000, 100), (1024, 256), (2048, 128),
                              (2048, 1024), (4096, 64), (4096, 1000), (8192, 32), (10000, 16))]
FLOAT, DOUBLE, COMPLEX, COMPLEX_DOUBLE = 0, 1, 4, 5    # cudaDataType
TYPES = {"S": FLOAT, "D": DOUBLE, "C": COMPLEX, "Z": COMPLEX_DOUBLE}
VECTORS, LOWER = 1, 0
POINTER = ctypes.c_void_p(256)    # aligned; nothing is read through it


def find_library():
    for folder in sys.path:
        found = [name for pattern in ("cu1*/lib", "cusolver/lib") for name in glob.glob("%s/nvidia/%s/libcusolver.so.1*" % (folder, pattern))]
        if found:
            return found[0]
    return "libcusolver.so.12"


class Solver:
    def __init__(self, library):
        self.lib, self.handle = ctypes.CDLL(library), ctypes.c_void_p()
        self.check(self.lib.cusolverDnCreate(ctypes.byref(self.handle)), "cusolverDnCreate")
        self.params, self.jacobi, self.svd_jacobi = (ctypes.c_void_p() for _ in range(3))
        self.check(self.lib.cusolverDnCreateParams(ctypes.byref(self.params)), "cusolverDnCreateParams")
        self.check(self.lib.cusolverDnCreateSyevjInfo(ctypes.byref(self.jacobi)), "cusolverDnCreateSyevjInfo")
        self.check(self.lib.cusolverDnCreateGesvdjInfo(ctypes.byref(self.svd_jacobi)), "cusolverDnCreateGesvdjInfo")

    @staticmethod
    def check(status, what):
        if status:
            sys.exit("%s: status %d" % (what, status))

    def elements(self, name, *arguments):
        """Of a function whose last argument is an int that it answers with; None: it refuses."""
        answer = ctypes.c_int(-1)
        status = getattr(self.lib, name)(self.handle, *arguments, ctypes.byref(answer))
        return None if status else (answer.value, 0)

    def legacy(self, letter, m, n):
        word, least = "or" if letter in "SD" else "un", min(m, n)
        start = "cusolverDn" + letter
        yield "geqrf", self.elements(start + "geqrf_bufferSize", m, n, POINTER, m)
        yield "getrf", self.elements(start + "getrf_bufferSize", m, n, POINTER, m)
        yield word + "gqr", self.elements(start + word + "gqr_bufferSize", m, least, least, POINTER, m, POINTER)
        yield word + "mqr", self.elements(start + word + "mqr_bufferSize", 0, 0, m, n, least, POINTER, m, POINTER, POINTER, m)
        if m >= n:
            yield "gesvd", self.elements(start + "gesvd_bufferSize", m, n)
        answer = ctypes.c_int(-1)
        status = getattr(self.lib, start + "gesvdj_bufferSize")(
            self.handle, VECTORS, 1, m, n, POINTER, m, POINTER, POINTER, m, POINTER, n, ctypes.byref(answer), self.svd_jacobi)
        yield "gesvdj", None if status else (answer.value, 0)
        if m == n:
            word = "sy" if letter in "SD" else "he"
            yield "potrf", self.elements(start + "potrf_bufferSize", LOWER, n, POINTER, n)
            yield word + "evd", self.elements(start + word + "evd_bufferSize", VECTORS, LOWER, n, POINTER, n, POINTER)
            status = getattr(self.lib, start + word + "evj_bufferSize")(
                self.handle, VECTORS, LOWER, n, POINTER, n, POINTER, ctypes.byref(answer), self.jacobi)
            yield word + "evj", None if status else (answer.value, 0)

    def bytes(self, name, *arguments, batch=()):
        """Of a function of the 64-bit interface, which answers with bytes on the device and on the host."""
        if not hasattr(self.lib, name):
            return None
        device, host = ctypes.c_size_t(0), ctypes.c_size_t(0)
        arguments = [ctypes.c_int64(one[0]) if isinstance(one, tuple) else one for one in arguments]
        status = getattr(self.lib, name)(self.handle, self.params, *arguments, ctypes.byref(device), ctypes.byref(host), *batch)
        return None if status else (device.value, host.value)

    def generic(self, letter, m, n):
        kind, real = TYPES[letter], TYPES["S" if letter in "SC" else "D"]
        yield "Xgeqrf", self.bytes("cusolverDnXgeqrf_bufferSize", (m,), (n,), kind, POINTER, (m,), kind, POINTER, kind)
        yield "Xgetrf", self.bytes("cusolverDnXgetrf_bufferSize", (m,), (n,), kind, POINTER, (m,), kind)
        yield "Xgesvdp", self.bytes("cusolverDnXgesvdp_bufferSize", VECTORS, 1, (m,), (n,), kind, POINTER, (m,), real, POINTER, kind,
                                    POINTER, (m,), kind, POINTER, (n,), kind)
        if m >= n:
            yield "Xgesvd", self.bytes("cusolverDnXgesvd_bufferSize", ctypes.c_byte(ord("S")), ctypes.c_byte(ord("S")), (m,), (n,),
                                       kind, POINTER, (m,), real, POINTER, kind, POINTER, (m,), kind, POINTER, (n,), kind)
        if m == n:
            yield "Xpotrf", self.bytes("cusolverDnXpotrf_bufferSize", LOWER, (n,), kind, POINTER, (n,), kind)
            yield "Xsyevd", self.bytes("cusolverDnXsyevd_bufferSize", VECTORS, LOWER, (n,), kind, POINTER, (n,), real, POINTER, kind)
            yield "XsyevBatched", self.bytes("cusolverDnXsyevBatched_bufferSize", VECTORS, LOWER, (n,), kind, POINTER, (n,), real,
                                             POINTER, kind, batch=(ctypes.c_int64(1),))


def main():
    import torch    # for a context, and the libraries that cuSOLVER needs
    torch.zeros(1, device="cuda")
    solver = Solver(sys.argv[1] if len(sys.argv) > 1 else find_library())
    version = ctypes.c_int()
    solver.lib.cusolverGetVersion(ctypes.byref(version))
    print("# cuSOLVER %d, card %s" % (version.value, torch.cuda.get_device_name()))
    for letter in TYPES:
        for m, n in SIZES:
            for source in (solver.legacy, solver.generic):
                for name, answer in source(letter, m, n):
                    print("%s %s %d %d =" % (name, letter, m, n), *(answer or ("refused",)))


if __name__ == "__main__":
    main()
