#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However a program ends, what is said of its memory is what was read last, or that it is not known."""

import json
import os

from harness import MIB, PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "ends.py")
CODES = {"return": 0, "fault": 139, "abort": 134, "kill": 137, "quick": 3, "raise": 1, "exec": 0}


def host(box):
    done = box.tare("report", "rec.tare", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    (row,) = json.loads(done.out)["host"]
    text = box.tare("report", "rec.tare", "--at", "end").out
    return row, " ".join(line for line in text.splitlines() if "resident" in line)


def define(way):
    def run(box):
        needs_torch()
        box.record([PYTHON, PROGRAM, way], sim=None, exit_code=CODES[way], timeout=120)
        row, line = host(box)
        rss = row["rss_bytes"]
        check(20 * MIB < rss <= row["peak_rss_bytes"] + MIB, row)
        check_equal(row["anon_bytes"] + row["file_bytes"] + row["shmem_bytes"], rss, row)
        check(0 < row["page_tables_bytes"] < rss, row)
        # A half is rounded up by one of them, to even by the other.
        check(any("resident %.1f " % (rss / MIB + half) in line for half in (-0.001, 0.001)), line, row)

    run.__name__ = "resident_memory_of_a_program_that_ends_by_" + way
    case(run)


for each in CODES:
    define(each)


main()
