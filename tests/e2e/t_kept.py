#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program keeps beside what it trains: state of optimizers that it wrote itself, averages and frozen parameters, caches."""

import json
import os

from harness import PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "kept.py")


def categories(box, what):
    """By category in bytes, as the report says, and as the program does."""
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "TARE_PROBE": "eager"}
    box.record([PYTHON, PROGRAM, what, box.path("truth")], sim=None, env=env, timeout=300)
    done = box.tare("report", "rec.tare", "--by", "category", "--at", "peak:host", "--json")
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


@case
def kept_cache(box):
    rows, truth = categories(box, "cache")
    check_equal(rows["parameter"]["bytes"], truth["parameter"], rows)
    # While a layer's cache becomes longer, the one before is there too.
    check(0 <= rows["buffer/state"]["bytes"] - truth["buffer/state"] <= truth["buffer/state"] / 2, rows, truth)


main()
