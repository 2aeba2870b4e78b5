#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pools, virtual and shared memory: all at once, beside a neighbour, and with every call refused."""

from harness import (IS_LONG, WRAPPER, Expectations, case, check, check_equal, check_says, degraded,
                     fixture, leaves, main, show, unexplained)

NOISE = "noisy 104857600 3000"


def rows_by_path(report):
    return {row["path"]: row for row in leaves(report["devices"][0])}


def record_all_at_once(box, script=None):
    """Every row that is exact is right, whatever ran at the same time."""
    done = box.record(fixture("e2e_families"), env={"TARE_SIM_SCRIPT": script} if script else {})
    report = box.report()
    found = rows_by_path(report)
    for _, path, size, evidence, count, _ in Expectations(done.out).rows:
        if evidence != "exact":
            continue
        row = found.get(path, {"bytes": 0, "evidence": "exact", "count": 0})
        check_equal((row["bytes"], row["evidence"]), (int(size), evidence), path, show(report))
        check_equal(row["count"], int(count), path, show(report))
    rest = int([line for line in done.out.splitlines() if line.startswith("rest\t")][0].split("\t")[1])
    weighed = [row for path, row in found.items() if path.split("/")[-1] in ("granularity", "arrays")]
    return report, rest, weighed


def check_right_or_contended(report, rest, weighed):
    """What only the counter tells lies between its bounds, which are one where nothing is in doubt."""
    low, high = sum(row["low"] for row in weighed), sum(row["high"] for row in weighed)
    is_doubtful = any(row["contended"] for row in weighed)
    check(low <= rest <= high, (low, rest, high), show(report))
    check(is_doubtful or unexplained(report) == 0, show(report))


@case
def eight_threads_with_every_family(box):
    check_right_or_contended(*record_all_at_once(box))


@case
def the_same_beside_a_neighbour(box):
    """100 MiB of somebody else come and go, and are never in a row that is exact."""
    record_all_at_once(box, NOISE)


# What the recorder asks of the driver itself: refused, it knows less and the program notices nothing.
QUESTIONS = ("cuMemPoolGetAttribute", "cuPointerGetAttribute", "cuThreadExchangeStreamCaptureMode",
             "cuDeviceGetMemPool", "cuMemGetAllocationPropertiesFromHandle")


def answers(box, script, rec):
    """The program's output alone and recorded are the same; the report."""
    env = {"TARE_SIM_SCRIPT": script}
    done = box.record(fixture("e2e_stubborn_families"), rec=rec, env=env)
    alone = box.run(fixture("e2e_stubborn_families"), sim=True, env=env)
    check_equal(done.out, alone.out, script)
    check_equal(done.out.splitlines()[-1], "end", done)
    return box.report(rec)


def names(box):
    done = box.run(fixture("e2e_stubborn_families"), sim=True)
    found = []
    for line in done.out.splitlines()[:-1]:
        if line.split()[0] not in found:
            found.append(line.split()[0])
    check(len(found) > 30, done)
    return found


@case
def every_call_of_the_program_fails_once(box):
    for number, name in enumerate(names(box)):
        if name in QUESTIONS:  # whose first is the recorder's
            continue
        for nth in ("1", "2", "3", "all") if IS_LONG else ("all",) if WRAPPER else ("1", "all"):
            rec = "%d.%s.tare" % (number, nth)
            report = answers(box, "fail %s %s 999" % (name, nth), rec)
            for device in report["devices"]:
                check_equal(device["unexplained_bytes"] or 0, 0, name, nth, show(report))


@case
def every_question_of_the_recorder_is_refused(box):
    """Pools that do not say what they have are weighed; nothing is lost but their names."""
    for number, name in enumerate(QUESTIONS):
        report = answers(box, "fail %s all 999" % name, "q%d.tare" % number)
        if name != "cuPointerGetAttribute":  # then nobody knows what cuMemFreeAsync frees
            check_equal(unexplained(report), 0, name, show(report))


@case
def nothing_is_refused(box):
    report = answers(box, "# nothing", "rec.tare")
    check_equal(degraded(report), [], show(report))
    check_equal(unexplained(report), 0, show(report))


@case
def pools_have_rows(box):
    """What a user sees of them."""
    box.record(fixture("e2e_pools"))
    done = box.tare("report", "rec.tare", "--at", "peak")
    check_says(done.out, "default", "e2e_pools:1", "in use", "reserved, not in use")


main()
