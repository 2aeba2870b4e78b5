#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare weigh: where the host memory of programs lies that nobody recorded."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

from harness import (MIB, PYTHON, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, main, needs,
                     needs_own_command, needs_program, needs_root, needs_torch, real_files, tare_argv)


def weigh(box, *args, code=0):
    done = box.tare("weigh", *[str(a) for a in args], "--json")
    check_equal(done.code, code, done)
    return json.loads(done.out)


def check_sums(process, largest=0.01):
    """Rows are leaves: they come to Pss and swap, and little of that is unexplained."""
    rows = process["rows"]
    total = process["pss_bytes"] + process["swap_bytes"]
    check_equal(sum(r["resident_bytes"] for r in rows), total, process["name"])
    unexplained = sum(r["resident_bytes"] for r in rows if r["path"] == "unexplained")
    check(abs(unexplained) <= largest * total, "%s: %d of %d bytes are unexplained"
          % (process["name"], unexplained, total))
    for row in rows:
        check(row["asked_bytes"] is None, "nobody recorded what was asked for", row)
    paths = [r["path"] for r in rows]
    check_equal(len(paths), len(set(paths)), "a row stands twice")
    return total


def resident(process, prefix):
    return sum(r["resident_bytes"] for r in process["rows"] if r["path"].startswith(prefix))


def smaps_sum(pid):
    """Pss and SwapPss of all mappings, read by nothing of Tare's."""
    total = 0
    with open("/proc/%d/smaps" % pid, encoding="utf-8", errors="replace") as text:
        for line in text:
            if line.startswith(("Pss:", "SwapPss:")):
                total += int(line.split()[1]) * 1024
    return total


class Program:
    """A program of Python that says "ready" and waits."""

    def __init__(self, box, code, python=sys.executable, ready_first=False):
        ready = "\nprint('ready', flush=True)\n"
        self.running = box.start([python, "-c", "import sys, time" + (ready if ready_first else "\n") + code + ready +
                                  "sys.stdin.read()"], stdin=subprocess.PIPE)
        check_equal(self.running.stdout.readline(), b"ready\n")
        self.pid = self.running.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.communicate(b"", timeout=20)


def weighed(box, code, python=sys.executable):
    """Other processes may come to share its libraries, or go, so that its part of them changes meanwhile."""
    with Program(box, code, python) as program:
        before = smaps_sum(program.pid)
        process = weigh(box, program.pid)["processes"][0]
        check_sums(process)
        truths = sorted((before, smaps_sum(program.pid)))
    total = process["pss_bytes"] + process["swap_bytes"]
    check(truths[0] * 0.99 <= total <= truths[1] * 1.01, "smaps has %d to %d, tare weigh %d" % (*truths, total))
    return process


@case
def rows_sum_to_pss_and_swap(box):
    process = weighed(box, "kept = bytearray(50 << 20)\nfor i in range(0, len(kept), 4096): kept[i] = 1")
    check(resident(process, "anonymous/") + resident(process, "huge pages/") >= 50 * MIB, process)
    check(resident(process, "libraries/") > 0, process)
    check(resident(process, "heap/brk") + resident(process, "huge pages/heap") > 0, process)
    check(resident(process, "stacks/main") > 0, process)


@case
def asked_and_never_touched_is_no_memory(box):
    process = weighed(box, "import mmap\nkept = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE)")
    rows = [r for r in process["rows"] if r["mapped_bytes"] >= 1 << 30]
    check_equal(len(rows), 1, process["rows"])
    check(process["pss_bytes"] < 100 * MIB, process)
    check(all(r["resident_bytes"] >= 0 or r["path"] == "unexplained" for r in process["rows"]), process["rows"])


@case
def shared_memory_by_its_kind(box):
    process = weighed(box, """
import mmap, os
anonymous = mmap.mmap(-1, 5 << 20)
anonymous.write(b'x' * (5 << 20))
fd = os.memfd_create('buffers')
os.ftruncate(fd, 7 << 20)
named = mmap.mmap(fd, 7 << 20)
named.write(b'x' * (7 << 20))""")
    check_equal(resident(process, "shared memory/anonymous"), 5 * MIB)
    check_equal(resident(process, "shared memory/memfd:buffers"), 7 * MIB)


