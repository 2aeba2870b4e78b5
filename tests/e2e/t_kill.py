#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random times, of the program, of tare, of both: what was done is in the recording.

The program says what it has done after each call, unbuffered. A call between its end and that word
may be in the recording or not; every other must be."""

import os
import random
import signal
import subprocess
import time

from harness import (IS_LONG, WRAPPER, case, check, check_equal, fixture, main,
                     program_of, record_args, row_of, show, tare_argv)

KEPT = 1001  # bytes of an allocation of `storm`


def start(box, rec, steps):
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=rec)), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    running.stdin.write(steps)
    running.stdin.close()
    return running


def read_all(running):
    out = running.stdout.read()
    running.stderr.read()
    running.stdout.close()
    running.stderr.close()
    return out


def check_against(box, rec, out, seed, threads):
    words = out.split(b"\n")
    live = words.count(b"t") - words.count(b"f")
    report = box.report(rec)
    got = (row_of(report, "allocations/e2e_steps") or 0) / KEPT
    check(abs(got - live) <= threads, "seed %d: it said %d are live, the recording says %s" % (seed, live, got),
          show(report))


def round_of(box, kill, seed, threads=1):
    random.seed(seed)
    rec = "rec%d.tare" % seed
    running = start(box, rec, b"storm 1000000\n" if threads == 1 else b"threads 1000000\n")
    program = program_of(running)
    time.sleep(random.random() * 0.06)
    kill(running.pid, program)
    # The program may go on without tare: then it is ended here, in the same way.
    if kill is tare_alone:
        time.sleep(random.random() * 0.05)
        os.kill(program, signal.SIGKILL)
    out = read_all(running)
    running.wait()
    check_against(box, rec, out, seed, threads)
    return running.returncode


def program_alone(_tare, program):
    os.kill(program, signal.SIGKILL)


def tare_alone(tare, _program):
    os.kill(tare, signal.SIGKILL)


def both(tare, program):
    os.kill(tare, signal.SIGKILL)
    os.kill(program, signal.SIGKILL)


def both_program_first(tare, program):
    os.kill(program, signal.SIGKILL)
    os.kill(tare, signal.SIGKILL)


ROUNDS = 200 if IS_LONG else 3 if WRAPPER else 10


@case
def program_is_killed(box):
    for seed in range(ROUNDS):
        check_equal(round_of(box, program_alone, seed), 128 + signal.SIGKILL)


@case
def tare_is_killed(box):
    for seed in range(ROUNDS):
        check_equal(round_of(box, tare_alone, seed), -signal.SIGKILL)


@case
def both_are_killed(box):
    for seed in range(ROUNDS):
        round_of(box, both, seed)


@case
def both_are_killed_the_program_first(box):
    for seed in range(ROUNDS):
        round_of(box, both_program_first, seed)


@case
def many_threads_are_killed(box):
    for seed in range(ROUNDS):
        round_of(box, (program_alone, tare_alone, both)[seed % 3], seed, threads=4)


@case
def report_says_that_tare_was_killed(box):
    running = start(box, "rec.tare", b"alloc 1000000\nstorm 100000\n")
    program = program_of(running)
    check_equal(running.stdout.readline(), b"took\t1000000\n")
    both(running.pid, program)
    read_all(running)
    running.wait()
    done = box.tare("report", "rec.tare")
    check_equal(done.code, 0, done)
    check("still being written, or what wrote it was killed" in done.err, done)
    check("running, or killed" in box.tare("info", "rec.tare").out, box.tare("info", "rec.tare"))


main()
