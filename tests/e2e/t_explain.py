#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare explain: what other tools show, beside what they do show at the same moment."""

import json
import os
import re
import signal
import subprocess
import sys

from harness import (MIB, PYTHON, Skip, case, check, check_equal, check_says, fixture, main, needs, needs_own_command,
                     needs_program, needs_torch, wait_until)

KIB = 1024


def explain(box, *args):
    done = box.tare("explain", *[str(a) for a in args], "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def tool(got, word):
    found, = [t for t in got["tools"] if t["word"] == word]
    return found


class Stopped:
    """A program with 80 MiB of its own and 20 MiB that are shared, which does not change while it is looked at."""

    def __init__(self, box, more=""):
        needs_own_command()
        self.running = box.start([sys.executable, "-c", """
import mmap, os, signal
kept = bytearray(80 << 20)
for i in range(0, len(kept), 4096): kept[i] = 1
shared = mmap.mmap(-1, 20 << 20)
shared.write(b'x' * (20 << 20))
%s
print('ready', flush=True)
os.kill(os.getpid(), signal.SIGSTOP)""" % more], start_new_session=True)
        check_equal(self.running.stdout.readline(), b"ready\n")
        self.pid = self.running.pid
        wait_until(lambda: self.state() == "T", "it does not stop")

    def state(self):
        with open("/proc/%d/stat" % self.pid, encoding="utf-8") as text:
            return text.read().rsplit(")", 1)[1].split()[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.running.pid, signal.SIGKILL)
        self.running.communicate()


def near(ours, theirs, step=KIB):
    """Within a hundredth, or a page, or what the tool rounds to."""
    check(abs(ours - theirs) <= max(0.01 * theirs, 4096, step), "tare explain has %d, the tool %d" % (ours, theirs))


@case
def ps(box):
    with Stopped(box) as program:
        got = explain(box, program.pid)
        shown = subprocess.run(["ps", "-o", "rss=", "-p", str(program.pid)], stdout=subprocess.PIPE, check=True).stdout
    near(tool(got, "ps")["bytes"], int(shown) * KIB)
    near(tool(got, "ps")["formula_bytes"], int(shown) * KIB)
    check(abs(int(tool(got, "ps")["prints"]) - int(shown)) <= 4, tool(got, "ps"), shown)


@case
def top(box):
    needs_program("top", "procps")
    with Stopped(box) as program:
        got = explain(box, program.pid)
        shown = subprocess.run(["top", "-b", "-n1", "-p", str(program.pid)], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, HOME=box.dir, LC_ALL="C"), check=True).stdout
    line = shown.splitlines()[-1].split()
    check_equal(line[0], str(program.pid), shown)
    near(tool(got, "top")["bytes"], int(line[5]) * KIB)
    near(tool(got, "top-shr")["bytes"], int(line[6]) * KIB)
    near(tool(got, "top-shr")["formula_bytes"], int(line[6]) * KIB)
    check(tool(got, "top-shr")["bytes"] >= 20 * MIB, got)


@case
def psutil(box):
    """memory_profiler shows psutil's rss; its full memory is what smem's columns are."""
    python = "/usr/bin/python3"
    read = "import psutil, sys; m = psutil.Process(int(sys.argv[1])).memory_full_info(); print(m.rss, m.uss, m.pss, m.swap)"
    with Stopped(box) as program:
        got = explain(box, program.pid)
        shown = box.run([python, "-c", read, str(program.pid)])
    needs(shown.code == 0, "python3-psutil")
    rss, uss, pss, _ = [int(word) for word in shown.out.split()]
    near(tool(got, "memory_profiler")["bytes"], rss)
    near(tool(got, "smem-rss")["bytes"], rss)
    near(tool(got, "smem-uss")["bytes"], uss)
    near(tool(got, "smem")["bytes"], pss)


