#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are damaged, foreign, too new, empty or not finished: what tare says of them."""

import json
import os
import random
import shutil
import struct
import subprocess
import time

from harness import (WRAPPER, case, check, check_equal, check_says, degraded, fixture, main,
                     record_args, row_of, show, tare_argv)

COMMANDS = (["report"], ["report", "--json"], ["dump"], ["info"])


def log_of(box, rec="rec.tare"):
    names = [n for n in os.listdir(box.path(rec)) if n.endswith(".events") and n[0].isdigit()]
    check_equal(len(names), 1, names)
    return box.path(rec, names[0])


def read(path):
    with open(path, "rb") as data:
        return data.read()


def write(path, data):
    with open(path, "wb") as out:
        out.write(data)


def check_lives(box, *what):
    """Whatever is in a recording: tare answers or says in a sentence why not."""
    for command in COMMANDS:
        done = box.tare(command[0], "rec.tare", *command[1:], timeout=20)
        check(done.code in (0, 125), done, *what)
        check(done.code == 0 or done.err.startswith("tare: "), done, *what)


@case
def recording_that_is_not_there(box):
    for command in COMMANDS:
        done = box.tare(command[0], "nowhere.tare", *command[1:])
        check_equal(done.code, 125, done)
        check_says(done.err, "nowhere.tare", "no such recording")


@case
def folder_that_is_no_recording(box):
    os.mkdir(box.path("photos"))
    write(box.path("photos", "one.jpg"), b"\xff\xd8")
    for command in (["report"], ["dump"]):
        done = box.tare(command[0], "photos", *command[1:])
        check_equal(done.code, 125, done)
        check_says(done.err, "photos")


@case
def file_that_is_no_recording(box):
    write(box.path("notes.txt"), b"buy milk\n" * 100)
    for command in COMMANDS:
        done = box.tare(command[0], "notes.txt", *command[1:])
        check_equal(done.code, 125, done)
        check_says(done.err, "notes.txt")