@case
def stacks_and_arenas_of_threads(box):
    """Each thread touches a MiB of its stack, and its arena has half a MiB."""
    if WRAPPER:
        raise Skip("what is weighed would be the emulator's stacks")
    process = weighed(box, """
import ctypes, threading
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
there = threading.Barrier(5)
def work():
    libc.memset(ctypes.c_void_p(libc.malloc(100000)), 1, 100000)
    libc.memset(ctypes.c_void_p(libc.malloc(100000)), 1, 100000)
    there.wait()
    time.sleep(1000)
for i in range(4):
    threading.Thread(target=work, daemon=True).start()
there.wait()""")
    stacks = [r for r in process["rows"] if r["path"] == "stacks/threads"]
    arenas = [r for r in process["rows"] if r["path"] == "heap/arenas"]
    check(stacks and stacks[0]["mappings"] == 4, process["rows"])
    check(arenas and arenas[0]["resident_bytes"] >= 4 * 200000, process["rows"])


@case
def a_program_that_forks(box):
    """What parent and children share is in each of them by its part, so all together is what there is."""
    with Program(box, """
import os, signal
kept = b'x' * (64 << 20)
children = []
for i in range(3):
    child = os.fork()
    if not child:
        signal.pause()
    children.append(child)
import atexit
atexit.register(lambda: [os.kill(c, 9) for c in children])""") as program:
        with open("/proc/%d/task/%d/children" % (program.pid, program.pid), encoding="utf-8") as text:
            pids = [program.pid] + [int(c) for c in text.read().split()]
        check_equal(len(pids), 4)
        processes = weigh(box, *pids)["processes"]
    check_equal([p["pid"] for p in processes], pids)
    for process in processes:
        check_sums(process)
        check(process["rss_bytes"] >= 64 * MIB, process)
    together = sum(p["pss_bytes"] for p in processes)
    check(64 * MIB <= together <= 140 * MIB, "shared memory was counted more than once", together)


@case
def training(box):
    needs_torch()
    process = weighed(box, """
import torch
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024))
optimizer = torch.optim.Adam(model.parameters())
for i in range(3):
    optimizer.zero_grad()
    model(torch.randn(256, 1024)).square().mean().backward()
    optimizer.step()""", PYTHON)
    check(resident(process, "libraries/libtorch_cpu.so") > MIB, process["rows"])
    check(resident(process, "anonymous/") + resident(process, "heap/") + resident(process, "huge pages/") > 100 * MIB,
          process["rows"])


def while_it_runs(box, argv, name, seconds=20, **more):
    """Weighs a program that never stops for us, or its largest child; several times."""
    running = box.start(argv, **more)
    seen, until = 0, time.monotonic() + seconds
    try:
        while running.poll() is None and time.monotonic() < until and seen < 5:
            done = box.tare("weigh", "--json")
            check_equal(done.code, 0, done)
            for process in json.loads(done.out)["processes"]:
                if process["name"] == name and process["pss_bytes"] > 4 * MIB:
                    check_sums(process)
                    seen += 1
    finally:
        running.kill()
        running.wait()
    return seen


@case
def a_compiler(box):
    needs_own_command()
    needs_program("gcc")
    with open(box.path("big.c"), "w", encoding="utf-8") as source:
        for i in range(4000):
            source.write("int f%d(int a, int b) { int s = 0; for (int i = a; i < b; i++) "
                         "s += i * %d ^ (s >> 3); return s; }\n" % (i, i))
    seen = while_it_runs(box, ["gcc", "-O2", "-c", "-o", "big.o", "big.c"], "cc1")
    check(seen > 0, "the compiler was never seen")


@case
def sqlite(box):
    needs_own_command()
    needs_program("sqlite3")
    running = box.start(["sqlite3", ":memory:"], stdin=subprocess.PIPE, text=True)
    running.stdin.write("create table t as with recursive n(i) as (select 1 union all select i + 1 from n where "
                        "i < 300000) select i, randomblob(40) b from n;\nselect 'ready';\n")
    running.stdin.flush()
    check_equal(running.stdout.readline(), "ready\n")
    process = weigh(box, running.pid)["processes"][0]
    check_sums(process)
    check(resident(process, "heap/") + resident(process, "huge pages/") + resident(process, "anonymous/") > 15 * MIB,
          process["rows"])
    running.communicate("", timeout=20)


