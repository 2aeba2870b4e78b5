#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory runs out: what was asked for, what there was, and that moment as an instant."""

import json
import os
import re

from harness import MIB, SIMGPU, case, check, check_equal, check_says, fixture, main

CARD = ("--vram", "1GiB")


def record(box, *args, options=CARD):
    box.record(fixture("e2e_torch_oom", *args), options=options)
    screen = box.tare("report", "rec.tare", env={"COLUMNS": "1000"}).out
    return " ".join(screen.split()), box.report()["out_of_memory"]


def parts(box, at):
    device = box.report(at=at)["devices"][0]
    return {row["path"].rsplit("/", 1)[1]: row["bytes"] for row in device["accounts"]
            if "/libc10_cuda/" in row["path"]}


@case
def what_is_stuck_would_have_been_enough(box):
    screen, rows = record(box, "fragmented")
    check_equal(len(rows), 1, rows)
    row = rows[0]
    check_equal((row["by"], row["asked_bytes"], row["driver_asked_bytes"], row["count"]),
                ("torch", 300 * MIB, 300 * MIB, 3))
    check_equal((row["allocated_bytes"], row["reserved_bytes"]), (80 * MIB, 400 * MIB))
    check_equal((row["stuck_bytes"], row["elastic_bytes"], row["verdict"]), (320 * MIB, 0, "fragmentation"))
    check(0 < row["free_bytes"] < 300 * MIB, row)
    check_says(screen, "out of memory on GPU 0", "and 2 more times", "PyTorch asked for 300.0 MiB",
               "stuck beside live tensors 320.0", "fragmentation")
    check_says(screen, "; " + row["why"])
    check_equal(parts(box, "oom")["partly"], 320 * MIB)


@case
def more_is_needed_than_there_is(box):
    screen, rows = record(box, "need", "old")
    check_equal([(r["verdict"], r["asked_bytes"], r["allocated_bytes"]) for r in rows],
                [("need", 300 * MIB, 400 * MIB)])
    check_says(screen, "more is needed than there is")
    check_equal(parts(box, "oom#1")["tensors"], 400 * MIB)


@case
def a_limit_of_the_program_is_told_from_a_full_device(box):
    _, rows = record(box, "limit", options=())
    check_equal([(r["verdict"], r["asked_bytes"], r["driver_asked_bytes"]) for r in rows],
                [("limit", 40 * MIB, None)])


@case
def a_refusal_of_the_driver_counts_for_other_programs(box):
    _, rows = record(box, "driver")
    check_equal([(r["by"], r["api"], r["asked_bytes"], r["count"], r["allocated_bytes"]) for r in rows],
                [("driver", "cuMemAlloc_v2", 2048 * MIB, 3, None)])


@case
def a_full_card_says_what_was_asked_for(box):
    """Not the card of --vram: here the driver itself has no more, and tells no size."""
    with open(os.path.join(SIMGPU, "profiles", "h200.profile")) as file:
        text = re.sub(r"(?m)^total = .*$", "total = 1 GiB", file.read())
        text = re.sub(r"(?m)^reserved = .*$", "reserved = 0", text)
    with open(box.path("small.profile"), "w") as file:
        file.write(text)
    box.record(fixture("e2e_torch_oom", "driver"), sim=box.path("small.profile"))
    check_equal([(r["by"], r["api"], r["asked_bytes"]) for r in box.report()["out_of_memory"]],
                [("driver", "cuMemAlloc_v2", 2048 * MIB)])
    box.record(fixture("e2e_torch_oom", "need"), rec="torch.tare",
               sim=box.path("small.profile"))
    row, = box.report("torch.tare")["out_of_memory"]
    check_equal((row["by"], row["driver_asked_bytes"] is None), ("torch", False), row)


@case
def how_much_was_in_use_when_memory_ran_out_outlives_the_events(box):
    record(box, "need")
    used = box.report(at="oom#1")["devices"][0]["used_bytes"]
    box.drop_events()
    done = box.tare("report", "rec.tare", "--at", "oom#1", "--json")
    check_equal(done.code, 0, done)
    said = json.loads(done.out)["in_use"][0]
    check_equal((said["low_bytes"], said["high_bytes"]), (used, used), done)
    text = " ".join(box.tare("report", "rec.tare", "--at", "oom#1").out.split())
    check_says(text, "of oom#1 only how much was in use is known")


@case
def an_instant_that_never_was_is_refused(box):
    record(box, "limit", options=())
    done = box.tare("report", "rec.tare", "--at", "oom#2")
    check_equal(done.code, 125, done)
    check_says(done.err, "oom#2", "there is only oom#1 at")
    box.record(fixture("e2e_tensors"), rec="other.tare")
    done = box.tare("report", "other.tare", "--at", "oom")
    check_says(done.err, "memory never ran out")
    for bad in ("oom#0", "oom#", "oom#1x", "oom2"):
        check_equal(box.tare("report", "rec.tare", "--at", bad).code, 2, bad)


@case
def nothing_is_said_where_nobody_wants_tensors(box):
    _, rows = record(box, "need", options=CARD + ("--no-tensors",))
    check_equal(rows, [])


if __name__ == "__main__":
    main(checks_views=True)
