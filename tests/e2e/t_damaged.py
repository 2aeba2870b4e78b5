#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Segments that are damaged, cut or gone: what is missing is told first, drawn, and nothing behind it is called exact."""

import os
import shutil
import subprocess

from harness import (case, check, check_equal, check_says, fixture, main, needs_exec, record_args, show, tare_argv,
                     unexplained)

PARTS, STORM = 8, 300


def in_segments(box):
    """One segment for each part of the program, which goes on meanwhile."""
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), sim=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(PARTS):
        running.stdin.write(b"storm %d\nalloc 4096\n" % STORM)
        running.stdin.flush()
        while running.stdout.readline() != b"took\t4096\n":
            pass
        done = box.tare("compact", "--running", "rec.tare")
        check_equal(done.code, 0, done)
    running.stdin.close()
    check_equal(running.wait(), 0)
    check_equal(box.tare("compact", "rec.tare").code, 0)
    found = sorted(name for name in os.listdir(box.path("rec.tare")) if name.endswith(".segment"))
    check(len(found) >= 3, found)  # of a part that is not settled yet the next segment has the rest


def spoil(path, at, count=64):
    with open(path, "r+b") as file:
        file.seek(at)
        was = file.read(count)
        file.seek(at)
        file.write(bytes(byte ^ 0xff for byte in was))


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def path_of_middle(box):
    found = sorted(name for name in os.listdir(box.path("bad.tare")) if name.endswith(".segment"))
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


main()
