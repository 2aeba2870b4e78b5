#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What grows of the heap (tare run --host) is told by its line and its stack, and nothing else is.

    TARE_E2E_BUILD=build tests/e2e/t_growth_heap.py CASE
"""

import json
import os
import subprocess

from harness import PYTHON, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main, needs_exec
from heaps import function_of

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "heap_growth.py")


def growth(box, rec="rec.tare"):
    done = box.tare("report", rec, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)["growth"]


def record(box, argv, mode, sim=None):
    box.record(argv, sim=sim, options=["--host=" + mode], env={"PYTHONDONTWRITEBYTECODE": "1"})
    return growth(box)


def check_line(rows, function):
    check_equal([function_of(row["line"] or "") for row in rows], [function], rows)
    check_equal(rows[0]["device"], 1000, rows)
    check(function_of(rows[0]["stack"].split(" < ")[0]) == function and " < " in rows[0]["stack"], rows)


def define(name, function, mode):
    def run(box):
        needs_exec()
        if WRAPPER:
            raise Skip("an emulator has other times")
        rows = record(box, [PYTHON, PROGRAM, name], mode)
        if function is None:
            check_equal(rows, [])
        else:
            check_line(rows, function)

    run.__name__ = "%s_%s" % (name.replace("-", "_"), mode)
    case(run)


listed = subprocess.run([PYTHON, PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
for program, what in (line.split("\t") for line in listed.splitlines()):
    define(program, None if what == "-" else what, "full")
define("sessions", "keep", "sample")
define("slow-import", None, "sample")


@case
def a_line_that_needed_arenas_may_keep_nothing(box):
    """One line makes many small objects for a moment, and another keeps some: the report says what it is that it knows."""
    needs_exec()
    if WRAPPER:
        raise Skip("an emulator has other times")
    with open(box.path("small.py"), "w", encoding="utf-8") as program:
        program.write("import time\nkept = []\ndef keep(i):\n    kept.append([str(i * n) for n in range(1500)])\n"
                      "for i in range(150):\n    keep(i)\n    time.sleep(.012)\n")
    rows = record(box, [PYTHON, box.path("small.py")], "full")
    check_equal([function_of(row["line"]) for row in rows if row["what"] == "mapped, of no file"], ["<listcomp>"], rows)
    said = " ".join(box.tare("report", "rec.tare").out.split())
    check_says(said, "mapped, of no file", "PYTHONMALLOC=malloc")
    box.record([PYTHON, PROGRAM, "sessions"], "other.tare", sim=None, options=["--host=full"])
    check("PYTHONMALLOC=malloc" not in box.tare("report", "other.tare").out)


@case
def native_program(box):
    """The function that asks, and in the stack who called it."""
    if WRAPPER:
        raise Skip("an emulator has other times")
    rows = record(box, fixture("e2e_growing", "leak-host", "40"), "full", sim="h200")
    check_line(rows, "leak_host")
    check_equal(function_of(rows[0]["stack"].split(" < ")[-1]), "main", rows)
    check_says(box.tare("report", "rec.tare").out, "what grows", "leak_host", "most of it by")


main()
