#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare report DB: the tables of a sweep in text, Markdown, HTML, JSON and CSV."""

import csv
import html.parser
import io
import json
import os
import re
import sqlite3

from harness import MIB, case, check, check_equal, check_says, main, needs_exec
from sweeps import cell, query, sweep

CELLS = '[{"name": "baseline", "batch": 2}, {"name": "batch3", "batch": 3}, {"name": "compile", "batch": 2}]'


def note(box):
    """The table of docs/SWEEP.md's example: times are put in, so that they are known."""
    needs_exec()
    sweep(box, "--vram", "1GiB", "--grid-json", CELLS, "--repeat", "3", "--work", "timesteps={batch}*500",
          "--work", "realizations={batch}*5", "--total", "10000",
          command=["sh", "-c", "if [ {name} = compile ]; then mib=900; else mib=$(({batch} * 96)); fi; "
                               "exec \"$0\" mib=$mib", cell()[-1]])
    times = {1: (20.01, 20.08, 20.15), 2: (29.48, 29.52, 29.56)}
    with sqlite3.connect(box.path("t.db")) as connection:
        for number, values in times.items():
            for repeat, seconds in enumerate(values, 1):
                connection.execute("UPDATE runs SET ns=? WHERE cell=? AND repeat=?",
                                   (round(seconds * 1e9), number, repeat))


def rows_of(text, heading):
    lines = text[text.index("\n" + heading + "\n"):].splitlines()[2:]
    return [re.split(r"  +", line.strip()) for line in lines[1:lines.index("")]]


@case
def speed_is_per_unit_of_work(box):
    note(box)
    done = box.tare("report", "t.db", env={"LANG": "C.UTF-8"})
    check_equal(done.code, 0, done)
    rows = rows_of(done.out, "Configurations")
    check_equal([row[:2] + row[2:5] for row in rows],
                [["baseline", "2", "ok", "20.08", "0.07"], ["batch3", "3", "ok", "29.52", "0.04"],
                 ["compile", "2", "out of memory", "–", "–"]])
    # 1000 / 20.08 and 1500 / 29.52: three times in two thirds of the speed are 1.02, not 0.68.
    check_equal([row[6:] for row in rows[:2]],
                [["1.00 ×", "49.8", "0.498", "0.05578"], ["1.02 ×", "50.81", "0.5081", "0.05467"]])
    check_says(" ".join(done.out.split()), "batch3 batch=3: a run takes 1.47 × as long (0.68 × the speed per run) and does "
               "1.50 × the timesteps: 1.02 × the timesteps/s", "1.02 × that of", "compile", "it was refused 16.0 MiB")


@case
def a_phase_may_be_what_is_timed(box):
    note(box)
    with sqlite3.connect(box.path("t.db")) as connection:
        for number, seconds in ((1, 10.04), (2, 10.0)):
            connection.execute("UPDATE phases SET ns=? WHERE run IN (SELECT run FROM runs WHERE cell=?)",
                               (round(seconds * 1e9), number))
    done = box.tare("report", "t.db", "--timed", "fill", env={"LANG": "C.UTF-8"})
    check_equal(done.code, 0, done)
    rows = rows_of(done.out, "Configurations")
    # 1000 / 10.04 and 1500 / 10; hours: (20.08 - 10.04 + 10000 / 99.6) / 3600.
    check_equal([row[3:6] + row[7:] for row in rows[:2]],
                [["20.08", "10.04", "0.00", "1.00 ×", "99.6", "0.996", "0.03068"],
                 ["29.52", "10.00", "0.00", "1.51 ×", "150", "1.5", "0.02394"]])
    with sqlite3.connect(box.path("t.db")) as connection:
        connection.execute("UPDATE sweep SET value=1000 WHERE key='total'")
        connection.execute("INSERT INTO sweep VALUES('timed','fill')")
    done = box.tare("report", "t.db", env={"LANG": "C.UTF-8"})
    # 19.52 s - 10.04 s of starting are made up for at 1/99.6 - 1/150 s each.
    check_says(" ".join(done.out.split()), "150 timesteps/s, 1.51 × that of name=baseline batch=2",
               "1000 timesteps take 0.00727 hours, with name=baseline batch=2 0.00558: it starts sooner, and is ahead up to "
               "2,810 timesteps.")
    cells = json.loads(box.tare("report", "t.db", "--json").out)["cells"]
    check_equal([(round(c["seconds"], 9), round(c["whole_seconds"], 9)) for c in cells[:2]], [(10.04, 20.08), (10.0, 29.52)])
    done = box.tare("report", "t.db", "--timed", "drain")
    check_equal(done.code, 2, done)
    check_says(done.err, "--timed drain: no run has such a phase; there are 'fill'")
    check_equal(box.tare("report", "t.db", "--timed", "fill mib=192").code, 0)


