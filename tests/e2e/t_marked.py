#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever shows figures of a simulated GPU says so, in every format: nothing simulated is taken for measured."""

import gzip
import re
import sqlite3

from harness import case, check, check_equal, fixture, main, needs_exec
from sweeps import cell, sweep

FILES = ("collapsed", "speedscope", "chrome", "perfetto", "dhat", "memory_viz")
COMPARED = ("account", "owner", "process", "device", "library", "line", "stack", "residue", "category", "tensor", "module", "phase")

# As people read it and in pages, in JSON, in a table of data, in another tool's file, in JUnit's, and in `tare info`.
MARK = re.compile(rb'\(simulated\)|a simulated GPU|"simulated": ?true|"evidence": "simulated"|name="simulated" value="true"|simulated="yes"|'
                  rb'[Ss]imulated +h200|"simulated": "[^"]*h200')


def words_of(box, *command):
    """What an option may be, as the command names it: so that a new one is tested, too."""
    said = box.tare(*command, "?").err
    return re.search(r"wants ([\w|]+)", said).group(1).split("|")


def recorded(box, program="e2e_tensors"):
    needs_exec()
    check_equal(box.record(fixture(program)).code, 0)


def is_marked(out):
    """Of tables of data each has a column of its own."""
    heads = [table.lstrip().split(b"\n")[0] for table in out.split(b"\n\n") if table.strip()]
    return bool(MARK.search(out)) or all(b"simulated" in re.split(b"[,\t]", head) for head in heads)


def check_marked(box, *command, code=0):
    done = box.tare(*command)
    check_equal(done.code, code, done)
    check(is_marked(done.out.encode()), "does not say that the GPU is simulated", done)


def check_formats(box, *command, code=0, without=()):
    for name in words_of(box, *command, "--format"):
        if name not in without and name not in FILES + ("pprof", "sqlite"):
            check_marked(box, *command, "--format", name, code=code)


def check_views(box, *formats):
    recorded(box)
    for view in words_of(box, "report", "rec.tare", "--by"):
        for name in formats:
            check_marked(box, "report", "rec.tare", "--by", view, "--format", name)


@case
def in_every_view_in_text_and_csv(box):
    check_views(box, "text", "csv")


@case
def in_every_view_in_json_and_markdown(box):
    check_views(box, "json", "markdown")


@case
def in_every_view_in_html_and_lines(box):
    check_views(box, "html", "jsonl")


@case
def in_every_format_of_a_report(box):
    recorded(box)
    for options in ((), ("--cost", "time"), ("--at", "peak", "--at", "end")):
        check_formats(box, "report", "rec.tare", *options)
    check_marked(box, "report", "rec.tare", "--svg", "-")
    check_marked(box, "report", "rec.tare", "--html", "-")
    check_formats(box, "info", "rec.tare", without=("csv", "tsv"))
    for name in ("csv", "tsv"):  # its other tables have no figures of a GPU
        head = box.tare("info", "rec.tare", "--format", name).out.split("\n")[0]
        check(head.endswith("simulated"), head)


@case
def in_every_difference(box):
    recorded(box)
    for view in COMPARED:
        for name in ("text", "csv"):
            check_marked(box, "diff", "rec.tare@peak", "rec.tare@end", "--by", view, "--format", name)
    check_formats(box, "diff", "rec.tare@peak", "rec.tare@end")
    check_marked(box, "diff", "rec.tare", "rec.tare", "--html", "-")


@case
def in_what_is_said_of_a_recording(box):
    recorded(box)
    check_formats(box, "check", "rec.tare", "--max", "used=100GiB")
    check_formats(box, "check", "rec.tare", "--max", "used=1MiB", code=1)
    check_formats(box, "check", "rec.tare", "--baseline", "rec.tare")
    check_marked(box, "check", "rec.tare", "--max", "used=1MiB", "--junit", "-", code=1)
    check_formats(box, "explain", "rec.tare")
    check_formats(box, "whatif", "rec.tare")
    check_formats(box, "whatif", "rec.tare", "--best")


@case
def while_it_is_watched_and_served(box):
    recorded(box)
    check_formats(box, "top", "--once", "rec.tare")
    check_marked(box, "serve", "--once", "rec.tare")


@case
def of_a_sweep(box):
    needs_exec()
    done = sweep(box, "--grid", "mib=32,64,96", command=cell("mib={mib}"))
    check_equal(done.err.count("MiB (simulated)"), 3, done)
    with open(box.path("cells.csv"), "w", encoding="utf-8") as file:
        file.write("mib\n128\n")
    check_formats(box, "report", "t.db")
    check_formats(box, "fit", "t.db")
    check_formats(box, "fit", "t.db", "-t", "need", "--predict", "cells.csv")
    check_formats(box, "plan", "t.db", "--vram", "600MiB", without=("csv", "tsv", "jsonl"))  # they have no tables
    with open(box.path("t.csv"), "w", encoding="utf-8") as file:
        file.write(box.tare("report", "t.db", "--csv").out)
    check_formats(box, "fit", "t.csv", "-t", "need_bytes", "-p", "mib")  # what was copied out of it is no more measured


@case
def of_phases_that_are_fitted(box):
    needs_exec()
    box.record(["sh", "-c", "for mib in 32 64 96; do \"$0\" mib=$mib; done", cell()[0]])
    check_formats(box, "fit", "rec.tare")


@case
def of_a_calibration(box):
    needs_exec()
    check_formats(box, "calibrate", "--sim", "h200", "--quick")
    check_marked(box, "calibrate", "--sim", "h200", "--quick", "-o", "-")


@case
def in_every_file_for_another_program(box):
    recorded(box, "e2e_alloc")
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


@case
def and_of_nothing_else(box):
    needs_exec()
    box.record(["true"], sim=None)
    check('"simulated": false' in box.tare("report", "rec.tare", "--json").out)
    for name in ("text", "csv", "jsonl", "html"):
        done = box.tare("report", "rec.tare", "--format", name)
        check("simulated" not in done.out, done)


main()
