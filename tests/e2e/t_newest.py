#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where no recording is named, it is the newest here."""

import json
import os
import subprocess

from harness import (MIB, case, check, check_equal, check_says, fixture, main, needs_exec, record_args, row_of,
                     tare_argv)
from held import hold


@case
def report_is_of_the_newest(box):
    hold(box, "b.tare", 4 * MIB)
    hold(box, "a.tare", 8 * MIB)
    check_equal(box.tare("compact", "b.tare").code, 0, "its folder is the one that changed last")
    done = box.tare("report", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    check_says(done.err, "a.tare is the newest recording here")
    check_equal(row_of(json.loads(done.out), "allocations/e2e_steps"), 8 * MIB)
    check_equal(box.tare("report", "b.tare").err, "", "one was named")
    done = box.tare("diff", "--at", "peak", "--at", "end")
    check_equal(done.code, 0, done)
    check_says(done.out, "before  a.tare at peak")
    check_equal(box.tare("dump", "--kind", "event").out, box.tare("dump", "a.tare", "--kind", "event").out)


@case
def no_recording_here(box):
    os.mkdir(box.path("empty"))
    with open(box.path("notes.tare"), "w", encoding="utf-8") as out:
        out.write("a file is no recording\n")
    for command in (["report"], ["dump"], ["diff", "--at", "1", "--at", "2"], ["ctl", "status"], ["ctl", "pause"]):
        done = box.tare(*command)
        check_equal((done.code, done.out), (2, ""), done)
        check_says(done.err, command[0], "no recording NAME.tare in this folder", "tare run")


@case
def the_ranks_of_a_job_come_together(box):
    needs_exec()
    for job, world in (("16", 1), ("17", 3)):
        for rank in range(world):
            env = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world), "TORCHELASTIC_RUN_ID": job}
            done = box.tare("record", "--sim", "h200", "--", *fixture("e2e_alloc"), env=env)
            check_equal(done.code, 0, done)
    done = box.tare("report", "--by", "rank", "--json")
    check_equal(done.code, 0, done)
    check_says(done.err, ".r2.tare is the newest recording here, with 2 more of its job")
    check_equal({row["rank"] for row in json.loads(done.out)["rows"]}, {0, 1, 2})


@case
def commands_go_to_the_newest(box):
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    for command, said in ((["ctl", "status"], "rec.tare: recording"), (["ctl", "pause"], "rec.tare: paused"),
                          (["ctl", "resume"], "rec.tare: resumed"),
                          (["ctl", "snapshot"], "rec.tare: snapshot:1"),
                          (["ctl", "snapshot", "before"], "rec.tare: snapshot:2 before"),
                          (["ctl", "snapshot", "rec.tare"], "rec.tare: snapshot:3"),
                          (["ctl", "status", "rec.tare"], "rec.tare: recording")):
        done = box.tare(*command)
        check_equal(done.code, 0, done)
        check_says(done.out, said)
    for command in (["ctl", "pause", "nix"], ["ctl", "snapshot", "nix.tare"]):
        check_says(box.tare(*command).err, command[2])
    running.communicate(b"quit\n", timeout=30)
    check(box.tare("report", "--at", "snapshot:before").out)


main()