@case
def the_same_in_data(box):
    note(box)
    done = box.tare("report", "t.db", "--json")
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    check_equal((report["unit"], report["baseline"], report["best"]),
                ("timesteps", "name=baseline batch=2", "name=batch3 batch=3"))
    second = report["cells"][1]
    check(abs(second["speedup"] - (1500 / 29.52) / (1000 / 20.08)) < 1e-9, second)
    check_equal((second["runs"], second["ok"], report["cells"][2]["oom"]), (3, 3, 3))
    check_equal(report["cells"][2]["seconds"], None)
    done = box.tare("report", "t.db", "--csv")
    table = list(csv.DictReader(io.StringIO(done.out)))
    check_equal([row["status"] for row in table], ["ok", "ok", "out of memory"])
    check_equal([int(row["peak_bytes"]) for row in table], [c["peak_bytes"] for c in report["cells"]])


@case
def what_is_claimed_stands_beside_what_was_measured(box):
    note(box)
    done = box.tare("report", "t.db", "--claim", "context=100MiB", "--claim", "allocations/e2e_cell=192MiB",
                    "--claim", "total=292MiB", env={"LANG": "C.UTF-8"})
    peak = query(box, "SELECT max(peak) FROM runs WHERE cell=1")[0][0]
    context = query(box, "SELECT bytes FROM accounts WHERE run=1 AND account='context'")[0][0]
    rows = dict((row[0], row[1:]) for row in rows_of(done.out, "Beside what was claimed, for name=baseline batch=2"))
    check_equal(rows["allocations/e2e_cell"], ["192.0", "192.0", "0.0"])
    check_equal(rows["context"], ["100.0", "%.1f" % (context / MIB), "+%.1f" % (context / MIB - 100)])
    # The context is a part of the total: what nobody claimed is the rest, and nothing is taken off twice.
    check(abs(float(rows["nobody claimed"][1]) - ((peak - context) / MIB - 192)) <= 0.06, rows)
    check_equal(rows["total"], ["292.0", "%.1f" % (peak / MIB), "+%.1f" % (peak / MIB - 292)])
    check_says(box.tare("report", "t.db", "--claim", "context").err, "--claim context", "NAME=SIZE")


@case
def pressure_is_what_was_refused(box):
    needs_exec()
    sweep(box, "--vram", "1GiB", "--grid", "cache=0,256", "--grid", "mib=64,400,800",
          command=["sh", "-c", "test {cache} = 0 && exec \"$0\" mib={mib}; exec \"$0\" cache={cache} mib={mib}", cell()[-1]])
    done = box.tare("report", "t.db", env={"LANG": "C.UTF-8"})
    rows = rows_of(done.out, "Memory pressure")
    check_equal([row[:5] for row in rows],
                [["0", "800", "ran out", "1", "0"], ["256", "400", "gave back its cache 1 time", "1", "1"],
                 ["256", "800", "ran out", "2", "1"]])
    check_says(" ".join(done.out.split()), "Memory slowed no run of the other 3 configurations: no call was refused",
               "The least that was left", "256 mib=400 works", "under memory pressure", "cache=0 mib=64 works")
    cells = json.loads(box.tare("report", "t.db", "--json").out)["cells"]
    check_equal([c["memory_slowed"] for c in cells], [False, False, True, False, True, True])


