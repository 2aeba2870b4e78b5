#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program keeps beside what it trains: state of optimizers that it wrote itself, averages and frozen parameters, caches."""

import json
import os

from harness import PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "kept.py")


def categories(box, what, at="peak:host"):
    """By category in bytes, as the report says, and as the program does."""
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "TARE_SCAN": "eager"}
    box.record([PYTHON, PROGRAM, what, box.path("truth")], sim=None, env=env, timeout=300)
    done = box.tare("report", "rec.tare", "--by", "category", "--at", at, "--json")
    check_equal(done.code, 0, done)
    with open(box.path("truth")) as file:
        return {row["label"]: row for row in json.loads(done.out)["rows"]}, json.loads(file.read())


def define(what, but=()):
    """To the byte, but for categories that have more besides, such as statistics."""
    def run(box):
        rows, truth = categories(box, what)
        for label, size in truth.items():
            check(label in rows and rows[label]["bytes"] == size or label in but, label, size, rows)

    run.__name__ = "kept_" + what
    case(run)


for name in ("lion", "late", "adam", "average", "plain", "plain_state", "by_hand"):
    define(name)


def rows_by(box, what):
    done = box.tare("report", "rec.tare", "--by", what, "--at", "end", "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)["rows"]


def define_end(what):
    """What there is at the end, and how it is called: by variables, where no module has it."""
    def run(box):
        rows, truth = categories(box, what, "end")
        named, roots = truth.pop("named", {}), truth.pop("roots", None)
        for label, size in truth.items():
            check_equal(rows[label]["bytes"] if label in rows else 0, size, label, rows)
        tensors = rows_by(box, "tensor")
        for name, size in named.items():
            check_equal(sum(row["bytes"] for row in tensors if row["name"] == name), size, name, tensors)
        if roots:
            modules = [row["module"] for row in rows_by(box, "module") if not row["depth"] and row["class"]]
            check_equal(sorted(modules), roots)

    run.__name__ = "kept_" + what
    case(run)


for name in ("one_step", "teacher", "results", "replay"):
    define_end(name)


@case
def kept_cache(box):
    rows, truth = categories(box, "cache")
    check_equal(rows["parameter"]["bytes"], truth["parameter"], rows)
    # While a layer's cache becomes longer, the one before is there too.
    check(0 <= rows["buffer/state"]["bytes"] - truth["buffer/state"] <= truth["buffer/state"] / 2, rows, truth)


main()
