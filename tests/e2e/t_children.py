#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that start programs: every one that uses the driver is recorded, and nothing else is."""

import json
import os
import re
import shutil
import time

from harness import (FIXTURES, Expectations, case, check, check_equal, check_recording, fixture, leaves, main,
                     needs_exec, record_args, row_of, show, tare_argv, wait_until)


def alloc_link():
    """Finds the simulated driver by itself, whatever becomes of the environment."""
    return os.path.join(FIXTURES, "e2e_alloc_link")


@case
def child_of_vfork(box):
    needs_exec()
    done = box.record(fixture("e2e_exec", "vfork", alloc_link()))
    check_recording(box, done)


@case
def spawned_with_an_empty_environment(box):
    needs_exec()
    done = box.record(fixture("e2e_exec", "spawn", alloc_link()))
    check_recording(box, done)


@case
def environment_cleared_before_exec(box):
    needs_exec()
    done = box.record(fixture("e2e_exec", "clear", alloc_link()))
    check_recording(box, done)


@case
def by_a_shell_that_cleans_up(box):
    needs_exec()
    done = box.record(["/bin/sh", "-c", "env -i " + alloc_link() + "; exit 4"], exit_code=4)
    check_recording(box, done)


@case
def library_that_allocates_when_loaded(box):
    done = box.record(fixture("e2e_early", os.path.join(FIXTURES, "libe2e_early.so")))
    check_recording(box, done)


@case
def hundred_children(box):
    needs_exec()
    count = 100
    done = box.record(fixture("e2e_children", str(count)), timeout=100)
    wanted = dict(re.findall(r"child\t(\d+)\t(\d+)", done.out))
    check_equal(len(wanted), count, done)
    allocated = {}
    for event in box.events():
        if event["api"] == "cuMemAlloc_v2":
            allocated[str(event["tid"])] = str(event["asked"])
    check_equal(allocated, wanted)
    left = [name for name in os.listdir(box.path("rec.tare")) if name.endswith(".ring")]
    check_equal(left, [], "rings of ended processes were left")
    report = box.report(at="peak")
    check_equal(report["devices"][0]["unexplained_bytes"], 0, show(report))


@case
def rings_go_with_their_processes(box):
    """A job of many short processes must not fill the disk with rings while it runs."""
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_children", "60"))))
    most = 0
    while running.poll() is None:
        try:
            rings = [n for n in os.listdir(box.path("rec.tare")) if n.endswith(".ring")]
            most = max(most, len(rings))
        except OSError:
            pass
        time.sleep(0.01)
    check_equal(running.returncode, 0)
    check(most <= 30, "%d rings at once" % most)


@case
def daemon_that_outlives_tare(box):
    needs_exec()
    done = box.record(fixture("e2e_daemon", box.path("go")))
    check("1 of its processes still run" in done.err, done)
    before = box.report()
    check(row_of(before, "/context"), "the daemon's context is missing", show(before))
    with open(box.path("go"), "w", encoding="utf-8"):
        pass

    def ended():
        with open(box.path("go.out"), encoding="utf-8") as text:
            return "done\n" in (out := text.read()) and out

    out = wait_until(ended, "the daemon does not end")
    time.sleep(0.1)
    Expectations(out).check(box.report(), "end")


@case
def two_recordings_at_once(box):
    """Each has its own processes; the other's are others."""
    needs_exec()
    script = "%s & %s; wait" % tuple(
        " ".join(tare_argv(*record_args(fixture("e2e_alloc"), rec=name)))
        for name in ("one.tare", "two.tare"))
    done = box.run(["/bin/sh", "-c", script])
    check_equal(done.code, 0, done)
    for name in ("one.tare", "two.tare"):
        report = box.report(name)
        pids = {row["pid"] for row in leaves(report["devices"][0]) if row["path"].startswith("process")}
        check_equal(len(pids), 1, show(report))


KEEPS_STATUS = (6, 15)  # Linux tells how a process ended that its parent took off the list


def killed_child(box, number, after):
    """(signal in info, notes): of a child that a signal ended, `after` so many seconds its parent asks how."""
    script = ("import os, time\npid = os.fork()\n"
              "if not pid:\n    x = bytearray(1 << 20)\n    time.sleep(.2)\n    os.kill(os.getpid(), %d)\n"
              "time.sleep(%g)\nos.wait()" % (number, after))
    box.record(["/usr/bin/python3", "-c", script], sim=None, options=["--host=full"])
    info, report = (json.loads(box.tare(what, "rec.tare", "--json").out) for what in ("info", "report"))
    return [p["signal"] for p in info["processes"] if p["signal"] is not None], report["notes"]


@case
def a_child_that_a_signal_ended(box):
    needs_exec()
    ways = [1.0] + ([0.0] if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= KEEPS_STATUS else [])
    for after in ways:
        signals, notes = killed_child(box, 6, after)
        check_equal(signals, [6], after)
        check(len(notes) == 1 and "a child, was ended by signal 6 (Aborted)" in notes[0], notes)
        shutil.rmtree(box.path("rec.tare"))


@case
def a_child_that_was_asked_to_end(box):
    """That is no accident: info has the signal, and a report says nothing."""
    needs_exec()
    check_equal(killed_child(box, 15, 1.0), ([15], []))


main()
