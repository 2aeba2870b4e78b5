#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Segments that are damaged, cut or gone: what is missing is told first, drawn, and nothing behind it is called exact."""

import json
import os
import shutil
import struct
import subprocess

from harness import (MIB, case, check, check_equal, check_says, fixture, main, needs_exec, record_args, show, tare_argv,
                     unexplained)

PARTS, CALLS = 6, 300
HEAD = struct.Struct("=IIIIQQQQQQQ")  # struct tare_segment_block
MAGIC, EVENTS, TABLES, NAME, STEP = 0x4b4c4254, 3, 2, 1, 8
STORM = 1001  # bytes of each block of a storm


def segments(box, recording):
    return sorted(name for name in os.listdir(box.path(recording)) if name.endswith(".segment"))


def in_segments(box):
    """Segments of a program that goes on meanwhile; of a part that is not settled yet the next segment has the rest."""
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), sim=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(10 * PARTS):
        running.stdin.write(b"storm %d\nalloc 4096\n" % CALLS)
        running.stdin.flush()
        while running.stdout.readline() != b"took\t4096\n":
            pass
        done = box.tare("compact", "--running", "rec.tare")
        check_equal(done.code, 0, done)
        if len(segments(box, "rec.tare")) >= PARTS:
            break
    running.stdin.close()
    check_equal(running.wait(), 0)
    check_equal(box.tare("compact", "rec.tare").code, 0)
    check(len(segments(box, "rec.tare")) >= PARTS, segments(box, "rec.tare"))


