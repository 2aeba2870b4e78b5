#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every view and every file of a recording with a simulated GPU says so: nothing simulated is taken for measured."""

import gzip
import re
import sqlite3

from harness import case, check, check_equal, fixture, main, needs_exec

VIEWS = ("account", "line", "time", "stack", "process", "library")
TABLES = ("json", "csv", "tsv", "markdown", "html", "jsonl")
FILES = ("collapsed", "speedscope", "chrome", "perfetto", "dhat", "memory_viz")

# As people read it, in JSON, in a table of data, and in `tare info`; of a real GPU JSON says false.
MARK = re.compile(rb'\(simulated\)|a simulated GPU|"simulated": ?true|[,\t]simulated[,\t]|"evidence": "simulated"|[Ss]imulated +h200')


def recorded(box):
    needs_exec()
    done = box.record(fixture("e2e_alloc"))
    check_equal(done.code, 0, done)


def check_marked(box, *command):
    done = box.tare(*command)
    check_equal(done.code, 0, done)
    check(MARK.search(done.out.encode()), "does not say that the GPU is simulated", done)


@case
def in_every_view(box):
    recorded(box)
    for view in VIEWS:
        check_marked(box, "report", "rec.tare", "--by", view)
    check_marked(box, "report", "rec.tare")
    check_marked(box, "report", "rec.tare", "--svg", "-")
    for name in TABLES:
        check_marked(box, "report", "rec.tare", "--format", name)
    check_marked(box, "info", "rec.tare")


@case
def in_what_is_made_of_it(box):
    recorded(box)
    check_marked(box, "explain", "rec.tare")
    for form in (), ("--json",):
        check_marked(box, "diff", "rec.tare", "rec.tare", *form)
        check_marked(box, "check", "rec.tare", "--max", "used=100GiB", *form)


@case
def in_every_file_for_another_program(box):
    recorded(box)
    for name in FILES:
        done = box.tare("report", "rec.tare", "--format", name, "-o", "out")
        check_equal(done.code, 0, done)
        with open(box.path("out"), "rb") as file:
            check(MARK.search(file.read()), name)
    box.tare("report", "rec.tare", "--format", "pprof", "-o", "out")
    with gzip.open(box.path("out")) as file:
        check(MARK.search(file.read()), "pprof")
    box.tare("report", "rec.tare", "--format", "sqlite", "-o", "out.db")
    rows = sqlite3.connect(box.path("out.db")).execute("SELECT DISTINCT is_simulated FROM devices WHERE gpu >= 0").fetchall()
    check_equal(rows, [(1,)])


main()