@case
def truncated_recording(box):
    """What was written before the cut is there."""
    done = box.record(fixture("e2e_steps"), input=b"alloc 1000000\n" * 50 + b"quit\n")
    path, whole = log_of(box), read(log_of(box))
    sizes = list(range(0, len(whole), max(1, len(whole) // (10 if WRAPPER else 60))))
    sizes.append(len(whole) - 1) # the others stop anywhere in the last tenth
    last = 0
    for size in sizes:
        write(path, whole[:size])
        check_lives(box, "cut at %d of %d" % (size, len(whole)), done)
        if size > 512:
            got = row_of(box.report(), "allocations/e2e_steps") or 0
            check(got >= last, "a longer log tells less: %d bytes at %d" % (got, size))
            last = got
    check_equal(last, 50 * 1000000, "a log that only lacks its last byte")


@case
def corrupt_recording(box):
    box.record(fixture("e2e_alloc"))
    path, whole = log_of(box), read(log_of(box))
    random.seed(4711)
    for _ in range(10 if WRAPPER else 100):
        data = bytearray(whole)
        for _ in range(random.randint(1, 8)):
            data[random.randrange(len(data))] = random.choice((0, 1, 0x7f, 0x80, 0xff))
        write(path, bytes(data))
        check_lives(box)


@case
def corrupt_description(box):
    box.record(fixture("e2e_alloc"))
    for text in (b"", b"{", b"[1,2", b"null", b"\xff\xfe", b'{"state": 7}', b'{"spool": "/nowhere"}'):
        write(box.path("rec.tare", "recording.json"), text)
        check_lives(box, text)


@case
def recording_of_a_newer_tare(box):
    """The version is the first thing that is checked; it stands behind the magic and the endian mark."""
    box.record(fixture("e2e_alloc"))
    data = bytearray(read(log_of(box)))
    struct.pack_into("=I", data, 12, 999)
    write(log_of(box), bytes(data))
    check_says("\n".join(box.report()["degraded"]), ".events is in format 999", "open it with")


@case
def foreign_files_beside_the_logs(box):
    box.record(fixture("e2e_alloc"))
    before = box.report()
    write(box.path("rec.tare", "notes.txt"), b"mine\n")
    write(box.path("rec.tare", "1-0.events.bak"), b"old")
    os.mkdir(box.path("rec.tare", "folder"))
    check_equal(box.report()["devices"], before["devices"])


@case
def log_of_another_recording(box):
    """Logs are merged by their clocks; one of another machine or boot must not break the others."""
    box.record(fixture("e2e_alloc"))
    box.record(fixture("e2e_pitch"), rec="other.tare")
    shutil.copy(log_of(box, "other.tare"), box.path("rec.tare"))
    check_lives(box)


@case
def log_without_permission(box):
    box.record(fixture("e2e_alloc"))
    os.chmod(log_of(box), 0)
    if os.getuid() == 0:
        os.unlink(log_of(box))
    done = box.tare("report", "rec.tare")
    check(done.code in (0, 125), done)


@case
def recording_still_being_written(box):
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    total = 0
    for size in (1000000, 77777, 123456789):
        running.stdin.write(b"alloc %d\n" % size)
        running.stdin.flush()
        check_equal(running.stdout.readline(), b"took\t%d\n" % size)
        total += size
        check_equal(row_of(box.report(), "allocations/e2e_steps"), total)
    done = box.tare("report", "rec.tare")
    check_says(done.err, "rec.tare", "still being written")
    running.communicate(b"quit\n", timeout=30)
    done = box.tare("report", "rec.tare")
    check("still being written" not in done.err, done)
    check_equal(row_of(box.report(), "allocations/e2e_steps"), total)


@case
def a_damaged_span_is_not_known(box):
    """It is neither nothing nor what there was before, wherever memory is drawn over time."""
    program = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    check_equal(program.stdout.readline(), b"ready\n")
    for _ in range(40):
        program.stdin.write(b"alloc 4194304\n")
        program.stdin.flush()
        program.stdout.readline()
        time.sleep(0.01)
    program.communicate(b"quit\n", timeout=30)
    whole = json.loads(box.tare("report", "rec.tare", "--by", "time", "--json").out)
    check(all(row["bytes"] is not None for row in whole["rows"]), "nothing is damaged yet")
    check("░" not in box.tare("report", "rec.tare", env={"LC_ALL": "C.UTF-8"}).out)
    log = log_of(box)
    size = os.path.getsize(log)
    with open(log, "r+b") as file:
        file.seek(size * 6 // 10)
        file.write(bytes(size // 10))
    report = json.loads(box.tare("report", "rec.tare", "--by", "time", "--json").out)
    loss = report["losses"][0]
    for row in report["rows"]:
        is_inside = row["from_ns"] >= loss["from_ns"] and row["to_ns"] <= loss["to_ns"]
        width = row["to_ns"] - row["from_ns"]  # a span ends with what was known next: so much beside it may be unknown
        is_outside = row["to_ns"] < loss["from_ns"] - width or row["from_ns"] > loss["to_ns"] + width
        check(row["bytes"] is None if is_inside else True, row, loss)
        check(row["bytes"] is not None if is_outside else True, row, loss)
    unknown = [row for row in report["rows"] if row["bytes"] is None]
    check(0 < len(unknown) < len(report["rows"]), len(unknown), len(report["rows"]))
    check_says(box.tare("report", "rec.tare", env={"LC_ALL": "C.UTF-8"}).out, "░")
    check_says(box.tare("report", "rec.tare", "--format", "html").out, "not known: records are missing")
    check_says(box.tare("report", "rec.tare", "--svg", "-").out, "what was in use then is not known")


@case
def folder_of_recordings(box):
    """The ranks of one job."""
    os.mkdir(box.path("job"))
    ranks = [box.start(tare_argv(*record_args(fixture("e2e_steps"), rec="job/r%d.tare" % rank)),
                       env={"RANK": str(rank), "WORLD_SIZE": "2"}, stdin=subprocess.PIPE) for rank in (0, 1)]
    for rank in ranks:
        check_equal(rank.stdout.readline(), b"ready\n")
    for size, rank in ((1000000, ranks[0]), (2000000, ranks[1])):
        rank.stdin.write(b"alloc %d\n" % size)
        rank.stdin.flush()
        check_equal(rank.stdout.readline(), b"took\t%d\n" % size)
    for rank in ranks:
        rank.communicate(b"quit\n", timeout=30)
    report = box.report("job")
    check_equal(row_of(report, "allocations/e2e_steps"), 3000000, show(report))


@case
def description_is_valid_json(box):
    box.record(["/bin/sh", "-c", "exit 3", 'quote " backslash \\ newline \n and \x01'] if not WRAPPER
               else fixture("e2e_idle"), sim=None, exit_code=None)
    with open(box.path("rec.tare", "recording.json"), encoding="utf-8") as text:
        described = json.load(text)
    check_equal(described["state"], "complete")
    check_equal(degraded(box.report()), [])


main()
