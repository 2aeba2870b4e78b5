#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording that outgrows its cap: older events go, the ledger stays what it was."""

import os

from harness import MIB, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main

# An early peak that ends up in a folded span, then many records, then something that stays alive.
STEPS = b"alloc 900000000\nfree\nstorm 20000\nalloc 5000000\nstorm 20000\nalloc 3000\nquit\n"


def record(box, **more):
    if WRAPPER:
        raise Skip("an emulated program takes minutes to outgrow a cap")
    box.record(fixture("e2e_steps"), input=STEPS, **more)


def rows(report):
    """What the ledger says, without what differs from run to run: pids and times."""
    device = report["devices"][0]
    found = {"used": device["used_bytes"], "unexplained": device["unexplained_bytes"]}
    for account in device["accounts"]:
        path = account["path"].split("/", 1)
        found[path[1] if len(path) > 1 else path[0].split(":")[0]] = (account["bytes"], account["count"])
    return found


def bytes_of_logs(folder):
    return sum(512 * os.stat(os.path.join(folder, name)).st_blocks
               for name in os.listdir(folder) if ".events" in name)


def sizes_of_logs(folder):
    return sum(os.stat(os.path.join(folder, name)).st_size for name in os.listdir(folder) if ".events" in name)


@case
def folding_changes_no_ledger(box):
    record(box, rec="whole.tare")
    record(box, rec="folded.tare", options=["--cap", "2MiB"])
    for at in ("peak", "end"):
        check_equal(rows(box.report("folded.tare", at)), rows(box.report("whole.tare", at)), at)


@case
def the_cap_is_kept(box):
    record(box, options=["--cap", "2MiB"])
    folder = box.path("rec.tare")
    check("checkpoint.events" in os.listdir(folder), "nothing was folded")
    check(bytes_of_logs(folder) <= 4 * MIB, "the logs take %d bytes" % bytes_of_logs(folder))
    check(sizes_of_logs(folder) <= 4 * MIB, "the sizes of the logs are %d bytes" % sizes_of_logs(folder))


@case
def a_folded_instant_is_refused(box):
    record(box, options=["--cap", "2MiB"])
    done = box.tare("report", "rec.tare", "--at", "1us")
    check_equal(done.code, 125, done)
    check_says(done.err, "1us", "folded", "--cap")


@case
def folded_recordings_have_no_other_complaints(box):
    record(box, options=["--cap", "2MiB"])
    check_equal(box.report("rec.tare", "end")["degraded"], [])


main()
