#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phases that a program marks: tare.h, and what report --by phase says of them."""

import json
import os
import sys

from harness import (MIB, PYTHON, ROOT, case, check, check_equal, check_says, degraded, fixture, main,
                     needs_exec, needs_own_command)
from phases import check_rows, phases_of


@case
def six_captures_make_a_table(box):
    done = box.record(fixture("e2e_phases"))
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    names = ["force_graph max_iter=%d" % n for n in (100, 200, 400, 800, 1200, 1600)]
    order = ["init", "setting precon"]
    for name in names:
        order += [name, name + "/instantiate"]
    check_equal(rows[None], order + ["step"])
    check_equal(degraded(report), [])
    params = {p["path"]: p["params"] for p in report["phases"]}
    check_equal(params["force_graph max_iter=800"], {"max_iter": "800"})
    check_equal(params["init"], {})
    step = rows["step"]
    check_equal([step["least_bytes"], step["most_bytes"]], [0, 20 * MIB])
    # Each change is that of its accounts, and the captures are where the bytes are.
    for phase in report["phases"]:
        check_equal(sum(c["bytes"] for c in phase["changes"]), rows[phase["path"]]["bytes"], phase)
    check_equal(rows["init"]["used_before_bytes"], 0)


@case
def text_and_csv_say_the_same(box):
    box.record(fixture("e2e_phases"))
    rows, _ = phases_of(box)
    done = box.tare("report", "rec.tare", "--by", "phase")
    lines = done.out.splitlines()
    check("USED AFTER" in lines[1] and "OWN PART" in lines[1], done.out)
    shown = [line for line in lines if "max_iter=800" in line]
    check_equal(len(shown), 1, done.out)
    row = rows["force_graph max_iter=800"]
    for size in (row["used_after_bytes"], row["bytes"], row["own_bytes"], row["peak_bytes"]):
        check("{:,.1f}".format(size / MIB) in shown[0], size, shown[0])
    check(any(line.startswith("  instantiate") for line in lines), "not indented", done.out)
    done = box.tare("report", "rec.tare", "--by", "phase", "--csv")
    head, *body = [line.split(",") for line in done.out.splitlines()]
    check_equal(len(body), len(rows[None]))
    check_equal([line[head.index("path")] for line in body], rows[None])
    check_equal([int(line[head.index("bytes")]) for line in body],
                [rows[path]["bytes"] for path in rows[None]])


@case
def marks_show_what_changed_since_the_one_before(box):
    done = box.record(fixture("e2e_phases", "marks"))
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    check_equal([rows[path]["kind"] for path in rows[None]], ["mark"] * 3)
    check_equal(degraded(report), [])


@case
def open_phases_end_with_the_program(box):
    done = box.record(fixture("e2e_phases", "open"))
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    check_equal([rows[path]["unclosed"] for path in rows[None]], [1, 1])
    check(any("2 phases did not end" in d for d in report["degraded"]), report["degraded"])
    check(any("1 phase ended that had not begun" in d for d in report["degraded"]))
    check_says(box.tare("report", "rec.tare", "--by", "phase").out, "part (not ended)")


@case
def phases_of_several_threads(box):
    done = box.record(fixture("e2e_phases", "threads"))
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    check_equal(rows["request id=7"]["kind"], "range")
    check_equal(degraded(report), [])


@case
def many_repeats_are_one_row(box):
    done = box.record(fixture("e2e_phases", "quick", "20000"))
    rows, _ = phases_of(box)
    check_rows(rows, done.out)
    check_equal(rows[None], ["tick"])


@case
def totals_survive_their_events(box):
    done = box.record(fixture("e2e_phases", "quick", "60000"))
    box.drop_events()
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    check_equal([d for d in degraded(report) if "phase" in d], [])


