#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every row of the hook table is seen in a recording; and the same program weighs the same again."""

import os

from harness import (MIB, WRAPPER, case, check, check_equal, degraded, fixture, leaves, main, show,
                     unexplained)

TWO = {"TARE_SIM_DEVICES": "2"}


@case
def every_hook_is_in_a_recording(box):
    done = box.record(fixture("e2e_every"), env=TWO)
    called = {line.split("\t")[1] for line in done.out.splitlines() if line.startswith("called\t")}
    check(len(called) > 100, "the hook table is nearly empty", done)
    seen = {event["api"] for event in box.events()}
    check_equal(sorted(called - seen), [], "hooked, called, but in no recording")
    check_equal(sorted(seen - called), [], "recorded, but not in the hook table")


@case
def every_hook_balances(box):
    box.record(fixture("e2e_every"), env=TWO)
    for at in ("peak", "end"):
        report = box.report(at=at)
        check_equal(degraded(report), [], show(report))
        for index in (0, 1):
            check_equal(unexplained(report, index), 0, at, show(report))


@case
def every_hook_is_the_same_without_tare(box):
    done = box.record(fixture("e2e_every"), env=TWO)
    os.unlink(box.path("every.image"))
    alone = box.run(fixture("e2e_every"), sim=True, env=TWO)
    check_equal((done.code, done.out), (alone.code, alone.out), alone)


@case
def every_row_repeats(box):
    """Twelve runs of the same program: no row differs by more than 2 MiB."""
    seen = {}
    runs = 3 if WRAPPER else 12
    for run in range(runs):
        rec = "rec%d.tare" % run
        box.record(fixture("e2e_every"), rec=rec, env=TWO)
        for at in ("peak", "end"):
            for device in box.report(rec, at)["devices"]:
                for row in leaves(device):
                    path = row["path"].split("/", 1)[-1]
                    seen.setdefault((at, device["index"], path), []).append(row["bytes"])
    check(seen, "no rows")
    for row, sizes in seen.items():
        check_equal(len(sizes), runs, row, "is not in every run")
        check(max(sizes) - min(sizes) <= 2 * MIB, row, sizes)


main()
