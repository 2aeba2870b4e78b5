#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocks that Python's cyclic collector takes back, in every CPython that there is here."""

import json
import os

from harness import FIXTURES, ROOT, case, check_equal, main
from python_stacks import VERSIONS, python_of, version_of

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "cycles.py")
KNOWN = range(8, 14)


def freed(box, version):
    """bytes → flags of its end, of every block."""
    box.record([python_of(version), PROGRAM, os.path.join(FIXTURES, "libc10_cuda.so")],
               env={"PYTHONDONTWRITEBYTECODE": "1"})
    sizes, ends = {}, {}
    done = box.tare("dump", "rec.tare", "--kind", "tensor", "--json")
    check_equal(done.code, 0, done)
    for event in map(json.loads, done.out.splitlines()):
        if event.get("kind") != "tensor":
            continue
        if event["bytes"] > 0:
            sizes[event["block"]] = event["bytes"]
        else:
            ends.setdefault(sizes[event["block"]], []).append(event["flags"])
    return ends


def define(version):
    def collected_blocks(box):
        ends = freed(box, version)
        minor = int(version_of(python_of(version)).split(".")[1])
        waited = "gc" if minor in KNOWN else "-"
        check_equal(ends[512], ["-"] * 3)
        check_equal(ends[1024], [waited] * 5)
        check_equal(ends[2048], ["-"])
        check_equal((ends[8192], ends[4096]), (["-"], ["-"]))

    collected_blocks.__name__ = "python_%s" % version.replace(".", "_")
    case(collected_blocks)


for each in VERSIONS + ["system"]:
    define(each)

if __name__ == "__main__":
    main()
