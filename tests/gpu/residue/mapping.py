#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pinned memory takes of a card, call by call: its page tables, the rule `host_map` of a profile (docs/PROFILE.md).

    mapping.py             each series in a process of its own; one GPU, nothing else on it; half a minute
    mapping.py --series N  one of them

A series is a list of calls, pinned sizes in MiB, and after each what the card has less than before the first, in MiB. Equal calls in
a row whose figure is the same are one entry. `SCALE=16 tare record --sim h100 -- mapping.py` is for a machine with less memory.
"""

import ctypes
import mmap
import os
import subprocess
import sys

MIB = 1 << 20
SCALE = int(os.environ.get("SCALE", "1"))
PORTABLE, MAPPED, COMBINED = 1, 2, 4
# Name, then the calls: ("alloc", MiB, flags), ("register", MiB), ("free", which of those that are held).
SERIES = (
    ("64 MiB each", [("alloc", 64, 0)] * 48 + [("free", -1)] * 48),
    ("512 MiB each", [("alloc", 512, 0)] * 8 + [("free", 0)] * 8),
    ("4 GiB, twice", [("alloc", 4096, 0), ("free", 0)] * 2),
    ("1 GiB, twice", [("alloc", 1024, 0), ("free", 0)] * 2),
    ("4.5 GiB", [("alloc", 4608, 0), ("free", 0)]),
    ("1 GiB with each flag", [("alloc", 1024, flag) for flag in (PORTABLE, MAPPED, COMBINED)] + [("free", 0)] * 3),
    ("1 MiB each", [("alloc", 1, 0)] * 1024 + [("free", -1)] * 1024),
    ("4 KiB each", [("alloc", 1 / 256, 0)] * 2048 + [("free", -1)] * 2048),
    ("2.25 GiB registered, twice", [("register", 2304), ("free", 0)] * 2),
    ("512 MiB registered each", [("register", 512)] * 6 + [("free", -1)] * 6),
)


class Card:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.check(self.cuda.cuInit(0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.check(self.cuda.cuCtxSetCurrent(context))
        self.held, self.first = [], self.free()

    @staticmethod
    def check(result):
        if result:
            raise SystemExit("the driver says error %d" % result)

    def free(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.check(self.cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        return free.value

    def call(self, name, size, flags=0):
        if name == "free":
            address, own = self.held.pop(size)
            self.check(self.cuda.cuMemHostUnregister(address) if own else self.cuda.cuMemFreeHost(address))
            return
        size, own, address = int(size * MIB / SCALE), None, ctypes.c_void_p()
        if name == "alloc":
            self.check(self.cuda.cuMemHostAlloc(ctypes.byref(address), ctypes.c_size_t(size), flags))
        else:
            own = mmap.mmap(-1, size)
            address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(own)))
            self.check(self.cuda.cuMemHostRegister_v2(address, ctypes.c_size_t(size), 0))
        self.held.append((address, own))


def series(calls):
    card, said, last = Card(), [], None
    for name, size, *flags in calls:
        card.call(name, size, *flags)
        now = (name, "%.1f" % ((card.first - card.free()) / MIB))
        if now == last:
            said[-1][0] += 1
        else:
            said.append([1, *now])
        last = now
    return " ".join("%s%s:%s" % ("%d×" % times if times > 1 else "", name, taken) for times, name, taken in said)


def main():
    if sys.argv[1:2] == ["--series"]:
        print(series(SERIES[int(sys.argv[2])][1]), flush=True)
        return
    for number, (name, _) in enumerate(SERIES):
        done = subprocess.run([sys.executable, __file__, "--series", str(number)], stdout=subprocess.PIPE, text=True, check=False)
        print("%-28s %s" % (name, done.stdout.strip() or "failed"), flush=True)


if __name__ == "__main__":
    main()
