#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A long recording under a cap: is the folder ever over it, is `tare` back soon after the program, and how long does a report
of any moment take? Prints a table for each recording, and judges nothing.

    tests/bench/long_pairs.py TARE OUT [--pairs N] [--cap SIZE]… [--of calls|tensors]… [--rate N]

TARE is build/tare, or bin/tare of a dist folder; the programs that are recorded are compiled into the folder OUT with cc, so
nothing else need be built. Without options: 50 million pairs of each kind, with the default cap and with 64MiB. Tensors come and
go at --rate pairs a second, 0: as fast as they can, which is ten times as fast as they can be put into segments.

    calls      of the simulated driver: memory is taken and given back (bench_calls.c)
    tensors    of a library like PyTorch's allocator: blocks are handed out and taken back (bench_blocks.c)
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "e2e", "fixtures")
MIB, SAMPLES_A_SECOND, MOMENTS = 1 << 20, 20, 10
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
DEFAULT_CAP = "2GiB"
TICK = os.sysconf("SC_CLK_TCK")


def compiled(out):
    """The program of each kind of pair."""
    def cc(target, sources, *options):
        path = os.path.join(out, target)
        subprocess.check_call([os.environ.get("CC", "cc"), "-O2", "-fPIC", "-o", path] + sources + list(options))
        return path

    here = ["-L" + out, "-Wl,-rpath,$ORIGIN"]
    cc("libc10.so", [os.path.join(FIXTURES, "c10_lib.c")], "-shared", "-Wl,-soname,libc10.so")
    cc("libc10_cuda.so", [os.path.join(FIXTURES, "c10_cuda_lib.c")], "-shared", "-Wl,-soname,libc10_cuda.so", *here, "-lc10")
    return {"calls": cc("bench_calls", [os.path.join(HERE, "bench_calls.c")], "-ldl"),
            "tensors": cc("bench_blocks", [os.path.join(HERE, "bench_blocks.c")], *here, "-lc10_cuda", "-lc10", "-ldl")}


def size_of(folder):
    """By blocks and by apparent size, the larger; files may go meanwhile."""
    blocks = apparent = 0
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        try:
            st = os.stat(os.path.join(folder, name))
        except FileNotFoundError:
            continue
        blocks += 512 * st.st_blocks
        apparent += st.st_size
    return max(blocks, apparent)


def field(pid, file, key):
    try:
        with open("/proc/%d/%s" % (pid, file)) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(key))
    except (OSError, ValueError, StopIteration):
        return 0


def seconds_of(pid):
    """Of the processor: its own, and of its children that have ended."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            words = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return sum(int(word) for word in words[11:13]) / TICK, sum(int(word) for word in words[13:15]) / TICK


class Watch(threading.Thread):
    """Looks at the folder and at `tare` until the latter is gone."""
    def __init__(self, tare, run, rec, cap):
        super().__init__()
        self.tare, self.run_, self.rec, self.cap = os.path.realpath(tare), run, rec, cap
        self.most, self.samples, self.over, self.longest_over = 0, 0, 0, 0
        self.resident, self.spent, self.is_program_there = 0, (0, 0), True

    def children(self):
        """Those that make the recording small: the same program as `tare`."""
        pid = self.run_.pid
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
                pids = [int(word) for word in file.read().split()]
        except OSError:
            return []
        found = []
        for child in pids:
            try:
                if os.path.realpath("/proc/%d/exe" % child) == self.tare:
                    found.append(child)
            except OSError:
                pass
        return found

    def look(self):
        size, run = size_of(self.rec), 0
        self.samples += 1
        self.most = max(self.most, size)
        if size > self.cap:
            self.over += 1
            run = self.over_now + 1
            self.longest_over = max(self.longest_over, run)
        self.over_now = run
        self.resident = max([self.resident] + [field(self.run_.pid, "status", "VmRSS") + field(child, "status", "VmRSS")
                                               for child in self.children()])
        if self.is_program_there: # which itself becomes a child that has ended
            self.spent = seconds_of(self.run_.pid) or self.spent

    def run(self):
        self.over_now = 0
        while self.run_.poll() is None:
            begun = time.monotonic()
            self.look()
            time.sleep(max(0, begun + 1 / SAMPLES_A_SECOND - time.monotonic()))


def report(tare, rec, *args):
    """What it says, the seconds it took, and those of the processor."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([tare, "report", rec, "--json"] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took, now = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else {}), took, spent


