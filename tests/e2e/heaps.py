# SPDX-License-Identifier: Apache-2.0
"""What reports say of the heap of a program that was recorded with --host."""

import json
import re

from harness import check_equal


def record(box, argv, mode="full", rec="rec.tare", **more):
    """The numbers that the program printed."""
    done = box.record(argv, rec, sim=None, options=["--host=" + mode], **more)
    return [int(word) for word in done.out.split()] if done.out else []


def heap_of(report):
    found = [device for device in report["devices"] if device["heap"]]
    check_equal(len(found), 1, report["devices"])
    return found[0]


def rows_of(device, owner, account="heap"):
    return [row for row in device["accounts"] if row["account"] == account and row["path"].endswith("/" + owner)]


def total_of(device, owner, account="heap"):
    """Bytes and blocks."""
    rows = rows_of(device, owner, account)
    return sum(row["bytes"] for row in rows), sum(row["count"] for row in rows)


def lines_of(box, at="end", rec="rec.tare"):
    done = box.tare("report", rec, "--by", "line", "--at", at, "--json")
    return json.loads(done.out)["rows"]


def function_of(frame):
    """Of "ask+0x12 in program", "program.cpp:12 in ask"."""
    found = re.match(r"(.+)\+0x[0-9a-f]+ in ", frame) or re.match(r".+:\d+ in (.+)", frame)
    return found.group(1) if found else frame
