#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A segment with damaged bytes, without its end, or that is gone: what is lost is told, and the rest is read."""

import json
import os
import shutil
import struct
import subprocess

from harness import MIB, case, check, check_equal, check_says, fixture, main, record_args, show, tare_argv

HEAD = struct.Struct("=IIIIQQQQQQQ")  # struct tare_segment_block
MAGIC, EVENTS, TABLES, STEP = 0x4b4c4254, 3, 2, 8
STORM = 1001  # bytes of each block of a storm


def blocks_of(path):
    """(kind, log, records, where its bytes lie) of each block."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 64, []
    while at + HEAD.size <= len(data):
        magic, kind, log, records, size = HEAD.unpack_from(data, at)[:5]
        if magic != MAGIC:
            at += STEP
            continue
        found.append((kind, log, records, at + HEAD.size))
        at = (at + HEAD.size + size + STEP - 1) // STEP * STEP
    return found


def record(box):
    """64 MiB before a storm of calls, which fill several blocks, and 32 MiB behind it."""
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    running.communicate(b"alloc %d\nstorm 40000\nalloc %d\nquit\n" % (64 * MIB, 32 * MIB), timeout=120)
    done = box.tare("compact", "rec.tare")
    check_equal(done.code, 0, done)
    return blocks_of(box.path("rec.tare", "000001.segment"))


def damaged(box, change):
    """A copy of the recording, whose segment was changed so."""
    shutil.rmtree(box.path("hit.tare"), ignore_errors=True)
    shutil.copytree(box.path("rec.tare"), box.path("hit.tare"))
    with open(box.path("hit.tare", "000001.segment"), "r+b") as file:
        change(file)


def hit(at):
    def change(file):
        file.seek(at)
        was = file.read(6)
        file.seek(at)
        file.write(bytes(byte ^ 0xff for byte in was))
    return change


def allocations_of(report):
    (row,) = [row for device in report["devices"] for row in device["accounts"] if row["path"].endswith("allocations/e2e_steps")]
    return row


@case
def one_block_of_a_program(box):
    blocks = record(box)
    events = [block for block in blocks if block[0] == EVENTS and block[2] > 1000]
    check(len(events) >= 4, blocks)
    whole = box.report()
    damaged(box, hit(events[1][3]))
    report = box.report("hit.tare")  # this checks that it balances
    check_says("\n".join(report["degraded"]), "%d records lost with 1 damaged block" % events[1][2])
    (loss,) = report["losses"]
    check_equal((loss["reason"], loss["program"]), ("damaged", "e2e_steps"))
    check_says(box.tare("report", "hit.tare").out.splitlines()[0], "ecords are missing, from")
    # What was made before and behind the damage is there; none of it is called exact.
    row, intact = allocations_of(report), allocations_of(whole)
    check_equal((intact["bytes"], intact["evidence"]), (96 * MIB + 20000 * STORM, "exact"))
    check(0 < abs(row["bytes"] - intact["bytes"]) <= events[1][2] * STORM, row, intact)
    check_equal(row["evidence"], "inferred", row)
    # Before the damage the ledger is that of the whole recording.
    before = "%.6f" % (loss["from_ns"] / 1e9 - 1e-6)
    check_equal(allocations_of(box.report("hit.tare", before))["bytes"], allocations_of(box.report("rec.tare", before))["bytes"], before)
    rows = json.loads(box.tare("report", "hit.tare", "--by", "time", "--json").out)["rows"]
    unknown = [row for row in rows if row["bytes"] is None]
    check(0 < len(unknown) < len(rows), rows)
    for row in rows[::len(rows) // 5]:
        box.report("hit.tare", "%.6f" % (row["to_ns"] / 1e9))


@case
def any_block_of_any_kind(box):
    """What is there twice costs nothing, and of anything else it is told what is lost."""
    blocks = record(box)
    whole = box.report()
    for kind, log, records, at in blocks:
        damaged(box, hit(at))
        report = box.report("hit.tare")
        if kind in (EVENTS, TABLES):
            check_says("\n".join(report["degraded"]), "%d record%s lost" % (records, "" if records == 1 else "s"))
        else:
            check_equal(report["devices"], whole["devices"], kind, log)


@case
def cut_anywhere(box):
    """It is never taken for a program that opened no GPU."""
    record(box)
    size = os.path.getsize(box.path("rec.tare", "000001.segment"))
    for percent in (0, 1, 5, 20, 50, 80, 95, 99):
        damaged(box, lambda file: file.truncate(size * percent // 100))
        done = box.tare("report", "hit.tare")
        check(done.code in (0, 125), done)
        check_says(" ".join((done.out + done.err).split()), "000001.segment is damaged", "its end is missing")
        check("opened a GPU" not in done.err, done)
        if done.code == 0:
            report = box.report("hit.tare")
            rows = [row for device in report["devices"] for row in device["accounts"] if row["path"].startswith("process:")]
            check(all(row["evidence"] not in ("exact", "weighed") for row in rows if row["leaf"]), percent, show(report))
            check(report["losses"] or not rows, percent, show(report))


@case
def one_that_is_gone(box):
    record(box)
    shutil.copytree(box.path("rec.tare"), box.path("hit.tare"))
    os.unlink(box.path("hit.tare", "000001.segment"))
    done = box.tare("report", "hit.tare")
    check_equal(done.code, 125, done)
    check_says(done.err, "000001.segment")


main()
