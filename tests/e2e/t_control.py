#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The control word: pausing, resuming, stopping a recording that runs, and naming instants of it."""

import json
import os
import signal
import subprocess

from harness import (MIB, WRAPPER, Skip, case, check, check_equal, check_says, fixture, leaves, main, needs_exec,
                     program_of, record_args, row_of, show, tare_argv, wait_until)

PAUSED = "paused"


class Led:
    """e2e_steps, led by lines; what it took and freed is told by itself."""

    def __init__(self, box, options=(), rec="rec.tare"):
        self.box, self.rec = box, rec
        self.running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=rec, options=options)),
                                 stdin=subprocess.PIPE)
        self.answer(b"ready\n")

    def answer(self, wanted):
        check_equal(self.running.stdout.readline(), wanted)

    def alloc(self, size):
        self.say("alloc %d" % size)
        self.answer(b"took\t%d\n" % size)

    def free(self):
        self.say("free")
        self.answer(b"freed\n")

    def say(self, line):
        self.running.stdin.write(line.encode() + b"\n")
        self.running.stdin.flush()

    def ctl(self, *words, code=0):
        done = self.box.tare("ctl", self.rec, *words)
        check_equal(done.code, code, done)
        return done

    def program(self):
        return program_of(self.running)

    def end(self, code=0):
        self.say("quit")
        self.running.communicate(timeout=60)
        check_equal(self.running.returncode, code)


def paused_bytes(report):
    return sum(row["bytes"] for device in report["devices"] for row in leaves(device)
               if row["account"] == PAUSED)


def check_books(box, asked, *at, rec="rec.tare", options=()):
    """Allocations are what was recorded, and nothing is unexplained."""
    for instant in at:
        report = box.report(rec, instant)
        check_equal(row_of(report, "allocations/e2e_steps") or 0, asked, instant, show(report))
        check_equal(report["devices"][0]["unexplained_bytes"], 0, instant, show(report))
    return report


@case
def what_came_while_paused_is_one_row(box):
    led = Led(box)
    led.alloc(100 * MIB)
    led.ctl("pause")
    led.alloc(300 * MIB)
    led.ctl("resume")
    led.alloc(20 * MIB)
    led.ctl("snapshot")
    led.end()
    report = check_books(box, 120 * MIB, "snapshot:1", "end")
    check_equal(paused_bytes(report), 300 * MIB, show(report))
    check_says("\n".join(report["degraded"]), "recording was paused from", "while recording was paused")


@case
def what_goes_while_paused_leaves_the_books(box):
    """And what was given again at its address is counted once."""
    led = Led(box)
    led.alloc(100 * MIB)
    led.alloc(50 * MIB)
    led.ctl("pause")
    led.free()
    led.alloc(100 * MIB)
    led.ctl("resume")
    led.ctl("snapshot", "behind")
    report = check_books(box, 50 * MIB, "snapshot:behind")
    check_equal(paused_bytes(report), 100 * MIB, show(report))
    led.free()  # the one of 50 MiB
    led.free()  # the one that came while recording was paused
    led.alloc(100 * MIB)
    led.ctl("snapshot")
    led.end()
    report = check_books(box, 100 * MIB, "snapshot:2")
    check_equal(paused_bytes(report), 0, show(report))


@case
def started_paused(box):
    if WRAPPER:
        raise Skip("an emulator makes up when a process started")
    led = Led(box, options=["--paused"])
    led.alloc(500 * MIB)
    check_says(led.ctl("status").out, "paused", "0 processes")
    led.ctl("resume")
    led.alloc(7 * MIB)
    led.ctl("snapshot")
    led.end()
    report = check_books(box, 7 * MIB, "snapshot:1", "end")
    check(paused_bytes(report) >= 1000 * MIB, "context and allocation", show(report))
    check(not any("unknown route" in d for d in report["degraded"]), show(report))


@case
def never_resumed(box):
    led = Led(box, options=["--paused"])
    led.alloc(500 * MIB)
    led.end()
    done = box.tare("report", "rec.tare")
    check_equal(done.code, 0, done)
    check_says(" ".join((done.out + done.err).split()), "while recording was paused", "not resumed")


@case
def stopped_for_good(box):
    led = Led(box)
    led.alloc(100 * MIB)
    led.ctl("stop")
    led.alloc(300 * MIB)
    for action in ("resume", "pause", "snapshot"):
        check_says(led.ctl(action, code=125).err, "rec.tare", "was stopped", "start another")
    check_says(led.ctl("stop").out, "was stopped already")
    check_says(led.ctl("status").out, "stopped")
    led.end()
    report = check_books(box, 100 * MIB, "end")
    check_says("\n".join(report["degraded"]), "recording was stopped at")


