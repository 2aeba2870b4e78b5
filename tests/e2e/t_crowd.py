#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of one recording that come and go at once: the books balance at the peak and at the end."""

import json

from harness import IS_LONG, MIB, case, check, check_equal, fixture, main, needs_exec, show, tare_argv, unexplained

ROUNDS = 20 if IS_LONG else 5
STEP = 64 << 10  # of the counter
PAGE = 2 * MIB
STARTS = 4 * MIB  # what starting the driver takes, at most
AGAIN = 20  # rounds, after one that was off by more than that


def check_crowd(box, how, processes, threads, calls, rounds=ROUNDS):
    """
    In every round nothing is unexplained (docs/LEDGER.md, "Many processes at once"). One round in two hundred is off by a
    page or by what starting the driver takes, one in thousands by a context, as docs/measurements/crowd.md says. So one may
    be; after one that is off by more than a driver's start AGAIN more may not.
    """
    needs_exec()
    more, number = [], 0
    # The call that a killed thread was in is in nobody's log: a page of each.
    most = PAGE * threads * processes if how == "killed" else STEP
    while number < rounds:
        rec = "%s%d.tare" % (how, number)
        done = box.record(fixture("e2e_crowd", how, str(processes), str(threads), str(calls)), rec=rec)
        off = {instant: unexplained(box.report(rec, instant)) for instant in ("peak", "end")}
        size = max(abs(size) for size in off.values())
        more += [number] if size > most else []
        check(len(more) <= 1, "rounds %s" % more, off, show(box.report(rec)), done)
        number += 1
        if size > max(most, STARTS):
            print("# round %d: %s" % (number, off))
            rounds = number + AGAIN


@case
def three_with_two_threads_each(box):
    check_crowd(box, "ends", 3, 2, 2000)


@case
def a_hundred(box):
    check_crowd(box, "ends", 100, 1, 60, rounds=ROUNDS // 5)


@case
def killed_while_they_work(box):
    check_crowd(box, "killed", 6, 2, 2000)


@case
def orphans(box):
    check_crowd(box, "orphans", 4, 1, 500)


@case
def a_fork_server(box):
    check_crowd(box, "server", 5, 1, 500)


@case
def readings_around_the_start_of_the_driver_say_how_long_they_took(box):
    """They are long where many processes start at once, and the ledger puts them where they fit."""
    needs_exec()
    box.record(fixture("e2e_crowd", "ends", "1", "1", "1"))
    starts = [event for event in box.events() if event["api"] == "cuInit"]
    check(starts, "cuInit is not recorded")
    for event in starts:
        check(event["reading_before"] > 0 and event["reading_after"] > 0, event)


@case
def few_descriptors(box):
    """More logs than a process may open: those are opened when they are needed. Two descriptors do: the recording's lock, and a log."""
    needs_exec()
    box.record(fixture("e2e_crowd", "ends", "40", "1", "60"))
    wanted = box.report("rec.tare", "peak")
    for limit in (20, 10, 5):
        few = box.run(["sh", "-c", "ulimit -n %d && exec \"$@\"" % limit, "sh"] +
                      tare_argv("report", "rec.tare", "--at", "peak", "--json"))
        check_equal(few.code, 0, few)
        got = json.loads(few.out)
        check_equal({key: got[key] for key in got if key != "notes"}, {key: wanted[key] for key in got if key != "notes"})
        check(all("lines" in note for note in got["notes"]), got["notes"])  # programs' files can't be opened, either


if __name__ == "__main__":
    main()