@case
def postgresql(box):
    """A server and its backends share buffers: each has its part of them, and all together have them once."""
    needs_own_command()
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    needs(found, "postgresql")
    who = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    os.chmod(box.dir, 0o755)
    data = box.path("cluster", "data")
    os.mkdir(box.path("cluster"))
    os.chmod(box.path("cluster"), 0o777)
    control = [os.path.join(found[-1], "pg_ctl"), "-D", data, "-w"]
    check_equal(box.run([os.path.join(found[-1], "initdb"), "-D", data, "-U", "me", "-N"], timeout=120, **who).code, 0)
    done = box.run(control + ["-l", box.path("cluster", "log"), "-o", "-k %s -c listen_addresses='' "
                              "-c shared_buffers=64MB" % box.path("cluster"), "start"], timeout=60, **who)
    check_equal(done.code, 0, done)
    try:
        sql = box.start([os.path.join(found[-1], "psql"), "-h", box.path("cluster"), "-U", "me", "-d", "postgres", "-XAtq"],
                        stdin=subprocess.PIPE, text=True, **who)
        sql.stdin.write("create table t as select g, md5(g::text) c from generate_series(1, 200000) g;\n"
                        "select count(*) from t;\n")
        sql.stdin.flush()
        check_equal(sql.stdout.readline(), "200000\n")
        with open(os.path.join(data, "postmaster.pid"), encoding="utf-8") as text:
            server = int(text.readline())
        with open("/proc/%d/task/%d/children" % (server, server), encoding="utf-8") as text:
            pids = [server] + [int(word) for word in text.read().split()]
        processes = weigh(box, *pids)["processes"]
        sql.communicate("", timeout=20)
    finally:
        box.run(control + ["-m", "fast", "stop"], timeout=60, **who)
    check(len(processes) >= 5, "too few processes of the server", pids)
    for process in processes:
        check_sums(process)
    shared = sum(resident(p, "shared memory/") for p in processes)
    check(8 * MIB <= shared <= 80 * MIB, "shared buffers were counted more than once, or not at all", shared)


# ---- the machine ----