def spoil(path, at, count=64):
    with open(path, "r+b") as file:
        file.seek(at)
        was = file.read(count)
        file.seek(at)
        file.write(bytes(byte ^ 0xff for byte in was))


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def path_of_middle(box):
    found = segments(box, "bad.tare")
    return box.path("bad.tare", found[len(found) // 2])


def fresh(box):
    shutil.rmtree(box.path("bad.tare"), ignore_errors=True)
    shutil.copytree(box.path("rec.tare"), box.path("bad.tare"))
    return path_of_middle(box)


def figures(report):
    return [(row["path"], row["bytes"], row["evidence"]) for device in report["devices"] for row in device["accounts"]]


def check_told(box, whole):
    """What it says is either all of it, or is said to lack something."""
    report = box.report("bad.tare")
    if figures(report) == figures(whole):
        return False
    losses = [row for row in report["losses"] if row["program"] != "tare"]
    check(losses and all(row["reason"] == "damaged" and row["from_ns"] <= row["to_ns"] for row in losses), show(report))
    process = [row for row in report["devices"][0]["accounts"] if row["leaf"] and row["path"].startswith("process:")]
    check(all(row["evidence"] not in ("exact", "weighed") for row in process), show(report))
    text = box.tare("report", "bad.tare", "--at", "end")
    check_equal(text.code, 0, text)
    check("missing" in text.out.splitlines()[0], text)
    check_says(" ".join(text.out.split()), "because a part of the log is damaged or missing", "nothing after that is exact")
    return True


@case
def what_is_missing_is_told_wherever_a_segment_is_damaged(box):
    """At a dozen places of one in the middle: heads, tables, events, its footer, its end."""
    needs_exec()
    in_segments(box)
    whole = box.report()
    check_equal((unexplained(whole), whole["losses"]), (0, []), show(whole))
    path, told = fresh(box), 0
    for at in range(40, os.path.getsize(path) - 40, os.path.getsize(path) // 12):
        spoil(fresh(box), at)
        told += check_told(box, whole)
    check(told >= 1, "no place cost records")


@case
def a_segment_that_is_gone_is_a_span_of_which_nothing_is_known(box):
    needs_exec()
    in_segments(box)
    whole = box.report()
    for damage in os.remove, cut:
        damage(fresh(box))
        check(check_told(box, whole), "nothing was missing")
        loss = [row for row in box.report("bad.tare")["losses"] if row["program"] == "e2e_steps"]
        check_equal(len(loss), 1, loss)
        check(whole["at"]["t_ns"] > loss[0]["to_ns"] > loss[0]["from_ns"] > 0, loss, whole["at"])
        picture = box.tare("report", "bad.tare", "--svg", "-").out
        check_says(picture, 'class="fold"', "records are missing: what was in use then is not known")
    check("records are missing" not in box.tare("report", "rec.tare", "--svg", "-").out, "the whole one has such a span")


@case
def records_of_a_block_that_is_damaged_are_counted(box):
    needs_exec()
    box.record(fixture("e2e_storm"))
    check_equal(box.tare("compact", "rec.tare").code, 0)
    everything = set(box.tare("dump", "rec.tare", "--json").out.splitlines())
    shutil.copytree(box.path("rec.tare"), box.path("bad.tare"))
    name, = [n for n in os.listdir(box.path("bad.tare")) if n.endswith(".segment")]
    spoil(box.path("bad.tare", name), os.path.getsize(box.path("bad.tare", name)) // 2)
    missing = sum(row["records"] for row in box.report("bad.tare")["losses"] if row["program"] == "e2e_storm")
    there = set(box.tare("dump", "bad.tare", "--json").out.splitlines())
    lost = len(everything - there)
    # A record or two of a log's end are read from other places, too.
    check(lost > 1000 and 0 <= missing - lost <= 3, lost, box.report("bad.tare")["losses"])


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


def blocks_of_program(blocks):
    """The log that has most records is that of the program."""
    return max({log for _, log, _, _ in blocks}, key=lambda log: sum(count for _, of, count, _ in blocks if of == log))


def record_storm(box):
    """64 MiB before a storm of calls, which fill several blocks, and 32 MiB behind it."""
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    running.communicate(b"alloc %d\nstorm 40000\nalloc %d\nquit\n" % (64 * MIB, 32 * MIB), timeout=120)
    done = box.tare("compact", "rec.tare")
    check_equal(done.code, 0, done)
    return blocks_of(box.path("rec.tare", "000001.segment"))


def allocations_of(report):
    (row,) = [row for device in report["devices"] for row in device["accounts"] if row["path"].endswith("allocations/e2e_steps")]
    return row


@case
def one_block_of_a_program(box):
    blocks = record_storm(box)
    events = [block for block in blocks if block[0] == EVENTS and block[2] > 1000]
    check(len(events) >= 4, blocks)
    whole = box.report()
    spoil(fresh(box), events[1][3], 6)
    report = box.report("bad.tare")  # this checks that it balances
    check_says("\n".join(report["degraded"]), "%d records lost with 1 damaged block" % events[1][2])
    (loss,) = report["losses"]
    check_equal((loss["reason"], loss["program"]), ("damaged", "e2e_steps"))
    check_says(box.tare("report", "bad.tare").out.splitlines()[0], "ecords are missing, from")
    # What was made before and behind the damage is there; none of it is called exact.
    row, intact = allocations_of(report), allocations_of(whole)
    check_equal((intact["bytes"], intact["evidence"]), (96 * MIB + 20000 * STORM, "exact"))
    check(0 < abs(row["bytes"] - intact["bytes"]) <= events[1][2] * STORM, row, intact)
    check_equal(row["evidence"], "inferred", row)
    # Before the damage the ledger is that of the whole recording.
    before = "%.6f" % (loss["from_ns"] / 1e9 - 1e-6)
    check_equal(allocations_of(box.report("bad.tare", before))["bytes"], allocations_of(box.report("rec.tare", before))["bytes"], before)
    rows = json.loads(box.tare("report", "bad.tare", "--by", "time", "--json").out)["rows"]
    unknown = [row for row in rows if row["bytes"] is None]
    check(0 < len(unknown) < len(rows), rows)
    for row in rows[::len(rows) // 5]:
        box.report("bad.tare", "%.6f" % (row["to_ns"] / 1e9))


@case
def any_block_of_any_kind(box):
    """What is there twice costs nothing, and of anything else it is told what is lost."""
    blocks = record_storm(box)
    whole = box.report()
    for kind, log, records, at in blocks:
        spoil(fresh(box), at, 6)
        report = box.report("bad.tare")
        if kind in (EVENTS, TABLES):
            check_says("\n".join(report["degraded"]), "%d record%s lost" % (records, "" if records == 1 else "s"))
        if kind == TABLES:  # where a log has no event left, nobody asks what it lacks
            check_equal([row["records"] for row in report["losses"]], [records], kind, log)
            check("not used" not in box.tare("report", "bad.tare").out, kind, log)
        if kind not in (EVENTS, TABLES):
            check_equal(report["devices"], whole["devices"], kind, log)


def spoil_program(box, blocks, kinds):
    """How many records went with it."""
    log, path, gone = blocks_of_program(blocks), fresh(box), 0
    for kind, of, records, at in blocks:
        if of == log and kind in kinds:
            spoil(path, at, 6)
            gone += records
    return gone


@case
def all_records_of_a_program(box):
    """Nothing of it is left, and its loss is told all the same: first, and with its number."""
    gone = spoil_program(box, record_storm(box), (EVENTS, TABLES))
    losses = [(row["program"], row["reason"], row["records"]) for row in box.report("bad.tare")["losses"]]
    check_equal(losses, [("e2e_steps", "damaged", gone)])
    check_says(box.tare("report", "bad.tare").out.splitlines()[0], "%d records are missing" % gone)


@case
def a_program_that_has_no_name_any_more(box):
    """Both places that tell of it are damaged, and its records are not."""
    blocks = record_storm(box)
    spoil_program(box, blocks, (NAME,))
    log = blocks_of_program(blocks)
    records = sum(count for kind, of, count, _ in blocks if of == log and kind in (EVENTS, TABLES))
    check_says(" ".join(box.report("bad.tare")["degraded"]), "does not say whose %d of its records are" % records)
    check("not used" not in box.tare("report", "bad.tare").out, box.tare("report", "bad.tare"))


@case
def cut_anywhere(box):
    """It is never taken for a program that opened no GPU."""
    record_storm(box)
    size = os.path.getsize(box.path("rec.tare", "000001.segment"))
    for percent in (0, 1, 5, 20, 50, 80, 95, 99):
        os.truncate(fresh(box), size * percent // 100)
        done = box.tare("report", "bad.tare")
        check(done.code in (0, 125), done)
        check_says(" ".join((done.out + done.err).split()), "000001.segment is damaged", "its end is missing")
        check("opened a GPU" not in done.err, done)
        if done.code == 0:
            report = box.report("bad.tare")
            rows = [row for device in report["devices"] for row in device["accounts"] if row["path"].startswith("process:")]
            check(all(row["evidence"] not in ("exact", "weighed") for row in rows if row["leaf"]), percent, show(report))
            check(report["losses"] or not rows, percent, show(report))


@case
def one_that_is_gone(box):
    record_storm(box)
    os.unlink(fresh(box))
    done = box.tare("report", "bad.tare")
    check_equal(done.code, 125, done)
    check_says(done.err, "000001.segment")


main()
