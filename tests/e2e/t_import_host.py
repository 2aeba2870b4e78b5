#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of host memory and of boards that other tools printed: tegrastats, mprof, memory_profiler."""

import json

from harness import case, check, check_equal, check_says, main, real_files

MIB = 1 << 20
TEGRASTATS = "RAM {}/3964MB (lfb {}x4MB) SWAP {}/4096MB (cached 0MB) CPU [10%@102,3%@102] GR3D_FREQ 0%@76\n"


def imported(box, text, name="log", options=()):
    with open(box.path(name), "w", encoding="utf-8") as out:
        out.write(text)
    return box.tare("import", box.path(name), "-f", "-o", box.path(name + ".tare"), *options)


def report(box, name="log", *more):
    return json.loads(box.tare("report", box.path(name + ".tare"), "--json", *more).out)


def used(box, at):
    device = report(box, "log", "--at", at)["devices"][0]
    check_equal(device["unexplained_bytes"], 0)
    return device["used_bytes"]


@case
def a_board_has_one_memory(box):
    imported(box, TEGRASTATS.format(936, 366, 0) + TEGRASTATS.format(3443, 12, 1904) + TEGRASTATS.format(1000, 300, 100))
    check_equal(used(box, "peak"), 3443 * MIB)
    check_equal(used(box, "end"), 1000 * MIB)
    check_equal(used(box, "1s"), 3443 * MIB)
    said = box.tare("report", box.path("log.tare")).out
    check_says(said, "as it was printed", "1904 of 4096 MiB", "48 MiB", "each stands for a second")


def explained(box, at):
    """What every tool that is known would have shown: then, at most, by a look once a second."""
    got = json.loads(box.tare("explain", box.path("log.tare"), "--at", at, "--json").out)
    return {t["word"]: (t["prints"], t["max_bytes"], t["sampled_max_bytes"]) for t in got["tools"] if t["max_bytes"] is not None}


@case
def explain_has_what_tegrastats_said(box):
    imported(box, TEGRASTATS.format(936, 366, 0) + TEGRASTATS.format(3443, 12, 1904) + TEGRASTATS.format(1000, 300, 100))
    most = (3443 * MIB, 3443 * MIB)
    check_equal(explained(box, "peak"), {"tegrastats": ("3443MB",) + most})
    check_equal(explained(box, "end"), {"tegrastats": ("1000MB",) + most})
    said = box.tare("explain", box.path("log.tare")).out
    check_says(said, "the whole board", "tegrastats RAM", "3443MB")
    check_says(box.tare("explain", box.path("log.tare"), "tegrastats=3443/3964").out, "and that is what it shows")


@case
def times_in_front_of_a_line_count(box):
    imported(box, "".join(f"{1750866190.5 + 5 * i}::06-25-2025 09:43:{10 + 5 * i} " + TEGRASTATS.format(900 + i, 9, 0) for i in range(3)))
    check_equal(used(box, "4s"), 900 * MIB)
    check_equal(used(box, "6s"), 901 * MIB)
    check("stands for a second" not in box.tare("report", box.path("log.tare")).out, "it has times")


@case
def a_date_alone_in_front_is_a_time(box):
    imported(box, "".join(f"06-25-2025 09:43:{10 + 7 * i} " + TEGRASTATS.format(900 + i, 9, 0) for i in range(3)))
    check_equal(used(box, "6s"), 900 * MIB)
    check_equal(used(box, "8s"), 901 * MIB)


@case
def lines_that_were_cut_are_counted(box):
    """A date, a line cut behind its figures, one cut in them, one of a board with another memory."""
    imported(box, "Tue Jan 26 18:22:31 UTC 2021\n" + TEGRASTATS.format(900, 9, 0) + "RAM 950/3964MB (lfb\nRAM 896/39\n"
             "RAM 5000/3964MB (lfb 1x4MB) SWAP 0/1MB\nRAM 99999999999999999999/99999999999999999999MB\n")
    check_equal(used(box, "peak"), 950 * MIB)
    check_says(box.tare("report", box.path("log.tare")).out, "3 of the lines cannot be read", "line 4")


