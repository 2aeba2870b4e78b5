#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that do nothing but call: no record is lost, and the books balance, however busy they are."""

import collections
import json

from harness import IS_LONG, case, check, check_equal, fixture, main, needs_exec, show, unexplained

ROUNDS = 20 if IS_LONG else 3


def record(box, number, *args):
    rec = "busy%d.tare" % number
    done = box.record(fixture("e2e_busy", *[str(arg) for arg in args]), rec=rec)
    calls = {int(pid): int(count) for pid, count in (line.split() for line in done.out.splitlines())}
    check_equal(len(calls), args[1], done)
    return rec, calls


def check_whole(box, rec):
    """Nothing lost, nothing unexplained, and nothing that the report takes back."""
    for instant in "peak", "end":
        report = box.report(rec, instant)
        check_equal((unexplained(report), report["losses"], report["degraded"]), (0, [], []), instant, show(report))


def calls_of(box, rec):
    """By process: how many allocations and releases are in its log."""
    return collections.Counter(int(event["log"].split("-")[0]) for event in box.events(rec)
                               if event["api"].startswith(("cuMemAlloc", "cuMemFree")))


@case
def three_processes_of_two_threads_for_half_a_second(box):
    """Each call in a phase, and each in the log."""
    needs_exec()
    for number in range(ROUNDS):
        rec, calls = record(box, number, "memory", 3, 2, 0, 0.5)
        check_whole(box, rec)
        check_equal(calls_of(box, rec), calls)


@case
def sixty_four_threads_push_and_pop(box):
    """25,000 times each: 3.2 million records."""
    needs_exec()
    for number in range(ROUNDS if IS_LONG else 1):
        rec, _ = record(box, number, "phases", 1, 64, 25000, 0)
        check_whole(box, rec)
        rows = json.loads(box.tare("report", rec, "--by", "phase", "--json").out)["rows"]
        check_equal({row["path"]: row["count"] for row in rows}, {"step": 64 * 25000})


main()