@case
def instants_of_phases(box):
    box.record(fixture("e2e_phases"))
    rows, _ = phases_of(box)
    name = "force_graph max_iter=800"
    at = {point: box.report(at="phase:" + name + point)["devices"][0]["used_bytes"]
          for point in ("", ":begin", ":peak", ":end")}
    row = rows[name]
    check_equal([at[":begin"], at[":peak"], at[":end"], at[""]],
                [row["used_before_bytes"], row["peak_bytes"], row["used_after_bytes"],
                 row["used_after_bytes"]])
    check_equal(box.report(at="phase:" + name + "/instantiate:begin")["devices"][0]["used_bytes"],
                rows[name + "/instantiate"]["used_before_bytes"])
    used = [box.report(at="phase:step#%d:end" % n)["devices"][0]["used_bytes"] for n in (1, 2, 3)]
    check_equal([u - used[0] for u in used], [0, 20 * MIB, 20 * MIB])


@case
def unknown_phases_are_named(box):
    box.record(fixture("e2e_phases"))
    for at, parts in (("phase:force_graph", ("no phase force_graph", "force_graph max_iter=100")),
                      ("phase:stp", ("no phase stp", "did you mean step?")),
                      ("phase:step#4", ("step was there 3 times",)),
                      ("phase:nothing like it", ("there is init", "--by phase"))):
        done = box.tare("report", "rec.tare", "--at", at)
        check_equal(done.code, 2, done)
        check_says(done.err, at, *parts)
    box.record(fixture("e2e_steps"), rec="plain.tare", input=b"")
    done = box.tare("report", "plain.tare", "--at", "phase:x")
    check_equal(done.code, 2, done)
    check_says(done.err, "no phases", "tare.h")
    done = box.tare("report", "plain.tare", "--by", "phase")
    check_says(done.out, "no phase")
    done = box.tare("report", "rec.tare", "--by", "phase", "--at", "end")
    check_equal(done.code, 2, done)
    check_says(done.err, "--by phase", "no --at")


@case
def a_program_without_the_driver_gets_no_log(box):
    needs_own_command()
    done = box.record(fixture("e2e_phases", "none"))
    check_says(done.err, "nothing was recorded")
    check_equal(box.run(fixture("e2e_phases", "none")).code, 0)


@case
def a_python_program_marks_its_own(box):
    needs_exec()
    argv = [sys.executable, os.path.join(ROOT, "tests", "e2e", "fixtures", "marked.py")]
    env = {"PYTHONPATH": os.path.join(ROOT, "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = box.record(argv, env=env)
    rows, report = phases_of(box)
    check_equal({path: (rows[path]["bytes"] // MIB, rows[path]["kind"]) for path in rows[None][1:-1]}, {
        "outer é": (6, "phase"), "outer é/decorated n=4": (4, "phase"), "fails": (6, "phase"),
        "request": (8, "range"), "17": (0, "phase")})
    check_equal((rows[None][0], rows["the end"]["kind"]), ("start", "mark"))
    check_equal(degraded(report), [])
    alone = box.run(argv, env=env, sim=True)
    check_equal((alone.code, alone.out), (0, done.out.replace("True", "False")))


@case
def without_tare_a_program_does_the_same(box):
    recorded = box.record(fixture("e2e_phases"))
    alone = box.run(fixture("e2e_phases"), sim=True)
    check_equal((alone.code, alone.out), (0, recorded.out))


@case
def what_was_resident_of_a_gpu_program_is_shown_where_it_is_much(box):
    """What the driver itself takes there says little of a phase."""
    needs_exec()
    program = """
import ctypes, time, tare
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
time.sleep(.5)
with tare.phase("loads"):
    kept = bytearray(b"x") * (%d << 20)
    time.sleep(.5)
"""
    for mibs, is_shown in (96, True), (8, False):
        box.record([PYTHON, "-c", program % mibs], options=("-f",), env={"PYTHONPATH": os.path.join(ROOT, "python")})
        check(box.report()["opened_gpu"], "no GPU was opened")
        out = box.tare("report", "rec.tare", "--by", "phase").out
        check_equal("CPU  resident" in out, is_shown, out)
        check_says(out, "GPU 0", "loads")


main(checks_views=True)