MPROF = """CMDLINE python train.py --lr 1
FUNC __main__.inner 20.0 100.2000 70.0 100.4000
FUNC __main__.outer 10.0 100.1000 50.0 100.9000
MEM 10.000000 100.0000
MEM 90.500000 100.5000
MEM 50.000000 101.0000
"""


@case
def functions_of_mprof_are_phases(box):
    imported(box, MPROF)
    phases = report(box, "log", "--by", "phase")["phases"]
    check_equal([p["path"] for p in phases if "__main__" in p["path"]],
                ["__main__.outer", "__main__.outer/__main__.inner"])
    check_equal(report(box)["host"][0]["peak_rss_bytes"], int(90.5 * MIB))
    check_equal(report(box)["host"][0]["page_tables_bytes"], None)
    check_says(box.tare("report", box.path("log.tare"), "--at", "end").out, "python train.py --lr 1", "50.0")


@case
def explain_of_mprof_at_a_phase(box):
    """memory_profiler shows what mprof read last; there is no GPU, and of what the memory was is not known."""
    imported(box, MPROF)
    for at, mib in (("phase:__main__.inner", 70.0), ("phase:__main__.outer:peak", 90.5), ("peak", 90.5), ("end", 50.0)):
        got = json.loads(box.tare("explain", box.path("log.tare"), "--at", at, "--json").out)
        known = {t["word"]: t["bytes"] for t in got["tools"] if t["bytes"] is not None}
        check_equal(known, {w: int(mib * MIB) for w in ("ps", "top", "htop", "memory_profiler", "jtop-mem")}, at)
        check_says(got["title"], at)


@case
def damaged_lines_of_mprof_are_counted(box):
    imported(box, "MEM 10.0 100.0\nMEM nan 101\nMEM -5 102\nMEM 12\nFUNC f 1 5 2 4\nMEM 1e300 103\nCHLD 1 700.5 100.5\nMEM 20 104")
    check_says(box.tare("report", box.path("log.tare")).out, "5 of the lines cannot be read, the first is line 2", "1 readings of child",
               "700.5 MiB")


PROFILER = """Filename: train.py

Line #    Mem usage    Increment   Line Contents
================================================
     3   25.0 MiB    0.0 MiB   @profile
     4                         def main():
     5   45.5 MiB   20.5 MiB       x = make(1)
     6   40.5 MiB   -5.0 MiB       del x


Filename: /a/b/other.py

Line #    Mem usage    Increment  Occurrences   Line Contents
=============================================================
    17   60.0 MiB   60.0 MiB           1   @profile
    19  2081.6 MiB  1585.2 MiB          10       net.to(device)
"""


@case
def lines_of_memory_profiler_are_phases(box):
    imported(box, PROFILER)
    names = [p["path"] for p in report(box, "log", "--by", "phase")["phases"]]
    for name in ("train.py:5  x = make(1)", "train.py:6  del x", "other.py:17  @profile", "other.py:19  net.to(device)"):
        check(name in names, name, names)
    table = box.tare("report", box.path("log.tare")).out
    check(table.startswith("resident memory of the process"), table)
    for name, after, change in (("x = make(1)", "45.5", "+20.5"), ("del x", "40.5", "-5.0"), ("net.to(device)", "2,081.6", "+1,585.2")):
        line = [line for line in table.splitlines() if name in line][0]
        check_equal(line.split()[-4:-2], [after, change], line)


@case
def what_nobody_knows_is_refused(box):
    for text, says in (("RAM is cheap\nMEMORY 12\n", "--from"), ("", "empty")):
        done = imported(box, text)
        check_says(done.err, says)
    done = imported(box, "Line #    Mem usage    Increment   Line Contents\n")
    check_says(done.err, "has figures")


@case
def files_that_others_wrote(box):
    """To their last line: nothing in them is counted as unreadable."""
    for kind in ("tegrastats", "mprof", "memory_profiler"):
        for path in real_files(kind + "/*"):
            done = box.tare("import", path, "-f", "-o", box.path("real.tare"))
            check_equal((done.code, done.err), (0, ""))
            check("cannot be read" not in done.out, done.out)
            check(box.tare("report", box.path("real.tare")).code == 0, path)


main()
