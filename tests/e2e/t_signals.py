#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals: tare passes them on, and is not in the way of a terminal's."""

import os
import signal
import subprocess

from harness import (case, check, check_equal, end_of, fixture, main, needs_exec, on_terminal, read_until,
                     record_args, row_of, tare_argv)


def check_kept(box):
    check_equal(row_of(box.report(), "allocations/e2e_steps"), 1000000)


@case
def signals_reach_the_program(box):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
        name = "rec%d.tare" % number
        running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=name)),
                            stdin=subprocess.PIPE)
        check_equal(running.stdout.readline(), b"ready\n")
        running.stdin.write(b"alloc 1000000\n")
        running.stdin.flush()
        check_equal(running.stdout.readline(), b"took\t1000000\n")
        running.send_signal(number)
        running.wait(timeout=30)
        check_equal(running.returncode, 128 + number, running.stderr.read().decode())
        check_equal(row_of(box.report(name), "allocations/e2e_steps"), 1000000)


@case
def program_may_catch_them(box):
    needs_exec()
    script = "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    running = box.start(tare_argv(*record_args(["/bin/sh", "-c", script], sim=None)))
    check_equal(running.stdout.readline(), b"ready\n")
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=30)
    check_equal((out, running.returncode), (b"caught\n", 9), err.decode())


@case
def ignored_signals_stay_ignored(box):
    """nohup: what tare's parent ignores, the program ignores too."""
    needs_exec()
    script = "trap '' HUP; %s" % " ".join(tare_argv(*record_args(
        ["/bin/sh", "-c", "'kill -HUP $$; echo alive'"], sim=None)))
    done = box.run(["/bin/sh", "-c", script])
    check_equal((done.code, done.out), (0, "alive\n"), done)


@case
def control_c_on_a_terminal(box):
    """The terminal signals the whole job: the program must get it once, and tare must live on."""
    needs_exec()
    script = ("trap 'n=$((n+1))' INT; n=0; echo ready; i=0; "
              "while [ $i -lt 12 ]; do sleep 0.05; i=$((i+1)); done; echo caught $n; exit 7")
    pid, fd = on_terminal(box, tare_argv(*record_args(["/bin/sh", "-c", script], sim=None)))
    check(b"ready" in read_until(fd, b"ready"), "it did not start")
    os.write(fd, b"\x03")
    seen = read_until(fd, b"tare: exit")
    check_equal(end_of(pid), 7, seen.decode("utf-8", "replace"))
    check(b"caught 1\r\n" in seen, seen)
    check(b"tare: exit 7" in seen, seen)


@case
def control_c_ends_the_program(box):
    needs_exec()
    pid, fd = on_terminal(box, tare_argv(*record_args(fixture("e2e_steps"))))
    check(b"ready" in read_until(fd, b"ready"), "it did not start")
    os.write(fd, b"alloc 1000000\n")
    read_until(fd, b"took")
    os.write(fd, b"\x03")
    seen = read_until(fd, b"tare: exit")
    check_equal(end_of(pid), 130, seen.decode("utf-8", "replace"))
    check_kept(box)


@case
def control_z_and_continue(box):
    """As a job of a shell, for only those are stopped by a terminal."""
    needs_exec()
    job = " ".join(tare_argv(*record_args(fixture("e2e_steps"))))
    pid, fd = on_terminal(box, ["/bin/sh", "-m", "-c", job + "; echo stopped; fg; echo over $?"])
    check(b"ready" in read_until(fd, b"ready"), "it did not start")
    os.write(fd, b"\x1a")
    seen = read_until(fd, b"stopped")
    check(b"stopped" in seen, "it did not stop", seen)
    os.write(fd, b"alloc 1000000\n")
    check(b"took" in read_until(fd, b"took\t"), "it did not go on")
    os.write(fd, b"quit\n")
    seen = read_until(fd, b"over 0")
    check(b"over 0" in seen, seen)
    end_of(pid)
    check_kept(box)


@case
def terminal_is_the_programs(box):
    needs_exec()
    pid, fd = on_terminal(box, tare_argv(*record_args(
        ["/bin/sh", "-c", "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three"], sim=None)))
    seen = read_until(fd, b"tare: exit")
    check(b"all three" in seen, seen)
    check_equal(end_of(pid), 0)


main()