@case
def many_cells_that_work_are_one_line(box):
    needs_exec()
    sweep(box, "--grid", "mib=" + ",".join(str(16 * n) for n in range(1, 16)), command=cell("mib={mib}"))
    done = box.tare("report", "t.db", env={"LANG": "C.UTF-8"})
    text = " ".join(done.out.split())
    check_says(text, "all 15 configurations work, with ", "Memory slowed no run: no call was refused",
               "Time is that of the one run")
    check("±" not in text and "PRESSURE" not in text and "mib=16 works" not in text, done.out)
    check_equal({c["memory_slowed"] for c in json.loads(box.tare("report", "t.db", "--json").out)["cells"]}, {False})


@case
def a_parameter_without_effect_is_told(box):
    needs_exec()
    done = sweep(box, "--grid", "mib=32,64", "--grid", "max_iter=1,2", command=cell("mib={mib}"))
    check_says(done.err, "tare: max_iter changed neither memory nor driver calls nor output")
    check("mib changed" not in done.err, done)
    done = box.tare("report", "t.db")
    check_says(done.out, "max_iter changed nothing", "not in the command")
    check("mib changed nothing" not in done.out, done)


class Page(html.parser.HTMLParser):
    VOID = ("meta", "link", "br", "img")

    def __init__(self):
        super().__init__()
        self.open, self.text, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href")]
        check(tag != "script", "there is a script in it")

    def handle_endtag(self, tag):
        check_equal(tag, self.open.pop())

    def handle_data(self, data):
        self.text.append(data)


@case
def pages_need_nothing_else_and_take_no_markup(box):
    needs_exec()
    evil = '<script>alert(1)</script>|`*_"&'
    sweep(box, "--grid-json", json.dumps({"x": [evil, "b"]}), command=["true", "{x}"])
    check_equal(box.tare("report", "t.db", "--html", "t.html").code, 0)
    with open(box.path("t.html"), encoding="utf-8") as text:
        source = text.read()
    page = Page()
    page.feed(source)
    check_equal((page.open, page.outside), ([], []))
    check(evil in "".join(page.text), "the value is not in the page")
    check(not re.search(r"https?://|@import|url\(", source), "it needs something from outside")
    done = box.tare("report", "t.db", "--md")
    check_equal(done.code, 0, done)
    check("<script>" not in done.out, done.out)
    bars = 0
    for line in done.out.splitlines():
        found = len(re.findall(r"(?<!\\)\|", line))
        check_equal(found, bars if line.startswith("|") and bars else found, line)
        bars = found if line.startswith("|") else 0


@case
def sweeps_that_are_not_done_or_hold_nothing(box):
    needs_exec()
    sweep(box, "--grid", "a=1,2", command=["true"])
    with sqlite3.connect(box.path("t.db")) as connection:
        connection.execute("UPDATE runs SET status='running',ns=NULL,peak=NULL WHERE cell=1")
        connection.execute("DELETE FROM runs WHERE cell=2")
    for format_ in ([], ["--md"], ["--json"], ["--csv"], ["--html", "t.html"]):
        check_equal(box.tare("report", "t.db", *format_).code, 0)
    check_says(box.tare("report", "t.db").out, "not finished", "not run", "None: no configuration")
    with sqlite3.connect(box.path("t.db")) as connection:
        for table in ("runs", "cell_params", "cells", "params", "sweep"):
            connection.execute("DELETE FROM " + table)
    check_says(box.tare("report", "t.db").out, "no configurations")


@case
def options_of_the_other_kind_are_refused(box):
    needs_exec()
    sweep(box, "--grid", "a=1,2", command=["true"])
    recording = os.path.join("t.db.d", query(box, "SELECT recording FROM runs")[0][0])
    for arguments, says in (
            (["t.db", "--by", "owner"], "is a sweep"),
            (["t.db", "--at", "peak"], "is a sweep"),
            (["t.db", "--md", "--csv"], "exclude each other"),
            (["t.db", "--baseline", "a=3"], "names no cell"),
            ([recording, "--baseline", "a=1"], "for the file of a sweep")):
        done = box.tare("report", *arguments)
        check_equal(done.code, 2, done)
        check_says(done.err, says)
    check_equal(box.tare("report", "t.db", "--baseline", "a=2").code, 0)
    check_says(box.tare("report", "t.db", "--html", "no/such/folder.html").err, "no/such/folder.html", "cannot be written")


main()
