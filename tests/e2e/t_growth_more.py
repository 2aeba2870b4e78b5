#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What grows of the heap where C, C++ and a library's hands have it: one line for each program that leaks, none for one that does not.

    TARE_E2E_BUILD=build tests/e2e/t_growth_more.py CASE
"""

import json
import os
import subprocess

from harness import PYTHON, ROOT, WRAPPER, Skip, case, check, check_equal, fixture, main, needs_exec
from heaps import function_of

PROGRAMS = [fixture("e2e_heap_growth"), [PYTHON, os.path.join(ROOT, "tests", "e2e", "python", "heap_growth_more.py")]]
if not WRAPPER:  # an emulator has no library of C++
    PROGRAMS.append(fixture("e2e_heap_growth_cpp"))
SAMPLED = ["half-of-a-mapping", "scratch-of-threads", "batch-and-trim", "flush-now-and-then"]


def functions_of(row):
    """What the row names: its line, and who called it."""
    return [function_of(frame).split("(")[0] for frame in [row["line"]] + row["stack"].split(" < ")]


def define(argv, name, grows, mode):
    def run(box):
        needs_exec()
        if WRAPPER:
            raise Skip("an emulator has other times")
        box.record(argv + [name], sim=None, options=["--host=" + mode], env={"PYTHONDONTWRITEBYTECODE": "1"})
        done = box.tare("report", "rec.tare", "--json")
        check_equal(done.code, 0, done)
        rows = json.loads(done.out)["growth"]
        check_equal(len(rows), 0 if grows == "-" else 1, rows)
        check(all(grows in functions_of(row) for row in rows), rows)

    run.__name__ = "%s_%s" % (name.replace("-", "_"), mode)
    case(run)


for program in PROGRAMS:
    try:
        listed = subprocess.run(program + ["--list"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:  # no compiler of C++
        continue
    for what, function in (line.split("\t") for line in listed.splitlines()):
        define(program, what, function, "full")
        if what in SAMPLED:
            define(program, what, function, "sample")

main()