@case
def free(box):
    """The machine goes on: the tool is asked before and after."""
    def shown():
        rows = subprocess.run(["free", "-b"], stdout=subprocess.PIPE, text=True, check=True,
                              env=dict(os.environ, LC_ALL="C")).stdout.splitlines()
        return int(rows[1].split()[2]), int(rows[2].split()[2])
    version = subprocess.run(["free", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not re.search(r" 4\.", version):
        raise Skip("another free: " + version.strip())
    with Stopped(box) as program:
        for _ in range(10):
            before, got, after = shown(), explain(box, program.pid), shown()
            low, high = min(before[0], after[0]), max(before[0], after[0])
            if 0.99 * low <= tool(got, "free")["bytes"] <= 1.01 * high:
                break
        else:
            check(False, "free shows %d to %d" % (low, high), tool(got, "free"))
        near(tool(got, "free-swap")["bytes"], after[1], MIB)


@case
def cgroup(box):
    """Other programs of it go on: it is read before and after."""
    def now():
        with open(path, encoding="utf-8") as text:
            return int(text.read())
    with Stopped(box) as program:
        with open("/proc/%d/cgroup" % program.pid, encoding="utf-8") as text:
            text = text.read()
        found = re.search(r"^\d+:memory:(.*)$", text, re.M)
        path = "/sys/fs/cgroup/memory%s/memory.usage_in_bytes" % found.group(1) if found else \
            "/sys/fs/cgroup%s/memory.current" % re.search(r"^0::(.*)$", text, re.M).group(1)
        if not os.path.exists(path):
            raise Skip("no memory is counted for a cgroup here")
        for _ in range(20):
            before, got, after = now(), tool(explain(box, program.pid), "cgroup"), now()
            if 0.99 * min(before, after) <= got["bytes"] <= 1.01 * max(before, after):
                return
    check(False, "the cgroup has %d to %d" % (before, after), got)


@case
def every_tool_has_its_words(box):
    with Stopped(box) as program:
        got = explain(box, program.pid)
        text = box.tare("explain", str(program.pid)).out
        for form in ("text", "csv", "markdown", "html", "jsonl", "tsv"):
            done = box.tare("explain", str(program.pid), "--format", form, "ps=100M")
            check_equal(done.code, 0, done)
            check_says(done.out, "ps RSS")
    for row in got["tools"]:
        check(row["formula"] and row["leaves_out"] and row["counts_twice"], row)
        check((row["bytes"] is None) == (row["prints"] is None) == (row["not_known_because"] is not None), row)
    check_equal(tool(got, "torch")["bytes"], None)
    check(any({"top RES", "top SHR"} == {p["one"], p["other"]} for p in got["do_not_add"]), got["do_not_add"])
    check_says(text, "htop RES", "Do not add", "1024 x 1024", "--all tells what each leaves out")
    check("Leaves out:" not in text, text)


@case
def figures_that_were_read(box):
    """What one tool has more than another is found among the rows: here what a forked child shares."""
    with Stopped(box, "if not os.fork(): signal.pause()") as program:
        got = explain(box, program.pid)
        rss, pss = tool(got, "ps")["bytes"], tool(got, "smem")["bytes"]
        check(rss - pss > 40 * MIB, got)
        got = explain(box, program.pid, "ps=%d" % (rss // KIB), "smem=%d" % (pss // KIB))
        wrong = explain(box, program.pid, "ps=%dM" % (rss // MIB + 20))
    first, second = got["given"]
    check(abs(first["difference_bytes"]) <= 8192, first)
    check(abs(second["difference_bytes"]) <= MIB, second)  # other programs share its libraries, and go on
    between, = got["between"]
    check_equal((between["more"], between["less"]), ("ps RSS", "smem PSS"))
    # What those other programs changed meanwhile may be explained by a small row.
    shared = max(between["rows"], key=lambda row: row["bytes"])
    check_equal(shared["path"], "shared with others, counted in full", between)
    check(abs(between["difference_bytes"] - shared["bytes"]) <= MIB, between)
    given, = wrong["given"]
    check(19 * MIB <= given["difference_bytes"] <= 21 * MIB, given)
    check_equal(sum(r["bytes"] for r in given["rows"]) + given["rest_bytes"], given["difference_bytes"])
    check(not any(r["path"].startswith("system/") for r in given["rows"]), "ps shows one process", given)


@case
def what_is_not_here_is_shown_with_all(box):
    """Tools of a Jetson, whose figures any machine could give; and those that cannot know."""
    with Stopped(box) as program:
        text = box.tare("explain", str(program.pid)).out
        everything = box.tare("explain", "--all", str(program.pid)).out
        given = box.tare("explain", str(program.pid), "tegrastats=100").out
    for word in ("tegrastats RAM", "jtop MEM", "Not known: massif"):
        check(word not in text, word, text)
        check_says(everything, word)
    check("--all" not in everything, everything)
    check_says(given, "tegrastats")
    check(len(text.splitlines()) < len(everything.splitlines()) - 10, text)


@case
def a_board(box):
    """The figures of a Nano whose tegrastats and jtop somebody read."""
    def put(path, text):
        path = box.path("root", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    put("proc/meminfo", "MemTotal: 4051000 kB\nMemFree: 300000 kB\nMemAvailable: 400000 kB\nBuffers: 10000 kB\n"
        "Cached: 230000 kB\nSwapTotal: 2025500 kB\nSwapFree: 75500 kB\nAnonPages: 1500000 kB\nShmem: 10000 kB\n"
        "SReclaimable: 50000 kB\nSUnreclaim: 100000 kB\nKernelStack: 8000 kB\nPageTables: 20000 kB\n"
        "NvMapMemUsed: 1153024 kB\n")
    put("proc/2211/status", "Name:\tpython3\nUid:\t0\t0\t0\t0\nVmRSS: 2560000 kB\nRssAnon: 1030000 kB\n"
        "RssFile: 1530000 kB\nRssShmem: 0 kB\nVmSwap: 1175000 kB\nThreads: 9\n")
    put("proc/2211/smaps", "00010000-50000000 rw-p 00000000 00:00 0 [heap]\nSize: 3000000 kB\nRss: 1030000 kB\n"
        "Pss: 1030000 kB\nAnonymous: 1030000 kB\nSwap: 1175000 kB\nSwapPss: 1175000 kB\n"
        "60000000-70000000 r-xp 00000000 b3:01 7 /usr/lib/libcudnn.so\nSize: 500000 kB\nRss: 409000 kB\nPss: 409000 kB\n"
        "80000000-d0000000 rw-s 00000000 00:05 9 /dev/nvmap\nSize: 1153024 kB\nRss: 1121000 kB\nPss: 560500 kB\n")
    put("sys/kernel/debug/nvmap/iovmm/clients", "CLIENT   PROCESS   PID  SIZE\nuser  my python3  2211  1153024K\n"
        "user  Xorg  900  20480K\ntotal  1173504K\n")
    got = explain(box, "--root", box.path("root"), "2211", "jtop=1.1G", "tegrastats=3429/3956", "htop=2.44G")
    check_equal(tool(got, "jtop")["bytes"], 1153024 * KIB)
    check_equal(tool(got, "tegrastats")["bytes"], (4051000 - 300000 - 10000 - 230000) * KIB)
    check_equal(tool(got, "tegrastats")["prints"], "3429MB")
    check_equal(tool(got, "tegrastats-swap")["prints"], "1904MB")
    check_equal(tool(got, "htop")["formula_bytes"], tool(got, "htop")["bytes"])
    for given in got["given"]:
        check(abs(given["difference_bytes"]) <= given["tolerance_bytes"] + 4096, given)
    check(any({"htop RES", "jtop GPU MEM"} == {p["one"], p["other"]} for p in got["do_not_add"]), got["do_not_add"])
    check_says(box.tare("explain", "--root", box.path("root"), "2211").out, "tegrastats RAM", "jtop GPU MEM")


# ---- recordings ----

@case
def a_recording(box):
    """At the peak: what nvidia-smi and PyTorch would have said is what the ledger's rows come to."""
    box.record(fixture("e2e_tensors", "new"))
    report = box.report(at="peak")
    device, = report["devices"]
    pid = next(row["pid"] for row in device["accounts"] if row["account"] == "process")
    got = explain(box, "rec.tare")
    check_says(got["title"], "pid %d" % pid, "at the peak")
    own = sum(r["bytes"] for r in device["accounts"] if r["leaf"] and r["pid"] == pid and r["account"] != "other")
    check_equal(tool(got, "nvidia-smi")["bytes"], own)
    check_equal(tool(got, "nvidia-smi-used")["bytes"], device["used_bytes"])
    check_equal(tool(got, "nvidia-smi-used")["max_bytes"], device["peak_used_bytes"])
    check_says(tool(got, "nvidia-smi")["formula"], "context + ")
    reserved, live = tool(got, "torch-reserved")["bytes"], tool(got, "torch")["bytes"]
    check(0 < live < reserved <= own, got)
    check_equal(tool(got, "free")["not_known_because"], "the recording does not have it")
    end = explain(box, "rec.tare", "--at", "end")
    check_says(end["title"], "at end")
    check_equal(tool(end, "nvidia-smi-used")["bytes"], box.report(at="end")["devices"][0]["used_bytes"])
    check_equal(tool(end, "nvidia-smi")["max_bytes"], own)
    done = box.tare("explain", "rec.tare", "--at", "noon")
    check_equal(done.code, 2, done)
    check_says(done.err, "noon")
    two = explain(box, "rec.tare", "torch-reserved=%d" % reserved, "torch=%d" % live)
    check_equal([r["path"] for r in two["between"][0]["rows"]], ["PyTorch's pool that is not live"], two)
    check_equal(two["between"][0]["rest_bytes"], 0)


@case
def a_heap_is_no_memory_of_the_gpu(box):
    box.record(fixture("e2e_phases"), options=("--host=full",))
    device = box.report(at="peak")["devices"][0]
    kinds = {r["label"] for r in device["accounts"] if r["leaf"] and r["pid"]}
    shown = tool(explain(box, "rec.tare"), "nvidia-smi")["formula"].split(" + ")
    check("heap, as asked for" not in shown and "mapped, of no file" not in shown, shown)
    check(len(shown) >= 3 and "context" in kinds & set(shown), shown, kinds)


@case
def a_recording_over_time(box):
    """300 MiB for a moment: the kernel's own maximum has it, and a look once a second may have missed it."""
    needs_torch()
    code = ("import time, torch\nkept = torch.ones(10 << 20)\ntime.sleep(2.5)\nmore = torch.ones(75 << 20)\n"
            "del more\ntime.sleep(1.5)")
    box.record([PYTHON, "-c", code], sim=None)
    host = box.report(at="end")["host"][0]
    row = tool(explain(box, "rec.tare"), "ps")
    check_equal(row["max_bytes"], host["peak_rss_bytes"], row)
    check(row["max_bytes"] >= 340 * MIB, row)
    check(40 * MIB <= row["sampled_max_bytes"] <= row["max_bytes"], row)
    check_says(box.tare("explain", "rec.tare").out, "at the peak", "MAXIMUM", "AT 1 HZ", "ps RSS")


@case
def recordings_that_are_none(box):
    done = box.tare("explain", "nowhere.tare")
    check_equal(done.code, 125, done)
    check_says(done.err, "nowhere.tare", "no such recording")
    box.record(fixture("e2e_tensors", "new"))
    done = box.tare("explain", "rec.tare", "--pid", "1")
    check_equal(done.code, 125, done)
    check_says(done.err, "rec.tare", "no process of that id", "tare info")


@case
def what_cannot_be_explained(box):
    for args, parts in (
            (["99999999999"], ["no process id"]),
            (["1", "htpo=1G"], ["no tool \"htpo\"", "did you mean htop"]),
            (["1", "htop"], ["TOOL=FIGURE", "htop=2.5G"]),
            (["1", "htop="], ["no size"]),
            (["1", "htop=2.5"], ["no size", "2.5G"]),
            (["1", "htop=G"], ["no size"])):
        done = box.tare("explain", *args)
        check_equal(done.code, 2, done)
        check_says(done.err, *parts)
    done = box.tare("explain", "2147483000")
    check_equal(done.code, 125, done)
    check_says(done.err, "no process 2147483000")


main()
