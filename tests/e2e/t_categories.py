#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tensors are for, against Debian's PyTorch, which says it itself at the same moments."""

import csv
import io
import json
import os

from harness import PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "categories.py")
SLACK = 1024  # bytes: scalars that a line or a library keeps


def record(box, what, *options):
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python")}
    box.record([PYTHON, PROGRAM, what, box.path("truth")], sim=None, env=env, options=options, timeout=300)
    with open(box.path("truth"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def categories(box, marks):
    """mark → category → bytes."""
    at = [word for mark in marks for word in ("--at", "phase:" + mark)]
    done = box.tare("report", "rec.tare", "--by", "category", "--csv", *at)
    check_equal(done.code, 0, done)
    found = {mark: {} for mark in marks}
    for row in csv.DictReader(io.StringIO(done.out)):
        found[row["at"][len("phase:"):]][row["label"]] = int(row["bytes"])
    return found


def check_rows(box, marks, found):
    """The ledger has the same rows below the tensors of the process, and they sum to that row."""
    at = [word for mark in marks for word in ("--at", "phase:" + mark)]
    done = box.tare("report", "rec.tare", "--json", *at)
    check_equal(done.code, 0, done)
    first = json.loads(done.out)
    for mark, ledger in zip(marks, [first] + first.get("also", [])):
        rows = {row["path"].split("/", 1)[1]: row for row in ledger["host"][0]["accounts"]}
        below = {path.split("/", 1)[1].replace("%2F", "/"): row["bytes"] for path, row in rows.items() if "/" in path}
        check_equal(below, found[mark], mark)
        check_equal(sum(below.values()), rows["tensors"]["bytes"], mark)
        check_equal({row["evidence"] for path, row in rows.items() if "/" not in path}, {"exact"})


def near(got, wanted):
    return abs(got - wanted) <= max(wanted * 0.02, SLACK)


def check_marks(box, truth, merged=()):
    marks = [entry["mark"] for entry in truth]
    found = categories(box, marks)
    check_rows(box, marks, found)
    for entry in truth:
        got = dict(found[entry["mark"]])
        wanted = {k: v for k, v in entry.items() if k != "mark"}
        for into, category in merged:
            wanted[into] += wanted.pop(category)
        for category, size in wanted.items():
            check(near(got.get(category, 0), size), entry["mark"], category, "%d, not %d"
                  % (got.get(category, 0), size), got)
        if entry["mark"].startswith("step"):
            check(got.get("temporary", 0) <= 0.01 * sum(got.values()), entry["mark"], got)
        check_equal([c for c in got if c not in wanted and c != "temporary"], [], entry["mark"])


def define(what):
    def run(box):
        check_marks(box, record(box, what))
    run.__name__ = "with_" + what
    case(run)


for one in ("sgd", "momentum", "adam", "accumulation", "inference"):
    define(one)


@case
def rules_alone(box):
    """Without a look at the program's objects a buffer is taken for a parameter: both are built with modules."""
    check_marks(box, record(box, "adam", "--no-probe"), merged=[("parameter", "buffer/state")])


@case
def tensors_have_names(box):
    truth = record(box, "adam")
    done = box.tare("report", "rec.tare", "--by", "tensor", "--json", "--at", "phase:" + truth[-1]["mark"])
    check_equal(done.code, 0, done)
    rows = json.loads(done.out)["rows"]
    names = {row["name"]: row for row in rows if row["name"]}
    for name, size in (("stem.weight", 32 * 3 * 9 * 4), ("layers.0.conv.weight", 32 * 32 * 9 * 4),
                       ("layers.3.norm.bias", 32 * 4), ("head.weight", 2560 * 4)):
        check(name in names, name, sorted(names))
        check_equal((names[name]["bytes"], names[name]["category"], names[name]["rule"], names[name]["evidence"]),
                    (size, "parameter", "said-parameter", "witness"))
    check_equal(names["layers.0.norm.running_mean"]["category"], "buffer/state")
    check("PROGRAM" not in done.out and os.path.basename(PROGRAM) in names["head.weight"]["line"], names["head.weight"])
    shown = box.tare("report", "rec.tare", "--by", "tensor", "--at", "phase:" + truth[-1]["mark"])
    check("fc.weight" in shown.out and "more" in shown.out, shown)


@case
def a_recording_without_tensors_says_so(box):
    box.record(["true"], sim=None)
    for by in ("category", "tensor"):
        done = box.tare("report", "rec.tare", "--by", by)
        check_equal(done.code, 0, done)
        check("no tensor events" in " ".join(done.out.split()), done)


main()