@case
def snapshots_have_numbers_and_names(box):
    led = Led(box)
    led.alloc(1 * MIB)
    check_says(led.ctl("snapshot").out, "snapshot:1")
    led.alloc(2 * MIB)
    check_says(led.ctl("snapshot", "two").out, "snapshot:2 two")
    led.alloc(4 * MIB)
    led.end()
    check_books(box, 1 * MIB, "snapshot:1")
    check_books(box, 3 * MIB, "snapshot:2", "snapshot:two")
    done = box.tare("report", "rec.tare", "--at", "snapshot:three")
    check_equal(done.code, 125, done)
    check_says(done.err, "snapshot:three", "1, 2 two")
    box.record(fixture("e2e_alloc"), rec="other.tare")
    done = box.tare("report", "other.tare", "--at", "snapshot:1")
    check_says(done.err, "other.tare", "has no snapshots", "tare ctl REC snapshot")


@case
def a_pid_names_its_recording(box):
    needs_exec()
    led = Led(box)
    done = box.tare("ctl", str(led.running.pid), "pause")
    check_equal(done.code, 0, done)
    check_says(done.out, "rec.tare: paused")
    done = box.tare("ctl", "resume", str(led.program()))
    check_says(done.out, "rec.tare: resumed")
    led.end()


@case
def tare_was_killed(box):
    needs_exec()
    led = Led(box)
    program = led.program()
    led.alloc(10 * MIB)
    led.running.send_signal(signal.SIGKILL)
    led.running.wait()
    check_says(led.ctl("status").out, "its tare was killed", "1 process of it runs")
    led.ctl("pause")
    led.alloc(20 * MIB)
    led.ctl("resume")
    led.alloc(40 * MIB)
    led.ctl("snapshot")
    led.say("quit")
    led.running.stdout.read()
    report = check_books(box, 50 * MIB, "snapshot:1")
    check_equal(paused_bytes(report), 20 * MIB, show(report))


@case
def children_are_commanded_too(box):
    """One page for all: what a child does while recording is paused is in the same row."""
    needs_exec()
    go = box.path("go")
    done = box.start(tare_argv(*record_args(fixture("e2e_daemon", go))))
    done.communicate(timeout=60)
    check_says(box.tare("ctl", "rec.tare").out, "recording", "1 process")
    box.tare("ctl", "rec.tare", "pause")
    with open(go, "w", encoding="utf-8"):
        pass

    def is_done():
        with open(go + ".out", encoding="utf-8") as text:
            return "done\n" in text.read()

    wait_until(is_done, "the daemon does not end")
    box.tare("ctl", "rec.tare", "snapshot")
    report = box.report(at="end")
    check(not any("allocations" in row["path"] for row in leaves(report["devices"][0])), show(report))


@case
def what_cannot_be_commanded(box):
    box.record(fixture("e2e_alloc"))
    os.mkdir(box.path("empty"))
    for target, code, parts in (("rec.tare", 125, ("rec.tare", "has ended", "tare report")),
                                ("nowhere.tare", 125, ("nowhere.tare", "no such recording")),
                                ("empty", 125, ("empty", "no recording made by")),
                                (str(os.getpid()), 125, (str(os.getpid()), "not being recorded", "tare run")),
                                ("999999999", 125, ("999999999", "no such process"))):
        done = box.tare("ctl", target, "pause")
        check_equal(done.code, code, done)
        check_says(done.err, *parts)
    for words, part in ((("rec.tare", "hold"), "'hold' is no action"), (("rec.tare", "pause", "x"), "only a snapshot"),
                        (("rec.tare", "snapshot", ""), "1 to 100 characters"), ((), "REC|PID ACTION")):
        done = box.tare("ctl", *words)
        check_equal(done.code, 2, done)
        check_says(done.err, part)


@case
def two_at_once(box):
    """Every snapshot has a number of its own, and the word is as one of them left it."""
    led = Led(box)
    running = [box.start(tare_argv("ctl", "rec.tare", action))
               for action in ("pause", "snapshot", "resume", "snapshot") * 5]
    outs = [r.communicate(timeout=60)[0].decode() for r in running]
    check_equal([r.returncode for r in running], [0] * len(running), outs)
    numbers = sorted(int(o.split("snapshot:")[1]) for o in outs if "snapshot:" in o)
    check_equal(numbers, list(range(1, 11)))
    state = json.loads(led.ctl("status", "--json").out)
    led.ctl("resume")
    led.alloc(3 * MIB)
    check_equal(state["snapshots"], 10)
    check(state["state"] in ("paused", "recording"), state)
    led.end()
    check_books(box, 3 * MIB, "end")


main()
