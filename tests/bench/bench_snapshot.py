#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading a large memory snapshot takes: bench_snapshot.py TARE EVENTS [short] [MEMORY_VIZ].

Makes a file like those of a training loop: the same requests again and again, each with a list of frames of its own as PyTorch writes
them, and frames that are shared. Then `pickle.loads`, `tare import` and `tare whatif` read it, and `MEMORY_VIZ trace`, if that
file of PyTorch (torch/cuda/_memory_viz.py) is named. Seconds of the processor and the most memory of each, which is not less
than what this program had when it began them. `short`: stacks of 18 frames, and no keys of PyTorch 2.8 and later.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from caching_allocator import Allocator, course

DEPTH, SHORT_DEPTH, FRAMES, STACKS = 48, 18, 2000, 500
MOST = 500 << 20  # a larger file is not read by Python, which takes seven times its size of memory


class Writer:
    """The opcodes that pickle's protocol 4 has for a snapshot, written as they come: no dict of an event is ever made."""

    def __init__(self, file):
        self.write, self.memo, self.count = file.write, {}, 0

    def remember(self):
        self.count += 1
        self.write(b"\x94")
        return self.count - 1

    def fetch(self, at):
        self.write(b"h%c" % at if at < 256 else b"j" + struct.pack("<I", at))

    def value(self, v):
        if isinstance(v, str):
            if v in self.memo:
                return self.fetch(self.memo[v])
            raw = v.encode()
            self.write(b"\x8c%c" % len(raw) + raw)
            self.memo[v] = self.remember()
        elif isinstance(v, bool):
            self.write(b"\x88" if v else b"\x89")
        elif isinstance(v, int):
            self.write(b"K%c" % v if 0 <= v < 256 else b"\x8a\x08" + struct.pack("<q", v))
        elif isinstance(v, float):
            self.write(b"G" + struct.pack(">d", v))
        elif isinstance(v, tuple):
            for item in v:
                self.value(item)
            self.write(b"\x86")
        elif isinstance(v, dict):
            self.write(b"}(")
            for key, item in v.items():
                self.value(key)
                self.value(item)
            self.write(b"u")
        else:
            self.write(b"](")
            for item in v:
                self.value(item)
            self.write(b"e")
        return None


class Stacks:
    def __init__(self, writer, depth):
        dice = random.Random(1)
        self.w, self.frames, self.lists, self.turn = writer, {}, {}, 0
        self.stacks = [[dice.randrange(FRAMES) for _ in range(depth)] for _ in range(STACKS)]

    def frame(self, nr):
        if nr in self.frames:
            return self.w.fetch(self.frames[nr])
        self.w.write(b"}")
        self.frames[nr] = self.w.remember()
        self.w.write(b"(")
        for key, item in (("filename", "/home/user/train/part%d.py" % (nr % 40)), ("line", nr), ("name", "function_%d" % nr)):
            self.w.value(key)
            self.w.value(item)
        self.w.write(b"u")
        return None

    def put(self, entry):
        """A new list where a block begins; the same one where it ends."""
        if entry["action"].startswith("free") and entry["addr"] in self.lists:
            self.w.fetch(self.lists[entry["addr"]])
            return
        self.turn += 1
        self.w.write(b"]")
        self.lists[entry["addr"]] = self.w.remember()
        self.w.write(b"(")
        for nr in self.stacks[self.turn % STACKS]:
            self.frame(nr)
        self.w.write(b"e")


def make(path, events, is_short=False):
    """Whole steps after one another, each from nothing to nothing; the last one stays."""
    a = Allocator(seed=1)
    last = Allocator(seed=1)
    for block in course(a, 3000, 1):
        a.free(block)
    a.empty_cache()
    course(last, 3000, 1)
    with open(path, "wb") as file:
        w = Writer(file)
        stacks = Stacks(w, SHORT_DEPTH if is_short else DEPTH)
        w.write(b"\x80\x04}(")
        for key, item in last.snapshot().items():
            if key != "device_traces":
                w.value(key)
                w.value(item)
        w.value("device_traces")
        w.write(b"](](")
        count = 0
        while count < events:
            for entry in a.trace if count + len(a.trace) < events else last.trace:
                w.write(b"}(")
                for key, item in entry.items():
                    w.value(key)
                    w.value(item)
                w.value("time_us")
                w.value(1700000000000000 + count)
                if not is_short:
                    w.value("compile_context")
                    w.value("N/A")
                    w.value("user_metadata")
                    w.value("")
                w.value("frames")
                stacks.put(entry)
                w.write(b"u")
                count += 1
            if count + len(a.trace) >= events and entry is last.trace[-1]:
                break
        w.write(b"eeu.")
    return count


def run(name, argv):
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    took = used.ru_utime + used.ru_stime
    print("%-32s %7.2f s %7d MiB%s" % (name, took, used.ru_maxrss / 1024, "" if status == 0 else "  status %d" % status), flush=True)
    return took


def main():
    tare, events, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    is_short = rest[:1] == ["short"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "snapshot.pickle")
        count = make(path, events, is_short)
        print("%d events, %.1f MB" % (count, os.path.getsize(path) / 1e6), flush=True)
        run("tare whatif", [tare, "whatif", path])
        ours = run("tare import", [tare, "import", path, "-o", os.path.join(folder, "s.tare")])
        if os.path.getsize(path) > MOST:
            return
        loads = run("pickle.loads", [sys.executable, "-c", "import pickle, sys; pickle.loads(open(sys.argv[1], 'rb').read())", path])
        print("pickle.loads takes %.1f times as long as the import" % (loads / ours))
        for viz in rest[is_short:]:
            run("_memory_viz.py trace", [sys.executable, viz, "trace", path])


if __name__ == "__main__":
    main()