def put(box, path, text):
    path = box.path("root", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def mapping(where, perms, name, **kib):
    return "%s %s 00000000 00:00 0    %s\n" % (where, perms, name) + "".join(
        "%s: %d kB\n" % (key, value) for key, value in kib.items())


def board(box):
    """A small machine with a Tegra: a program that has CUDA, and one that nothing is told of but its name."""
    put(box, "proc/meminfo", "MemTotal: 4051000 kB\nMemFree: 500000 kB\nMemAvailable: 700000 kB\nBuffers: 10000 kB\n"
        "Cached: 600000 kB\nSwapCached: 3000 kB\nSwapTotal: 2025500 kB\nSwapFree: 1000000 kB\nAnonPages: 1500000 kB\n"
        "Mapped: 300000 kB\nShmem: 100000 kB\nSlab: 150000 kB\nSReclaimable: 50000 kB\nSUnreclaim: 100000 kB\n"
        "KernelStack: 8000 kB\nPageTables: 20000 kB\nVmallocUsed: 0 kB\nPercpu: 2000 kB\nNvMapMemFree: 1000 kB\n"
        "NvMapMemUsed: 700000 kB\n")
    put(box, "proc/swaps", "Filename Type Size Used Priority\n/dev/zram0 partition 1012750 512000 5\n"
        "/swap\\040file file 1012750 512500 -2\n")
    put(box, "sys/class/block/zram0/stat", "1 0 8 0 2 0 2048 0 0 0 0\n")
    put(box, "sys/block/zram0/mm_stat", "524288000 150000000 160000000 0 0 0 0 0\n")
    put(box, "proc/vmstat", "pswpin 1\npswpout 10\n")
    put(box, "etc/passwd", "root:x:0:0::/:/bin/sh\nana:x:1000:1000::/:/bin/sh\n")
    put(box, "proc/70/status", "Name:\ttrain\nUid:\t1000\t1000\t1000\t1000\nVmHWM: 900000 kB\nVmRSS: 800000 kB\n"
        "RssAnon: 500000 kB\nRssFile: 280000 kB\nRssShmem: 20000 kB\nVmPTE: 1700 kB\nVmSwap: 40000 kB\nThreads: 3\n")
    put(box, "proc/70/smaps",
        mapping("00400000-00500000", "r-xp", "/usr/bin/train", Size=1024, Rss=800, Pss=800) +
        mapping("10000000-30000000", "rw-p", "[heap]", Size=524288, Rss=400000, Pss=400000, Anonymous=400000,
                AnonHugePages=204800, LazyFree=50000, Swap=40000, SwapPss=40000) +
        mapping("7f0000000-7f8000000", "rw-s", "/dev/nvmap", Size=131072, Rss=100000, Pss=50000) +
        mapping("7f8000000-7f9000000", "rw-s", "/dev/zero (deleted)", Size=16384, Rss=16000, Pss=16000) +
        mapping("7fa000000-7fb000000", "rw-s", "/dev/nvidia0", Size=16384, Rss=0, Pss=0) + "VmFlags: rd wr sh pf io\n" +
        mapping("7fb000000-7fc000000", "rw-s", "/dev/nvidia-uvm", Size=16384, Rss=4, Pss=4) +
        mapping("7fc000000-7fc400000", "rw-s", "/SYSV0000002a (deleted)", Size=4096, Rss=4096, Pss=2048) +
        mapping("7fc400000-7fc800000", "rw-s", "/dmabuf:cam", Size=4096, Rss=4096, Pss=4096) +
        mapping("7fd000000-bfd000000", "---p", "", Size=16777216, Rss=0, Pss=0) +
        mapping("bfd000000-bfd200000", "rw-p", "/anon_hugepage (deleted)", Size=2048, Rss=0, Pss=0, Private_Hugetlb=2048))


@case
def a_copy_of_another_machine(box):
    board(box)
    got = weigh(box, "--root", box.path("root"))
    process, = got["processes"]
    check_equal((process["name"], process["user"], process["threads"]), ("train", "ana", 3))
    check_sums(process)
    kib = {r["path"]: r["resident_bytes"] / 1024 for r in process["rows"]}
    check_equal(kib, {
        "libraries/train": 800, "heap/brk": 400000 - 204800 - 50000 + 40000, "huge pages/heap": 204800,
        "lazily freed/heap": 50000, "nvmap/nvmap": 50000, "CUDA pinned/host memory": 16000,
        "apertures/nvidia0": 0, "managed/nvidia-uvm": 4, "shared memory/SYSV0000002a": 2048,
        "dma-buf/dmabuf": 4096, "reserved/addresses": 0, "huge pages/hugetlb": 0}, kib)
    check_equal(process["swap_bytes"], 40000 << 10)
    check_equal(process["hugetlb_bytes"], 2048 << 10)
    system = {r["path"]: r["bytes"] // 1024 for r in got["system"]["rows"]}
    check_equal(sum(system.values()) , got["system"]["total_bytes"] // 1024, system)
    check_equal(system["nvmap/of the GPU"], 700000 - 50000, system)
    check_equal(system["kernel/slab"], 100000)
    check_equal(system["processes/train"], process["pss_bytes"] >> 10)
    check_equal(system["swap that is compressed/zram"], 160000000 >> 10)
    zram, file = got["swaps"]
    check_equal((zram["written_bytes"], zram["memory_bytes"]), (2048 * 512, 160000000))
    check_equal((file["device"], file["written_bytes"], file["used_bytes"]), ("/swap\\040file", None, 512500 << 10))
    check_equal(got["users"], [{"user": "ana", "uid": 1000, "processes": 1, "swap_bytes": 40000 << 10,
                                "resident_bytes": process["pss_bytes"] + process["swap_bytes"]}])
    text = box.tare("weigh", "--root", box.path("root"))
    check_says(text.out, "train", "ana", "nvmap/of the GPU", "MemTotal", "/dev/zram0", "unexplained")


@case
def the_gpu_of_a_board(box):
    board(box)
    check_equal(weigh(box, "--root", box.path("root"), 70)["processes"][0]["nvmap_bytes"], None)
    put(box, "sys/kernel/debug/nvmap/iovmm/clients", "CLIENT   PROCESS   PID  SIZE\nuser  my train  70  600000K\n"
        "user  Xorg  900  20480K\nuser  my train  70  20000K\ntotal  640480K\n")
    got = weigh(box, "--root", box.path("root"), 70)
    check_equal(got["processes"][0]["nvmap_bytes"], 620000 << 10)
    check_equal(got["system"]["nvmap_bytes"], 700000 << 10)
    text = box.tare("weigh", "--root", box.path("root"), "70").out
    check_says(" ".join(text.split()), "The GPU has 605.5 for it (nvmap), of which RSS has 97.7 and Pss 48.8")


@case
def the_gpu_of_a_board_without_root(box):
    needs_root()
    needs_own_command()
    board(box)
    put(box, "sys/kernel/debug/nvmap/iovmm/clients", "CLIENT   PROCESS   PID  SIZE\n")
    os.chmod(box.path("root", "sys", "kernel", "debug"), 0o700)
    os.chmod(box.dir, 0o755)
    done = box.run(["setpriv", "--reuid", "65534", "--clear-groups"] +
                   tare_argv("weigh", "--root", box.path("root"), "70"))
    if "ermission denied" in done.err or done.code == 127:
        raise Skip("others cannot enter this folder")
    check_equal(done.code, 0, done)
    check_says(" ".join(done.out.split()), "only root may read", "sudo tare weigh")


@case
def files_that_are_none(box):
    board(box)
    for text in ("<html>\n", "Rss: 1 kB\n", "7f-\n", "\0" * 100):
        put(box, "proc/70/smaps", text)
        done = box.tare("weigh", "--root", box.path("root"), "70")
        check_equal(done.code, 125, done)
        check_says(done.err, "/proc/70", "not in the form of Linux")
    put(box, "proc/70/smaps", mapping("1000-2000", "rw-p", "", Size=4, Rss=1 << 36, Pss=1 << 36) * 40000)
    check_equal(box.tare("weigh", "--root", box.path("root"), "70").code, 125)
    name = "\x1b[31m/../\u202ex\n"
    put(box, "proc/70/smaps", mapping("1000-2000", "r-xp", "/lib/" + repr(name), Size=4, Rss=4, Pss=4) +
        mapping("2000-3000", "rw-p", "/memfd:\x1b]0;x\x07 (deleted)", Size=4, Rss=4, Pss=4))
    for form in ("text", "json", "csv", "html"):
        done = box.tare("weigh", "--root", box.path("root"), "--format", form, "70")
        check(done.code == 0 and "\x1b" not in done.out and "\x07" not in done.out, done)
    put(box, "proc/70/status", "nothing\n")
    check_equal(box.tare("weigh", "--root", box.path("root"), "70").code, 125)
    os.remove(box.path("root", "proc", "meminfo"))
    check_equal(weigh(box, "--root", box.path("root"))["system"]["rows"], [])


@case
def this_machine(box):
    """All of its memory has a row, and processes are the largest first."""
    if WRAPPER:
        raise Skip("an emulator reads files of the machine below it")
    got = weigh(box)
    system = got["system"]
    check_equal(sum(r["bytes"] for r in system["rows"]), system["total_bytes"])
    sizes = [p["pss_bytes"] + p["swap_bytes"] for p in got["processes"]]
    check_equal(sizes, sorted(sizes, reverse=True))
    check_equal(sum(u["resident_bytes"] for u in got["users"]), sum(sizes))


@case
def limits_of_both_versions(box):
    board(box)
    put(box, "proc/70/cgroup", "0::/job/step\n")
    put(box, "sys/fs/cgroup/job/memory.max", "2147483648\n")
    put(box, "sys/fs/cgroup/job/step/memory.max", "max\n")
    put(box, "sys/fs/cgroup/job/step/memory.current", "900000000\n")
    put(box, "sys/fs/cgroup/job/step/memory.stat", "anon 500000000\nfile 300000000\nslab 60000000\nsock 4096\n"
        "inactive_file 100000000\n")
    cgroup, = weigh(box, "--root", box.path("root"), 70)["cgroups"]
    check_equal((cgroup["cgroup"], cgroup["limit_bytes"], cgroup["slab_bytes"], cgroup["sock_bytes"],
                 cgroup["kernel_bytes"]), ("/job/step", 1 << 31, 60000000, 4096, None))
    check_says(box.tare("weigh", "--root", box.path("root"), "70").out, "/job/step", "2,048.0")
    put(box, "proc/70/cgroup", "9:pids:/x\n4:memory:/old\n0::/\n")
    put(box, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    put(box, "sys/fs/cgroup/memory/old/memory.usage_in_bytes", "70000\n")
    put(box, "sys/fs/cgroup/memory/old/memory.limit_in_bytes", "80000\n")
    put(box, "sys/fs/cgroup/memory/old/memory.stat", "cache 1\ntotal_cache 30000\ntotal_rss 40000\n")
    cgroup, = weigh(box, "--root", box.path("root"), 70)["cgroups"]
    check_equal((cgroup["current_bytes"], cgroup["limit_bytes"], cgroup["anon_bytes"], cgroup["file_bytes"]),
                (70000, 80000, 40000, 30000))


@case
def of_a_board_of_32_bits(box):
    """A real smaps of Linux 4.14 on ARM, which has no rollup."""
    smaps, = real_files("smaps/vminfo_smaps")
    board(box)
    shutil.copy(smaps, box.path("root", "proc", "70", "smaps"))
    process, = weigh(box, "--root", box.path("root"), 70)["processes"]
    with open(smaps, encoding="utf-8") as text:
        pss = sum(int(line.split()[1]) for line in text if line.startswith("Pss:"))
    check_equal(check_sums(process), pss * 1024)
    check_equal(resident(process, "unexplained"), 0)
    check({"libraries/libc-2.23.so", "libraries/cat", "heap/brk", "stacks/main", "files/locale-archive",
           "kernel pages/[vdso]"} <= {r["path"] for r in process["rows"]}, process["rows"])


@case
def json_is_as_documented(box):
    def keys(value, at=""):
        if isinstance(value, dict):
            return {at + "." + k for k in value}.union(*(keys(v, at + "." + k) for k, v in value.items()))
        if isinstance(value, list):
            return set().union(*(keys(v, at + "[]") for v in value))
        return set()

    board(box)
    put(box, "proc/70/cgroup", "0::/job\n")
    put(box, "sys/fs/cgroup/job/memory.current", "900000000\n")
    with open(os.path.join(ROOT, "docs", "JSON.md"), encoding="utf-8") as file:
        block = re.search(r"## `tare weigh.*?```json\n(.*?)```", file.read(), re.S).group(1)
    check_equal(keys(weigh(box, "--root", box.path("root"))), keys(json.loads(block)))


@case
def saved_and_every_format(box):
    board(box)
    done = box.tare("weigh", "--root", box.path("root"), "-o", "saved.json")
    check_equal((done.code, done.out), (0, ""), done)
    with open(box.path("saved.json"), encoding="utf-8") as file:
        saved = json.load(file)
    check_equal(saved, weigh(box, "--root", box.path("root")))
    host = {h["name"]: sum(a["bytes"] for a in h["accounts"]) for h in saved["host"]}
    process, = saved["processes"]
    check_equal(host["train"], process["pss_bytes"] + process["swap_bytes"])
    for pids in ([], ["70"]):
        for form in ("text", "json", "csv", "markdown", "html", "jsonl", "tsv"):
            done = box.tare("weigh", "--root", box.path("root"), "--format", form, *pids)
            check_equal(done.code, 0, done)
            check_says(done.out, "train")


@case
def two_weighings_are_compared(box):
    """What a program took in between, by tare diff."""
    if "diff" not in box.tare("help").out.split():
        raise Skip("this tare has no diff")
    with Program(box, "sys.stdin.readline()\nimport mmap\nmore = mmap.mmap(-1, 24 << 20)\nmore.write(b'x' * (24 << 20))",
                 ready_first=True) as program:
        box.tare("weigh", str(program.pid), "-o", "before.json")
        program.running.stdin.write(b"\n")
        program.running.stdin.flush()
        check_equal(program.running.stdout.readline(), b"ready\n")
        box.tare("weigh", str(program.pid), "-o", "after.json")
    done = box.tare("diff", "before.json", "after.json", "--json")
    check_equal(done.code, 0, done)
    rows = [r for r in json.loads(done.out)["rows"] if r["path"].endswith("/shared memory/anonymous")]
    check_equal([r["difference_bytes"] for r in rows], [24 * MIB], done.out)


@case
def what_cannot_be_weighed(box):
    done = box.tare("weigh", "2147483000")
    check_equal(done.code, 125, done)
    check_says(done.err, "no process 2147483000", "tare weigh lists all")
    for word in ("x", "-1x", "0", "99999999999", "1.5", ""):
        done = box.tare("weigh", "--", word)
        check_equal(done.code, 2, done)
        check_says(done.err, "no process id", "numbers")
    done = box.tare("weigh", "--root", box.path("nowhere"), "1")
    check_equal(done.code, 125, done)
    check_says(done.err, box.path("nowhere") + "/proc", "--root takes the folder that holds proc")


@case
def of_another_user(box):
    needs_root()
    needs_own_command()
    needs_program("setpriv", "util-linux")
    os.chmod(box.dir, 0o755)
    with Program(box, "") as program:
        done = box.run(["setpriv", "--reuid", "65534", "--clear-groups"] +
                       tare_argv("weigh", str(program.pid)))
        if "ermission denied" in done.err:
            raise Skip("others cannot enter this folder")
        check_equal(done.code, 125, done)
        check_says(done.err, "of root may not be read", "sudo tare weigh %d" % program.pid)


main()
