#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many cache lines and pages the recorder adds to handing a block of a tensor out and taking it back.

    tests/bench/bench_lines.py [--where] [--modules] TARE LIBC10_CUDA [DEPTH…]      with any Python from 3.6 on; needs valgrind, nm

In the step of a model few of them are in the caches, so this is what a block costs there; and unlike its time it is the
same on every machine, whatever else runs. Counted are lines of code and of data between two marks in a list of
all accesses to memory (valgrind's lackey), without those of the same program when it is not recorded. Every block
comes from another line of Python than the last. Takes minutes: all of Python's start is in that list.

--modules makes each block inside the call of another module of PyTorch than the last.
--where lists the functions and variables (or mappings that have no names) that those lines are in.
"""
import bisect
import collections
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench_functions import LEAVES, MARK_AT  # noqa: E402

FIRST = 24  # of the blocks those from there on count, LEAVES of them
LINE, PAGE = 64, 4096


def blocks_of(fifo):
    """The accesses between each pair of marks, as bytes: the rest of the list is too long to be looked at."""
    mark, rest, inside = b"%012x," % MARK_AT, b"", None
    with open(fifo, "rb", buffering=0) as trace:
        for chunk in iter(lambda: trace.read(1 << 20), b""):
            pieces = (rest + chunk).split(mark)
            rest = pieces.pop()
            for piece in pieces:
                if inside is not None:
                    yield inside + piece
                inside = b"" if inside is None else None
            if inside is not None:
                inside, rest = inside + rest[:-len(mark)], rest[-len(mark):]
            else:
                rest = rest[-len(mark):]


class Places:
    """Names of what lies where in a process."""

    def __init__(self, maps):
        self.mappings, self.symbols = [], {}
        with open(maps) as lines:
            for line in lines:
                words = line.split(None, 5)
                begin, end = (int(word, 16) for word in words[0].split("-"))
                self.mappings.append((begin, end, words[5].strip() if len(words) > 5 else ""))

    def base_of(self, path):
        return min(begin for begin, _, other in self.mappings if other == path)

    def symbols_of(self, path):
        if path not in self.symbols:
            table = []
            for options in ([], ["-D"]):
                said = subprocess.run(["nm", "-n", "--defined-only"] + options + [path], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, universal_newlines=True).stdout
                table += [(int(line.split()[0], 16), line.split()[2].split("@")[0]) for line in said.splitlines()]
            self.symbols[path] = sorted(table)
        return self.symbols[path]

    def of(self, at):
        """Of a library whose variables without a file are its last mapping's neighbour: by the base of its first."""
        file, last = "", None
        for begin, end, path in self.mappings:
            if path.startswith("/"):
                last = (path, end)
            elif last and begin == last[1] and ".so" in last[0]:
                path, last = last[0], (last[0], end)
            if begin <= at < end:
                file = path
                break
        if not file.startswith("/"):
            return file or "no name, in %x" % (at >> 20 << 20)
        symbols = self.symbols_of(file)
        offset = at - (self.base_of(file) if file.endswith(".so") or ".so." in file or symbols and symbols[0][0] < 0x400000 else 0)
        place = bisect.bisect(symbols, (offset + 1,)) - 1
        return os.path.basename(file) + " " + (symbols[place][1] if place >= 0 else "?")


def tally(accesses, places, at_line):
    """Into how many lines each function or variable counts; a line that two share counts for the first seen."""
    seen = {}
    for line in accesses.splitlines()[1:-1]:
        if line[:3] in (b"I  ", b" L ", b" S ", b" M "):
            at = int(line[3:].split(b",")[0], 16)
            seen.setdefault((line[:1] == b"I", at // LINE), at)
    counter = collections.Counter()
    for (is_code, _), at in seen.items():
        if at not in at_line:
            at_line[at] = places.of(at)
        counter["code" if is_code else "data", at_line[at]] += 1.0 / LEAVES
    return counter


def count(accesses):
    lines = [line for line in accesses.splitlines()[1:-1] if line[:3] in (b"I  ", b" L ", b" S ", b" M ")]
    code, data = set(), set()
    for line in lines:
        at, size = line[3:].split(b",")
        at = int(at, 16)
        (code if line[:1] == b"I" else data).update((at, at + int(size) - 1))
    return [sum(line[:1] == b"I" for line in lines)] + [len({at // unit for at in group})
                                                          for group in (code, data) for unit in (LINE, PAGE)]


def measure(command, library, depth, options):
    """Means of the blocks that count; and of the lines in each place, if that is asked."""
    folder = tempfile.mkdtemp()
    fifo = os.path.join(folder, "accesses")
    os.mkfifo(fifo)
    running = subprocess.Popen(
        [word.replace("FOLDER", folder) for word in command] +
        ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + fifo, sys.executable, "-S", "-E",
         os.path.join(HERE, "bench_functions.py"), library, str(depth), os.path.join(folder, "maps"),
         "--modules" if "--modules" in options else "--no-modules"],
        stderr=subprocess.DEVNULL)
    blocks = list(blocks_of(fifo))[FIRST:FIRST + LEAVES]
    running.wait()
    where, at_line = collections.Counter(), {}
    if "--where" in options:
        places = Places(os.path.join(folder, "maps"))
        for block in blocks:
            where.update(tally(block, places, at_line))
    shutil.rmtree(folder)
    return [sum(column) / LEAVES for column in zip(*map(count, blocks))], where


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    tare, library = os.path.abspath(words[0]), os.path.abspath(words[1])
    for depth in [int(d) for d in words[2:]] or [16, 64]:
        plain, plain_where = measure([], library, depth, options)
        for stacks in ("none", "python"):
            found, where = measure([tare, "record", "-o", "FOLDER/rec", "--no-scan", "--stacks", stacks, "--"],
                                   library, depth, options)
            print("Python %d.%d, stacks %-6s depth %3d: %5.0f instructions, code: %4.0f lines in %3.0f pages, "
                  "data: %4.0f lines in %3.0f pages" % (sys.version_info[:2] + (stacks + ",", depth) + tuple(
                      with_it - without for with_it, without in zip(found, plain))), flush=True)
            where.subtract(plain_where)
            for (kind, place), lines in sorted(where.items(), key=lambda item: (item[0][0], -item[1])):
                if abs(lines) >= 0.1:
                    print("    %s %6.1f lines  %s" % (kind, lines, place))


main()
