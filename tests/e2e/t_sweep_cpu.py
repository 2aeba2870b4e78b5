#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps of programs that open no GPU: tensors on the CPU and what is resident, measured, reported, fitted, planned."""

import json
import os

from harness import MIB, PYTHON, ROOT, case, check, check_equal, check_says, main, needs_exec, needs_torch
from sweeps import cell, query, sweep

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "cpu_sweep.py")
PHASES = os.path.join(ROOT, "tests", "e2e", "python", "cpu_phases.py")
SIZES = (16, 32, 48)


def of_torch(box):
    needs_torch()
    needs_exec()
    sweep(box, "--grid", "mib=%s" % ",".join(map(str, SIZES)), sim=False, timeout=300,
          env={"PYTHONDONTWRITEBYTECODE": "1"}, command=[PYTHON, PROGRAM, "{mib}"])


@case
def the_cpu_is_the_device(box):
    of_torch(box)
    check_equal(query(box, "SELECT status,peak,need,elastic,unexplained FROM runs ORDER BY cell"),
                [("ok", 2 * n * MIB, 2 * n * MIB, 0, 0) for n in SIZES])
    devices = query(box, "SELECT device,name,own,need,peak_used,total FROM devices ORDER BY run")
    check_equal([row[:4] for row in devices], [(-1, "CPU", 2 * n * MIB, 2 * n * MIB) for n in SIZES])
    for row, n in zip(devices, SIZES):
        check(2 * n * MIB < row[4] < row[5], "resident, and memory of the machine", row)
    check(abs(devices[2][4] - devices[0][4] - 2 * 32 * MIB) < 12 * MIB, "what is touched is resident", devices)
    check_equal(query(box, "SELECT run,sum(bytes) FROM accounts GROUP BY run"),
                [(i + 1, 2 * n * MIB) for i, n in enumerate(SIZES)])
    check_equal(query(box, "SELECT DISTINCT device,account FROM accounts"), [(-1, "tensors")])

    done = box.tare("report", "t.db")
    check_says(done.out, "CPU, ", "TENSORS MiB", "RESIDENT MiB", "What the tensors are", "all of it", "Memory slowed no run",
               "what PyTorch had")
    for word in ("fullest GPU", "changed nothing", "unexplained", "DRIVER", "card"):
        check(word not in done.out, word, done)
    cells = json.loads(box.tare("report", "t.db", "--json").out)["cells"]
    check_equal([c["peak_bytes"] for c in cells], [2 * n * MIB for n in SIZES])
    check_equal([c["resident_bytes"] for c in cells], [row[4] for row in devices])
    check_equal([c["left_bytes"] for c in cells], [row[5] - row[4] for row in devices])

    laws = box.tare("fit", "t.db")
    check_says(laws.out, "2 MiB × mib", "resident", "WHAT", "LAW")
    narrow = box.tare("fit", "t.db", env={"COLUMNS": "40", "LC_ALL": "C.UTF-8"}).out
    check("need = 2 MiB × mib" in narrow and max(map(len, narrow.splitlines())) <= 40, narrow)
    with open(box.path("more.csv"), "w", encoding="utf-8") as file:
        file.write("mib\n40\n")
    found = json.loads(box.tare("fit", "t.db", "--target", "need", "--predict", "more.csv", "--json").out)
    check("%d" % (80 * MIB) in json.dumps(found) or "%.1f" % (80 * MIB) in json.dumps(found), found)

    room = (devices[1][4] + devices[2][4]) // 2
    plan = box.tare("plan", "t.db", "--memory", "%dB" % room, "--json")
    check_equal(plan.code, 0, plan)
    plan = json.loads(plan.out)
    check_equal((plan["target"], plan["card_bytes"]), ("resident", room))
    check(2 * 16 * MIB < plan["best"]["bytes"] <= room, plan)
    check_says(box.tare("plan", "t.db", "--memory", "here").out, "Memory: ", "mib=")
    check_equal(box.tare("plan", "t.db", "--memory", "20MiB").code, 3)


@case
def what_the_system_refuses_is_out_of_memory(box):
    needs_torch()
    needs_exec()
    much = 1 << 30  # MiB
    sweep(box, "--grid", "mib=4,%d" % much, sim=False, timeout=300, command=[PYTHON, PROGRAM, "{mib}"], code=None)
    check_equal(query(box, "SELECT status,oom,oom_bytes,refused,retries FROM runs ORDER BY cell"),
                [("ok", None, None, 0, 0), ("oom", "device", much * MIB, 1, 0)])
    done = box.tare("report", "t.db")
    check_says(done.out, "out of memory: it was refused", "ran out")


@case
def phases_are_measured_and_have_laws(box):
    needs_torch()
    needs_exec()
    sweep(box, "--grid", "mib=4,8,16", sim=False, timeout=300, env={"PYTHONPATH": os.path.join(ROOT, "python")},
          command=[PYTHON, PHASES, "{mib}"])
    check_equal(query(box, "SELECT run,path,device,used_before,used_after,need FROM phase_devices JOIN phases "
                           "USING(run,phase) ORDER BY run,phase"),
                [row for i, n in enumerate((4, 8, 16)) for row in
                 ((i + 1, "build n=%d" % n, -1, 0, n * MIB, n * MIB),
                  (i + 1, "compute", -1, n * MIB, n * MIB, 2 * n * MIB))])
    check_equal(query(box, "SELECT run,sum(bytes) FROM phase_accounts GROUP BY run"),
                [(i + 1, 3 * n * MIB) for i, n in enumerate((4, 8, 16))])
    laws = box.tare("fit", "t.db").out
    for line in ("phase build", "phase compute", "build: tensors"):
        check(any(row.startswith(line) and "MiB × mib" in row or row.startswith(line) and "MiB × n" in row
                  for row in laws.splitlines()), line, laws)


@case
def mistakes_are_told(box):
    of_torch(box)
    for words, said in ((("--vram", "8GiB"), "--memory"), (("--memory", "much"), "--memory much"),
                        (("--memory", "1GiB", "--vram", "1GiB"), "either"), ((), "either"),
                        (("--memory", "1GiB", "--used", "now"), "--used now")):
        done = box.tare("plan", "t.db", *words)
        check_equal(done.code, 2, done)
        check_says(done.err, said)


@case
def a_gpu_sweep_has_no_cpu(box):
    needs_exec()
    sweep(box, "--grid", "mib=1,2", command=cell("mib={mib}"))
    check_equal(query(box, "SELECT count(*) FROM devices WHERE device<0"), [(0,)])
    done = box.tare("plan", "t.db", "--memory", "8GiB")
    check_equal(done.code, 2, done)
    check_says(done.err, "its runs used a GPU")
    check("RESIDENT" not in box.tare("report", "t.db").out)


main()
