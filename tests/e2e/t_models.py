#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A transformer and a ResNet with each of four optimizers: every category to the byte, after every pass and step."""

import csv
import io
import json
import os

from harness import PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "models.py")
OPTIMIZERS = {"sgd": 0, "momentum": 1, "adam": 2, "adagrad": 1}  # how many times the parameters their state is
STEPS = 4


def said(box):
    """What the program says of each moment: (mark, category → bytes)."""
    with open(box.path("truth"), encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    return [(entry["mark"], {key: value for key, value in entry.items() if key not in ("mark", "pid") and value})
            for entry in entries]


def found(box, marks):
    """The same, as the report has it."""
    at = [word for mark in marks for word in ("--at", "phase:" + mark)]
    done = box.tare("report", "rec.tare", "--by", "category", "--csv", *at)
    check_equal(done.code, 0, done)
    rows = {mark: {} for mark in marks}
    for row in csv.DictReader(io.StringIO(done.out)):
        rows[row["at"][len("phase:"):]][row["label"]] = int(row["bytes"])
    return rows


def define(model, optimizer, times):
    def run(box):
        needs_torch()
        env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python")}
        box.record([PYTHON, PROGRAM, model + "-" + optimizer, box.path("truth")], sim=None, env=env, timeout=300)
        truth = said(box)
        check_equal(len(truth), 2 * STEPS)
        rows = found(box, [mark for mark, _ in truth])
        for mark, wanted in truth:
            check_equal(rows[mark], wanted, mark)
        last = truth[-1][1]
        check_equal(last["gradient"], last["parameter"])
        scalars = last.get("optimizer state", 0) - times * last["parameter"]  # how many steps, of each parameter
        check(0 <= scalars < 1024, last)

    run.__name__ = "%s_with_%s" % (model, optimizer)
    case(run)


for each in ("transformer", "resnet"):
    for name, multiple in OPTIMIZERS.items():
        define(each, name, multiple)


main(checks_views=True)