def bytes_of(text):
    number = text.rstrip("KMGiB")
    return int(float(number) * UNITS[text[len(number):]])


def manifest_of(rec):
    try:
        with open(os.path.join(rec, "segments.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def time_reports(tare, rec, took_s):
    """Of the end, the peak, and of moments spread over all of it."""
    instants = ["end", "peak"] + ["%dms" % (1000 * took_s * (i + 0.5) / MOMENTS) for i in range(MOMENTS)]
    slowest, rows = (0, 0), []
    for at in instants:
        said, took, spent = report(tare, rec, "--at", at)
        devices = said.get("devices") or [{}]
        rows.append("%s %.2f (%.2f)%s" % (at, took, spent, "" if said.get("is_exact", True) else "*"))
        if at == "end":
            yield "unexplained at the end, bytes; sentences", "%s; %s" % (
                devices[0].get("unexplained_bytes"), said.get("degraded"))
        slowest = max(slowest, (took, spent))
    yield "report --at, s (of the processor); * bounds only", "; ".join(rows)
    yield "the slowest, s (of the processor)", "%.2f (%.2f)" % slowest


def measure(tare, program, cap, rec):
    shutil.rmtree(rec, ignore_errors=True)
    run = subprocess.Popen([tare, "record", "-f", "--sim", "h200", "--cap", cap, "-o", rec, "--"] + program, stdout=subprocess.PIPE)
    begun = time.monotonic()
    watch = Watch(tare, run, rec, bytes_of(cap))
    watch.start()
    run.stdout.readline() # the program says that it is done
    watch.is_program_there = False
    took = time.monotonic() - begun
    code = run.wait()
    if code:
        sys.exit("%s could not be recorded" % program[0])
    behind = time.monotonic() - begun - took
    watch.join()
    watch.look()
    now = manifest_of(rec)
    yield "program, s", "%.1f" % took
    yield "tare back, s after it", "%.2f" % behind
    yield "folder at most, MiB; at the end", "%.1f; %.1f" % (watch.most / MIB, size_of(rec) / MIB)
    yield "looks at it; over the cap; the most in a row", "%d; %d; %d" % (watch.samples, watch.over, watch.longest_over)
    yield "tare and its child, MiB resident at most", "%.1f" % (watch.resident / 1024)
    yield "tare, its children, s of the processor", "%.1f, %.1f" % watch.spent
    yield "segments, states, states kept", "%d, %d, %d" % tuple(len(now.get(key, [])) for key in ("segments", "states", "kept"))
    yield "dropped events, until, s", "%s, %.1f" % (now.get("dropped", {}).get("events", 0),
                                                    now.get("dropped", {}).get("until_ns", 0) / 1e9)
    yield from time_reports(tare, rec, took)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tare")
    parser.add_argument("out")
    parser.add_argument("--pairs", type=int, default=50000000)
    parser.add_argument("--rate", type=int, default=100000)
    parser.add_argument("--cap", action="append")
    parser.add_argument("--of", action="append", choices=["calls", "tensors"])
    parser.add_argument("--keep", action="store_true", help="the recordings stay in OUT")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    out, tare = os.path.abspath(args.out), os.path.abspath(args.tare)
    programs = compiled(out)
    for kind in args.of or ["calls", "tensors"]:
        for cap in args.cap or [DEFAULT_CAP, "64MiB"]:
            rec = os.path.join(out, "%s-%s.tare" % (kind, cap))
            print("%s: %d pairs, cap %s" % (kind, args.pairs, cap), flush=True)
            program = [programs[kind], str(2 * args.pairs)] + ([str(2 * args.rate)] if kind == "tensors" else [])
            for name, value in measure(tare, program, cap, rec):
                print("  %-52s %s" % (name, value), flush=True)
            if not args.keep:
                shutil.rmtree(rec)


if __name__ == "__main__":
    main()
