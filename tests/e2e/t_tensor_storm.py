#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocks handed out on the GPU and on the CPU by four threads while the program forks, and then is killed at
a random moment: the recording is readable, what the program says it holds is in it, and no child's is its."""

import os
import random
import signal
import time

from harness import (IS_LONG, WRAPPER, Skip, case, check, check_equal, fixture, main, record_args, row_of, show,
                     tare_argv)

THREADS, GPU_BLOCK, CPU_BLOCK = 4, 512, 1001
CHILD_MOST, CHILD_KEEPS = 3, 2  # blocks
ROUNDS = 100 if IS_LONG else 6


def tensors_of(report, pid):
    """The row of its tensors on the CPU."""
    for process in report["host"]:
        if process["pid"] == pid:
            return next(row for row in process["accounts"] if row["account"] == "tensors")
    return None


def check_books(box, rec, out, was_killed):
    words = out.split(b"\n")
    report = box.report(rec)
    slack = THREADS if was_killed else 0  # of each kind may be in the recording and were not said
    on_gpu = words.count(b"g") - words.count(b"G")
    found = (row_of(report, "libc10_cuda/tensors") or 0) / GPU_BLOCK
    check(abs(found - on_gpu) <= slack, "GPU: it said %d, found %s" % (on_gpu, found), show(report))
    on_cpu = words.count(b"h") - words.count(b"H") + 1  # one it had before
    parent = int(next(word for word in words if word.startswith(b"p ")).split()[1])
    row = tensors_of(report, parent)
    # One that was killed ended before its last child, so it has nothing at the end. It only ever grew.
    found = row["most_bytes"] / CPU_BLOCK if was_killed else row["count"]
    check(abs(found - on_cpu) <= 2 * slack,
          "CPU: it said %d, found %d" % (on_cpu, found), report["host"])
    for child in [int(word.split()[1]) for word in words if word.startswith(b"c ")]:
        row = tensors_of(report, child)
        check_equal(row["most_bytes"], CHILD_MOST * CPU_BLOCK, "a child took one back that was never its own")
        check(row["bytes"] in (0, CHILD_KEEPS * CPU_BLOCK), row)


def storm(box, rec, count, **more):
    if WRAPPER:
        raise Skip("forked children of an emulated program are not told apart")
    return box.start(tare_argv(*record_args(fixture("e2e_tensor_storm", str(count)), rec=rec, **more)))


def read_all(running):
    """Until the last child is gone."""
    out = running.stdout.read()
    err = running.stderr.read()
    running.stdout.close()
    running.stderr.close()
    running.wait()
    return out, err.decode("utf-8", "replace")


@case
def a_program_that_ends_has_all_of_it(box):
    running = storm(box, "rec.tare", 2000)
    out, err = read_all(running)
    check_equal(running.returncode, 0, err)
    check_books(box, "rec.tare", out, False)


@case
def a_recording_without_its_events_says_what_its_peaks_were_for(box):
    running = storm(box, "rec.tare", 5000)
    _, err = read_all(running)
    check_equal(running.returncode, 0, err)
    box.drop_events()
    for at in ("peak", "peak:tensors", "peak:host", "end"):
        report = box.report("rec.tare", at)
        for row in report["devices"][0]["accounts"]:
            if row["path"].endswith("/libc10_cuda/tensors"):
                below = [r for r in report["devices"][0]["accounts"] if r["path"].startswith(row["path"] + "/")]
                check_equal(sum(r["bytes"] for r in below), row["bytes"], at, below)
                check_equal(sum(r["count"] for r in below), row["count"], at, below)
        for process in report["host"]:
            rows = [r for r in process["accounts"] if r["account"] == "tensors"]
            check_equal(sum(r["bytes"] for r in rows[1:]), rows[0]["bytes"] if rows else 0, at, rows)


def is_killed(box, seed, who):
    rng = random.Random(seed)
    rec = "rec%d.tare" % seed
    running = storm(box, rec, 60000)
    first = running.stdout.readline()
    check(first.startswith(b"p "), first)
    time.sleep(rng.random() * 0.1)
    pids = {"tare": running.pid, "program": int(first.split()[1])}
    for name in who:
        os.kill(pids[name], signal.SIGKILL)
    if "program" not in who:
        time.sleep(rng.random() * 0.1)
        os.kill(pids["program"], signal.SIGKILL)
    out, _ = read_all(running)
    check_books(box, rec, first + out, True)


@case
def a_program_that_is_killed_has_what_it_said(box):
    for seed in range(ROUNDS):
        is_killed(box, seed, ["program"])


@case
def a_program_whose_tare_is_killed_has_what_it_said(box):
    for seed in range(ROUNDS):
        is_killed(box, seed, ["tare"])


@case
def both_are_killed(box):
    for seed in range(ROUNDS):
        is_killed(box, seed, ["tare", "program"])


main()
