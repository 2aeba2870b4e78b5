#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare fit on what Tare itself measured: sweeps, and single recordings whose phases have parameters."""

import json
import sqlite3

from harness import MIB, case, check, check_equal, check_says, main, needs_exec
from sweeps import cell, query, sweep


def fit(box, *args):
    done = box.tare("fit", *args, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def write_cells(box, text):
    with open(box.path("cells.csv"), "w", encoding="utf-8") as file:
        file.write(text)
    return box.path("cells.csv")


@case
def need_of_a_sweep_is_the_greatest_of_its_phases(box):
    needs_exec()
    sweep(box, "--grid", "mib=32,64,128,256", "--grid", "kind=a,b", command=cell("mib={mib}", "mib=96"))
    base = query(box, "SELECT min(need) FROM runs")[0][0] - 96 * MIB
    report = fit(box, box.path("t.db"))
    names = [s["target"] for s in report["series"]]
    for name in ("need", "peak", "seconds", "phase fill", "context"):
        check(name in names, name, names)
    rows = fit(box, box.path("t.db"), "-t", "need", "--predict",
               write_cells(box, "mib,kind\n1024,a\n48,b\n"))["rows"]
    for row, mib in zip(rows, (1024, 96)):
        truth = base + mib * MIB
        check(abs(row["predicted"] - truth) <= 0.02 * truth and row["low"] <= truth <= row["high"], row, truth)
    sweep(box, "--grid", "mib=1024", db="u.db", command=cell("mib={mib}", "mib=96"))
    check_equal(query(box, "SELECT need FROM runs", db="u.db")[0][0], base + 1024 * MIB)
    done = box.tare("fit", box.path("t.db"))
    check_equal(done.code, 0, done)
    check_says(done.out, "phase fill", "LAW")
    done = box.tare("fit", box.path("t.db"), "-t", "nothing")
    check_equal(done.code, 2, done)
    check_says(done.err, '"nothing"')


@case
def phase_that_no_run_has_shown_as_the_greatest(box):
    needs_exec()
    sweep(box, "--grid", "mib=16,32,64,128", command=cell("mib={mib}", "keep=200"))
    got = fit(box, box.path("t.db"), "-t", "need", "--predict", write_cells(box, "mib\n640\n48\n"))["rows"]
    check_equal([row["unseen_phase"] for row in got], ["phase fill", None], got)
    check_says(got[0]["assumes"], "phase fill, the greatest in no measured run, may be the greatest there")
    base = query(box, "SELECT min(need) FROM runs")[0][0] - 200 * MIB
    check(got[0]["high"] >= base + 640 * MIB, got)
    done = box.tare("plan", box.path("t.db"), "--vram", "%d" % (base + 300 * MIB), "--json")
    check_equal(json.loads(done.out)["first_that_does_not"]["unseen_phase"], "phase fill", done)
    done = box.tare("plan", box.path("t.db"), "--vram", "%d" % (base + 300 * MIB))
    check_says(done.out, "phase fill, the greatest in no measured run", "run it before")


@case
def sweep_without_a_run_that_ended_well(box):
    needs_exec()
    sweep(box, "--grid", "mib=16", command=cell("mib={mib}", "exit=4"))
    done = box.tare("fit", box.path("t.db"))
    check_equal(done.code, 125, done)
    check_says(done.err, "t.db", "no run ended well")


@case
def what_phases_of_a_sweep_change(box):
    needs_exec()
    sweep(box, "--grid", "batch=1,2,3,4", command=cell("keep={batch}00", "keep={batch}0", "mib=64"))
    with sqlite3.connect(box.path("t.db")) as connection:  # what is of others, or next to nothing
        connection.execute("INSERT INTO phase_changes SELECT run,phase,1,'other',run*1e9 FROM phases")
        connection.execute("INSERT INTO phase_changes SELECT run,phase,0,'code',run*1e5 FROM phases")
    series = {s["target"]: s for s in fit(box, box.path("t.db"))["series"]}
    for name in ("keep", "keep: allocations"):
        law = next(f for f in series[name]["findings"] if f["param"] == "mib")
        check_equal(law["kind"], "proportional", law)
        check(abs(law["per_step"] / MIB - 1) < 0.02, law)
    check("fill" not in series, "gives back what it took")
    only = fit(box, box.path("t.db"), "--where", "batch=1")["series"]
    check_equal({s["target"] for s in only}, {"phase keep", "keep", "keep: allocations"}, "what has two such cells")
    done = box.tare("fit", box.path("t.db"), "--where", "mib=100")
    check_equal(done.code, 125, done)
    check_says(done.err, "one cell only", "mib=100", "run others")
    for where, code, says in (("mib=7", 125, "no row has mib=7"), ("mob=7", 2, 'no column "mob"')):
        done = box.tare("fit", box.path("t.db"), "--where", where)
        check_equal(done.code, code, done)
        check_says(done.err, says)
    row = fit(box, box.path("t.db"), "-t", "keep", "--predict", write_cells(box, "batch,mib\n4,1000\n"))["rows"][0]
    check(abs(row["predicted"] / MIB / 1000 - 1) < 0.02, row)


@case
def a_repeat_that_went_astray(box):
    needs_exec()
    sweep(box, "--grid", "mib=64,128,256", "--repeat", "3", command=cell("mib={mib}"))
    with sqlite3.connect(box.path("t.db")) as connection:
        connection.execute("UPDATE runs SET need=0 WHERE cell=2 AND repeat=3")
    before = query(box, "SELECT need FROM runs WHERE cell=2 AND repeat=1")[0][0]
    report = fit(box, box.path("t.db"), "-t", "need", "--predict", write_cells(box, "mib\n128\n"))
    check(any("in 1 cell a repeat is more than 25 % off" in c and "mib=128" in c for c in report["cautions"]),
          report["cautions"])
    check(abs(report["rows"][0]["predicted"] / before - 1) < 0.02, report["rows"])


@case
def phases_of_one_recording(box):
    box.record(cell("mib=32", "mib=64", "mib=160", "mib=96"))
    series = {s["target"]: s for s in fit(box, box.path("rec.tare"))["series"]}
    rise = series["fill: most above its begin"]
    check_equal(rise["cells"], 4)
    law = rise["findings"][0]
    check(law["kind"] in ("linear", "proportional"), law)
    check(abs(law["per_step"] / MIB - 1) < 0.02, law)
    got = fit(box, box.path("rec.tare"), "-t", "fill: most above its begin", "--predict",
              write_cells(box, "mib\n640\n"))["rows"][0]
    check(abs(got["predicted"] / MIB / 640 - 1) < 0.02, got)


@case
def recording_without_parameters(box):
    box.record(cell())
    done = box.tare("fit", box.path("rec.tare"))
    check_equal(done.code, 125, done)
    check_says(done.err, "rec.tare", "no phase has parameters", "PHASES.md", "tare sweep")


main()
