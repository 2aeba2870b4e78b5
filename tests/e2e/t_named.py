#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors are called by the variable that keeps them, whatever it keeps them in; nothing of the program is called for that."""

import json
import os

from harness import PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "named.py")


@case
def every_kind_of_variable(box):
    """Lists, dictionaries, deques, sets, objects, closures; what is behind `_`, too deep or too far in has no such name."""
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "TARE_SCAN": "eager"}
    done = box.record([PYTHON, PROGRAM, box.path("truth")], sim=None, env=env, timeout=300)
    check_equal((done.out, done.err.count("Traceback")), ("", 0), done)
    with open(box.path("truth")) as file:
        truth = json.loads(file.read())
    check_equal(truth["touched"], [], "the program's own functions were called")
    rows = json.loads(box.tare("report", "rec.tare", "--by", "tensor", "--at", "end", "--json").out)["rows"]
    for name, size in truth["named"].items():
        check_equal(sum(row["bytes"] for row in rows if row["name"] == name), size, name, rows)
    names = {row["name"] for row in rows}
    check(not names & {"_hidden", "deep", "huge", "theirs", "kept_elsewhere", "gone", "from_numpy"}, names)
    for size in truth["nameless"]:
        check(any(row["bytes"] == size for row in rows), size, rows)
    check(not any(row["bytes"] == truth["from_numpy"] for row in rows), "memory of numpy is called a tensor's", rows)


main()
