#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NCCL takes of a card, call by call: the rows of simgpu/libs/nccl_memory.def.

    tests/gpu/nccl.py [LIBNCCL]          two GPUs, nothing else on them; about a minute
    tests/gpu/nccl.py --alone [LIBNCCL]  one GPU: communicators of one rank only, with settings; half a minute

One line for each call and setting: MiB that each rank's card has less afterwards. LIBNCCL is looked for beside PyTorch
unless it is named. `TARE_SIM_DEVICES=2 tare record --sim h200 -- tests/gpu/nccl.py libnccl.so.2` says what the
simulated one takes. NVLink multicast stays off.
"""

import ctypes
import glob
import os
import subprocess
import sys
import tempfile
import time

SETTINGS = ({}, {"NCCL_BUFFSIZE": "8388608"}, {"NCCL_MAX_NCHANNELS": "4"}, {"NCCL_MIN_NCHANNELS": "32"},
            {"NCCL_PROTO": "Simple"}, {"NCCL_PROTO": "LL"}, {"NCCL_CUMEM_ENABLE": "0"})
ALONE = ({}, {"NCCL_MAX_NCHANNELS": "4"}, {"NCCL_MIN_NCHANNELS": "32"}, {"NCCL_MAX_P2P_NCHANNELS": "16"}, {"NCCL_BUFFSIZE": "1048576"})
SMALL, LARGE, FLOAT32, SUM = 1, 16 << 20, 7, 0


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


class Card:
    """The driver, on one card."""

    def __init__(self, device):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.check(self.cuda.cuInit(0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.check(self.cuda.cuCtxSetCurrent(context))
        self.last = self.free()

    @staticmethod
    def check(result):
        if result:
            raise SystemExit("the driver says error %d" % result)

    def free(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.check(self.cuda.cuCtxSynchronize())
        self.check(self.cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        return free.value

    def alloc(self, size):
        address = ctypes.c_uint64()
        self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
        return ctypes.c_void_p(address.value)

    def taken(self, what):
        now = self.free()
        print("%s\t%.1f" % (what, (self.last - now) / 2**20), flush=True)
        self.last = now


def meet(folder, name, rank, ranks):
    """A file of each rank: the card is looked at when all have made the call."""
    open(os.path.join(folder, "%s.%d" % (name, rank)), "w").close()
    while len(glob.glob(os.path.join(folder, name + ".*"))) < ranks:
        time.sleep(0.01)


def rank_main(library, folder, rank, ranks):
    card, nccl = Card(rank), ctypes.CDLL(library)
    buffer, comm, second, part = card.alloc(2 * 4 * LARGE), *(ctypes.c_void_p() for _ in range(3))

    def id_of(name):
        path, made = os.path.join(folder, name), Id()
        if rank == 0:
            assert nccl.ncclGetUniqueId(ctypes.byref(made)) == 0
            with open(path + ".new", "wb") as file:
                file.write(bytes(made))
            os.rename(path + ".new", path)
        while not os.path.exists(path):
            time.sleep(0.01)
        with open(path, "rb") as file:
            return Id.from_buffer_copy(file.read())

    def reduce(of, count):
        return nccl.ncclAllReduce(buffer, buffer, ctypes.c_size_t(count), FLOAT32, SUM, of, None)

    def exchange(count):
        peer = (rank + 1) % ranks
        nccl.ncclGroupStart()
        nccl.ncclSend(buffer, ctypes.c_size_t(count), FLOAT32, peer, comm, None)
        nccl.ncclRecv(ctypes.c_void_p(buffer.value + 4 * LARGE), ctypes.c_size_t(count), FLOAT32, peer, comm, None)
        return nccl.ncclGroupEnd()

    steps = (
        ("memory of this test", lambda: 0),
        ("ncclCommInitRank", lambda: nccl.ncclCommInitRank(ctypes.byref(comm), ranks, id_of("first"), rank)),
        ("ncclAllReduce of 4 bytes", lambda: reduce(comm, SMALL)),
        ("ncclAllReduce of 64 MiB", lambda: reduce(comm, LARGE)),
        ("ncclAllGather", lambda: nccl.ncclAllGather(buffer, buffer, ctypes.c_size_t(LARGE // ranks), FLOAT32, comm, None)),
        ("ncclSend and ncclRecv of 4 bytes", lambda: exchange(SMALL)),
        ("ncclSend and ncclRecv of 64 MiB", lambda: exchange(LARGE)),
        ("ncclCommInitRank, a second one", lambda: nccl.ncclCommInitRank(ctypes.byref(second), ranks, id_of("second"), rank)),
        ("ncclAllReduce in it", lambda: reduce(second, LARGE)),
        ("ncclCommSplit, all in one", lambda: nccl.ncclCommSplit(comm, 0, rank, ctypes.byref(part), None)),
        ("ncclAllReduce in that", lambda: reduce(part, LARGE)),
        ("ncclCommDestroy of the part", lambda: nccl.ncclCommDestroy(part)),
        ("ncclCommDestroy of the second", lambda: nccl.ncclCommDestroy(second)),
        ("ncclCommDestroy", lambda: nccl.ncclCommDestroy(comm)),
    )
    for number, (what, call) in enumerate(steps):
        result = call()
        if result:
            nccl.ncclGetLastError.restype = ctypes.c_char_p
            raise SystemExit("%s on rank %d is %d: %s" % (what, rank, result, nccl.ncclGetLastError(None)))
        card.free()
        meet(folder, "step%d" % number, rank, ranks)
        card.taken(what)
        meet(folder, "looked%d" % number, rank, ranks)


def measure(library, ranks, setting):
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NCCL_NVLS_ENABLE": "0", **setting}
        running = [subprocess.Popen([sys.executable, __file__, "--rank", library, folder, str(rank), str(ranks)], env=env,
                                    stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
        outputs = [one.communicate()[0].splitlines() for one in running]
    if any(one.returncode for one in running):
        raise SystemExit("a rank failed with %s" % (setting or "no setting"))
    print("\n%d ranks, %s" % (ranks, " ".join("%s=%s" % pair for pair in setting.items()) or "no setting"))
    for lines in zip(*outputs):
        print("  %-36s %s" % (lines[0].split("\t")[0], "".join("%10s" % line.split("\t")[1] for line in lines)))


def find_library():
    for folder in sys.path:
        found = glob.glob(os.path.join(folder, "nvidia", "nccl", "lib", "libnccl.so.2"))
        if found:
            return found[0]
    return "libnccl.so.2"


def main():
    if sys.argv[1:2] == ["--rank"]:
        rank_main(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    alone = sys.argv[1:2] == ["--alone"]
    library, version = (sys.argv[1 + alone:] or [find_library()])[0], ctypes.c_int()
    ctypes.CDLL(library).ncclGetVersion(ctypes.byref(version))
    print("NCCL %d, %s; MiB" % (version.value, library))
    for setting in ALONE if alone else ({},):
        measure(library, 1, setting)
    for setting in () if alone else SETTINGS:
        measure(library, 2, setting)


if __name__ == "__main__":
    main()
